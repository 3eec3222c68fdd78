//! What is known of a file besides its rows, as columns that say the same in each row.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;

/// The keys, as in Flink.
pub(super) const KEYS: [&str; 4] = ["file.path", "file.name", "file.size", "file.modification-time"];

/// The type of a key's column.
pub(super) fn data_type(key: &str) -> DataType {
    match key {
        "file.size" => DataType::Int64,
        "file.modification-time" => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        _ => DataType::Utf8,
    }
}

/// Appends the columns to batches.
pub(super) struct FileColumns {
    schema: SchemaRef,
    /// As long as a batch can be.
    columns: Vec<ArrayRef>,
}

impl FileColumns {
    /// The columns `keys` of `path`, behind those of `physical`.
    pub fn new(keys: &[String], physical: &SchemaRef, path: &Path, facts: &Metadata, batch_size: usize) -> Self {
        let columns = keys.iter().map(|key| column(key, path, facts, batch_size)).collect();
        let mut fields: Vec<Field> = physical.fields().iter().map(|f| f.as_ref().clone()).collect();
        fields.extend(keys.iter().map(|key| Field::new(key, data_type(key), false)));
        Self { schema: Arc::new(Schema::new(fields)), columns }
    }

    /// The batch with the columns.
    pub fn append_to(&self, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        if self.columns.is_empty() {
            return Ok(batch);
        }
        let rows = batch.num_rows();
        let mut columns = batch.columns().to_vec();
        columns.extend(self.columns.iter().map(|c| c.slice(0, rows)));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
    }
}

fn column(key: &str, path: &Path, facts: &Metadata, rows: usize) -> ArrayRef {
    let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows))) };
    match key {
        "file.size" => Arc::new(Int64Array::from_value(i64::try_from(facts.len()).unwrap_or(i64::MAX), rows)),
        "file.modification-time" => {
            let modified = facts.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            let ms = i64::try_from(modified.as_millis()).unwrap_or(i64::MAX);
            Arc::new(TimestampMillisecondArray::from_value(ms, rows).with_timezone("UTC"))
        }
        "file.name" => text(&path.file_name().unwrap_or_default().to_string_lossy()),
        _ => text(&absolute(path).to_string_lossy()),
    }
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
