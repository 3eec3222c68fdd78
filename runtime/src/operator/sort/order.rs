//! Puts rows of several batches in order.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{SortOptions, interleave_record_batch};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use tidemark_planner::stream_plan::SortKey;

use super::super::Output;
use super::super::limit::RowWindow;
use crate::change_batch::ChangeBatch;

/// A row: index of its batch, index in the batch.
pub type RowRef = (usize, usize);

/// An order of rows by keys.
#[derive(Debug)]
pub struct RowOrder {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl RowOrder {
    /// The order that `keys` ask for.
    pub fn new(keys: &[SortKey], schema: &SchemaRef) -> Result<Self, ArrowError> {
        let field = |key: &SortKey| {
            let options = SortOptions { descending: key.descending, nulls_first: key.nulls_first };
            SortField::new_with_options(schema.field(key.column).data_type().clone(), options)
        };
        let converter = RowConverter::new(keys.iter().map(field).collect())?;
        Ok(Self { columns: keys.iter().map(|k| k.column).collect(), converter })
    }

    /// Orders `rows`; equal ones stay as they are, without keys all of them.
    pub fn sort(&self, batches: &[&RecordBatch], rows: &mut [RowRef]) -> Result<(), ArrowError> {
        // The converter counts the rows of columns, so without columns it has none.
        if self.columns.is_empty() {
            return Ok(());
        }
        let mut keys = self.converter.empty_rows(0, 0);
        let mut starts = Vec::with_capacity(batches.len());
        for batch in batches {
            starts.push(keys.num_rows());
            let columns: Vec<ArrayRef> = self.columns.iter().map(|&c| batch.column(c).clone()).collect();
            self.converter.append(&mut keys, &columns)?;
        }
        rows.sort_by(|a, b| keys.row(starts[a.0] + a.1).cmp(&keys.row(starts[b.0] + b.1)));
        Ok(())
    }

    /// The order of the rows whose key columns these are: their places, equal ones as they are.
    pub fn sorted_places(&self, columns: &[ArrayRef]) -> Result<Vec<usize>, ArrowError> {
        let keys = self.converter.convert_columns(columns)?;
        let mut places: Vec<usize> = (0..keys.num_rows()).collect();
        places.sort_by(|a, b| keys.row(*a).cmp(&keys.row(*b)));
        Ok(places)
    }
}

/// Emits `rows` in the order given, as far as `window` wants them.
pub fn emit_rows(
    batches: &[&RecordBatch],
    rows: &[RowRef],
    batch_size: usize,
    window: &mut RowWindow,
    out: &mut Output,
) -> Result<(), ArrowError> {
    for chunk in rows.chunks(batch_size.max(1)) {
        if window.is_full() {
            return Ok(());
        }
        let rows = interleave_record_batch(batches, chunk)?;
        out.emit(window.cut(ChangeBatch::insert_only(rows)));
    }
    Ok(())
}
