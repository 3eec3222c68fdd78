//! Small batches for unit tests.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, TimeUnit, TimestampMillisecondType};

use crate::change_batch::ChangeBatch;

/// Rows of one column `n BIGINT NOT NULL`.
pub fn numbers(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    let schema = Schema::new(vec![Field::new("n", DataType::Int64, false)]);
    RecordBatch::try_new(Arc::new(schema), vec![column]).expect("one column of the declared type")
}

/// `ts TIMESTAMP(3), n BIGINT`
pub fn event_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("ts", DataType::Timestamp(TimeUnit::Millisecond, None), true),
        Field::new("n", DataType::Int64, true),
    ]))
}

/// Rows of [`event_schema`]: (ts in ms, n).
pub fn events<T: Into<Option<i64>>>(rows: impl IntoIterator<Item = (T, i64)>) -> RecordBatch {
    let (times, values): (Vec<Option<i64>>, Vec<i64>) = rows.into_iter().map(|(t, n)| (t.into(), n)).unzip();
    let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(times));
    RecordBatch::try_new(event_schema(), vec![times, Arc::new(Int64Array::from(values))])
        .expect("two columns of the declared types")
}

/// The `n` of every row, in order: the last column.
pub fn values_of<'a>(batches: impl IntoIterator<Item = &'a ChangeBatch>) -> Vec<i64> {
    let last = |b: &'a ChangeBatch| b.batch.columns().last().expect("a column").as_primitive::<Int64Type>().values();
    batches.into_iter().flat_map(|b| last(b).iter().copied()).collect()
}

/// The `ts` of every row, in order: the first column.
pub fn times_of<'a>(batches: impl IntoIterator<Item = &'a ChangeBatch>) -> Vec<Option<i64>> {
    let first = |b: &'a ChangeBatch| b.batch.column(0).as_primitive::<TimestampMillisecondType>();
    batches.into_iter().flat_map(|b| first(b).iter()).collect()
}
