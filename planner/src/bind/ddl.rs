//! CREATE, DROP and their checks: what is wrong with a table is said when it is declared.

mod columns;
mod like;

use std::sync::Arc;

use columns::{bind_column, bind_expressions, check_keys, check_metadata};
use like::inherit;
use tidemark_parser::ast::{CreateTable, CreateView, Drop, ObjectKind};
use tidemark_parser::{Diagnostic, Span, suggest};

use super::query::QueryBinder;
use super::table_options::{check_options, option_diagnostic};
use super::text::ScriptText;
use crate::catalog::options::Options;
use crate::catalog::table::{TableDef, ViewDef};
use crate::catalog::{Catalog, Relation};
use crate::codes::{BAD_DEFINITION, NAME_TAKEN, UNKNOWN_NAME, UNSUPPORTED};
use crate::settings::Settings;
use crate::stack::with_deep_stack;

/// What `CREATE` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// A new relation.
    New,
    /// Nothing: it existed, and `IF NOT EXISTS` was given.
    Existed,
}

/// Runs `CREATE TABLE`. `text` is the script, `span` the statement in it.
pub fn create_table(
    catalog: &mut Catalog,
    settings: &Settings,
    statement: &CreateTable,
    text: &str,
    span: Span,
) -> Result<Created, Vec<Diagnostic>> {
    if taken(catalog, &statement.name, statement.if_not_exists)? {
        return Ok(Created::Existed);
    }
    let script = ScriptText::new(text);
    refuse_unsupported(statement)?;
    let mut findings = vec![];
    let inherited = inherit(catalog, statement)?;
    let mut table = TableDef {
        name: statement.name.display(),
        columns: inherited.as_ref().map_or_else(Vec::new, |t| t.columns.clone()),
        watermark: inherited.as_ref().and_then(|t| t.watermark.clone()),
        primary_key: inherited.as_ref().map_or_else(Vec::new, |t| t.primary_key.clone()),
        partitioned_by: statement.partitioned_by.iter().map(|n| n.value.clone()).collect(),
        comment: statement.comment.clone(),
        options: inherited.map_or_else(Options::default, |t| t.options),
        temporary: statement.temporary,
        sql: span.slice(text).to_string(),
    };
    for entry in &statement.options {
        table.options.set(&entry.key.value, &entry.value.value);
    }
    for column in &statement.columns {
        match bind_column(column, &table, settings, &script) {
            Ok(bound) => table.columns.push(bound),
            Err(d) => findings.push(d),
        }
    }
    check_keys(statement, &mut table, &mut findings);
    let connector = match check_options(catalog, &statement.name, &statement.options, &table.options) {
        Ok(connector) => Some(connector),
        Err(more) => {
            findings.extend(more);
            None
        }
    };
    if let Some(connector) = &connector {
        check_metadata(statement, connector.as_ref(), &mut findings);
    }
    if findings.is_empty() {
        with_deep_stack(|| bind_expressions(catalog, settings, statement, &mut table, &script, &mut findings));
    }
    if let (true, Some(connector)) = (findings.is_empty(), connector)
        && let Err(e) = connector.check_table(&table)
    {
        findings.push(option_diagnostic(e, &statement.options, Some(statement.name.span)));
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    catalog.insert(Relation::Table(Arc::new(table)));
    Ok(Created::New)
}

/// Runs `CREATE VIEW`: the query is planned once, so that its errors show here.
pub fn create_view(
    catalog: &mut Catalog,
    settings: &Settings,
    statement: &CreateView,
    text: &str,
    span: Span,
) -> Result<Created, Vec<Diagnostic>> {
    if taken(catalog, &statement.name, statement.if_not_exists)? {
        return Ok(Created::Existed);
    }
    let plan = with_deep_stack(|| QueryBinder::new(catalog, settings, text).bind(&statement.query))?;
    let (given, actual) = (statement.columns.len(), plan.schema().fields().len());
    if given != 0 && given != actual {
        return Err(vec![
            Diagnostic::error(
                BAD_DEFINITION,
                format!("view `{}` names {given} columns, but its query has {actual}", statement.name.display()),
            )
            .at(statement.name.span),
        ]);
    }
    catalog.insert(Relation::View(Arc::new(ViewDef {
        name: statement.name.display(),
        columns: statement.columns.iter().map(|n| n.value.clone()).collect(),
        query: statement.query.clone(),
        query_text: statement.query_span.slice(text).to_string(),
        query_span: statement.query_span,
        comment: statement.comment.clone(),
        temporary: statement.temporary,
        sql: span.slice(text).to_string(),
    })));
    Ok(Created::New)
}

/// Runs `DROP`. Returns whether something was dropped.
pub fn drop_relation(catalog: &mut Catalog, statement: &Drop) -> Result<bool, Vec<Diagnostic>> {
    let name = statement.name.display();
    let wanted = match statement.object {
        ObjectKind::Table => "table",
        ObjectKind::View => "view",
    };
    match catalog.relation(&name) {
        Some(relation) if relation.kind() == wanted => {
            catalog.remove(&name);
            Ok(true)
        }
        Some(relation) => {
            let kind = relation.kind();
            Err(vec![
                Diagnostic::error(UNKNOWN_NAME, format!("`{name}` is a {kind}, not a {wanted}"))
                    .at(statement.name.span)
                    .help(format!("use DROP {} `{name}`", kind.to_uppercase())),
            ])
        }
        None if statement.if_exists => Ok(false),
        None => Err(vec![unknown_relation(catalog, &name, statement.name.span)]),
    }
}

/// "there is no table", with the nearest name.
pub fn unknown_relation(catalog: &Catalog, name: &str, span: Span) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(UNKNOWN_NAME, format!("there is no table or view `{name}`")).at(span);
    diagnostic.help = suggest(name, catalog.relations().map(|(n, _)| n)).map(|s| format!("did you mean `{s}`?"));
    diagnostic
}

fn taken(
    catalog: &Catalog,
    name: &tidemark_parser::ast::TableName,
    if_not_exists: bool,
) -> Result<bool, Vec<Diagnostic>> {
    if name.parts.len() > 1 {
        return Err(vec![
            Diagnostic::error(UNSUPPORTED, "there is a single catalog and database: a table's name has one part")
                .at(name.span)
                .help(format!("write `{}`", name.parts.last().map_or("", String::as_str))),
        ]);
    }
    match catalog.relation(&name.display()) {
        Some(_) if if_not_exists => Ok(true),
        Some(relation) => Err(vec![
            Diagnostic::error(NAME_TAKEN, format!("there is already a {} `{}`", relation.kind(), name.display()))
                .at(name.span)
                .help("drop it first, or write IF NOT EXISTS"),
        ]),
        None => Ok(false),
    }
}

fn refuse_unsupported(statement: &CreateTable) -> Result<(), Vec<Diagnostic>> {
    if statement.query.is_some() {
        return Err(vec![
            Diagnostic::error(UNSUPPORTED, "CREATE TABLE … AS SELECT is not supported yet")
                .at(statement.name.span)
                .help("declare the columns, then INSERT INTO the table"),
        ]);
    }
    if let Some(column) = statement.partitioned_by.first() {
        return Err(vec![
            Diagnostic::error(UNSUPPORTED, "PARTITIONED BY is not supported yet").at(column.span).help("leave it out"),
        ]);
    }
    Ok(())
}
