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

use super::operator::{ClosedSessions, SessionOperator, SessionOutput};
use crate::aggregate::group_table::GroupPlan;
use crate::error::OperatorError;
use crate::metrics::OperatorMetrics;

/// Runs a [`WindowTvfNode`] of a session window.
pub type SessionWindow = SessionOperator<RowsOfSession>;

/// The rows, which one aggregate has gathered, and their window.
pub struct RowsOfSession {
    schema: SchemaRef,
}

impl SessionWindow {
    /// `output_schema` is that of the input and the three window columns. Fails for a gap that cannot be had.
    pub fn of_node(
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
            text: "rows".into(),
        };
        let plan = GroupPlan::new(vec![], &[gather], &Arc::new(Schema::new(vec![row])));
        let output = RowsOfSession { schema: SchemaRef::clone(output_schema) };
        Self::new(&node.window, &node.partition, input_schema, plan, output)
    }
}

impl SessionOutput for RowsOfSession {
    fn columns(&self, rows: &RecordBatch) -> Vec<ArrayRef> {
        vec![Arc::new(StructArray::from(rows.clone()))]
    }

    fn rows(&self, closed: ClosedSessions<'_>) -> Result<RecordBatch, OperatorError> {
        let lists = closed.results.first().expect("one call has one result").as_list::<i32>();
        let of_session = lists.offsets().lengths().enumerate();
        let of_session: UInt32Array = of_session.flat_map(|(i, rows)| std::iter::repeat_n(i as u32, rows)).collect();
        let mut columns: Vec<ArrayRef> = lists.values().as_struct().columns().to_vec();
        for column in [WindowColumn::Start, WindowColumn::End, WindowColumn::Time] {
            let data_type = self.schema.field(columns.len()).data_type();
            let of_windows = closed.stream.window_column(closed.sessions, column, data_type)?;
            columns.push(compute::take(&of_windows, &of_session, None)?);
        }
        Ok(RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?)
    }

    /// Windows are counted where they are aggregated.
    fn note_closed(&self, _sessions: u64, _metrics: &OperatorMetrics) {}
}
