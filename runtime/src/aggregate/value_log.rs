//! All values of all groups, in lists that grow: what `ARRAY_AGG` and `LISTAGG` keep.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray, UInt32Array, UInt64Array, new_empty_array};
use arrow::buffer::BooleanBuffer;
use arrow::compute;
use arrow::datatypes::{DataType, Field, Fields, UInt64Type};
use arrow::error::ArrowError;
use tidemark_state::key_table::KeyTable;

use super::distinct::first_occurrences;
use super::state_lists::{elements_of, list_column};
use super::{AggregateError, Arrival};

/// Chunks are joined with their neighbours up to this many values.
const MAX_JOINED: usize = 8192;
const NONE: u32 = u32::MAX;

/// Values of one type, each in the list of a group.
pub(super) struct ValueLog {
    data_type: DataType,
    chunks: Vec<ArrayRef>,
    /// Where each chunk ends, counted in values from the first chunk's start.
    ends: Vec<usize>,
    entries: Vec<Entry>,
    lists: Vec<List>,
    /// Group and value of all entries when each value is to stand once in a list: entry `i` has id `i`.
    distinct: Option<KeyTable>,
    ids: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The next entry of the group's list.
    next: u32,
    arrival: u64,
}

#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List { first: NONE, last: NONE };

impl ValueLog {
    pub(super) fn new(data_type: &DataType, distinct: bool) -> Result<Self, AggregateError> {
        let distinct = distinct.then(|| KeyTable::new(&[DataType::UInt32, data_type.clone()])).transpose()?;
        Ok(Self {
            data_type: data_type.clone(),
            chunks: Vec::new(),
            ends: Vec::new(),
            entries: Vec::new(),
            lists: Vec::new(),
            distinct,
            ids: Vec::new(),
        })
    }

    /// Grows to `groups` groups; 0 forgets all.
    pub(super) fn resize(&mut self, groups: usize) {
        self.lists.resize(groups, EMPTY);
        if groups == 0 {
            self.chunks.clear();
            self.ends.clear();
            self.entries.clear();
            if let Some(distinct) = &mut self.distinct {
                distinct.clear();
            }
        }
    }

    /// Adds the values of the rows of `mask`, all when it is `None`.
    pub(super) fn append(
        &mut self,
        column: &ArrayRef,
        groups: &[u32],
        arrival: Arrival<'_>,
        mask: Option<BooleanBuffer>,
    ) -> Result<(), AggregateError> {
        match mask {
            None if self.distinct.is_none() => {
                groups.iter().enumerate().for_each(|(row, group)| self.link(*group, arrival.of(row)));
                self.push_chunk(ArrayRef::clone(column))
            }
            None => self.append_distinct(column, groups, arrival),
            Some(mask) => {
                let rows: Vec<u32> = mask.set_indices().map(|row| row as u32).collect();
                let groups: Vec<u32> = rows.iter().map(|row| groups[*row as usize]).collect();
                let numbers: Vec<u64> = rows.iter().map(|row| arrival.of(*row as usize)).collect();
                let column = compute::filter(column, &BooleanArray::new(mask, None))?;
                self.append(&column, &groups, Arrival::Numbered(&numbers), None)
            }
        }
    }

    fn append_distinct(
        &mut self,
        column: &ArrayRef,
        groups: &[u32],
        arrival: Arrival<'_>,
    ) -> Result<(), AggregateError> {
        let Some(table) = &mut self.distinct else { return Ok(()) };
        let columns: [ArrayRef; 2] = [Arc::new(UInt32Array::from(groups.to_vec())), ArrayRef::clone(column)];
        let mut ids = std::mem::take(&mut self.ids);
        let new_rows = first_occurrences(table, &columns, &mut ids)?;
        new_rows.values().iter().for_each(|row| self.link(groups[*row as usize], arrival.of(*row as usize)));
        for (row, id) in ids.iter().enumerate() {
            let first = &mut self.entries[*id as usize].arrival;
            *first = arrival.of(row).min(*first);
        }
        self.ids = ids;
        self.push_chunk(compute::take(column, &new_rows, None)?)
    }

    /// Adds list `from[i]` of `other` to that of group `to[i]`.
    pub(super) fn merge(&mut self, other: &ValueLog, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let (order, list_ends) = other.positions(from);
        if order.is_empty() {
            return Ok(());
        }
        let mut groups = Vec::with_capacity(order.len());
        to.iter().zip(&list_ends).for_each(|(to, end)| groups.resize(*end, *to));
        let numbers: Vec<u64> = order.iter().map(|position| other.entries[*position as usize].arrival).collect();
        self.append(&other.values_at(&order)?, &groups, Arrival::Numbered(&numbers), None)
    }

