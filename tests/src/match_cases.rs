//! The cases of `tests/data/match_cases.json`: what SQL's row pattern recognition gives for small tables, derived from
//! the standard's text, and what a stream may emit when.
//!
//! The clause without AFTER MATCH SKIP means the standard's there.

mod batch;
mod streaming;

use serde_json::Value;

use crate::workspace;

pub use batch::{Delivery, run_batch};
pub use streaming::run_streaming;

/// A row as texts; NULL is `None`.
pub type Row = Vec<Option<String>>;

/// All cases of one kind: `cases` or `streaming_cases`.
pub fn cases(kind: &str) -> Vec<Value> {
    let path = workspace::root().join("tests/data/match_cases.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let all: Value = serde_json::from_str(&text).expect("the file of cases is JSON");
    all[kind].as_array().expect("a list of cases").clone()
}

/// The text of a field.
pub fn text<'v>(case: &'v Value, field: &str) -> &'v str {
    case[field].as_str().unwrap_or_else(|| panic!("a case has the text `{field}`: {case}"))
}

fn list<'v>(case: &'v Value, field: &str) -> &'v [Value] {
    case[field].as_array().unwrap_or_else(|| panic!("a case has the list `{field}`: {case}"))
}

/// The table's columns as SQL: `a INT, ts TIMESTAMP(3)`.
fn columns_sql(case: &Value) -> String {
    let column = |column: &Value| format!("`{}` {}", text(column, "name"), text(column, "type"));
    list(case, "columns").iter().map(column).collect::<Vec<_>>().join(", ")
}

/// The rows that a case expects, sorted.
fn expected_rows(rows: &Value) -> Vec<Row> {
    let cell = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(normal(text)),
        other => Some(normal(&other.to_string())),
    };
    let rows = rows.as_array().expect("a list of rows").iter();
    let row = |row: &Value| row.as_array().expect("a row is a list").iter().map(cell).collect();
    sorted(rows.map(row).collect())
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_unstable();
    rows
}

/// One spelling for a value: numbers without a fraction of zero, timestamps without milliseconds of zero.
fn normal(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 => format!("{number:.0}"),
        _ => text.strip_suffix(".000").unwrap_or(text).to_string(),
    }
}
