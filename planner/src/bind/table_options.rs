//! `WITH (…)` and `OPTIONS` hints against what the connector declares.

use std::sync::Arc;

use tidemark_parser::ast::{OptionEntry, TableName};
use tidemark_parser::{Diagnostic, Span, suggest};

use crate::catalog::Catalog;
use crate::catalog::connector::{ConnectorFactory, OptionError};
use crate::catalog::options::{OptionSpec, Options};
use crate::catalog::table::TableDef;
use crate::codes::BAD_OPTION;

const CONNECTOR: &str = "connector";

/// Options that every table may have, whatever its connector.
fn common_options() -> Vec<OptionSpec> {
    use crate::catalog::options::OptionKind::Duration;
    vec![OptionSpec {
        key: "scan.watermark.idle-timeout",
        kind: Duration,
        required: false,
        help: "after so long without rows the table no longer holds back the watermark",
    }]
}

/// Checks the options of a new table and returns its connector.
pub(crate) fn check_options(
    catalog: &Catalog,
    name: &TableName,
    entries: &[OptionEntry],
    options: &Options,
) -> Result<Arc<dyn ConnectorFactory>, Vec<Diagnostic>> {
    let connector = find_connector(catalog, name, entries, options).map_err(|d| vec![d])?;
    let specs = specs_of(connector.as_ref());
    let mut findings: Vec<_> = entries
        .iter()
        .filter(|e| e.key.value != CONNECTOR)
        .filter_map(|e| check_entry(&specs, connector.name(), e).err())
        .collect();
    for spec in specs.iter().filter(|s| s.required && options.get(s.key).is_none()) {
        findings.push(
            Diagnostic::error(BAD_OPTION, format!("connector '{}' needs the option '{}'", connector.name(), spec.key))
                .at(name.span)
                .help(format!("add '{}' = '…' to WITH (…): {}", spec.key, spec.help)),
        );
    }
    if findings.is_empty() { Ok(connector) } else { Err(findings) }
}

/// Checks the entries of an `OPTIONS` hint on `table` and returns the table with them merged in.
pub(crate) fn merge_hint(
    catalog: &Catalog,
    table: &TableDef,
    entries: &[OptionEntry],
) -> Result<TableDef, Vec<Diagnostic>> {
    let Some(connector) = catalog.connector(table.connector()) else {
        return Ok(table.clone());
    };
    let specs = specs_of(connector.as_ref());
    let findings: Vec<_> = entries.iter().filter_map(|e| check_entry(&specs, connector.name(), e).err()).collect();
    if !findings.is_empty() {
        return Err(findings);
    }
    let mut merged = table.clone();
    for entry in entries {
        merged.options.set(&entry.key.value, &entry.value.value);
    }
    connector.check_table(&merged).map_err(|e| vec![option_diagnostic(e, entries, None)])?;
    Ok(merged)
}

/// A connector's finding at the place of the option it speaks of, or of the table.
pub(crate) fn option_diagnostic(error: OptionError, entries: &[OptionEntry], table: Option<Span>) -> Diagnostic {
    let entry = error.key.as_deref().and_then(|key| entries.iter().find(|e| e.key.value == key));
    let mut diagnostic = Diagnostic::error(BAD_OPTION, error.message).at(entry.map(|e| e.value.span).or(table));
    diagnostic.help = error.help;
    diagnostic
}

fn specs_of(connector: &dyn ConnectorFactory) -> Vec<OptionSpec> {
    let mut specs = connector.options();
    specs.extend(common_options());
    specs
}

fn find_connector(
    catalog: &Catalog,
    name: &TableName,
    entries: &[OptionEntry],
    options: &Options,
) -> Result<Arc<dyn ConnectorFactory>, Diagnostic> {
    let names: Vec<_> = catalog.connectors().iter().map(|c| c.name()).collect();
    let known = || format!("known connectors: {}", names.join(", "));
    let Some(given) = options.get(CONNECTOR) else {
        return Err(Diagnostic::error(BAD_OPTION, format!("table `{}` names no connector", name.display()))
            .at(name.span)
            .help(format!("add WITH ('connector' = '…'); {}", known())));
    };
    catalog.connector(given).cloned().ok_or_else(|| {
        let help =
            suggest(given, names.iter().copied()).map_or_else(known, |s| format!("did you mean '{s}'? {}", known()));
        let place = entries.iter().find(|e| e.key.value == CONNECTOR).map_or(name.span, |e| e.value.span);
        Diagnostic::error(BAD_OPTION, format!("there is no connector '{given}'")).at(place).help(help)
    })
}

fn check_entry(specs: &[OptionSpec], connector: &str, entry: &OptionEntry) -> Result<(), Diagnostic> {
    let key = entry.key.value.as_str();
    let Some(spec) = specs.iter().find(|s| s.matches(key)) else {
        let mut diagnostic =
            Diagnostic::error(BAD_OPTION, format!("connector '{connector}' has no option '{key}'")).at(entry.key.span);
        diagnostic.help = match suggest(key, specs.iter().map(|s| s.key)) {
            Some(s) => Some(format!("did you mean '{s}'?")),
            None => Some(format!("its options: {}", specs.iter().map(|s| s.key).collect::<Vec<_>>().join(", "))),
        };
        return Err(diagnostic);
    };
    let value = &entry.value;
    spec.kind.check(&value.value).map_err(|reason| {
        Diagnostic::error(BAD_OPTION, format!("'{}' is not a value of '{key}': {reason}", value.value)).at(value.span)
    })
}
