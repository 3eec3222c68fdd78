//! Rows to be put out, as indices into the batch at hand and into the rows of the other side.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int8Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute;
use arrow::error::ArrowError;

use super::chunks::{Chunks, NONE};
use super::plan::JoinPlan;
use crate::change_batch::{ChangeBatch, RowKind};
use crate::error::OperatorError;
use crate::operator::Output;

/// Output rows that have not been built yet.
#[derive(Debug, Default)]
pub(super) struct OutputRows {
    kinds: Vec<i8>,
    /// Rows of the batch, or [`NONE`] for NULL.
    own: Vec<u32>,
    /// Rows of the other side, or [`NONE`] for NULL.
    other: Vec<u32>,
    has_retractions: bool,
}

impl OutputRows {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Adds a row.
    pub(super) fn push(&mut self, kind: RowKind, own: u32, other: u32) {
        self.kinds.push(kind as i8);
        self.own.push(own);
        self.other.push(other);
        self.has_retractions |= !kind.is_addition();
    }

    /// Builds and emits the rows. `columns` are the kept columns of side `input`: none when no row refers to them.
    pub(super) fn flush(
        &mut self,
        plan: &JoinPlan,
        input: usize,
        columns: Option<&[ArrayRef]>,
        other: &Chunks,
        batch_size: usize,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let rows = self.len();
        if rows == 0 {
            return Ok(());
        }
        let own = self.own_columns(plan, input, columns)?;
        let other = other.gather(0..plan.sides[1 - input].side.output, &self.other)?;
        let columns = if input == 0 { [own, other].concat() } else { [other, own].concat() };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&plan.output_schema), columns, &options)?;
        let kinds = self.has_retractions.then(|| Int8Array::from(std::mem::take(&mut self.kinds)));
        let changes = ChangeBatch { batch, kinds, row_watermarks: None };
        if self.has_retractions {
            // What is taken back and what takes its place stay together.
            out.emit(changes);
        } else {
            let starts = (0..rows).step_by(batch_size);
            starts.for_each(|start| out.emit(changes.slice(start, batch_size.min(rows - start))));
        }
        self.clear();
        Ok(())
    }

    fn own_columns(
        &self,
        plan: &JoinPlan,
        input: usize,
        columns: Option<&[ArrayRef]>,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let side = &plan.sides[input];
        let Some(columns) = columns else {
            debug_assert!(self.own.iter().all(|row| *row == NONE), "rows of a batch need the batch");
            let null = |field: &arrow::datatypes::Field| new_null_array(field.data_type(), self.len());
            return Ok(side.fields[..side.side.output].iter().map(null).collect());
        };
        let indices = match self.own.contains(&NONE) {
            true => self.own.iter().map(|row| (*row != NONE).then_some(*row)).collect(),
            false => UInt32Array::from_iter_values(self.own.iter().copied()),
        };
        columns[..side.side.output].iter().map(|column| compute::take(column, &indices, None)).collect()
    }

    fn clear(&mut self) {
        self.kinds.clear();
        self.own.clear();
        self.other.clear();
        self.has_retractions = false;
    }
}
