//! DataFusion's errors as findings about the user's text.

use std::fmt;

use datafusion_common::{DataFusionError, SchemaError};
use tidemark_parser::{Diagnostic, suggest};

use super::conditions::FILTER_TAKES_CONDITION;
use super::text::ScriptText;
use crate::codes::{BAD_QUERY, UNKNOWN_NAME, UNSUPPORTED};

/// A finding of ours on its way through DataFusion's planner.
#[derive(Debug)]
pub(crate) struct Finding(pub Diagnostic);

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Finding {}

impl From<Finding> for DataFusionError {
    fn from(finding: Finding) -> Self {
        DataFusionError::External(Box::new(finding))
    }
}

/// The findings behind `error`, with places in `script`.
pub(crate) fn diagnose(error: &DataFusionError, script: &ScriptText) -> Vec<Diagnostic> {
    match error {
        DataFusionError::Collection(errors) => errors.iter().flat_map(|e| diagnose(e, script)).collect(),
        _ => vec![diagnose_one(error, script)],
    }
}

fn diagnose_one(error: &DataFusionError, script: &ScriptText) -> Diagnostic {
    let attached = error.diagnostic();
    let place = attached.and_then(|d| d.span).map(|s| script.span_of_datafusion(&s));
    if let Some(finding) = attached.and_then(|d| unequal_sides(d, script)) {
        return finding;
    }
    let root = error.find_root();
    let mut diagnostic = match root {
        DataFusionError::External(inner) => match inner.downcast_ref::<Finding>() {
            Some(finding) => finding.0.clone(),
            None => Diagnostic::error(BAD_QUERY, inner.to_string()),
        },
        DataFusionError::SchemaError(schema_error, _) => schema_diagnostic(schema_error, script),
        DataFusionError::NotImplemented(message) => Diagnostic::error(UNSUPPORTED, tidy(message)),
        DataFusionError::Diagnostic(inner, _) => Diagnostic::error(BAD_QUERY, tidy(&inner.message)),
        other => Diagnostic::error(BAD_QUERY, tidy(&other.strip_backtrace())),
    };
    if let Some(attached) = attached {
        // Its short form says less than the error itself when types clash.
        if matches!(root, DataFusionError::Plan(_)) && !attached.message.contains("incompatible types") {
            diagnostic.message = tidy(&attached.message);
        }
        if diagnostic.help.is_none() {
            diagnostic.help = attached.helps.first().map(|h| tidy(&h.message));
        }
    }
    in_our_words(diagnostic).at_if_none(place)
}

/// A set operation over queries of different widths.
fn unequal_sides(attached: &datafusion_common::Diagnostic, script: &ScriptText) -> Option<Diagnostic> {
    let (operation, _) = attached.message.split_once(" queries have different number of columns")?;
    let [left, right] = attached.notes.as_slice() else { return None };
    let width = |message: &str| message.chars().filter(char::is_ascii_digit).collect::<String>();
    let columns = |width: &str| if width == "1" { "1 column".to_string() } else { format!("{width} columns") };
    let (left_width, right_width) = (width(&left.message), width(&right.message));
    let message = format!("the queries of {operation} have {left_width} and {right_width} columns");
    let place = |span: Option<datafusion_common::Span>| span.map(|s| script.span_of_datafusion(&s));
    let finding = Diagnostic::error(BAD_QUERY, message)
        .at(place(right.span))
        .labelled(columns(&right_width))
        .help("select as many columns on both sides");
    Some(match place(left.span) {
        Some(span) => finding.label(span, columns(&left_width)),
        None => finding,
    })
}

/// DataFusion's most frequent messages, said so that the way out exists in this dialect.
fn in_our_words(mut diagnostic: Diagnostic) -> Diagnostic {
    if let Some((column, _)) = diagnostic.message.split_once(" must appear in GROUP BY clause") {
        let column = column.trim_matches('\'').to_string();
        diagnostic.help = Some(format!("add it to GROUP BY, or aggregate it, for example MAX({column})"));
        diagnostic.message = format!("`{column}` is neither grouped by nor aggregated");
    } else if let Some(rest) = diagnostic.message.strip_prefix("Cannot coerce arithmetic expression ") {
        let types = rest.trim_end_matches(" to valid types");
        diagnostic.message = format!("there is no arithmetic for {types}");
        diagnostic.help = Some("convert one side with CAST".into());
    } else if let Some(rest) = diagnostic.message.strip_prefix("Cannot create filter with non-boolean predicate '")
        && let Some((condition, data_type)) = rest.split_once("' returning ")
    {
        diagnostic.message = format!("{FILTER_TAKES_CONDITION}, but `{condition}` is {data_type}");
    } else if let Some((name, counts)) = wrong_count(&diagnostic.message) {
        diagnostic.message = format!("{} takes {counts}", name.to_uppercase());
    } else if let Some(rest) =
        diagnostic.message.strip_prefix("Cannot infer common argument type for comparison operation ")
    {
        diagnostic.message = format!("these types cannot be compared: {rest}");
        diagnostic.help = Some("convert one side with CAST".into());
    } else if let Some((message, help)) = said_again(&diagnostic.message) {
        (diagnostic.message, diagnostic.help) = (message, diagnostic.help.or(help.map(String::from)));
    }
    diagnostic
}

