//! The same query through Tidemark.

use arrow::array::{Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use tidemark::Session;
use tidemark::session::{SessionError, StatementResult};
use tidemark_runtime::format::text::TextFormatter;
use tidemark_runtime::format::zone::Zone;

use super::Rows;
use super::events::{COLUMNS, Events};
use crate::harness::Cell;

/// The query's rows, and how many events were late.
pub fn run(sql: &str, events: &Events, cell: Cell) -> Result<(Rows, u64), SessionError> {
    let mut session = Session::new();
    session.hold_batches("events", vec![events.rows.clone()]);
    let delay_ms = events.disorder_ms + 1;
    let script = format!(
        "SET 'parallelism.default' = '{}';
        SET 'execution.batch-size' = '{}';
        CREATE TABLE events ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '{}.{:03}' SECOND)
        WITH ('connector' = 'memory', 'table' = 'events');
        {sql}",
        cell.parallelism,
        cell.batch_size,
        delay_ms / 1_000,
        delay_ms % 1_000,
    );
    let last = session.execute(&script)?.pop();
    let Some(StatementResult::Rows { changes, summary, .. }) = last else {
        unreachable!("the script ends in a query");
    };
    assert!(changes.iter().all(|c| c.kinds.is_none()), "a window's result is final");
    let late = summary.windows.iter().map(|w| w.late_rows).sum();
    Ok((changes.iter().flat_map(|c| texts(&c.batch)).collect(), late))
}

/// The rows of a batch; timestamps as milliseconds, floats to nine digits.
pub fn texts(batch: &RecordBatch) -> Rows {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Timestamp(_, _) => cast(column, &DataType::Int64).expect("a timestamp is a number"),
        _ => column.clone(),
    });
    let columns: Vec<_> = columns.collect();
    let texts: Vec<_> =
        columns.iter().map(|c| TextFormatter::new(c, Zone::Utc).expect("every type has a text")).collect();
    let cell = |column: usize, row: usize| {
        let mut text = String::new();
        if texts[column].is_null(row) {
            return None;
        }
        texts[column].write(row, &mut text);
        match (columns[column].data_type(), text.parse::<f64>()) {
            (DataType::Float64, Ok(value)) => Some(format!("{value:.8e}")),
            _ => Some(text),
        }
    };
    (0..batch.num_rows()).map(|row| (0..columns.len()).map(|column| cell(column, row)).collect()).collect()
}
