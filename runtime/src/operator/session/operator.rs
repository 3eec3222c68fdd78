//! The operator of session windows, whatever becomes of a session that has closed.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::TimeWindow;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::SessionStream;
use super::part_states::PartStates;
use super::sessions::Closed;
use super::state::SessionState;
use crate::aggregate::Arrival;
use crate::aggregate::group_table::{GroupPlan, GroupRows};
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::metrics::OperatorMetrics;
use crate::operator::{Operator, OperatorContext, Output};

/// What is kept of a session's rows, and what leaves when it closes.
pub trait SessionOutput: Send {
    /// The columns that the aggregates read.
    fn columns(&self, rows: &RecordBatch) -> Vec<ArrayRef>;

    /// What leaves of these sessions, in their order: a batch of rows.
    fn rows(&self, closed: ClosedSessions<'_>) -> Result<RecordBatch, OperatorError>;

    /// Notes that so many sessions have closed.
    fn note_closed(&self, sessions: u64, metrics: &OperatorMetrics);
}

/// Sessions that have closed.
pub struct ClosedSessions<'a> {
    pub(super) stream: &'a SessionStream,
    pub(super) sessions: &'a [Closed],
    /// Their aggregates, a column a call.
    pub(super) results: Vec<ArrayRef>,
}

/// Runs a session window: rows are aggregated by session, and leave when the watermark passes its end.
pub struct SessionOperator<O> {
    stream: SessionStream,
    states: PartStates,
    state: SessionState,
    output: O,
    /// Number of the next row to arrive.
    next_row: u64,
    context: Option<OperatorContext>,
}

impl<O: SessionOutput> SessionOperator<O> {
    /// Sessions of these key columns of `schema`, with the aggregates of `plan`. Fails for types or a gap that cannot
    /// be had.
    pub(super) fn new(
        window: &TimeWindow,
        key_columns: &[usize],
        schema: &SchemaRef,
        plan: GroupPlan,
        output: O,
    ) -> Result<Self, OperatorError> {
        let stream = SessionStream::new(window, key_columns, schema)?;
        let states = PartStates::new(plan)?;
        let state = SessionState::new(window, schema, &stream, &states);
        Ok(Self { stream, states, state, output, next_row: 0, context: None })
    }

    fn context(&self) -> &OperatorContext {
        self.context.as_ref().expect("open comes before all other calls")
    }

    fn close_until(&mut self, instant: i64, out: &mut Output) -> Result<(), OperatorError> {
        let closed = self.stream.sessions.close_until(instant);
        if closed.is_empty() {
            return Ok(());
        }
        let batch_size = self.context().batch_size.max(1);
        for sessions in closed.chunks(batch_size) {
            let results = self.states.results(sessions)?;
            let rows = self.output.rows(ClosedSessions { stream: &self.stream, sessions, results })?;
            let rows = ChangeBatch::insert_only(rows);
            for start in (0..rows.num_rows()).step_by(batch_size) {
                out.emit(rows.slice(start, batch_size.min(rows.num_rows() - start)));
            }
        }
        self.output.note_closed(closed.len() as u64, &self.context().metrics);
        self.states.tidy(&mut self.stream.sessions)
    }

    #[cfg(test)]
    pub(super) fn sessions(&self) -> &super::sessions::Sessions {
        &self.stream.sessions
    }
}

impl<O: SessionOutput> Operator for SessionOperator<O> {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.context = Some(ctx.clone());
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.state.tables()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        self.state.write(&self.stream, &self.states, self.next_row, self.context())
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        self.next_row = self.state.read(snapshot, &mut self.stream, &mut self.states)?;
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        now_ms: i64,
        _out: &mut Output,
    ) -> Result<(), OperatorError> {
        let metrics = Arc::clone(&self.context().metrics);
        let rows = self.stream.assign(batch, now_ms, &metrics)?;
        let len = rows.parts.len();
        let columns = self.output.columns(&rows.batch.batch);
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
