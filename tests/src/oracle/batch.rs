//! DataFusion over the complete input.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::Rows;
use super::query::Query;
use super::stream::texts;

/// The query's rows.
pub fn run(query: &Query, events: &RecordBatch) -> Result<Rows, DataFusionError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        ctx.register_batch("events", with_milliseconds(events)?)?;
        ctx.register_batch("steps", steps(query.most_windows())?)?;
        let batches = ctx.sql(&query.batch()).await?.collect().await?;
        Ok(batches.iter().flat_map(texts).collect())
    })
}

/// The events with their event time as a number, `ms`.
fn with_milliseconds(events: &RecordBatch) -> Result<RecordBatch, DataFusionError> {
    let time = events.column_by_name("ts").expect("events have a time");
    let ms = cast(time, &DataType::Int64)?;
    let schema = events.schema();
    let fields = schema.fields().iter().cloned().chain([Arc::new(Field::new("ms", DataType::Int64, true))]);
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let columns = events.columns().iter().cloned().chain([ms]).collect();
    Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
}

fn steps(count: i64) -> Result<RecordBatch, DataFusionError> {
    let indices: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count));
    Ok(RecordBatch::try_from_iter([("step_index", indices)])?)
}
