//! Cases over complete tables.

use std::fmt::Write;

use serde_json::Value;
use tidemark::Session;
use tidemark::session::StatementResult;
use tidemark_runtime::format::zone::Zone;

use super::{Row, columns_sql, expected_rows, list, normal, sorted, text};
use crate::harness::Cell;
use crate::harness::rows_of;

/// In which order the table's rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In order of time.
    InOrder,
    /// The last first; the watermark waits for all.
    Backwards,
}

impl Delivery {
    /// Both.
    pub const ALL: [Delivery; 2] = [Delivery::InOrder, Delivery::Backwards];
}

/// Runs a case in a cell of the matrix; the error says what is different.
pub fn run_batch(case: &Value, cell: Cell, delivery: Delivery) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = dir.path().join("rows.json");
    std::fs::write(&file, json_lines(case, delivery)).map_err(|e| e.to_string())?;
    let rowtime = text(case, "rowtime");
    let delay = if delivery == Delivery::InOrder { "'0.001' SECOND" } else { "'1' DAY" };
    let script = format!(
        "SET 'parallelism.default' = '{}'; SET 'execution.batch-size' = '{}';
        SET 'match.default-skip' = 'past-last-row';
        CREATE TABLE `{}` ({}, WATERMARK FOR `{rowtime}` AS `{rowtime}` - INTERVAL {delay})
        WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json');
        {}",
        cell.parallelism,
        cell.batch_size,
        text(case, "table"),
        columns_sql(case),
        file.display(),
        text(case, "sql"),
    );
    let result = Session::new().execute(&script);
    let expected = &case["expected"];
    if let Some(part) = expected["error_contains"].as_str() {
        return match result {
            Err(error) if error.to_string().contains(part) => Ok(()),
            Err(error) => Err(format!("an error with `{part}` is expected, but it says: {error}")),
            Ok(_) => Err(format!("an error with `{part}` is expected, and there is none")),
        };
    }
    let Some(StatementResult::Rows { output, changes, summary }) = result.map_err(|e| e.to_string())?.pop() else {
        return Err("a case ends in a query".into());
    };
    let late: u64 = summary.windows.iter().map(|window| window.late_rows).sum();
    let names: Vec<&str> = output.schema.fields().iter().map(|field| field.name().as_str()).collect();
    let wanted: Vec<&str> = list(case, "expected_columns").iter().filter_map(Value::as_str).collect();
    let rows: Vec<Row> = changes.iter().flat_map(|change| rows_of(&change.batch, Zone::Utc)).collect();
    let rows = sorted(rows.into_iter().map(|row| row.into_iter().map(|v| v.map(|v| normal(&v))).collect()).collect());
    let expected = expected_rows(expected);
    match names == wanted && rows == expected && late == 0 {
        true => Ok(()),
        false => {
            Err(format!("columns {names:?}, not {wanted:?}; {late} late\ncame     {rows:?}\nexpected {expected:?}"))
        }
    }
}

fn json_lines(case: &Value, delivery: Delivery) -> String {
    let names: Vec<&str> = list(case, "columns").iter().map(|column| text(column, "name")).collect();
    let mut rows: Vec<&Value> = list(case, "rows").iter().collect();
    if delivery == Delivery::Backwards {
        rows.reverse();
    }
    let mut lines = String::new();
    for row in rows {
        let cells = names.iter().enumerate().map(|(at, name)| (name.to_string(), row[at].clone()));
        // A String takes all that is written to it.
        let _ = writeln!(lines, "{}", Value::Object(cells.collect()));
    }
    lines
}
