//! The open sessions as a state table, and back.
//!
//! ```text
//! start  end   session  part  next_row  key …   state of each aggregate …
//! 0 s    90 s  3        0     17        "a"     2, "b" …
//! ```
//!
//! A row is a part of a session; the parts of one session stand one behind the other, from 0 on. `session` is the
//! order in which sessions were begun, in which those of one end leave. `next_row` is the number of the next row to
//! arrive, larger than any that an aggregate has kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, UInt32Type, UInt64Type};
use arrow::error::ArrowError;
use tidemark_planner::stream_plan::TimeWindow;
use tidemark_state::key_group::{hash_keys, key_group};
use tidemark_state::snapshot::{OperatorSnapshot, StateEntry, StateTableSchema};

use super::SessionStream;
use super::part_states::PartStates;
use super::sessions::Interval;
use crate::error::OperatorError;
use crate::operator::OperatorContext;
use crate::operator::state::{EVENT_TIME, entries_of};

/// Columns before those of the key.
const OWN_COLUMNS: usize = 5;

/// The state tables of a session window.
pub(super) struct SessionState {
    table: StateTableSchema,
    keys: usize,
}

impl SessionState {
    pub(super) fn new(window: &TimeWindow, input: &SchemaRef, stream: &SessionStream, states: &PartStates) -> Self {
        let mut fields: Vec<Field> =
            ["start", "end", "session"].iter().map(|name| Field::new(*name, DataType::Int64, false)).collect();
        fields.push(Field::new("part", DataType::UInt32, false));
        fields.push(Field::new("next_row", DataType::UInt64, false));
        let keys = stream.key_columns.iter().zip(stream.sessions.key_types());
        fields.extend(keys.map(|(column, key)| Field::new(input.field(*column).name(), key.clone(), true)));
        fields.extend(states.state_fields());
        let time = window.time_column.map_or("processing time", |column| input.field(column).name());
        let name = format!("{} over {time}", window.kind);
        let table = StateTableSchema { name, version: 1, schema: Arc::new(Schema::new(fields)) };
        Self { table, keys: stream.key_columns.len() }
    }

    pub(super) fn tables(&self) -> Vec<StateTableSchema> {
        vec![self.table.clone(), EVENT_TIME.schema()]
    }

    pub(super) fn write(
        &self,
        stream: &SessionStream,
        states: &PartStates,
        next_row: u64,
        ctx: &OperatorContext,
    ) -> Result<OperatorSnapshot, OperatorError> {
        let open = stream.sessions.open_parts();
        let keys = stream.sessions.keys_at(open.iter().map(|part| part.key).collect())?;
        let numbers = |of: fn(&Interval) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(open.iter().map(|part| of(&part.session))))
        };
        let mut columns: Vec<ArrayRef> = vec![
            numbers(|session| session.start),
            numbers(|session| session.end),
            numbers(|session| session.number as i64),
            Arc::new(UInt32Array::from_iter_values(open.iter().map(|part| part.place))),
            Arc::new(UInt64Array::from_value(next_row, open.len())),
        ];
        let mut hashes = vec![];
        hash_keys(&keys, &mut hashes);
        columns.extend(keys);
        columns.extend(states.state(&open.iter().map(|part| part.part).collect::<Vec<_>>())?);
        let mut rows_of: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
        for row in 0..open.len() {
            let group = hashes.get(row).map(|hash| key_group(*hash, ctx.max_parallelism));
            rows_of.entry(group).or_default().push(row as u32);
        }
        let entry = |(key_group, rows): (Option<u32>, Vec<u32>)| {
            let rows = UInt32Array::from(rows);
            let columns = columns.iter().map(|column| compute::take(column, &rows, None)).collect::<Result<_, _>>()?;
            Ok(StateEntry { key_group, rows: RecordBatch::try_new(Arc::clone(&self.table.schema), columns)? })
        };
        let entries = rows_of.into_iter().map(entry).collect::<Result<Vec<_>, ArrowError>>()?;
        let watermark = EVENT_TIME.write(ctx.key_groups.clone().map(Some), [stream.watermark])?;
        Ok(OperatorSnapshot { tables: vec![self.table.with_entries(entries), watermark] })
    }

    /// Takes up what was written. Returns the number of the next row to arrive.
    pub(super) fn read(
        &self,
        snapshot: &OperatorSnapshot,
        stream: &mut SessionStream,
        states: &mut PartStates,
    ) -> Result<u64, OperatorError> {
        if let Some([watermark]) = EVENT_TIME.read_largest(snapshot)? {
            stream.watermark = watermark;
        }
        let entries = entries_of(snapshot, &self.table)?;
        let batches: Vec<&RecordBatch> = entries.iter().map(|entry| &entry.rows).collect();
        let rows = compute::concat_batches(&self.table.schema, batches)?;
        let next_rows = rows.column(4).as_primitive::<UInt64Type>().values();
        let next_row = next_rows.iter().copied().max().unwrap_or(0);
        let rows = compute::take_record_batch(&rows, &in_order(&rows))?;
        let [starts, ends, numbers] = [0, 1, 2].map(|i| rows.column(i).as_primitive::<Int64Type>().values());
        let places = rows.column(3).as_primitive::<UInt32Type>().values();
        let interval = |row: usize| Interval { start: starts[row], end: ends[row], number: numbers[row] as u64 };
        let intervals: Vec<(Interval, bool)> =
            places.iter().enumerate().map(|(row, place)| (interval(row), *place == 0)).collect();
        let (keys, columns) = rows.columns()[OWN_COLUMNS..].split_at(self.keys);
        let parts = stream.sessions.restore(keys, &intervals)?;
        states.restore(&stream.sessions, columns, &parts)?;
        Ok(next_row)
    }
}

/// The rows such that sessions stand in the order in which they were begun. Old subtasks have numbered theirs apart;
/// sessions of one number stand in the order of the rows.
fn in_order(rows: &RecordBatch) -> UInt32Array {
    let numbers = rows.column(2).as_primitive::<Int64Type>().values();
    let places = rows.column(3).as_primitive::<UInt32Type>().values();
    // The first part of each session.
    let mut sessions: Vec<usize> = (0..rows.num_rows()).filter(|row| places[*row] == 0).collect();
    sessions.sort_by_key(|row| numbers[*row]);
    let parts_from =
        |first: usize| first..first + 1 + places[first + 1..].iter().take_while(|place| **place > 0).count();
    sessions.into_iter().flat_map(parts_from).map(|row| row as u32).collect::<Vec<_>>().into()
}
