//! Parquet: reads the columns that are wanted, and writes.

mod conform;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Write};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde::{Deserialize, Serialize};
use tidemark_planner::catalog::connector::OptionError;
use tidemark_planner::catalog::options::{OptionKind, OptionSpec, Options};

use super::nearest::did_you_mean;
use super::{Encoder, TextContext};
use crate::error::{DataError, OperatorError, RuntimeError};
use conform::{can_conform, conform};
use tidemark_planner::types::sql_name;

const COMPRESSION: &str = "parquet.compression";

/// How Parquet is written.
#[derive(Clone, Debug)]
pub(crate) struct ParquetOptions {
    compression: Compression,
}

/// What may be given.
pub(crate) fn specs() -> Vec<OptionSpec> {
    vec![OptionSpec {
        key: COMPRESSION,
        kind: OptionKind::OneOf(&["SNAPPY", "ZSTD", "GZIP", "UNCOMPRESSED"]),
        required: false,
        help: "how pages are compressed when writing, 'SNAPPY' by default",
    }]
}

impl ParquetOptions {
    /// From the options of a table.
    pub fn of(options: &Options) -> Result<Self, OptionError> {
        let compression = match options.get(COMPRESSION) {
            Some("ZSTD") => Compression::ZSTD(ZstdLevel::default()),
            Some("GZIP") => Compression::GZIP(GzipLevel::default()),
            Some("UNCOMPRESSED") => Compression::UNCOMPRESSED,
            _ => Compression::SNAPPY,
        };
        Ok(Self { compression })
    }
}

/// Reads a file.
pub(crate) struct ParquetReader {
    batches: ParquetRecordBatchReader,
    /// Where each wanted column stands in `batches`.
    positions: Vec<usize>,
    ctx: TextContext,
    /// Rows of each row group.
    groups: Vec<u64>,
    /// Rows given, those that were passed over at the beginning included.
    given: u64,
}

/// A place between two rows of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ParquetPosition {
    /// The row group of the next row.
    pub row_group: usize,
    /// Rows before it in that group.
    pub row: u64,
}

impl ParquetReader {
    /// Checks the file's columns against those wanted; reads no rows yet. What is `at` is not in the file any more when
    /// the inner result is a sentence.
    pub fn open(file: File, ctx: TextContext, at: ParquetPosition) -> Result<Result<Self, String>, RuntimeError> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| unreadable(&ctx, &e))?;
        let found = builder.schema().clone();
        let mut wanted = vec![];
        for field in ctx.projection.fields() {
            wanted.push(position(&found, field.name(), field.data_type()).map_err(|reason| data_error(&ctx, reason))?);
        }
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
        // The reader keeps the file's order and drops the columns in between.
        let positions = wanted.iter().map(|w| wanted.iter().filter(|other| *other < w).count()).collect();
        let groups: Vec<u64> = builder.metadata().row_groups().iter().map(|g| g.num_rows().max(0) as u64).collect();
        if at.row_group > groups.len() || at.row > groups.get(at.row_group).copied().unwrap_or(0) {
            let ParquetPosition { row_group, row } = at;
            let reason = format!("the file has no row {row} in row group {row_group}, which was to be read next");
            return Ok(Err(reason));
        }
        let given = groups[..at.row_group].iter().sum::<u64>() + at.row;
        let batches = builder
            .with_projection(mask)
            .with_batch_size(ctx.batch_size)
            .with_row_groups((at.row_group..groups.len()).collect())
            .with_offset(at.row as usize)
            .build();
        Ok(Ok(Self { batches: batches.map_err(|e| unreadable(&ctx, &e))?, positions, ctx, groups, given }))
    }

    /// Behind the rows that have been given.
    pub fn position(&self) -> ParquetPosition {
        let (mut row_group, mut row) = (0, self.given);
        while let Some(rows) = self.groups.get(row_group).filter(|rows| row >= **rows) {
            row -= rows;
            row_group += 1;
        }
        ParquetPosition { row_group, row }
    }

    /// The next rows.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, RuntimeError> {
        let Some(batch) = self.batches.next() else { return Ok(None) };
        let batch = batch.map_err(|e| data_error(&self.ctx, e.to_string()))?;
        self.given += batch.num_rows() as u64;
        let mut arrays = vec![];
        for (field, position) in self.ctx.projection.fields().iter().zip(&self.positions) {
            let place = |reason| data_error(&self.ctx, format!("column '{}': {reason}", field.name()));
            let array =
                conform(batch.column(*position), field.data_type(), self.ctx.zone).map_err(|e| place(e.to_string()))?;
            if !field.is_nullable() && array.null_count() > 0 {
                return Err(place(format!("NULL in a column declared {} NOT NULL", sql_name(field.data_type()))));
            }
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(self.ctx.projection.clone(), arrays, &options);
        Ok(Some(batch.map_err(OperatorError::from)?))
    }
}

fn position(found: &SchemaRef, name: &str, declared: &DataType) -> Result<usize, String> {
    let Ok(position) = found.index_of(name) else {
        let names: Vec<_> = found.fields().iter().map(|f| f.name().as_str()).collect();
        return Err(format!("the file has no column '{name}'{}", did_you_mean(name, &names)));
    };
    let stored = found.field(position).data_type();
    if !can_conform(stored, declared) {
        let (declared, stored) = (sql_name(declared), sql_name(stored));
        return Err(format!("column '{name}' is declared {declared} but the file holds {stored}"));
    }
    Ok(position)
}

fn data_error(ctx: &TextContext, reason: String) -> RuntimeError {
    DataError { table: ctx.table.clone(), place: ctx.place.clone(), reason, help: None }.into()
}

fn unreadable(ctx: &TextContext, error: &ParquetError) -> RuntimeError {
    data_error(ctx, format!("this is not a readable Parquet file: {error}"))
}

/// Writes a file.
pub(crate) struct ParquetEncoder {
    writer: ArrowWriter<Box<dyn Write + Send>>,
}

impl ParquetEncoder {
    /// Begins the file.
    pub fn new(options: &ParquetOptions, file: Box<dyn Write + Send>, schema: SchemaRef) -> io::Result<Self> {
        let properties = WriterProperties::builder().set_compression(options.compression).build();
        Ok(Self { writer: ArrowWriter::try_new(file, schema, Some(properties)).map_err(io::Error::other)? })
    }
}

impl Encoder for ParquetEncoder {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.writer.write(batch).map_err(io::Error::other)
    }

    /// Rows wait for their row group: a group for each pause of the input would make the file slow to read.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.finish().map(|_| ()).map_err(io::Error::other)
    }
}
