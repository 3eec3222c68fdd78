//! Values that the task knows, put where expressions can read them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use tidemark_planner::stream_plan::HiddenColumn;

use crate::change_batch::ChangeBatch;
use crate::element::Watermark;

/// Columns appended behind the input's.
#[derive(Debug)]
pub struct HiddenColumns {
    columns: Vec<HiddenColumn>,
    schema: SchemaRef,
}

impl HiddenColumns {
    /// Appends `columns` to batches of `input_schema`.
    pub fn new(columns: &[HiddenColumn], input_schema: &SchemaRef) -> Self {
        if columns.is_empty() {
            return Self { columns: vec![], schema: Arc::clone(input_schema) };
        }
        let appended = columns.iter().map(|c| Arc::new(field_of(*c)));
        let fields: Vec<_> = input_schema.fields().iter().cloned().chain(appended).collect();
        Self { columns: columns.to_vec(), schema: Arc::new(Schema::new(fields)) }
    }

    /// The input's columns, then the hidden ones.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Do the columns show the watermark?
    pub fn show_watermark(&self) -> bool {
        self.columns.contains(&HiddenColumn::RowWatermark)
    }

    /// Appends the columns to `rows`; `watermark` is the one that rows without their own have met.
    pub fn append(&self, rows: ChangeBatch, now_ms: i64, watermark: Watermark) -> Result<ChangeBatch, ArrowError> {
        if self.columns.is_empty() {
            return Ok(rows);
        }
        let count = rows.num_rows();
        let hidden = self.columns.iter().map(|column| match column {
            HiddenColumn::ProcessingTime => {
                Arc::new(TimestampMillisecondArray::from_value(now_ms, count).with_timezone("UTC")) as ArrayRef
            }
            HiddenColumn::RowWatermark => Arc::new(row_watermarks(rows.row_watermarks.as_ref(), watermark, count)),
        });
        let columns = rows.batch.columns().iter().cloned().chain(hidden).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        Ok(ChangeBatch { batch, ..rows })
    }
}

fn field_of(column: HiddenColumn) -> Field {
    match column {
        HiddenColumn::ProcessingTime => {
            Field::new("$processing_time", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), false)
        }
        HiddenColumn::RowWatermark => {
            Field::new("$row_watermark", DataType::Timestamp(TimeUnit::Millisecond, None), true)
        }
    }
}

fn row_watermarks(of_rows: Option<&Int64Array>, current: Watermark, count: usize) -> TimestampMillisecondArray {
    let known = |w: i64| (w != Watermark::MIN.0).then_some(w);
    match (of_rows, known(current.0)) {
        (Some(of_rows), _) => of_rows.values().iter().map(|&w| known(w)).collect(),
        (None, Some(current)) => TimestampMillisecondArray::from_value(current, count),
        (None, None) => TimestampMillisecondArray::new_null(count),
    }
}
