//! Rows that wait, as a state table.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::interleave_record_batch;
use arrow::datatypes::SchemaRef;
use tidemark_state::snapshot::{OperatorSnapshot, StateEntry, StateTableSchema, TableSnapshot};

use super::order::RowRef;
use crate::error::OperatorError;
use crate::operator::state::entries_of;

/// So many rows stand in an entry.
const MAX_ENTRY_ROWS: usize = 64 * 1024;

/// The table of rows of some columns, in the order of their arrival. They belong to no key: a sort has one subtask.
#[derive(Debug)]
pub(super) struct RowState {
    table: StateTableSchema,
}

impl RowState {
    /// The table of rows with these columns.
    pub(super) fn new(columns: &SchemaRef) -> Self {
        Self { table: StateTableSchema { name: "rows".to_owned(), version: 1, schema: Arc::clone(columns) } }
    }

    /// What the table looks like.
    pub(super) fn table(&self) -> &StateTableSchema {
        &self.table
    }

    /// The table with these rows of `batches`.
    pub(super) fn write(&self, batches: &[&RecordBatch], rows: &[RowRef]) -> Result<TableSnapshot, OperatorError> {
        let entry = |rows: &[RowRef]| {
            let columns = interleave_record_batch(batches, rows)?.columns().to_vec();
            Ok(StateEntry { key_group: None, rows: RecordBatch::try_new(Arc::clone(&self.table.schema), columns)? })
        };
        let entries = rows.chunks(MAX_ENTRY_ROWS).map(entry).collect::<Result<_, OperatorError>>()?;
        Ok(self.table.with_entries(entries))
    }

    /// The rows, in the order in which they were written.
    pub(super) fn read<'a>(
        &self,
        snapshot: &'a OperatorSnapshot,
    ) -> Result<impl Iterator<Item = &'a RecordBatch> + use<'a>, OperatorError> {
        Ok(entries_of(snapshot, &self.table)?.iter().map(|entry| &entry.rows))
    }
}
