//! `DISTINCT`: each combination of argument values counts once a group.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray, UInt32Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Fields, UInt32Type};
use tidemark_state::key_table::KeyTable;

use super::state_lists::{elements_of, list_column};
use super::{Accumulator, AggregateError, AggregateRows, Arrival, same_kind};

/// `inner` over distinct arguments of these types. For functions that skip NULL and do not look at arrival order.
pub(super) fn create(
    inner: Box<dyn Accumulator>,
    arg_types: &[DataType],
) -> Result<Box<dyn Accumulator>, AggregateError> {
    let mut types = vec![DataType::UInt32];
    types.extend_from_slice(arg_types);
    Ok(Box::new(Distinct { inner, seen: KeyTable::new(&types)?, ids: Vec::new() }))
}

struct Distinct {
    inner: Box<dyn Accumulator>,
    /// Group and arguments of all rows that `inner` has got.
    seen: KeyTable,
    ids: Vec<u32>,
}

impl Distinct {
    fn arg_fields(&self) -> Fields {
        let args = self.seen.types()[1..].iter().enumerate();
        args.map(|(place, arg)| Field::new(format!("arg{place}"), arg.clone(), true)).collect()
    }

    /// The ids of what the groups have seen, group after group, each in the order of arrival, and where each ends.
    fn ids_by_group(&self, groups: &[u32]) -> Result<(Vec<u32>, Vec<usize>), AggregateError> {
        let all: Vec<u32> = (0..self.seen.len() as u32).collect();
        let group_of = &self.seen.keys(&all)?[0];
        let group_of = group_of.as_primitive::<UInt32Type>().values();
        let mut ids: Vec<Vec<u32>> = vec![Vec::new(); group_of.iter().max().map_or(0, |last| *last as usize + 1)];
        all.iter().zip(group_of).for_each(|(id, group)| ids[*group as usize].push(*id));
        let none = Vec::new();
        let lists = || groups.iter().map(|group| ids.get(*group as usize).unwrap_or(&none));
        let ends = lists().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        });
        Ok((lists().flatten().copied().collect(), ends.collect()))
    }

    /// Passes on the rows that are new. `columns` are group and arguments.
    fn count_new(&mut self, columns: &[ArrayRef]) -> Result<(), AggregateError> {
        let new_rows = first_occurrences(&mut self.seen, columns, &mut self.ids)?;
        let fresh =
            columns.iter().map(|column| compute::take(column, &new_rows, None)).collect::<Result<Vec<_>, _>>()?;
        self.inner.update(&AggregateRows {
            args: &fresh[1..],
            groups: fresh[0].as_primitive::<UInt32Type>().values(),
            filter: None,
            arrival: Arrival::From(0),
        })
    }
}

impl Accumulator for Distinct {
    fn resize(&mut self, groups: usize) {
        self.inner.resize(groups);
        if groups == 0 {
            self.seen.clear();
        }
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(rows.groups.to_vec()))];
        columns.extend_from_slice(rows.args);
        if let Some(mask) = rows.counted() {
            let mask = BooleanArray::new(mask, None);
            columns = columns.iter().map(|column| compute::filter(column, &mask)).collect::<Result<_, _>>()?;
        }
        self.count_new(&columns)
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let seen = &same_kind::<Self>(other).seen;
        let all: Vec<u32> = (0..seen.len() as u32).collect();
        let mut columns = seen.keys(&all)?;
        let targets = Targets::of(from, to);
        let moved = columns[0].as_primitive::<UInt32Type>().values().iter().map(|group| targets.get(*group));
        columns[0] = Arc::new(moved.collect::<UInt32Array>());
        if columns[0].null_count() > 0 {
            let is_moved = compute::is_not_null(&columns[0])?;
            columns = columns.iter().map(|column| compute::filter(column, &is_moved)).collect::<Result<_, _>>()?;
        }
        self.count_new(&columns)
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        self.inner.evaluate(groups)
    }

    /// The distinct values alone: what `inner` makes of them, it makes again.
    fn state_fields(&self) -> Vec<Field> {
        let element = Field::new_list_field(DataType::Struct(self.arg_fields()), false);
        vec![Field::new("distinct", DataType::List(Arc::new(element)), false)]
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        let (ids, ends) = self.ids_by_group(groups)?;
        let values = StructArray::try_new(self.arg_fields(), self.seen.keys(&ids)?.split_off(1), None)?;
        Ok(vec![list_column(Arc::new(values), &ends)?])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let (values, groups) = elements_of(&state[0], groups);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(groups))];
        columns.extend_from_slice(values.as_struct().columns());
        self.count_new(&columns)
    }
}

/// Where groups go in a merge.
struct Targets(Vec<Option<u32>>);

impl Targets {
    fn of(from: &[u32], to: &[u32]) -> Self {
        let mut targets = vec![None; from.iter().max().map_or(0, |last| *last as usize + 1)];
        from.iter().zip(to).for_each(|(from, to)| targets[*from as usize] = Some(*to));
        Self(targets)
    }

    fn get(&self, group: u32) -> Option<u32> {
        self.0.get(group as usize).copied().flatten()
    }
}

/// Interns the rows, leaving their ids in `ids`, and tells which of them were not there before.
pub(super) fn first_occurrences(
    table: &mut KeyTable,
    columns: &[ArrayRef],
    ids: &mut Vec<u32>,
) -> Result<UInt32Array, AggregateError> {
    let mut next = table.len() as u32;
    ids.clear();
    table.intern(columns, columns[0].len(), ids)?;
    let is_first = |row_and_id: &(usize, &u32)| {
        let is_first = *row_and_id.1 == next;
        next += u32::from(is_first);
        is_first
    };
    Ok(ids.iter().enumerate().filter(is_first).map(|(row, _)| row as u32).collect::<Vec<u32>>().into())
}
