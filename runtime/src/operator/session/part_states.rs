//! The aggregates of sessions, by part.

use crate::aggregate::group_table::{GroupPlan, GroupRows};
use crate::aggregate::states::AggregateStates;
use crate::error::OperatorError;
use arrow::array::ArrayRef;
use arrow::datatypes::Field;

use super::sessions::{Closed, Sessions};

/// Aggregates that follow [`Sessions`].
pub(super) struct PartStates {
    plan: GroupPlan,
    states: AggregateStates,
    /// Empty; for parts on their way from one to another.
    spare: AggregateStates,
}

impl PartStates {
    /// No parts yet.
    pub(super) fn new(plan: GroupPlan) -> Result<Self, OperatorError> {
        Ok(Self { states: plan.create_states()?, spare: plan.create_states()?, plan })
    }

    /// Counts rows into their parts, and follows what the sessions have made of these since.
    pub(super) fn count(
        &mut self,
        sessions: &mut Sessions,
        rows: &GroupRows<'_>,
        parts: &[u32],
    ) -> Result<(), OperatorError> {
        self.states.resize(sessions.part_count());
        self.states.update(&self.plan, rows, parts)?;
        for joined in sessions.take_joins() {
            let [first, others @ ..] = joined.as_slice() else { continue };
            self.move_states(others, &vec![0; others.len()], &[*first])?;
        }
        Ok(())
    }

    /// The aggregates of closed sessions, one column a call.
    pub(super) fn results(&mut self, closed: &[Closed]) -> Result<Vec<ArrayRef>, OperatorError> {
        let (mut others, mut takers, mut firsts) = (vec![], vec![], vec![]);
        for session in closed.iter().filter(|session| session.parts.len() > 1) {
            others.extend_from_slice(&session.parts[1..]);
            takers.resize(others.len(), firsts.len() as u32);
            firsts.push(session.parts[0]);
        }
        if !firsts.is_empty() {
            self.move_states(&others, &takers, &firsts)?;
        }
        let parts: Vec<u32> = closed.iter().map(|session| session.parts[0]).collect();
        self.states.results(&self.plan, &parts)
    }

    /// Part `from[i]` is added to part `to[via[i]]`; those of one target are added up first.
    fn move_states(&mut self, from: &[u32], via: &[u32], to: &[u32]) -> Result<(), OperatorError> {
        self.spare.resize(to.len());
        self.spare.merge(&self.plan, &self.states, from, via)?;
        let all: Vec<u32> = (0..to.len() as u32).collect();
        self.states.merge(&self.plan, &self.spare, &all, to)?;
        self.spare.resize(0);
        Ok(())
    }

    /// The columns of [`PartStates::state`].
    pub(super) fn state_fields(&self) -> Vec<Field> {
        self.states.state_fields(&self.plan)
    }

    /// The states of these parts, a row each.
    pub(super) fn state(&self, parts: &[u32]) -> Result<Vec<ArrayRef>, OperatorError> {
        self.states.state(&self.plan, parts)
    }

    /// Takes up states of these parts.
    pub(super) fn restore(
        &mut self,
        sessions: &Sessions,
        columns: &[ArrayRef],
        parts: &[u32],
    ) -> Result<(), OperatorError> {
        self.states.resize(sessions.part_count());
        self.states.merge_state(&self.plan, columns, parts)
    }

    /// Lets go of what closed sessions have left.
    pub(super) fn tidy(&mut self, sessions: &mut Sessions) -> Result<(), OperatorError> {
        sessions.forget_keys()?;
        if let Some(kept) = sessions.forget_parts() {
            let mut states = self.plan.create_states()?;
            states.resize(kept.len());
            let all: Vec<u32> = (0..kept.len() as u32).collect();
            states.merge(&self.plan, &self.states, &kept, &all)?;
            self.states = states;
        }
        Ok(())
    }
}
