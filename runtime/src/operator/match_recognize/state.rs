//! What is kept of keys as state tables: rows that wait for the watermark, rows of keys, and how far each key has come.
//!
//! **Invariant:** the open matches are not written. They follow from the rows: a restored key goes back to the row where
//! its oldest open match begins and takes its rows again, which emits nothing, because nothing there was decided.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema, SchemaRef};
use tidemark_planner::stream_plan::match_recognize::MatchRecognizeNode;
use tidemark_state::key_group::{hash_keys, key_group};
use tidemark_state::snapshot::{OperatorSnapshot, StateEntry, StateTableSchema, TableSnapshot};

use super::MatchRecognize;
use super::partition::{Partition, Row};
use super::release::Waiting;
use super::rows::{RowId, RowStore};
use super::search::Now;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::event_time::EventTimes;
use crate::operator::state::{EVENT_TIME, entries_of};

/// Columns in front of those of a row.
const WAITING: [&str; 1] = ["$arrival"];
const ROWS: [&str; 3] = ["$arrival", "$number", "$variables"];
/// Columns in front of those of a key.
const KEYS: [&str; 6] = ["$first", "$classed", "$open", "$resume", "$matched", "$matches"];

/// The state tables.
#[derive(Debug)]
pub struct MatchState {
    waiting: StateTableSchema,
    rows: StateTableSchema,
    keys: StateTableSchema,
}

impl MatchState {
    /// The tables for rows of `input`. Their names say what is matched: rows know which variables they can be, so that
    /// state of other conditions is of no use.
    pub fn new(node: &MatchRecognizeNode, input: &SchemaRef) -> Self {
        let mut text = node.pattern.display(&node.variables).to_string();
        for variable in &node.variables {
            for condition in variable.row.iter().chain(&variable.path) {
                text.push_str(&format!(", {} AS {}", variable.name, condition.expr.text));
            }
        }
        let table = |name: &str, numbers: &[&str], fields: Vec<FieldRef>| {
            let numbers = numbers.iter().map(|name| Arc::new(Field::new(*name, DataType::Int64, false)));
            let schema = Arc::new(Schema::new(numbers.chain(fields).collect::<Vec<FieldRef>>()));
            StateTableSchema { name: format!("{name} of {text}"), version: 1, schema }
        };
        let all = || input.fields().iter().cloned().collect();
        let keys = node.partition_by.iter().map(|column| Arc::clone(&input.fields()[*column])).collect();
        Self {
            waiting: table("waiting rows", &WAITING, all()),
            rows: table("rows", &ROWS, all()),
            keys: table("keys", &KEYS, keys),
        }
    }

    /// What they look like.
    pub fn tables(&self) -> Vec<StateTableSchema> {
        vec![self.waiting.clone(), self.rows.clone(), self.keys.clone(), EVENT_TIME.schema()]
    }
}

/// Rows to be written: their numbers, and where their other columns come from.
struct Written<const N: usize, T> {
    key_group: Option<u32>,
    numbers: [i64; N],
    from: T,
}

impl MatchRecognize {
    /// The state at a barrier.
    pub(super) fn write_state(&self) -> Result<OperatorSnapshot, OperatorError> {
        let groups = self.key_groups()?;
        let group_of = |slot: u32| groups.get(slot as usize).copied();
        let waiting = self.waiting.rows().into_iter().map(|waiting| Written {
            key_group: group_of(waiting.slot),
            numbers: [waiting.arrival as i64],
            from: waiting.row,
        });
        let (mut rows, mut keys) = (vec![], vec![]);
        for slot in self.keys.occupied() {
            let Some(partition) = self.keys.get(slot) else { continue };
            let key_group = group_of(slot);
            let row = |(number, row): (u64, &Row)| {
                let mask = if number < partition.classed { self.searcher.automaton.mask(row.class) } else { 0 };
                Written { key_group, numbers: [row.arrival as i64, number as i64, mask as i64], from: row.id }
            };
            rows.extend(partition.rows().map(row));
            let Partition { classed, resume, matched, number, .. } = *partition;
            let numbers = [partition.base(), classed, partition.open_from(), resume, matched].map(|n| n as i64);
            let [first, classed, open, resume, matched] = numbers;
            keys.push(Written { key_group, numbers: [first, classed, open, resume, matched, number], from: slot });
        }
        let of_rows = |ids: &[RowId]| {
            let columns = (0..self.state.rows.schema.fields().len() - ROWS.len()).map(|c| self.store.gather(c, ids));
            Ok(columns.collect::<Result<Vec<_>, _>>()?)
        };
        let key_groups: Vec<Option<u32>> = match (&self.context, self.partition_by.is_empty()) {
            (Some(context), false) => context.key_groups.clone().map(Some).collect(),
            _ => vec![None],
        };
        Ok(OperatorSnapshot {
            tables: vec![
                write_table(&self.state.waiting, waiting.collect(), of_rows)?,
                write_table(&self.state.rows, rows, of_rows)?,
                write_table(&self.state.keys, keys, |slots: &[u32]| self.keys.columns(slots))?,
                EVENT_TIME.write(key_groups, [self.watermark.0])?,
            ],
        })
    }

    /// The key group of each key; none when there is no key.
    fn key_groups(&self) -> Result<Vec<u32>, OperatorError> {
        let (Some(context), false) = (&self.context, self.partition_by.is_empty()) else { return Ok(vec![]) };
        let all: Vec<u32> = (0..self.keys.len() as u32).collect();
        let mut hashes = vec![];
        hash_keys(&self.keys.columns(&all)?, &mut hashes);
        Ok(hashes.into_iter().map(|hash| key_group(hash, context.max_parallelism)).collect())
    }

