//! Rows of one side as a state table, and back.
//!
//! ```text
//! number  matches  (time  met)  key …  column …
//! ```
//!
//! The number says in which order the rows of a subtask came: they are restored in this order, so that at the same
//! parallelism they are put out as they would have been.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, UInt32Type};
use tidemark_state::key_group::{hash_keys, key_group};
use tidemark_state::snapshot::{OperatorSnapshot, StateEntry, StateTableSchema, TableSnapshot};

use super::keyed_join::KeyedJoin;
use super::plan::{Interval, JoinPlan};
use super::row_store::RowTimes;
use crate::error::OperatorError;
use crate::operator::state::entries_of;

/// A table of rows with keys, `N` numbers before them, and the order in which they came.
#[derive(Debug)]
pub(super) struct KeyedRows<const N: usize> {
    table: StateTableSchema,
    keys: usize,
}

/// Rows as they stand in a table.
pub(super) struct StateRows<const N: usize> {
    pub(super) numbers: [Vec<i64>; N],
    pub(super) keys: Vec<ArrayRef>,
    pub(super) columns: Vec<ArrayRef>,
}

impl<const N: usize> KeyedRows<N> {
    /// The table of that name, with these numbers, keys and columns.
    pub(super) fn new(name: String, numbers: [String; N], keys: &[Field], columns: &[Field]) -> Self {
        let mut fields = vec![Field::new("number", DataType::UInt32, false)];
        fields.extend(numbers.into_iter().map(|name| Field::new(name, DataType::Int64, false)));
        fields.extend(keys.iter().map(|key| key.clone().with_name(format!("key: {}", key.name())).with_nullable(true)));
        fields.extend(columns.iter().map(|column| column.clone().with_nullable(true)));
        let schema = Arc::new(Schema::new(fields));
        Self { table: StateTableSchema { name, version: 1, schema }, keys: keys.len() }
    }

    /// What it looks like.
    pub(super) fn table(&self) -> &StateTableSchema {
        &self.table
    }

    /// The table with these rows, in order; each in the entry of its key group, or of none when there are no keys.
    pub(super) fn write(
        &self,
        rows: StateRows<N>,
        len: usize,
        max_parallelism: u32,
    ) -> Result<TableSnapshot, OperatorError> {
        let mut hashes = Vec::new();
        hash_keys(&rows.keys, &mut hashes);
        let mut by_group: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
        for row in 0..len {
            let group = hashes.get(row).map(|hash| key_group(*hash, max_parallelism));
            by_group.entry(group).or_default().push(row as u32);
        }
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from_iter_values(0..len as u32))];
        columns.extend(rows.numbers.into_iter().map(|numbers| Arc::new(Int64Array::from(numbers)) as ArrayRef));
        columns.extend(rows.keys);
        columns.extend(rows.columns);
        let entry = |(key_group, rows): (Option<u32>, Vec<u32>)| {
            let rows = UInt32Array::from(rows);
            let columns = columns.iter().map(|c| compute::take(c, &rows, None)).collect::<Result<Vec<_>, _>>()?;
            Ok(StateEntry { key_group, rows: RecordBatch::try_new(Arc::clone(&self.table.schema), columns)? })
        };
        let entries = by_group.into_iter().map(entry).collect::<Result<Vec<_>, OperatorError>>()?;
        Ok(self.table.with_entries(entries))
    }

    /// The rows, in the order in which they came; none when there are none.
    pub(super) fn read(&self, snapshot: &OperatorSnapshot) -> Result<Option<StateRows<N>>, OperatorError> {
        let entries = entries_of(snapshot, &self.table)?;
        let all = compute::concat_batches(&self.table.schema, entries.iter().map(|entry| &entry.rows))?;
        if all.num_rows() == 0 {
            return Ok(None);
        }
        let numbers = all.column(0).as_primitive::<UInt32Type>().values();
        let mut order: Vec<u32> = (0..all.num_rows() as u32).collect();
        order.sort_by_key(|row| numbers[*row as usize]);
        let all = compute::take_record_batch(&all, &UInt32Array::from(order))?;
        let number = |n: usize| all.column(1 + n).as_primitive::<Int64Type>().values().to_vec();
        let (keys, columns) = all.columns()[1 + N..].split_at(self.keys);
        Ok(Some(StateRows { numbers: std::array::from_fn(number), keys: keys.to_vec(), columns: columns.to_vec() }))
    }
}