/// A message of DataFusion's in words of this dialect, with a way out.
fn said_again(message: &str) -> Option<(String, Option<&'static str>)> {
    if let Some((what, to)) = message.strip_prefix("Cannot cast ").and_then(|rest| rest.split_once(" to value of ")) {
        let message = format!("cannot cast {what} to {}", to.trim_end_matches(" type"));
        return Some((message, Some("TRY_CAST gives NULL where CAST fails")));
    }
    if let Some(rest) = message.strip_prefix("Order by column out of bounds, specified: ")
        && let Some((position, most)) = rest.split_once(", max: ")
    {
        let columns = if most == "1" { "1 column".into() } else { format!("{most} columns") };
        return Some((format!("ORDER BY {position}: the query yields {columns}"), None));
    }
    if message.starts_with("Order by index starts at 1") {
        return Some(("ORDER BY 0: positions of columns start at 1".into(), None));
    }
    if let Some((value, wanted)) = message.strip_prefix("Can't cast value ").and_then(|t| t.split_once(" to type ")) {
        return Some((format!("{value} is out of range for {wanted}"), None));
    }
    if let Some(rest) = message.strip_prefix("Cannot get result type for temporal operation ") {
        let types = rest.split(": ").next().unwrap_or(rest).replace("Interval(MonthDayNano)", "INTERVAL");
        return Some((format!("there is no arithmetic for {types}"), None));
    }
    if let Some(table) = message.strip_prefix("Invalid qualifier ") {
        return Some((format!("there is no table or alias `{table}` in reach"), None));
    }
    for clause in ["LIMIT", "OFFSET"] {
        let value = message.strip_prefix(clause).and_then(|rest| rest.strip_prefix(" must be >"));
        if let Some(value) = value.and_then(|rest| rest.split('\'').nth(1)) {
            return Some((format!("{clause} takes a number that is not negative, not {value}"), None));
        }
    }
    if let Some(rest) = message.strip_prefix("Inconsistent data length across values list: got ") {
        let (given, rest) = rest.split_once(" values in row ")?;
        let (row, wanted) = rest.split_once(" but expected ")?;
        let row = row.parse::<usize>().ok()? + 1;
        let values = if given == "1" { "value" } else { "values" };
        return Some((format!("row {row} of VALUES has {given} {values}, but the first has {wanted}"), None));
    }
    if message.starts_with("Projections require unique expression names") {
        let name = message.split_once(" AS ").and_then(|(_, rest)| rest.split_once('"')).map(|(name, _)| name);
        let name = name.or_else(|| message.split('"').nth(1)?.rsplit('.').next())?;
        let help = "give one of them another name with AS";
        return Some((format!("two columns of a query are named `{name}`"), Some(help)));
    }
    // `Function 'upper' requires String, but received INT (DataType: INT)`
    let (name, rest) = message.strip_prefix("Function '")?.split_once("' ")?;
    let rest = rest.split_once(" (DataType").map_or(rest, |(said, _)| said);
    let said = rest.replace("requires ", "takes ").replace("expects ", "takes ").replace("String", "STRING");
    Some((format!("{} {said}", name.to_uppercase()), Some("convert the argument with CAST")))
}

fn schema_diagnostic(error: &SchemaError, script: &ScriptText) -> Diagnostic {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let span = field.spans.first().map(|s| script.span_of_datafusion(&s));
            let name = field.flat_name().replace('"', "");
            let mut d = Diagnostic::error(UNKNOWN_NAME, format!("there is no column `{name}`")).at(span);
            let mut names: Vec<&str> = vec![];
            for column in valid_fields {
                if !names.contains(&column.name.as_str()) {
                    names.push(&column.name);
                }
            }
            d.help = match suggest(&field.name, names.iter().copied()) {
                Some(s) => Some(format!("did you mean `{s}`?")),
                None if names.is_empty() => None,
                None => Some(format!("columns in reach: {}", names.join(", "))),
            };
            d
        }
        SchemaError::AmbiguousReference { field } => {
            let span = field.spans.first().map(|s| script.span_of_datafusion(&s));
            Diagnostic::error(UNKNOWN_NAME, format!("`{}` is ambiguous: several tables have such a column", field.name))
                .at(span)
                .help("put the table's name or alias in front of it")
        }
        SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
            Diagnostic::error(BAD_QUERY, format!("two columns of the result are named `{name}`"))
                .help("give one of them another name with AS")
        }
    }
}

/// The name and "1 argument, but 2 are given" of "Function 'upper' expects 1 arguments but received 2".
fn wrong_count(message: &str) -> Option<(&str, String)> {
    let (name, rest) = message.strip_prefix("Function '")?.split_once("' expects ")?;
    let (wanted, given) = rest.split_once(" arguments but received ")?;
    let noun = if wanted == "1" { "argument" } else { "arguments" };
    Some((name, format!("{wanted} {noun}, but {given} are given")))
}

/// DataFusion's message without its prefixes and final stop.
fn tidy(message: &str) -> String {
    // DataFusion puts its own account around what a function says of its arguments.
    let said = message.split_once("user-defined coercion failed with: ");
    let mut text = said.map_or(message, |(_, said)| said).trim();
    text = text.split_once(" No function matches the given name").map_or(text, |(said, _)| said);
    text = text.split_once("\nThis issue was likely caused by a bug").map_or(text, |(said, _)| said);
    for prefix in [
        "type_coercion\ncaused by\n",
        "Error during planning: ",
        "This feature is not implemented: ",
        "Schema error: ",
        "Arrow error: ",
        "Cast error: ",
        "Invalid argument error: ",
        "Parser error: ",
    ] {
        text = text.strip_prefix(prefix).unwrap_or(text);
    }
    crate::types::with_sql_names(text.trim_end_matches('.'))
}
