//! Joins without a bound in time: both inputs are kept, and a row that comes or goes on either side changes the
//! result at once.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::JoinNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::keyed_join::{Arrival, KeyedJoin};
use super::plan::JoinPlan;
use super::state::SideState;
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;
use crate::operator::{Operator, OperatorContext, Output};

/// A regular join.
#[derive(Debug)]
pub struct RegularJoin {
    join: KeyedJoin,
    states: [SideState; 2],
    batch_size: usize,
    max_parallelism: u32,
}

impl RegularJoin {
    /// A join of rows of these schemas.
    pub fn new(node: &JoinNode, inputs: [&SchemaRef; 2], output: &SchemaRef) -> Result<Self, OperatorError> {
        let plan = Arc::new(JoinPlan::new(node, inputs, output));
        Ok(Self {
            states: [0, 1].map(|side| SideState::new(&plan, side)),
            join: KeyedJoin::new(plan, false)?,
            batch_size: usize::MAX,
            max_parallelism: 1,
        })
    }
}

impl Operator for RegularJoin {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.batch_size = ctx.batch_size.max(1);
        self.max_parallelism = ctx.max_parallelism;
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.states.iter().map(|state| state.table().clone()).collect()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        let write = |(side, state): (usize, &SideState)| state.write(&self.join, side, self.max_parallelism);
        Ok(OperatorSnapshot { tables: self.states.iter().enumerate().map(write).collect::<Result<_, _>>()? })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        self.states.iter().enumerate().try_for_each(|(side, state)| state.read(snapshot, &mut self.join, side))
    }

    fn process(
        &mut self,
        input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let batch_size = self.batch_size;
        let arrival = Arrival { input, batch: &batch, times: None, watermark_ms: i64::MIN, batch_size };
        self.join.process(&arrival, out)
    }
}

#[cfg(test)]
mod tests;
