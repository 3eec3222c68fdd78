//! Aggregates per key without a window: an updating result.
//!
//! Each batch of rows leads to one change per key that it holds: `+I` the first time, later `-U` with the row as
//! it was and `+U` with the new one, and none when the row is the same.
//!
//! ```text
//! COUNT(*) BY k    batch [a, b, a]  ->  +I(a, 2) +I(b, 1)    batch [a]  ->  -U(a, 2) +U(a, 3)
//! ```
//!
//! A set without keys has one row even over no input: it comes at the end when nothing came before.

use arrow::array::{ArrayRef, Int8Array, UInt32Array, make_comparator};
use arrow::compute::{self, SortOptions};
use arrow::datatypes::SchemaRef;
use std::cmp::Ordering;
use tidemark_planner::stream_plan::GroupAggregateNode;
use tidemark_state::key_group::MAX_PARALLELISM_DEFAULT;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::{Operator, OperatorContext, Output};
use crate::aggregate::Arrival;
use crate::aggregate::group_output::GroupOutput;
use crate::aggregate::group_sets::{GroupSet, GroupSets};
use crate::aggregate::group_state::GroupState;
use crate::aggregate::group_table::{GroupRows, GroupTable};
use crate::change_batch::{ChangeBatch, RowKind};
use crate::error::OperatorError;

/// Runs a [`GroupAggregateNode`] over rows that are only ever added.
pub struct GroupAggregate {
    sets: GroupSets,
    tables: Vec<SetTable>,
    output: GroupOutput,
    /// The input columns that keys, arguments and filters are.
    inputs: Vec<usize>,
    next_row: u64,
    batch_size: usize,
    max_parallelism: u32,
}

/// The groups of one grouping set.
struct SetTable {
    groups: GroupTable,
    state: GroupState<0>,
    /// By group: the number of the last batch that touched it.
    touched_in: Vec<u64>,
    batches: u64,
}

impl GroupAggregate {
    /// An operator without groups. Fails when the node asks for types that cannot be aggregated.
    pub fn new(
        node: &GroupAggregateNode,
        input_schema: &SchemaRef,
        output_schema: &SchemaRef,
    ) -> Result<Self, OperatorError> {
        let (sets, inputs) = GroupSets::project(&node.keys, &node.grouping_sets, &node.aggregates, input_schema)?;
        let has_grouping_id = output_schema.fields().len() > node.keys.len() + node.aggregates.len();
        let create = |(index, set): (usize, &GroupSet)| {
            let name = sets.state_name("groups", index);
            let (groups, state) = (set.plan.create_table()?, GroupState::new(name, [], set)?);
            Ok(SetTable { groups, state, touched_in: Vec::new(), batches: 0 })
        };
        let tables = sets.sets.iter().enumerate().map(create).collect::<Result<_, OperatorError>>()?;
        let output = GroupOutput::new(output_schema, has_grouping_id);
        Ok(Self {
            sets,
            tables,
            output,
            inputs,
            next_row: 0,
            batch_size: usize::MAX,
            max_parallelism: MAX_PARALLELISM_DEFAULT,
        })
    }
}

impl Operator for GroupAggregate {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.batch_size = ctx.batch_size.max(1);
        self.max_parallelism = ctx.max_parallelism;
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.tables.iter().map(|table| table.state.table().clone()).collect()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        let write = |(set, table): (&GroupSet, &SetTable)| {
            table.state.write([([], &table.groups)].into_iter(), &set.plan, self.next_row, self.max_parallelism)
        };
        let tables = self.sets.sets.iter().zip(&self.tables).map(write).collect::<Result<_, _>>()?;
        Ok(OperatorSnapshot { tables })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        for (set, SetTable { groups, state, .. }) in self.sets.sets.iter().zip(&mut self.tables) {
            let restore =
                |[]: [i64; 0], columns: &[ArrayRef], rows: usize| groups.merge_state(&set.plan, columns, rows);
            self.next_row = state.read(snapshot, restore)?.max(self.next_row);
        }
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let columns: Vec<ArrayRef> =
            self.inputs.iter().map(|column| ArrayRef::clone(batch.batch.column(*column))).collect();
        let rows = GroupRows { columns: &columns, len: batch.num_rows(), arrival: Arrival::From(self.next_row) };
        self.next_row += batch.num_rows() as u64;
        for (set, table) in self.sets.sets.iter().zip(&mut self.tables) {
            let changes = update(set, table, &rows, &self.output)?;
            emit_in_batches(&changes, self.batch_size, out);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Output) -> Result<(), OperatorError> {
        for (set, table) in self.sets.sets.iter().zip(&mut self.tables) {
            let is_global = !set.present.contains(&true);
            let table = &mut table.groups;
            if is_global && table.len() == 0 {
                table.find_groups(&set.plan, &GroupRows { columns: &[], len: 1, arrival: Arrival::From(0) })?;
                let mut columns = self.output.keys(set, table, &[0])?;
                columns.extend(table.results(&set.plan, &[0])?);
                out.emit(ChangeBatch::insert_only(self.output.batch(columns)?));
            }
        }
        Ok(())
    }
}

