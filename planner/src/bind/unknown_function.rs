//! Calls of functions that do not exist, or not like that.

use sqlparser::ast::{Function, FunctionArguments};
use tidemark_parser::{Diagnostic, suggest};

use super::text::ScriptText;
use super::window_tvf::{PARTITIONED, is_window_function};
use crate::codes::{UNKNOWN_NAME, UNSUPPORTED};
use crate::functions::FunctionRegistry;

/// Other systems' functions, and what does the same here.
const ELSEWHERE: [(&str, &str); 15] = [
    ("date_add", "TIMESTAMPADD(DAY, n, x), or x + INTERVAL 'n' DAY"),
    ("date_diff", "TIMESTAMPDIFF(DAY, a, b)"),
    ("date_sub", "TIMESTAMPADD(DAY, -n, x), or x - INTERVAL 'n' DAY"),
    ("datediff", "TIMESTAMPDIFF(DAY, a, b)"),
    ("getdate", "CURRENT_TIMESTAMP"),
    ("group_concat", "LISTAGG"),
    ("isnull", "IFNULL, or x IS NULL"),
    ("len", "CHAR_LENGTH"),
    ("nvl", "IFNULL or COALESCE"),
    ("string_agg", "LISTAGG"),
    ("strpos", "POSITION(part IN text) or LOCATE(part, text)"),
    ("sysdate", "CURRENT_TIMESTAMP"),
    ("time_bucket", "a TUMBLE window, or FLOOR(x TO HOUR)"),
    ("to_char", "DATE_FORMAT, or CAST(x AS STRING)"),
    ("to_number", "CAST(x AS DECIMAL(p, s))"),
];

/// What is wrong with the name of `function`, which has no OVER.
pub(super) fn unknown_function(
    functions: &FunctionRegistry,
    function: &Function,
    script: &ScriptText,
) -> Option<Diagnostic> {
    let name = function.name.0.last().and_then(|p| p.as_ident()).map_or_else(String::new, |i| i.value.clone());
    let lower = name.to_lowercase();
    let structural =
        matches!(lower.as_str(), "table" | "descriptor" | "options" | PARTITIONED | "unnest" | "row" | "struct");
    if structural
        || is_window_function(&name)
        || functions.scalar(&lower).is_some()
        || functions.aggregate(&lower).is_some()
    {
        return None;
    }
    let place = script.span_of(&function.name);
    if functions.window(&lower).is_some() {
        let message = format!("{} needs OVER (…), which is not supported yet", name.to_uppercase());
        return Some(Diagnostic::error(UNSUPPORTED, message).at(place));
    }
    let mut d = Diagnostic::error(UNKNOWN_NAME, format!("there is no function {name}")).at(place);
    d.help = match ELSEWHERE.iter().find(|(other, _)| *other == lower) {
        Some((_, here)) => Some(format!("write {here}")),
        None if function.args == FunctionArguments::None => {
            Some(format!("a column of this name takes back quotes: `{name}`"))
        }
        None => suggest(&lower, functions.names().iter().map(|f| f.name.as_str()))
            .map(|s| format!("did you mean `{}`?", s.to_uppercase())),
    };
    Some(d)
}
