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

use super::operator::{ClosedSessions, SessionOperator, SessionOutput};
use crate::aggregate::group_sets::GroupSets;
use crate::aggregate::group_table::of_type;
use crate::error::OperatorError;
use crate::metrics::OperatorMetrics;

/// Runs a [`WindowAggregateNode`] over a session window. It has no grouping sets.
pub type SessionAggregate = SessionOperator<SessionRow>;

/// A row a session: its key, its aggregates, its window.
pub struct SessionRow {
    /// The input columns that keys, arguments and filters are.
    inputs: Vec<usize>,
    window_columns: Vec<WindowColumn>,
    schema: SchemaRef,
}

impl SessionAggregate {
    /// An operator without rows. Fails when the node asks for types or a gap that cannot be had.
    pub fn of_node(
        node: &WindowAggregateNode,
        window: &TimeWindow,
        input_schema: &SchemaRef,
        output_schema: &SchemaRef,
    ) -> Result<Self, OperatorError> {
        let (sets, inputs) = GroupSets::project(&node.keys, &[], &node.aggregates, input_schema)?;
        let set = sets.sets.into_iter().next().expect("without grouping sets there is the set of all keys");
        let schema = SchemaRef::clone(output_schema);
        let output = SessionRow { inputs, window_columns: node.window_columns.clone(), schema };
        Self::new(window, &node.keys, input_schema, set.plan, output)
    }
}

impl SessionOutput for SessionRow {
    fn columns(&self, rows: &RecordBatch) -> Vec<ArrayRef> {
        self.inputs.iter().map(|column| ArrayRef::clone(rows.column(*column))).collect()
    }

    fn rows(&self, closed: ClosedSessions<'_>) -> Result<RecordBatch, OperatorError> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for key in closed.stream.sessions.keys_of(closed.sessions)? {
            columns.push(of_type(key, self.schema.field(columns.len()).data_type())?);
        }
        columns.extend(closed.results);
        for column in &self.window_columns {
            let data_type = self.schema.field(columns.len()).data_type();
            columns.push(closed.stream.window_column(closed.sessions, *column, data_type)?);
        }
        Ok(RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?)
    }

    fn note_closed(&self, sessions: u64, metrics: &OperatorMetrics) {
        metrics.windows_fired.add(sessions);
    }
}

#[cfg(test)]
mod restore_tests;
#[cfg(test)]
mod tests;
