//! A session window function by itself: each row with the bounds of its session, when the session has closed.
//!
//! ```text
//! SESSION 10 s BY k    (a, 0 s) (a, 5 s)    watermark 15 s    ->    (a, 0 s, [0, 15)) (a, 5 s, [0, 15))
//! ```
//!
//! Sessions leave in the order of their ends, those of one end in the order in which they were begun, the rows of a
//! session in the order of their arrival.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StructArray, UInt32Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemark_planner::stream_plan::{AggregateCall, AggregateFunction, WindowColumn, WindowTvfNode};

use super::SessionStream;
use super::part_states::PartStates;
use super::sessions::Closed;
use crate::aggregate::Arrival;
use crate::aggregate::group_table::{GroupPlan, GroupRows};
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::operator::{Operator, OperatorContext, Output};

/// Runs a [`WindowTvfNode`] of a session window.
pub struct SessionWindow {
    stream: SessionStream,
    /// The rows, as one aggregate that gathers them.
    rows: PartStates,
    schema: SchemaRef,
    /// Number of the next row to arrive.
    next_row: u64,
    context: Option<OperatorContext>,
}

impl SessionWindow {
    /// `output_schema` is that of the input and the three window columns. Fails for a gap that cannot be had.
    pub fn new(
        node: &WindowTvfNode,
        input_schema: &SchemaRef,
        output_schema: &SchemaRef,
    ) -> Result<Self, OperatorError> {
        let row = Field::new("row", DataType::Struct(input_schema.fields().clone()), false);
        let rows = Field::new("rows", DataType::new_list(row.data_type().clone(), true), true);
        let gather = AggregateCall {
            function: AggregateFunction::ArrayAgg,
            args: vec![0],
            distinct: false,
            filter: None,
            field: Arc::new(rows),
            text: "the rows of a session".into(),
        };
        let plan = GroupPlan::new(vec![], &[gather], &Arc::new(Schema::new(vec![row])));
        Ok(Self {
            stream: SessionStream::new(&node.window, &node.partition, input_schema)?,
            rows: PartStates::new(plan)?,
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
        let batch_size = self.context().batch_size.max(1);
        for closed in closed.chunks(batch_size) {
            let rows = ChangeBatch::insert_only(self.rows_of(closed)?);
            for start in (0..rows.num_rows()).step_by(batch_size) {
                out.emit(rows.slice(start, batch_size.min(rows.num_rows() - start)));
            }
        }
        self.rows.tidy(&mut self.stream.sessions)
    }

    fn rows_of(&mut self, closed: &[Closed]) -> Result<RecordBatch, OperatorError> {
        let lists = self.rows.results(closed)?.into_iter().next().expect("one call has one result");
        let lists = lists.as_list::<i32>();
        let of_session = lists.offsets().lengths().enumerate();
        let of_session: UInt32Array = of_session.flat_map(|(i, rows)| std::iter::repeat_n(i as u32, rows)).collect();
        let mut columns: Vec<ArrayRef> = lists.values().as_struct().columns().to_vec();
        for column in [WindowColumn::Start, WindowColumn::End, WindowColumn::Time] {
            let data_type = self.schema.field(columns.len()).data_type();
            let of_windows = self.stream.window_column(closed, column, data_type)?;
            columns.push(compute::take(&of_windows, &of_session, None)?);
        }
        Ok(RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?)
    }
}

impl Operator for SessionWindow {
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
        let metrics = Arc::clone(&self.context().metrics);
        let rows = self.stream.assign(batch, now_ms, &metrics)?;
        let len = rows.parts.len();
        let columns: [ArrayRef; 1] = [Arc::new(StructArray::from(rows.batch.batch))];
        let group_rows = GroupRows { columns: &columns, len, arrival: Arrival::From(self.next_row) };
        self.next_row += len as u64;
        self.rows.count(&mut self.stream.sessions, &group_rows, &rows.parts)?;
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
