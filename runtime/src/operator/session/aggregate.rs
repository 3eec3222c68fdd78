//! Aggregates per session and key; a session's row leaves when the watermark passes its end.
//!
//! ```text
//! COUNT(*) BY k, gap 10 s    (a, 0 s) (b, 3 s) (a, 5 s)    ->    [3, 13) b: 1    [0, 15) a: 2
//! ```
//!
//! Sessions leave in the order of their ends, those of one end in the order in which they were begun.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::{TimeWindow, WindowAggregateNode, WindowColumn};

use super::SessionStream;
use super::part_states::PartStates;
use super::sessions::Closed;
use crate::aggregate::Arrival;
use crate::aggregate::group_sets::GroupSets;
use crate::aggregate::group_table::{GroupRows, of_type};
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::operator::{Operator, OperatorContext, Output};

/// Runs a [`WindowAggregateNode`] over a session window. It has no grouping sets.
pub struct SessionAggregate {
    stream: SessionStream,
    states: PartStates,
    /// The input columns that keys, arguments and filters are.
    inputs: Vec<usize>,
    window_columns: Vec<WindowColumn>,
    schema: SchemaRef,
    /// Number of the next row to arrive.
    next_row: u64,
    context: Option<OperatorContext>,
}

impl SessionAggregate {
    /// An operator without rows. Fails when the node asks for types or a gap that cannot be had.
    pub fn new(
        node: &WindowAggregateNode,
        window: &TimeWindow,
        input_schema: &SchemaRef,
        output_schema: &SchemaRef,
    ) -> Result<Self, OperatorError> {
        let (sets, inputs) = GroupSets::project(&node.keys, &[], &node.aggregates, input_schema)?;
        let set = sets.sets.into_iter().next().expect("without grouping sets there is the set of all keys");
        Ok(Self {
            stream: SessionStream::new(window, &node.keys, input_schema)?,
            states: PartStates::new(set.plan)?,
            inputs,
            window_columns: node.window_columns.clone(),
            schema: SchemaRef::clone(output_schema),
            next_row: 0,
            context: None,
        })
    }

    fn context(&self) -> &OperatorContext {
        self.context.as_ref().expect("open comes before all other calls")
    }

    fn close_until(&mut self, instant: i64, out: &mut Output) -> Result<(), OperatorError> {
        let closed = self.stream.sessions.close_until(instant);
        if closed.is_empty() {
            return Ok(());
        }
        for closed in closed.chunks(self.context().batch_size.max(1)) {
            let rows = self.rows_of(closed)?;
            out.emit(ChangeBatch::insert_only(rows));
        }
        self.context().metrics.windows_fired.add(closed.len() as u64);
        self.states.tidy(&mut self.stream.sessions)
    }

    fn rows_of(&mut self, closed: &[Closed]) -> Result<RecordBatch, OperatorError> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for key in self.stream.sessions.keys_of(closed)? {
            columns.push(of_type(key, self.schema.field(columns.len()).data_type())?);
        }
        columns.extend(self.states.results(closed)?);
        for column in &self.window_columns {
            let data_type = self.schema.field(columns.len()).data_type();
            columns.push(self.stream.window_column(closed, *column, data_type)?);
        }
        Ok(RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?)
    }
}

impl Operator for SessionAggregate {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.context = Some(ctx.clone());
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        now_ms: i64,
        _out: &mut Output,
    ) -> Result<(), OperatorError> {
        let metrics = std::sync::Arc::clone(&self.context().metrics);
        let rows = self.stream.assign(batch, now_ms, &metrics)?;
        let len = rows.parts.len();
        let columns: Vec<ArrayRef> =
            self.inputs.iter().map(|column| ArrayRef::clone(rows.batch.batch.column(*column))).collect();
        let group_rows = GroupRows { columns: &columns, len, arrival: Arrival::From(self.next_row) };
        self.next_row += len as u64;
        self.states.count(&mut self.stream.sessions, &group_rows, &rows.parts)?;
        self.stream.sessions.forget_keys()
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<Watermark, OperatorError> {
        self.stream.watermark = self.stream.watermark.max(watermark.0);
        if !self.stream.is_processing_time() {
            self.close_until(watermark.0, out)?;
        }
        Ok(watermark)
    }

    fn on_processing_time(&mut self, now_ms: i64, out: &mut Output) -> Result<(), OperatorError> {
        self.close_until(now_ms - 1, out)
    }

    fn next_timer_ms(&self) -> Option<i64> {
        if self.stream.is_processing_time() { self.stream.sessions.next_end() } else { None }
    }

    fn finish(&mut self, out: &mut Output) -> Result<(), OperatorError> {
        self.close_until(i64::MAX, out)
    }
}

#[cfg(test)]
mod tests;