    /// Takes up what was written.
    pub(super) fn read_state(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        let [keys, rows, waiting] = [&self.state.keys, &self.state.rows, &self.state.waiting]
            .map(|table| entries_of(snapshot, table).map(<[StateEntry]>::to_vec));
        if let Some([watermark]) = EVENT_TIME.read_largest(snapshot)? {
            self.watermark = self.watermark.max(Watermark(watermark));
        }
        let by_cohorts = self.searcher.program.is_path_independent();
        let mut open = vec![];
        for entry in keys? {
            let numbers = numbers_of::<6>(&entry.rows);
            let slots = self.keys.find(&entry.rows.columns()[KEYS.len()..], entry.rows.num_rows())?;
            for (row, slot) in slots.into_iter().enumerate() {
                let [first, classed, open_from, resume, matched, number] = numbers.map(|column| column.value(row));
                let mut partition = Partition::from(by_cohorts, first as u64);
                (partition.classed, partition.resume) = (classed as u64, resume as u64);
                (partition.matched, partition.number) = (matched as u64, number);
                partition.go_back_to(open_from as u64);
                self.keys.put(slot, partition);
                open.push(slot);
            }
        }
        let mut arrivals = 0;
        for entry in rows? {
            self.read_rows(&entry.rows, &mut arrivals)?;
        }
        let mut restored = vec![];
        for entry in waiting? {
            self.read_waiting(&entry.rows, &mut restored)?;
        }
        self.waiting.restore(restored, arrivals);
        let now = Now { watermark: None, ended: false };
        for slot in &open {
            let Some(partition) = self.keys.get_mut(*slot) else { continue };
            self.searcher.advance(partition, &self.store, now)?;
        }
        debug_assert!(self.searcher.found.heads.is_empty(), "what was open was not decided");
        self.forget(&open);
        Ok(())
    }

    fn read_rows(&mut self, entry: &RecordBatch, arrivals: &mut u64) -> Result<(), OperatorError> {
        let [arrival, _, variables] = numbers_of::<3>(entry);
        let (slots, times, chunk) = self.read_input(entry, ROWS.len())?;
        for (row, slot) in slots.into_iter().enumerate() {
            let class = self.searcher.automaton.class(variables.value(row) as u64);
            let arrival = arrival.value(row) as u64;
            *arrivals = (*arrivals).max(arrival + 1);
            if let Some(partition) = self.keys.get_mut(slot) {
                partition.push(Row { id: RowStore::id(chunk, row), time: times[row], arrival, class });
            }
        }
        Ok(())
    }

    fn read_waiting(&mut self, entry: &RecordBatch, restored: &mut Vec<Waiting>) -> Result<(), OperatorError> {
        let [arrival] = numbers_of::<1>(entry);
        let (slots, times, chunk) = self.read_input(entry, WAITING.len())?;
        for (row, slot) in slots.into_iter().enumerate() {
            self.keys.expect_row(slot);
            let (time, arrival) = (times[row], arrival.value(row) as u64);
            restored.push(Waiting { time, arrival, slot, row: RowStore::id(chunk, row) });
        }
        Ok(())
    }

    /// Keeps the input's columns of an entry, which stand behind `skipped` others: the rows' keys and times.
    fn read_input(&mut self, entry: &RecordBatch, skipped: usize) -> Result<(Vec<u32>, Vec<i64>, u32), OperatorError> {
        let columns: Vec<usize> = (skipped..entry.num_columns()).collect();
        let rows = entry.project(&columns)?;
        let keys: Vec<ArrayRef> = self.partition_by.iter().map(|c| ArrayRef::clone(rows.column(*c))).collect();
        let slots = self.keys.find(&keys, rows.num_rows())?;
        let times = match self.time_column {
            Some(column) => {
                let times = EventTimes::of(rows.column(column))?;
                (0..rows.num_rows()).map(|row| times.get(row).unwrap_or(i64::MIN)).collect()
            }
            None => vec![i64::MIN; rows.num_rows()],
        };
        let needed = rows.num_rows();
        Ok((slots, times, self.store.add(rows, needed)))
    }
}

/// The first columns, which are whole numbers.
fn numbers_of<const N: usize>(rows: &RecordBatch) -> [&Int64Array; N] {
    std::array::from_fn(|column| rows.column(column).as_primitive::<Int64Type>())
}

/// Rows as a table, one entry a key group; rows of a group stay in their order.
fn write_table<const N: usize, T: Copy>(
    table: &StateTableSchema,
    mut rows: Vec<Written<N, T>>,
    columns_of: impl Fn(&[T]) -> Result<Vec<ArrayRef>, OperatorError>,
) -> Result<TableSnapshot, OperatorError> {
    rows.sort_by_key(|row| row.key_group);
    let mut entries = vec![];
    for rows in rows.chunk_by(|a, b| a.key_group == b.key_group) {
        let number = |column: usize| Int64Array::from_iter_values(rows.iter().map(move |row| row.numbers[column]));
        let mut columns: Vec<ArrayRef> = (0..N).map(|column| Arc::new(number(column)) as ArrayRef).collect();
        let from: Vec<T> = rows.iter().map(|row| row.from).collect();
        columns.extend(columns_of(&from)?);
        let batch = RecordBatch::try_new(SchemaRef::clone(&table.schema), columns)?;
        entries.push(StateEntry { key_group: rows[0].key_group, rows: batch });
    }
    Ok(table.with_entries(entries))
}
