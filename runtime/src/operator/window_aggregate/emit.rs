//! Fired windows as output rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, TimestampMillisecondArray};
use arrow::compute;
use arrow::datatypes::{DataType, SchemaRef};
use tidemark_planner::stream_plan::WindowColumn;

use crate::aggregate::group_output::GroupOutput;
use crate::aggregate::group_sets::GroupSets;
use crate::aggregate::group_table::{GroupTable, of_type};
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;
use crate::operator::Output;
use crate::window::{Window, Zone};

/// Builds rows of keys, aggregates and window columns, and gathers those of small windows into larger batches.
pub(super) struct WindowEmitter {
    output: GroupOutput,
    window_columns: Vec<WindowColumn>,
    zone: Zone,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
}

impl WindowEmitter {
    pub(super) fn new(schema: &SchemaRef, has_grouping_id: bool, window_columns: &[WindowColumn], zone: Zone) -> Self {
        let output = GroupOutput::new(schema, has_grouping_id);
        Self { output, window_columns: window_columns.to_vec(), zone, pending: Vec::new(), pending_rows: 0 }
    }

    /// Emits the rows of a window, set by set, in the order of the keys' arrival. Some may wait for
    /// [`WindowEmitter::flush`].
    pub(super) fn emit(
        &mut self,
        window: Window,
        sets: &GroupSets,
        tables: &[GroupTable],
        batch_size: usize,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        for (set, table) in sets.sets.iter().zip(tables) {
            let groups: Vec<u32> = (0..table.len() as u32).collect();
            for groups in groups.chunks(batch_size.max(1)) {
                let mut columns = self.output.keys(set, table, groups)?;
                columns.extend(table.results(&set.plan, groups)?);
                for column in &self.window_columns {
                    let field = self.output.schema().field(columns.len());
                    columns.push(self.window_column(*column, window, groups.len(), field.data_type())?);
                }
                self.push(self.output.batch(columns)?, batch_size, out)?;
            }
        }
        Ok(())
    }

    fn window_column(
        &self,
        column: WindowColumn,
        window: Window,
        rows: usize,
        data_type: &DataType,
    ) -> Result<ArrayRef, OperatorError> {
        let time = match column {
            WindowColumn::Start => window.start,
            WindowColumn::End => window.end,
            WindowColumn::Time => self.zone.last_instant_before(window.end),
        };
        let zone = match data_type {
            DataType::Timestamp(_, zone) => zone.clone(),
            _ => None,
        };
        of_type(Arc::new(TimestampMillisecondArray::from_value(time, rows).with_timezone_opt(zone)), data_type)
    }

    fn push(&mut self, batch: RecordBatch, batch_size: usize, out: &mut Output) -> Result<(), OperatorError> {
        if self.pending_rows + batch.num_rows() > batch_size {
            self.flush(out)?;
        }
        self.pending_rows += batch.num_rows();
        self.pending.push(batch);
        Ok(())
    }

    /// Emits what has been gathered.
    pub(super) fn flush(&mut self, out: &mut Output) -> Result<(), OperatorError> {
        if let [only] = self.pending.as_slice() {
            out.emit(ChangeBatch::insert_only(only.clone()));
        } else if !self.pending.is_empty() {
            out.emit(ChangeBatch::insert_only(compute::concat_batches(self.output.schema(), &self.pending)?));
        }
        self.pending.clear();
        self.pending_rows = 0;
        Ok(())
    }
}
