//! Cases that say what must have been emitted after each watermark: all that no later row can change, and no more.

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, SchemaRef};
use serde_json::Value;
use std::sync::Arc;

use super::{Row, columns_sql, expected_rows, list, normal, sorted, text};
use crate::match_operator::MatchOperator;

/// Runs a case on the operator; the error says what is different.
pub fn run_streaming(case: &Value) -> Result<(), String> {
    let rowtime = text(case, "rowtime");
    let table = format!(
        "CREATE TABLE `{}` ({}, WATERMARK FOR `{rowtime}` AS `{rowtime}`) \
         WITH ('connector' = 'memory', 'table' = 'rows')",
        text(case, "table"),
        columns_sql(case)
    );
    let settings = [("match.default-skip", "past-last-row")];
    let mut operator = MatchOperator::plan(&table, &settings, text(case, "sql"), &empty(case))?;
    let names: Vec<&str> = list(case, "columns").iter().map(|column| text(column, "name")).collect();
    for (index, event) in list(case, "events").iter().enumerate() {
        let emitted = if let Some(row) = event.get("row") {
            let batch = row_batch(operator.input(), &names, row);
            operator.process(batch)?;
            continue;
        } else if let Some(watermark) = event.get("watermark") {
            operator.advance(millis(watermark.as_str().expect("a watermark is a text")))?
        } else {
            operator.finish()?
        };
        let of_event = |entry: &&Value| entry[0] == index;
        let expected = list(case, "expected_emissions").iter().find(of_event);
        let expected = expected.map_or_else(Vec::new, |entry| expected_rows(&entry[1]));
        let rows = emitted.into_iter().map(|row| row.into_iter().map(|v| v.map(|v| normal(&v))).collect());
        let rows: Vec<Row> = sorted(rows.collect());
        if rows != expected {
            return Err(format!("at event {index}\ncame     {rows:?}\nexpected {expected:?}"));
        }
    }
    let (late, expected) = (operator.late_rows(), list(case, "expected_late").len() as u64);
    if late == expected { Ok(()) } else { Err(format!("{late} rows are late, not {expected}")) }
}

/// A batch of the table's columns, in which the planner finds their types.
fn empty(case: &Value) -> RecordBatch {
    let columns = list(case, "columns").iter().map(|column| {
        let array: ArrayRef = match text(column, "type") {
            "INT" => Arc::new(Int32Array::from(Vec::<i32>::new())),
            "STRING" => Arc::new(StringArray::from(Vec::<String>::new())),
            _ => Arc::new(TimestampMillisecondArray::from(Vec::<i64>::new())),
        };
        (text(column, "name"), array)
    });
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn row_batch(schema: &SchemaRef, names: &[&str], row: &Value) -> RecordBatch {
    let columns = schema.fields().iter().map(|field| {
        let at = names.iter().position(|name| name == field.name()).expect("the table has the column");
        let value = &row[at];
        let column: ArrayRef = match field.data_type() {
            DataType::Int32 => Arc::new(Int32Array::from(vec![value.as_i64().map(|v| v as i32)])),
            DataType::Timestamp(_, _) => Arc::new(TimestampMillisecondArray::from(vec![value.as_str().map(millis)])),
            _ => Arc::new(StringArray::from(vec![value.as_str()])),
        };
        column
    });
    RecordBatch::try_new(SchemaRef::clone(schema), columns.collect()).expect("columns of the schema's types")
}

/// `2025-03-10 08:00:01` or with milliseconds, as milliseconds of that day; the day does not matter.
fn millis(time: &str) -> i64 {
    let clock = time.split(' ').nth(1).expect("date and time");
    let (seconds, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let seconds = seconds.split(':').fold(0i64, |all, part| all * 60 + part.parse::<i64>().expect("a number"));
    seconds * 1_000 + format!("{fraction:0<3}").parse::<i64>().expect("milliseconds")
}