    /// The values of the groups' lists, one list after the other, each in arrival order, and where each list ends.
    pub(super) fn lists(&self, groups: &[u32]) -> Result<(ArrayRef, Vec<usize>), ArrowError> {
        let (positions, list_ends) = self.positions(groups);
        Ok((self.values_at(&positions)?, list_ends))
    }

    /// The column of [`ValueLog::state`]: the values of a list, each with its arrival, in the order of arrival.
    pub(super) fn state_fields(&self) -> Vec<Field> {
        let element = Field::new_list_field(DataType::Struct(self.element_fields()), false);
        vec![Field::new("values", DataType::List(Arc::new(element)), false)]
    }

    fn element_fields(&self) -> Fields {
        let value = Field::new("value", self.data_type.clone(), true);
        vec![value, Field::new("arrival", DataType::UInt64, false)].into()
    }

    pub(super) fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, ArrowError> {
        let (positions, ends) = self.positions(groups);
        let arrivals = positions.iter().map(|position| self.entries[*position as usize].arrival);
        let arrivals = Arc::new(UInt64Array::from_iter_values(arrivals));
        let elements = StructArray::try_new(self.element_fields(), vec![self.values_at(&positions)?, arrivals], None)?;
        Ok(vec![list_column(Arc::new(elements), &ends)?])
    }

    pub(super) fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let (elements, groups) = elements_of(&state[0], groups);
        let elements = elements.as_struct();
        let arrivals = elements.column(1).as_primitive::<UInt64Type>().values();
        self.append(elements.column(0), &groups, Arrival::Numbered(arrivals), None)
    }

    /// The entries of the groups' lists, one list after the other, each in arrival order, and where each list ends.
    fn positions(&self, groups: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let mut positions: Vec<u32> = Vec::new();
        let mut list_ends = Vec::with_capacity(groups.len());
        for group in groups {
            let start = positions.len();
            let mut next = self.lists[*group as usize].first;
            while next != NONE {
                positions.push(next);
                next = self.entries[next as usize].next;
            }
            positions[start..].sort_by_key(|position| self.entries[*position as usize].arrival);
            list_ends.push(positions.len());
        }
        (positions, list_ends)
    }

    fn values_at(&self, positions: &[u32]) -> Result<ArrayRef, ArrowError> {
        if positions.is_empty() {
            return Ok(new_empty_array(&self.data_type));
        }
        let chunks: Vec<&dyn Array> = self.chunks.iter().map(|chunk| chunk.as_ref()).collect();
        let places: Vec<(usize, usize)> = positions.iter().map(|position| self.place_of(*position as usize)).collect();
        compute::interleave(&chunks, &places)
    }

    /// Chunk, and index in it, of an entry's value.
    fn place_of(&self, entry: usize) -> (usize, usize) {
        let chunk = self.ends.partition_point(|end| *end <= entry);
        let start = if chunk == 0 { 0 } else { self.ends[chunk - 1] };
        (chunk, entry - start)
    }

    fn link(&mut self, group: u32, arrival: u64) {
        let entry = self.entries.len() as u32;
        self.entries.push(Entry { next: NONE, arrival });
        let list = &mut self.lists[group as usize];
        match list.last {
            NONE => list.first = entry,
            last => self.entries[last as usize].next = entry,
        }
        list.last = entry;
    }

    /// Appends values. Small chunks are joined, each with one about as large as itself, so that rows that come one
    /// at a time do not become a chunk each, and no value is copied more than a dozen times.
    fn push_chunk(&mut self, mut chunk: ArrayRef) -> Result<(), AggregateError> {
        if chunk.is_empty() {
            return Ok(());
        }
        while let Some(last) = self.chunks.last() {
            if last.len() > chunk.len() * 2 || last.len() + chunk.len() > MAX_JOINED {
                break;
            }
            chunk = compute::concat(&[last.as_ref(), chunk.as_ref()])?;
            self.chunks.pop();
            self.ends.pop();
        }
        let start = self.ends.last().copied().unwrap_or(0);
        self.ends.push(start + chunk.len());
        self.chunks.push(chunk);
        Ok(())
    }
}
