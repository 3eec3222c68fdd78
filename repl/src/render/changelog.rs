//! Changes as rows: the kind of change becomes a leading column `op`.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use tidemark_runtime::change_batch::ChangeBatch;

/// Name of the leading column.
const OP: &str = "op";

/// `schema` behind a column `op`.
pub fn schema_with_op(schema: &SchemaRef) -> SchemaRef {
    let op = Arc::new(Field::new(OP, DataType::Utf8, false));
    let fields: Vec<_> = std::iter::once(op).chain(schema.fields().iter().cloned()).collect();
    Arc::new(Schema::new(fields))
}

/// The rows of `changes` behind their `+I`, `-U`, `+U` or `-D`; `schema` comes from [`schema_with_op`].
pub fn with_op(schema: &SchemaRef, changes: &ChangeBatch) -> Result<RecordBatch, ArrowError> {
    let ops = StringArray::from_iter_values((0..changes.num_rows()).map(|row| changes.kind(row).symbol()));
    let ops: ArrayRef = Arc::new(ops);
    let columns = std::iter::once(ops).chain(changes.batch.columns().iter().cloned()).collect();
    RecordBatch::try_new(Arc::clone(schema), columns)
}
