//! The slices that hold rows, and the windows made of them.

use std::collections::BTreeMap;

use arrow::array::ArrayRef;

use crate::aggregate::group_sets::GroupSets;
use crate::aggregate::group_table::{GroupRows, GroupTable};
use crate::error::OperatorError;
use crate::window::{Window, Windows};

/// Rows that count in the same windows: all those of their slice that end at `first_end` or later. Usually that is
/// every window of the slice. Of a row that arrived when some of them were complete, it is only the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SliceKey {
    pub(super) first_end: i64,
    pub(super) start: i64,
}

/// Groups and aggregates of one slice: a table per grouping set.
type Slice = Vec<GroupTable>;

/// All slices, ordered by the end of the first window that they are still to count in.
pub(super) struct Slices {
    /// `None` when each slice is one window, from its start to its first end.
    windows: Option<Windows>,
    sets: GroupSets,
    slices: BTreeMap<SliceKey, Slice>,
    /// The end of the last window that fired, of windows that share slices.
    fired_end: i64,
    /// An empty slice whose memory is to be used again.
    spare: Option<Slice>,
}

impl Slices {
    pub(super) fn new(windows: Option<Windows>, sets: GroupSets) -> Self {
        Self { windows, sets, slices: BTreeMap::new(), fired_end: i64::MIN, spare: None }
    }

    /// Counts rows into a slice.
    pub(super) fn count(&mut self, key: SliceKey, rows: &GroupRows<'_>) -> Result<(), OperatorError> {
        if let Some(slice) = self.slices.get_mut(&key) {
            return self.sets.update(slice, rows);
        }
        let mut slice = self.empty_slice()?;
        self.sets.update(&mut slice, rows)?;
        self.slices.insert(key, slice);
        Ok(())
    }

    /// What and how the slices group.
    pub(super) fn sets(&self) -> &GroupSets {
        &self.sets
    }

    /// The slices, each with the key that it would have if it had only just been made: it counts in windows that
    /// end at `first_end` or later, of which none has fired. Two slices can have the same.
    pub(super) fn open_slices(&self) -> impl Iterator<Item = (SliceKey, &[GroupTable])> {
        self.slices.iter().map(|(key, slice)| {
            let first_end = match &self.windows {
                Some(windows) if key.first_end <= self.fired_end => windows.end_after(self.fired_end),
                _ => key.first_end,
            };
            (SliceKey { first_end, start: key.start }, slice.as_slice())
        })
    }

    /// Adds groups of the set with index `set` to a slice.
    pub(super) fn merge_state(
        &mut self,
        key: SliceKey,
        set: usize,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<(), OperatorError> {
        if !self.slices.contains_key(&key) {
            let slice = self.empty_slice()?;
            self.slices.insert(key, slice);
        }
        match self.slices.get_mut(&key) {
            Some(slice) => slice[set].merge_state(&self.sets.sets[set].plan, columns, rows),
            None => Ok(()),
        }
    }

    /// The end of the window that is to fire next: the first that has rows.
    pub(super) fn next_end(&self) -> Option<i64> {
        let (first, _) = self.slices.first_key_value()?;
        match &self.windows {
            // A slice that has been in a fired window and is still here is in the next one.
            Some(windows) if first.first_end <= self.fired_end => Some(windows.end_after(self.fired_end)),
            _ => Some(first.first_end),
        }
    }

    /// Shows `emit` the next window's groups, then forgets what no later window needs.
    pub(super) fn fire_next(
        &mut self,
        emit: impl FnOnce(Window, &GroupSets, &[GroupTable]) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        let Some(end) = self.next_end() else { return Ok(()) };
        match self.windows {
            None => self.fire_single(emit),
            Some(windows) if windows.is_cumulative() => self.fire_cumulative(&windows, end, emit),
            Some(windows) => self.fire_hopping(&windows, end, emit),
        }
    }

    fn fire_single(
        &mut self,
        emit: impl FnOnce(Window, &GroupSets, &[GroupTable]) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        if let Some((key, slice)) = self.slices.pop_first() {
            emit(Window { start: key.start, end: key.first_end }, &self.sets, &slice)?;
            self.recycle(slice);
        }
        Ok(())
    }

    /// A window's slices are merged for it and stay for the windows that overlap it.
    fn fire_hopping(
        &mut self,
        windows: &Windows,
        end: i64,
        emit: impl FnOnce(Window, &GroupSets, &[GroupTable]) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        let window = windows.window_ending_at(end);
        let keys = self.keys_until(end);
        match keys.as_slice() {
            [only] => emit(window, &self.sets, &self.slices[only])?,
            keys => {
                let mut merged = self.empty_slice()?;
                for key in keys.iter().filter(|key| key.start >= window.start) {
                    self.sets.merge(&mut merged, &self.slices[key])?;
                }
                emit(window, &self.sets, &merged)?;
                self.recycle(merged);
            }
        }
        for key in keys {
            if is_last_window(windows, key, end)
                && let Some(slice) = self.slices.remove(&key)
            {
                self.recycle(slice);
            }
        }
        self.fired_end = end;
        Ok(())
    }

    /// All later windows that have one of the window's slices have them all, so they become one slice.
    fn fire_cumulative(
        &mut self,
        windows: &Windows,
        end: i64,
        emit: impl FnOnce(Window, &GroupSets, &[GroupTable]) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        let Some((first, mut merged)) = self.slices.pop_first() else { return Ok(()) };
        for key in self.keys_until(end) {
            if let Some(slice) = self.slices.remove(&key) {
                self.sets.merge(&mut merged, &slice)?;
                self.recycle(slice);
            }
        }
        emit(windows.window_ending_at(end), &self.sets, &merged)?;
        if is_last_window(windows, first, end) {
            self.recycle(merged);
        } else {
            self.slices.insert(first, merged);
        }
        self.fired_end = end;
        Ok(())
    }

    /// The slices that count in the window that ends there, by their starts: which of its other windows have fired
    /// shows in `first_end` alone, and does not decide the order in which keys are emitted.
    fn keys_until(&self, end: i64) -> Vec<SliceKey> {
        let last = SliceKey { first_end: end, start: i64::MAX };
        let mut keys: Vec<SliceKey> = self.slices.range(..=last).map(|(key, _)| *key).collect();
        keys.sort_unstable_by_key(|key| (key.start, key.first_end));
        keys
    }

    fn empty_slice(&mut self) -> Result<Slice, OperatorError> {
        match self.spare.take() {
            Some(slice) => Ok(slice),
            None => self.sets.create_tables(),
        }
    }

    fn recycle(&mut self, mut slice: Slice) {
        slice.iter_mut().for_each(GroupTable::clear);
        self.spare = Some(slice);
    }
}

/// Is the window that ends there the last one of the slice?
fn is_last_window(windows: &Windows, slice: SliceKey, end: i64) -> bool {
    windows.ends_of(slice.start).is_none_or(|ends| ends.last <= end)
}