/// The rows of one side of a [`KeyedJoin`].
#[derive(Debug)]
pub(super) enum SideState {
    /// Number of matches.
    Untimed(KeyedRows<1>),
    /// Number of matches, event time, and the watermark that the row met.
    Timed(KeyedRows<3>),
}

impl SideState {
    /// The table of side `side` of a join.
    pub(super) fn new(plan: &JoinPlan, side: usize) -> Self {
        let name = format!("{} rows of {}", ["left", "right"][side], plan.join_type.name());
        let matches = match &plan.condition {
            Some(condition) => format!("matches where {}", condition.text()),
            None => "matches".to_owned(),
        };
        let (keys, columns) = (&plan.sides[side].key_fields, &plan.sides[side].fields);
        match plan.interval {
            None => SideState::Untimed(KeyedRows::new(name, [matches], keys, columns)),
            Some(Interval { lower_ms, upper_ms }) => {
                let name = format!("{name} within {lower_ms} and {upper_ms} ms");
                SideState::Timed(KeyedRows::new(name, [matches, "time".into(), "met".into()], keys, columns))
            }
        }
    }

    /// What the table looks like.
    pub(super) fn table(&self) -> &StateTableSchema {
        match self {
            SideState::Untimed(rows) => rows.table(),
            SideState::Timed(rows) => rows.table(),
        }
    }

    /// The table with the rows of that side.
    pub(super) fn write(
        &self,
        join: &KeyedJoin,
        side: usize,
        max_parallelism: u32,
    ) -> Result<TableSnapshot, OperatorError> {
        let store = &join.sides[side];
        let (mut ids, mut groups, mut matches) = (Vec::new(), Vec::new(), Vec::new());
        for (row, group, count) in store.iter() {
            ids.push(row);
            groups.push(group);
            matches.push(i64::from(count));
        }
        let keys = join.key_columns(&groups)?;
        let columns = store.chunks().gather(0..join.plan().sides[side].fields.len(), &ids)?;
        match self {
            SideState::Untimed(table) => {
                table.write(StateRows { numbers: [matches], keys, columns }, ids.len(), max_parallelism)
            }
            SideState::Timed(table) => {
                let times = || ids.iter().map(|id| store.times_of(*id));
                let numbers = [matches, times().map(|t| t.time_ms).collect(), times().map(|t| t.met_ms).collect()];
                table.write(StateRows { numbers, keys, columns }, ids.len(), max_parallelism)
            }
        }
    }

    /// Adds the rows that were written.
    pub(super) fn read(
        &self,
        snapshot: &OperatorSnapshot,
        join: &mut KeyedJoin,
        side: usize,
    ) -> Result<(), OperatorError> {
        let counts = |matches: &[i64]| -> Vec<u32> { matches.iter().map(|count| *count as u32).collect() };
        match self {
            SideState::Untimed(table) => match table.read(snapshot)? {
                Some(StateRows { numbers: [matches], keys, columns }) => {
                    join.restore(side, &keys, columns, &counts(&matches), None)
                }
                None => Ok(()),
            },
            SideState::Timed(table) => match (table.read(snapshot)?, join.plan().interval) {
                (Some(StateRows { numbers: [matches, times, met], keys, columns }), Some(interval)) => {
                    let times = times.iter().zip(met).map(|(&time_ms, met_ms)| RowTimes {
                        time_ms,
                        met_ms,
                        expires_ms: interval.expires_ms(side, time_ms),
                    });
                    let times: Vec<RowTimes> = times.collect();
                    join.restore(side, &keys, columns, &counts(&matches), Some(&times))
                }
                _ => Ok(()),
            },
        }
    }
}
