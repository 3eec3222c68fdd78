//! GROUPING SETS: the same rows grouped by several choices of keys.

use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::{AggregateCall, GroupingSet};

use super::group_table::{GroupPlan, GroupRows, GroupTable};
use crate::error::OperatorError;

/// One set: which keys it groups by, and how.
#[derive(Debug)]
pub(crate) struct GroupSet {
    /// For each key of the GROUP BY: does it take part?
    pub(crate) present: Vec<bool>,
    /// The value of `__grouping_id`.
    pub(crate) id: u64,
    /// Groups by the keys that take part.
    pub(crate) plan: GroupPlan,
}

/// All sets of a GROUP BY; a plain one has a single set with all keys.
#[derive(Debug)]
pub(crate) struct GroupSets {
    /// In the order of the plan.
    pub(crate) sets: Vec<GroupSet>,
}

impl GroupSets {
    /// The sets over only those input columns that keys, arguments and filters are, and these columns: rows are to
    /// be given with them, in this order.
    pub(crate) fn project(
        keys: &[usize],
        grouping_sets: &[GroupingSet],
        calls: &[AggregateCall],
        schema: &SchemaRef,
    ) -> Result<(Self, Vec<usize>), OperatorError> {
        let used = calls.iter().flat_map(|call| call.args.iter().copied().chain(call.filter));
        let mut inputs: Vec<usize> = keys.iter().copied().chain(used).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let place = |column: &usize| inputs.binary_search(column).expect("all used columns are listed");
        let move_call = |call: &AggregateCall| AggregateCall {
            args: call.args.iter().map(place).collect(),
            filter: call.filter.as_ref().map(place),
            ..call.clone()
        };
        let calls: Vec<AggregateCall> = calls.iter().map(move_call).collect();
        let schema = SchemaRef::new(schema.project(&inputs)?);
        let plain = [GroupingSet { present: vec![true; keys.len()], id: 0 }];
        let sets = if grouping_sets.is_empty() { &plain } else { grouping_sets };
        let bind = |set: &GroupingSet| {
            let taken = keys.iter().zip(&set.present).filter(|(_, present)| **present);
            let taken = taken.map(|(key, _)| place(key)).collect();
            GroupSet { present: set.present.clone(), id: set.id, plan: GroupPlan::new(taken, &calls, &schema) }
        };
        Ok((Self { sets: sets.iter().map(bind).collect() }, inputs))
    }

    /// Tables without groups, one a set.
    pub(crate) fn create_tables(&self) -> Result<Vec<GroupTable>, OperatorError> {
        self.sets.iter().map(|set| set.plan.create_table()).collect()
    }

    /// The name of the state table of the set with that index: `base`, or one a set when there are several.
    pub(crate) fn state_name(&self, base: &str, index: usize) -> String {
        match self.sets.len() {
            1 => base.to_owned(),
            _ => format!("{base}, grouping set {index}"),
        }
    }

    /// Counts rows into the table of each set.
    pub(crate) fn update(&self, tables: &mut [GroupTable], rows: &GroupRows<'_>) -> Result<(), OperatorError> {
        self.sets.iter().zip(tables).try_for_each(|(set, table)| table.update(&set.plan, rows))
    }

    /// Adds the groups of `other` to the table of each set.
    pub(crate) fn merge(&self, tables: &mut [GroupTable], other: &[GroupTable]) -> Result<(), OperatorError> {
        let pairs = tables.iter_mut().zip(other);
        self.sets.iter().zip(pairs).try_for_each(|(set, (table, other))| table.merge(&set.plan, other))
    }
}
