//! The slices as state tables: one a grouping set, and how far event time has come.
//!
//! **Invariant:** a slice is written as if its fired windows had never had it. What has fired is then nothing to
//! remember, and slices of subtasks that have fired differently far (by processing time) can be put together.

use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::{TimeWindow, WindowAssignment};
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::slices::{SliceKey, Slices};
use crate::aggregate::group_sets::GroupSets;
use crate::aggregate::group_state::GroupState;
use crate::error::OperatorError;
use crate::operator::OperatorContext;
use crate::operator::state::EVENT_TIME;

/// The state tables of a window aggregate.
pub(super) struct SliceState {
    /// In the order of the grouping sets.
    slices: Vec<GroupState<2>>,
}

impl SliceState {
    pub(super) fn new(window: &WindowAssignment, input: &SchemaRef, sets: &GroupSets) -> Result<Self, OperatorError> {
        let base = match window {
            WindowAssignment::Time(window) => format!("slices of {}", spell(window, input)),
            WindowAssignment::Attached { .. } => "windows".to_owned(),
        };
        let create = |(index, set)| GroupState::new(sets.state_name(&base, index), ["first_end", "start"], set);
        Ok(Self { slices: sets.sets.iter().enumerate().map(create).collect::<Result<_, _>>()? })
    }

    pub(super) fn tables(&self) -> Vec<StateTableSchema> {
        self.slices.iter().map(|slices| slices.table().clone()).chain([EVENT_TIME.schema()]).collect()
    }

    pub(super) fn write(
        &self,
        slices: &Slices,
        watermark: i64,
        next_row: u64,
        ctx: &OperatorContext,
    ) -> Result<OperatorSnapshot, OperatorError> {
        let mut tables = Vec::with_capacity(self.slices.len() + 1);
        for (index, (state, set)) in self.slices.iter().zip(&slices.sets().sets).enumerate() {
            let groups = slices.open_slices().map(|(key, slice)| ([key.first_end, key.start], &slice[index]));
            tables.push(state.write(groups, &set.plan, next_row, ctx.max_parallelism)?);
        }
        tables.push(EVENT_TIME.write(ctx.key_groups.clone().map(Some), [watermark])?);
        Ok(OperatorSnapshot { tables })
    }

    /// Adds what was written to `slices`. Returns the watermark, and the number of the next row to arrive.
    pub(super) fn read(&self, snapshot: &OperatorSnapshot, slices: &mut Slices) -> Result<(i64, u64), OperatorError> {
        let mut next_row = 0;
        for (set, state) in self.slices.iter().enumerate() {
            let restored = state.read(snapshot, |[first_end, start], columns, rows| {
                slices.merge_state(SliceKey { first_end, start }, set, columns, rows)
            })?;
            next_row = restored.max(next_row);
        }
        let watermark = EVENT_TIME.read_largest(snapshot)?.map_or(i64::MIN, |[watermark]| watermark);
        Ok((watermark, next_row))
    }
}

/// The windows in words, for the table's name: state of other windows is then state of another table.
fn spell(window: &TimeWindow, input: &SchemaRef) -> String {
    let time = window.time_column.map_or("processing time", |column| input.field(column).name());
    match &window.zone {
        Some(zone) => format!("{} over {time} in {zone}", window.kind),
        None => format!("{} over {time}", window.kind),
    }
}