/// Counts the rows, and returns what changes thereby.
fn update(
    set: &GroupSet,
    table: &mut SetTable,
    rows: &GroupRows<'_>,
    output: &GroupOutput,
) -> Result<ChangeBatch, OperatorError> {
    let known = table.groups.len() as u32;
    let touched = table.touch(set, rows)?;
    let updated: Vec<u32> = touched.iter().copied().filter(|group| *group < known).collect();
    let groups = &mut table.groups;
    let before = groups.results(&set.plan, &updated)?;
    groups.count(&set.plan, rows)?;
    let after = groups.results(&set.plan, &touched)?;

    let changes = list_changes(&touched, known, &before, &after)?;
    let mut columns = output.keys(set, groups, &changes.groups)?;
    for (before, after) in before.iter().zip(&after) {
        let both = compute::concat(&[before.as_ref(), after.as_ref()])?;
        columns.push(compute::take(&both, &changes.rows, None)?);
    }
    let rows = output.batch(columns)?;
    Ok(ChangeBatch { batch: rows, kinds: changes.kinds, row_watermarks: None })
}

impl SetTable {
    /// Finds the groups of the rows: each once, in the order of first appearance.
    fn touch(&mut self, set: &GroupSet, rows: &GroupRows<'_>) -> Result<Vec<u32>, OperatorError> {
        self.batches += 1;
        let batch = self.batches;
        let groups = self.groups.find_groups(&set.plan, rows)?;
        let last = groups.iter().max().map_or(0, |group| *group as usize + 1);
        self.touched_in.resize(self.touched_in.len().max(last), 0);
        let touched_in = &mut self.touched_in;
        let is_first = |group: &u32| std::mem::replace(&mut touched_in[*group as usize], batch) != batch;
        Ok(groups.iter().copied().filter(is_first).collect())
    }
}

/// Output rows as indices into results before and results after, one behind the other.
struct Changes {
    groups: Vec<u32>,
    rows: UInt32Array,
    kinds: Option<Int8Array>,
}

fn list_changes(
    touched: &[u32],
    known: u32,
    before: &[ArrayRef],
    after: &[ArrayRef],
) -> Result<Changes, OperatorError> {
    let compare = |(before, after): (&ArrayRef, &ArrayRef)| {
        make_comparator(before.as_ref(), after.as_ref(), SortOptions::default())
    };
    let comparators = before.iter().zip(after).map(compare).collect::<Result<Vec<_>, _>>()?;
    let first_after = touched.iter().filter(|group| **group < known).count() as u32;
    let (mut groups, mut rows, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |group: u32, row: u32, kind: RowKind| {
        groups.push(group);
        rows.push(row);
        kinds.push(kind as i8);
    };
    let mut old = 0;
    for (new, group) in touched.iter().enumerate() {
        let row_after = first_after + new as u32;
        if *group >= known {
            push(*group, row_after, RowKind::Insert);
            continue;
        }
        if comparators.iter().any(|compare| compare(old, new) != Ordering::Equal) {
            push(*group, old as u32, RowKind::UpdateBefore);
            push(*group, row_after, RowKind::UpdateAfter);
        }
        old += 1;
    }
    let kinds = (first_after > 0).then(|| Int8Array::from(kinds));
    Ok(Changes { groups, rows: rows.into(), kinds })
}

/// Emits in batches of about `batch_size` rows, never parting a `-U` from its `+U`.
fn emit_in_batches(changes: &ChangeBatch, batch_size: usize, out: &mut Output) {
    let rows = changes.num_rows();
    let mut start = 0;
    while start < rows {
        let mut end = start.saturating_add(batch_size).min(rows);
        if end < rows && changes.kind(end) == RowKind::UpdateAfter {
            end += 1;
        }
        out.emit(changes.slice(start, end - start));
        start = end;
    }
}

#[cfg(test)]
mod restore_tests;
#[cfg(test)]
mod tests;
