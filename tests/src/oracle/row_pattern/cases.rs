//! Random rows and statements, through the engine's operator and through the matcher.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::SchemaRef;

use super::Row;
use super::matcher::Failure;
use super::statement::Statement;
use crate::match_operator::{MatchOperator, Row as Texts};
use crate::oracle::chance::Chance;

/// The table of all cases.
pub const CREATE: &str = "CREATE TABLE t (k INT, id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) \
                          WITH ('connector' = 'memory', 'table' = 'rows')";

/// Random rows in the order of their delivery: at most `disorder_ms` behind an earlier one.
pub fn rows(chance: &mut Chance, disorder_ms: i64) -> Vec<Row> {
    let mut time = 0;
    let count = chance.between(1, 14);
    (0..count)
        .map(|id| {
            time += chance.between(0, 3);
            Row {
                key: chance.between(1, 2) as i32,
                id: id as i32,
                value: (!chance.percent(8)).then(|| chance.between(0, 4) as i32),
                time: time - chance.between(0, disorder_ms),
            }
        })
        .collect()
}

/// Rows as a batch of the table's columns, or of those of `schema` only.
pub fn batch(rows: &[Row], schema: Option<&SchemaRef>) -> RecordBatch {
    let numbers = |value: fn(&Row) -> Option<i32>| Arc::new(rows.iter().map(value).collect::<Int32Array>()) as ArrayRef;
    let times = TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.time));
    let columns = [
        ("k", numbers(|row| Some(row.key))),
        ("id", numbers(|row| Some(row.id))),
        ("v", numbers(|row| row.value)),
        ("ts", Arc::new(times) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let Some(schema) = schema else { return batch };
    let column = |field: &Arc<arrow::datatypes::Field>| {
        Arc::clone(batch.column_by_name(field.name()).expect("the table has the column"))
    };
    let columns = schema.fields().iter().map(column).collect();
    RecordBatch::try_new(Arc::clone(schema), columns).expect("columns of the schema's types")
}

/// What a check of one statement over some rows has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Both agree on so many output rows.
    Rows(usize),
    /// Both fail.
    Failure,
    /// There are too many ways to try.
    Skipped,
}

/// Feeds `rows` in random batches, with a watermark that is `disorder_ms` behind, and compares with the matcher.
pub fn check(
    statement: &Statement,
    operator: &mut MatchOperator,
    rows: &[Row],
    disorder_ms: i64,
    chance: &mut Chance,
) -> Result<Checked, String> {
    let came = feed(operator, rows, disorder_ms, chance);
    let mut expected = vec![];
    for key in [1, 2] {
        let mut partition: Vec<Row> = rows.iter().copied().filter(|row| row.key == key).collect();
        partition.sort_by_key(|row| row.time);
        match statement.expected(&partition) {
            Ok(rows) => expected.extend(rows),
            Err(Failure::TooManyWays) => return Ok(Checked::Skipped),
            Err(Failure::Skip) => {
                return match came {
                    Err(message) if message.contains("AFTER MATCH SKIP TO") => Ok(Checked::Failure),
                    other => Err(format!("the skip fails, but the engine gives {other:?}")),
                };
            }
        }
    }
    let mut came = came?;
    came.sort_unstable();
    expected.sort_unstable();
    match came == expected {
        true => Ok(Checked::Rows(came.len())),
        false => Err(format!("came     {came:?}\nexpected {expected:?}")),
    }
}

fn feed(
    operator: &mut MatchOperator,
    rows: &[Row],
    disorder_ms: i64,
    chance: &mut Chance,
) -> Result<Vec<Texts>, String> {
    operator.restart()?;
    let input = Arc::clone(operator.input());
    let (mut came, mut rest, mut latest) = (vec![], rows, i64::MIN);
    while !rest.is_empty() {
        let count = chance.between(1, rest.len() as i64) as usize;
        let (now, later) = rest.split_at(count);
        operator.process(batch(now, Some(&input)))?;
        latest = now.iter().map(|row| row.time).fold(latest, i64::max);
        if chance.percent(70) {
            came.extend(operator.advance(latest - disorder_ms - 1)?);
        }
        if chance.percent(25) {
            operator.checkpoint_and_restore()?;
        }
        rest = later;
    }
    came.extend(operator.finish()?);
    assert_eq!(operator.late_rows(), 0, "no row is farther behind than the watermark");
    Ok(came)
}
