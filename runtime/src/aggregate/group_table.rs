//! The groups of one GROUP BY over some rows: their keys, and a state per aggregate.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, SchemaRef};
use tidemark_planner::stream_plan::AggregateCall;
use tidemark_state::key_table::KeyTable;

use super::Arrival;
use super::states::AggregateStates;
use crate::error::OperatorError;

/// What to group by and what to aggregate; columns are those of the rows given to [`GroupTable::update`].
#[derive(Debug)]
pub(crate) struct GroupPlan {
    keys: Vec<usize>,
    key_types: Vec<DataType>,
    key_names: Vec<String>,
    calls: Arc<[BoundCall]>,
}

/// An aggregate call and the types of its arguments.
#[derive(Debug)]
pub(super) struct BoundCall {
    pub(super) call: AggregateCall,
    pub(super) arg_types: Vec<DataType>,
}

impl GroupPlan {
    /// Groups rows of `schema` by these columns.
    pub(crate) fn new(keys: Vec<usize>, calls: &[AggregateCall], schema: &SchemaRef) -> Self {
        let type_of = |column: &usize| schema.field(*column).data_type().clone();
        let bind =
            |call: &AggregateCall| BoundCall { arg_types: call.args.iter().map(type_of).collect(), call: call.clone() };
        Self {
            key_types: keys.iter().map(type_of).collect(),
            key_names: keys.iter().map(|column| schema.field(*column).name().clone()).collect(),
            keys,
            calls: calls.iter().map(bind).collect(),
        }
    }

    /// Number of key columns: the first of [`GroupTable::state`].
    pub(crate) fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// The columns of [`GroupTable::state`], with names that tell one query from another.
    pub(crate) fn state_fields(&self) -> Result<Vec<Field>, OperatorError> {
        let table = self.create_table()?;
        let keys = self.key_names.iter().zip(table.keys.types());
        let mut fields: Vec<Field> = keys.map(|(name, key)| Field::new(name, key.clone(), true)).collect();
        fields.extend(table.states.state_fields(self));
        Ok(fields)
    }

    /// A table without groups.
    pub(crate) fn create_table(&self) -> Result<GroupTable, OperatorError> {
        Ok(GroupTable { keys: KeyTable::new(&self.key_types)?, states: self.create_states()?, groups: Vec::new() })
    }

    /// The aggregates alone, without groups.
    pub(crate) fn create_states(&self) -> Result<AggregateStates, OperatorError> {
        AggregateStates::new(&self.calls)
    }

    pub(super) fn calls(&self) -> &[BoundCall] {
        &self.calls
    }
}

/// Rows to be grouped.
#[derive(Clone, Copy)]
pub(crate) struct GroupRows<'a> {
    /// Their columns.
    pub(crate) columns: &'a [ArrayRef],
    /// How many they are.
    pub(crate) len: usize,
    /// When each arrived.
    pub(crate) arrival: Arrival<'a>,
}

/// Keys in the order of first arrival, and their aggregates.
pub(crate) struct GroupTable {
    keys: KeyTable,
    states: AggregateStates,
    /// The groups of the rows at hand.
    groups: Vec<u32>,
}

impl GroupTable {
    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Finds the rows' groups, making those that are new, and returns them row by row.
    pub(crate) fn find_groups(&mut self, plan: &GroupPlan, rows: &GroupRows<'_>) -> Result<&[u32], OperatorError> {
        self.groups.clear();
        if let [key] = plan.keys.as_slice() {
            self.keys.intern(std::slice::from_ref(&rows.columns[*key]), rows.len, &mut self.groups)?;
        } else {
            let keys: Vec<ArrayRef> = plan.keys.iter().map(|key| ArrayRef::clone(&rows.columns[*key])).collect();
            self.keys.intern(&keys, rows.len, &mut self.groups)?;
        }
        self.resize();
        Ok(&self.groups)
    }

    /// Counts the rows into the groups that [`GroupTable::find_groups`] has just found for them.
    pub(crate) fn count(&mut self, plan: &GroupPlan, rows: &GroupRows<'_>) -> Result<(), OperatorError> {
        self.states.update(plan, rows, &self.groups)
    }

    /// Groups and counts rows.
    pub(crate) fn update(&mut self, plan: &GroupPlan, rows: &GroupRows<'_>) -> Result<(), OperatorError> {
        self.find_groups(plan, rows)?;
        self.count(plan, rows)
    }

    /// Adds all groups of `other`, a table of the same plan.
    pub(crate) fn merge(&mut self, plan: &GroupPlan, other: &GroupTable) -> Result<(), OperatorError> {
        let all: Vec<u32> = (0..other.len() as u32).collect();
        self.groups.clear();
        self.keys.intern(&other.keys.keys(&all)?, other.len(), &mut self.groups)?;
        self.resize();
        self.states.merge(plan, &other.states, &all, &self.groups)
    }

    /// The key columns of these groups.
    pub(crate) fn keys(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, OperatorError> {
        Ok(self.keys.keys(groups)?)
    }

    /// The aggregates of these groups, one column a call, of the calls' result types.
    pub(crate) fn results(&self, plan: &GroupPlan, groups: &[u32]) -> Result<Vec<ArrayRef>, OperatorError> {
        self.states.results(plan, groups)
    }

    /// Keys and aggregates of all groups, a row each in the order of their ids.
    pub(crate) fn state(&self, plan: &GroupPlan) -> Result<Vec<ArrayRef>, OperatorError> {
        let all: Vec<u32> = (0..self.len() as u32).collect();
        let mut columns = self.keys(&all)?;
        columns.extend(self.states.state(plan, &all)?);
        Ok(columns)
    }

    /// Adds `rows` groups that a table of the same plan gave as its state.
    pub(crate) fn merge_state(
        &mut self,
        plan: &GroupPlan,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<(), OperatorError> {
        let (keys, states) = columns.split_at(plan.key_count());
        self.groups.clear();
        self.keys.intern(keys, rows, &mut self.groups)?;
        self.resize();
        self.states.merge_state(plan, states, &self.groups)
    }

    /// Forgets all groups; keeps memory for about as many.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.states.resize(0);
    }

    fn resize(&mut self) {
        self.states.resize(self.keys.len());
    }
}

/// The column with the type that the plan promises. Values that do not fit are errors.
pub(crate) fn of_type(column: ArrayRef, data_type: &DataType) -> Result<ArrayRef, OperatorError> {
    if column.data_type() == data_type {
        return Ok(column);
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(&column, data_type, &options)?)
}
