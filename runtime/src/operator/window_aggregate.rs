//! Aggregates per window and key; a window's rows leave when the watermark passes its end.
//!
//! Rows are aggregated once per slice, the largest interval whose times share all their windows. A window that
//! fires is merged from its slices; a slice goes when the last window that has it has fired.
//!
//! ```text
//! HOP 10 s by 5 s, COUNT(*)    rows at 1 s, 7 s, 8 s, then watermark 9.999 s    ->    [-5, 5): 1   [0, 10): 3
//! ```
//!
//! **Invariant:** the result is that of taking row by row, each when the watermark is the one it met
//! ([`crate::change_batch::ChangeBatch::row_watermarks`]): a row counts in exactly the windows that this watermark
//! leaves open, although they fire only when the batch is through.

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute;
use arrow::datatypes::SchemaRef;
use std::sync::atomic::Ordering;
use tidemark_planner::stream_plan::WindowAggregateNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use self::assign::{Assigner, Run};
use self::emit::WindowEmitter;
use self::slices::Slices;
use self::state::SliceState;
use super::{Operator, OperatorContext, Output};
use crate::aggregate::Arrival;
use crate::aggregate::group_sets::GroupSets;
use crate::aggregate::group_table::GroupRows;
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::window::late::LateRows;

mod assign;
mod emit;
mod slices;
mod state;

/// Stretches of rows in one slice are aggregated where they lie when they are at least this long on average;
/// shorter ones are first gathered by slice.
const MIN_RUN_ROWS: usize = 64;

/// Runs a [`WindowAggregateNode`].
pub struct WindowAggregate {
    assigner: Assigner,
    slices: Slices,
    emitter: WindowEmitter,
    /// The input columns that keys, arguments and filters are.
    inputs: Vec<usize>,
    /// The watermark of all inputs.
    watermark: i64,
    /// Number of the next row to arrive.
    next_row: u64,
    runs: Vec<Run>,
    state: SliceState,
    context: Option<OperatorContext>,
}

impl WindowAggregate {
    /// An operator without rows. Fails when the node asks for types or window lengths that cannot be had.
    pub fn new(
        node: &WindowAggregateNode,
        input_schema: &SchemaRef,
        output_schema: &SchemaRef,
    ) -> Result<Self, OperatorError> {
        let assigner = Assigner::new(&node.window)?;
        let (sets, inputs) = GroupSets::project(&node.keys, &node.grouping_sets, &node.aggregates, input_schema)?;
        let columns = node.keys.len() + node.aggregates.len() + node.window_columns.len();
        let has_grouping_id = output_schema.fields().len() > columns;
        let emitter = WindowEmitter::new(output_schema, has_grouping_id, &node.window_columns, assigner.zone().clone());
        let state = SliceState::new(&node.window, input_schema, &sets)?;
        let slices = Slices::new(assigner.shared_windows(), sets);
        Ok(Self {
            assigner,
            slices,
            emitter,
            inputs,
            watermark: i64::MIN,
            next_row: 0,
            runs: Vec::new(),
            state,
            context: None,
        })
    }

    fn context(&self) -> &OperatorContext {
        self.context.as_ref().expect("open comes before all other calls")
    }

    /// Counts the rows of `batch` into the slices of `self.runs`.
    fn count_runs(&mut self, batch: &ChangeBatch) -> Result<(), OperatorError> {
        let columns: Vec<ArrayRef> =
            self.inputs.iter().map(|column| ArrayRef::clone(batch.batch.column(*column))).collect();
        let first_row = self.next_row;
        self.next_row += batch.num_rows() as u64;
        let runs = std::mem::take(&mut self.runs);
        let rows: usize = runs.iter().map(|run| run.len).sum();
        if runs.len() > 2 && rows / runs.len() < MIN_RUN_ROWS {
            self.count_gathered(&columns, &runs, first_row)?;
        } else {
            for run in &runs {
                let arrival = Arrival::From(first_row + run.start as u64);
                if run.len == batch.num_rows() {
                    self.slices.count(run.key, &GroupRows { columns: &columns, len: run.len, arrival })?;
                } else {
                    let columns: Vec<ArrayRef> = columns.iter().map(|c| c.slice(run.start, run.len)).collect();
                    self.slices.count(run.key, &GroupRows { columns: &columns, len: run.len, arrival })?;
                }
            }
        }
        self.runs = runs;
        Ok(())
    }

