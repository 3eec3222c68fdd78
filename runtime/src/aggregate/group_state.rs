//! The groups of a grouping set as rows of a state table, and back.
//!
//! ```text
//! place …               rank  next_row  key …   state of each aggregate …
//! end 10 s, start 0 s   0     17        "a"     2, "b" …
//! ```
//!
//! The place says which of several tables of groups a row belongs to, such as that of a slice. The rank is the group's
//! id in its place: groups are restored in this order, so that at the same parallelism they are emitted in the order
//! in which they would have been. `next_row` is the number of the next row to arrive, the same in all rows that one
//! subtask wrote: it is larger than any that an aggregate has kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, UInt32Type, UInt64Type};
use arrow::error::ArrowError;
use tidemark_state::key_group::{hash_keys, key_group};
use tidemark_state::snapshot::{OperatorSnapshot, StateEntry, StateTableSchema, TableSnapshot};

use super::group_sets::GroupSet;
use super::group_table::{GroupPlan, GroupTable};
use crate::error::OperatorError;
use crate::operator::state::entries_of;

/// So many groups are restored at a time.
const MAX_ROWS_AT_ONCE: usize = 64 * 1024;

/// A row of some columns: index of their part, index in it.
type RowRef = (usize, usize);

/// The state table of one grouping set, with `PLACES` numbers for a place.
#[derive(Clone, Debug)]
pub(crate) struct GroupState<const PLACES: usize> {
    table: StateTableSchema,
}

impl<const PLACES: usize> GroupState<PLACES> {
    /// The state table of `set`. Fails for types that cannot be grouped or aggregated.
    pub(crate) fn new(name: String, place: [&str; PLACES], set: &GroupSet) -> Result<Self, OperatorError> {
        let mut fields: Vec<Field> = place.iter().map(|name| Field::new(*name, DataType::Int64, false)).collect();
        fields.push(Field::new("rank", DataType::UInt32, false));
        fields.push(Field::new("next_row", DataType::UInt64, false));
        fields.extend(set.plan.state_fields()?);
        Ok(Self { table: StateTableSchema { name, version: 1, schema: Arc::new(Schema::new(fields)) } })
    }

    /// What the table looks like.
    pub(crate) fn table(&self) -> &StateTableSchema {
        &self.table
    }

    /// The table with all groups of `tables`, each in the entry of its key group; of none when there are no keys.
    /// Several tables may have the same place, and become one.
    pub(crate) fn write<'a>(
        &self,
        tables: impl Iterator<Item = ([i64; PLACES], &'a GroupTable)>,
        plan: &GroupPlan,
        next_row: u64,
        max_parallelism: u32,
    ) -> Result<TableSnapshot, OperatorError> {
        let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
        let mut rows_of: BTreeMap<Option<u32>, Vec<RowRef>> = BTreeMap::new();
        let mut hashes = Vec::new();
        let mut ranks: BTreeMap<[i64; PLACES], u32> = BTreeMap::new();
        for (place, table) in tables.filter(|(_, table)| table.len() > 0) {
            let state = table.state(plan)?;
            hash_keys(&state[..plan.key_count()], &mut hashes);
            for row in 0..table.len() {
                let key_group = hashes.get(row).map(|hash| key_group(*hash, max_parallelism));
                rows_of.entry(key_group).or_default().push((parts.len(), row));
            }
            let mut columns: Vec<ArrayRef> = Vec::with_capacity(PLACES + 2 + state.len());
            columns.extend(place.iter().map(|n| Arc::new(Int64Array::from_value(*n, table.len())) as ArrayRef));
            let rank = ranks.entry(place).or_default();
            columns.push(Arc::new(UInt32Array::from_iter_values(*rank..*rank + table.len() as u32)));
            *rank += table.len() as u32;
            columns.push(Arc::new(UInt64Array::from_value(next_row, table.len())));
            columns.extend(state);
            parts.push(columns);
        }
        let entry = |(key_group, rows): (Option<u32>, Vec<RowRef>)| {
            let columns = (0..self.table.schema.fields().len()).map(|column| pick(&parts, column, &rows));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            Ok(StateEntry { key_group, rows: RecordBatch::try_new(Arc::clone(&self.table.schema), columns)? })
        };
        let entries = rows_of.into_iter().map(entry).collect::<Result<Vec<_>, ArrowError>>()?;
        Ok(self.table.with_entries(entries))
    }

    /// Calls `restore` with the groups of a place and their number, for all places in ascending order, the groups in
    /// order of their ranks; of one place it may be more than one call. Returns the number of the next row to arrive.
    pub(crate) fn read(
        &self,
        snapshot: &OperatorSnapshot,
        mut restore: impl FnMut([i64; PLACES], &[ArrayRef], usize) -> Result<(), OperatorError>,
    ) -> Result<u64, OperatorError> {
        let entries = entries_of(snapshot, &self.table)?;
        let parts: Vec<Vec<ArrayRef>> = entries.iter().map(|entry| entry.rows.columns().to_vec()).collect();
        let mut order: Vec<([i64; PLACES], u32, RowRef)> = Vec::new();
        let mut next_row = 0;
        for (part, columns) in parts.iter().enumerate() {
            let places: [_; PLACES] = std::array::from_fn(|n| columns[n].as_primitive::<Int64Type>().values());
            let ranks = columns[PLACES].as_primitive::<UInt32Type>().values();
            let rows = ranks.iter().enumerate();
            order.extend(rows.map(|(row, rank)| (places.map(|numbers| numbers[row]), *rank, (part, row))));
            let next_rows = columns[PLACES + 1].as_primitive::<UInt64Type>().values();
            next_row = next_rows.iter().fold(next_row, |next, of_row| *of_row.max(&next));
        }
        order.sort_unstable();
        for of_place in order.chunk_by(|a, b| a.0 == b.0) {
            for groups in of_place.chunks(MAX_ROWS_AT_ONCE) {
                let rows: Vec<RowRef> = groups.iter().map(|(_, _, row)| *row).collect();
                let columns = (PLACES + 2..self.table.schema.fields().len()).map(|column| pick(&parts, column, &rows));
                restore(groups[0].0, &columns.collect::<Result<Vec<_>, _>>()?, rows.len())?;
            }
        }
        Ok(next_row)
    }
}

/// These rows of a column that lies in parts.
fn pick(parts: &[Vec<ArrayRef>], column: usize, rows: &[RowRef]) -> Result<ArrayRef, ArrowError> {
    let arrays: Vec<&dyn Array> = parts.iter().map(|columns| columns[column].as_ref()).collect();
    compute::interleave(&arrays, rows)
}
