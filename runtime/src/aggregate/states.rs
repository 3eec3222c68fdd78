//! The states of all aggregate calls of a GROUP BY, for groups `0..n`.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Field;

use super::group_table::{BoundCall, GroupPlan, GroupRows, of_type};
use super::{Accumulator, AggregateRows, create_accumulator};
use crate::error::OperatorError;

/// One accumulator a call.
pub(crate) struct AggregateStates {
    accumulators: Vec<Box<dyn Accumulator>>,
}

impl AggregateStates {
    /// Without groups, for the calls of a plan.
    pub(super) fn new(calls: &[BoundCall]) -> Result<Self, OperatorError> {
        let create = |bound: &BoundCall| create_accumulator(&bound.call, &bound.arg_types);
        Ok(Self { accumulators: calls.iter().map(create).collect::<Result<_, _>>()? })
    }

    /// Grows to `groups` groups, the new ones without rows; 0 forgets all.
    pub(crate) fn resize(&mut self, groups: usize) {
        self.accumulators.iter_mut().for_each(|accumulator| accumulator.resize(groups));
    }

    /// Counts each row into its group.
    pub(crate) fn update(
        &mut self,
        plan: &GroupPlan,
        rows: &GroupRows<'_>,
        groups: &[u32],
    ) -> Result<(), OperatorError> {
        debug_assert_eq!(groups.len(), rows.len, "the groups are those of these rows");
        for (accumulator, BoundCall { call, .. }) in self.accumulators.iter_mut().zip(plan.calls()) {
            let args: Vec<ArrayRef> = call.args.iter().map(|arg| ArrayRef::clone(&rows.columns[*arg])).collect();
            let filter = call.filter.map(|filter| rows.columns[filter].as_boolean());
            let rows = AggregateRows { args: &args, groups, filter, arrival: rows.arrival };
            accumulator.update(&rows).map_err(|error| error.of_call(call))?;
        }
        Ok(())
    }

    /// Adds group `from[i]` of `other`, states of the same plan, to group `to[i]`.
    pub(crate) fn merge(
        &mut self,
        plan: &GroupPlan,
        other: &AggregateStates,
        from: &[u32],
        to: &[u32],
    ) -> Result<(), OperatorError> {
        let pairs = self.accumulators.iter_mut().zip(&other.accumulators);
        for ((accumulator, other), BoundCall { call, .. }) in pairs.zip(plan.calls()) {
            accumulator.merge(other.as_ref(), from, to).map_err(|error| error.of_call(call))?;
        }
        Ok(())
    }

    /// The aggregates of these groups, one column a call, of the calls' result types.
    pub(crate) fn results(&self, plan: &GroupPlan, groups: &[u32]) -> Result<Vec<ArrayRef>, OperatorError> {
        let pairs = self.accumulators.iter().zip(plan.calls());
        pairs
            .map(|(accumulator, BoundCall { call, .. })| {
                let column = accumulator.evaluate(groups).map_err(|error| error.of_call(call))?;
                of_type(column, call.field.data_type())
            })
            .collect()
    }

    /// The columns of [`AggregateStates::state`], with names that tell one call from another.
    pub(crate) fn state_fields(&self, plan: &GroupPlan) -> Vec<Field> {
        let mut fields = vec![];
        for (accumulator, BoundCall { call, .. }) in self.accumulators.iter().zip(plan.calls()) {
            let named = |field: Field| field.clone().with_name(format!("{}: {}", call.text, field.name()));
            fields.extend(accumulator.state_fields().into_iter().map(named));
        }
        fields
    }

    /// The states of these groups, a row each.
    pub(crate) fn state(&self, plan: &GroupPlan, groups: &[u32]) -> Result<Vec<ArrayRef>, OperatorError> {
        let mut columns = vec![];
        for (accumulator, BoundCall { call, .. }) in self.accumulators.iter().zip(plan.calls()) {
            columns.extend(accumulator.state(groups).map_err(|error| error.of_call(call))?);
        }
        Ok(columns)
    }

    /// Adds states that states of the same plan gave: row `i` belongs to `groups[i]`.
    pub(crate) fn merge_state(
        &mut self,
        plan: &GroupPlan,
        mut columns: &[ArrayRef],
        groups: &[u32],
    ) -> Result<(), OperatorError> {
        for (accumulator, BoundCall { call, .. }) in self.accumulators.iter_mut().zip(plan.calls()) {
            let (state, rest) = columns.split_at(accumulator.state_fields().len());
            accumulator.merge_state(state, groups).map_err(|error| error.of_call(call))?;
            columns = rest;
        }
        Ok(())
    }
}
