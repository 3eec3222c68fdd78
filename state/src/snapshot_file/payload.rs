//! The schema and the rows of a table as Arrow IPC messages.

use std::io::Read;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow::ipc::{CompressionType, MetadataVersion};

/// Buffers start at multiples of it; the least that Arrow allows, for states may have many small entries.
const ALIGNMENT_BYTES: usize = 8;

fn start_stream(schema: &SchemaRef) -> Result<StreamWriter<Vec<u8>>, ArrowError> {
    let options = IpcWriteOptions::try_new(ALIGNMENT_BYTES, false, MetadataVersion::V5)?
        .try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    StreamWriter::try_new_with_options(Vec::new(), schema, options)
}

/// The schema message.
pub(super) fn encode_schema(schema: &SchemaRef) -> Result<Vec<u8>, ArrowError> {
    Ok(std::mem::take(start_stream(schema)?.get_mut()))
}

/// Appends the messages of the rows. They must have the schema's columns, or they could not be read again.
pub(super) fn encode_rows(schema: &SchemaRef, rows: &RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let rows = RecordBatch::try_new_with_options(SchemaRef::clone(schema), rows.columns().to_vec(), &options)?;
    let mut stream = start_stream(schema)?;
    std::mem::swap(stream.get_mut(), out);
    let written = stream.write(&rows);
    std::mem::swap(stream.get_mut(), out);
    written
}

pub(super) fn decode_schema(schema: &[u8]) -> Result<SchemaRef, ArrowError> {
    Ok(StreamReader::try_new(schema, None)?.schema())
}

/// The rows of an entry, of which there must be `row_count`.
pub(super) fn decode_rows(schema: &[u8], rows: &[u8], row_count: u64) -> Result<RecordBatch, ArrowError> {
    let mut stream = StreamReader::try_new(schema.chain(rows), None)?;
    let batch = stream.next().transpose()?;
    match batch {
        Some(batch) if batch.num_rows() as u64 == row_count => Ok(batch),
        other => {
            let found = other.map_or(0, |batch| batch.num_rows());
            Err(ArrowError::IpcError(format!("{row_count} rows were written, {found} are there")))
        }
    }
}