    /// The same for many short runs: brings the rows of a slice together first, in arrival order.
    fn count_gathered(&mut self, columns: &[ArrayRef], runs: &[Run], first_row: u64) -> Result<(), OperatorError> {
        let mut by_slice: Vec<&Run> = runs.iter().collect();
        by_slice.sort_by_key(|run| run.key);
        let rows = |run: &&Run| run.start as u32..(run.start + run.len) as u32;
        let order = UInt32Array::from_iter_values(by_slice.iter().flat_map(rows));
        let columns = columns.iter().map(|c| compute::take(c, &order, None)).collect::<Result<Vec<_>, _>>()?;
        let mut start = 0;
        for runs in by_slice.chunk_by(|a, b| a.key == b.key) {
            let len = runs.iter().map(|run| run.len).sum();
            let columns: Vec<ArrayRef> = columns.iter().map(|c| c.slice(start, len)).collect();
            let arrival = Arrival::Picked { base: first_row, indices: &order.values()[start..start + len] };
            self.slices.count(runs[0].key, &GroupRows { columns: &columns, len, arrival })?;
            start += len;
        }
        Ok(())
    }

    /// Fires the windows whose last instant is at most `instant`, in the order of their ends, then starts.
    fn fire_until(&mut self, instant: i64, out: &mut Output) -> Result<(), OperatorError> {
        let mut fired = Vec::new();
        let batch_size = self.context().batch_size;
        while let Some(end) = self.slices.next_end() {
            let last_instant = self.assigner.zone().last_instant_before(end);
            if last_instant > instant {
                break;
            }
            let emitter = &mut self.emitter;
            self.slices.fire_next(|window, sets, tables| {
                fired.push((window.start, last_instant));
                emitter.emit(window, sets, tables, batch_size, out)
            })?;
        }
        if !fired.is_empty() {
            self.emitter.flush(out)?;
        }
        self.context().metrics.windows_fired.report(fired, instant);
        Ok(())
    }
}

impl Operator for WindowAggregate {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.context = Some(ctx.clone());
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.state.tables()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        self.state.write(&self.slices, self.watermark, self.next_row, self.context())
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        (self.watermark, self.next_row) = self.state.read(snapshot, &mut self.slices)?;
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        now_ms: i64,
        _out: &mut Output,
    ) -> Result<(), OperatorError> {
        let (batch, null_rows) = self.assigner.without_null_times(batch)?;
        self.context().metrics.null_rowtime_rows.fetch_add(null_rows, Ordering::Relaxed);
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let mut late = LateRows::default();
        self.runs.clear();
        self.assigner.assign(&batch, self.watermark, now_ms, &mut self.runs, &mut late)?;
        late.report(&self.context().metrics);
        self.count_runs(&batch)
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<Watermark, OperatorError> {
        self.watermark = self.watermark.max(watermark.0);
        if !self.assigner.is_processing_time() {
            self.fire_until(watermark.0, out)?;
        }
        Ok(watermark)
    }

    fn on_processing_time(&mut self, now_ms: i64, out: &mut Output) -> Result<(), OperatorError> {
        self.fire_until(now_ms - 1, out)
    }

    fn next_timer_ms(&self) -> Option<i64> {
        if !self.assigner.is_processing_time() {
            return None;
        }
        self.slices.next_end().map(|end| self.assigner.zone().last_instant_before(end) + 1)
    }

    fn finish(&mut self, out: &mut Output) -> Result<(), OperatorError> {
        self.fire_until(i64::MAX, out)
    }
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod restore_tests;
#[cfg(test)]
pub(crate) mod tests;
