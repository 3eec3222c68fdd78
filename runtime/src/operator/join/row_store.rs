//! One side of a join: its rows, by key, and how many rows of the other side each matches.
//!
//! **Invariant:** the rows of a key stand in the order in which they came. What is put out follows it.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use tidemark_state::key_group::hash_keys;

use super::chunks::{Chunks, NONE};
use super::expiry_queue::ExpiryQueue;
use super::row_index::{RowIndex, RowMatcher};
use crate::error::OperatorError;

/// Rows that are gone are cleared away when there are more of them than others, and at least so many.
const MIN_GONE_ROWS: usize = 1024;

/// Rows of one input.
#[derive(Debug)]
pub(super) struct RowStore {
    rows: Chunks,
    links: Vec<Link>,
    /// First and last row of each key's group id.
    groups: Vec<(u32, u32)>,
    live: usize,
    /// To find what a retraction takes back; none when nothing ever is.
    index: Option<RowIndex>,
    /// Until when rows are kept; empty when that is for ever.
    expiry: ExpiryQueue,
    /// By row id, when rows have event times.
    times: Vec<RowTimes>,
}

/// A row's place in the list of its key.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// [`NONE`] when the row is gone or has not been added yet.
    group: u32,
    next: u32,
    previous: u32,
    matches: u32,
}

const UNLINKED: Link = Link { group: NONE, next: NONE, previous: NONE, matches: 0 };

/// What event time means for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowTimes {
    /// Its event time.
    pub(super) time_ms: i64,
    /// The watermark that it met when it came.
    pub(super) met_ms: i64,
    /// The watermark with which no further row can match it.
    pub(super) expires_ms: i64,
}

impl RowStore {
    /// No rows, with columns of these types.
    pub(super) fn new(types: Vec<DataType>, updating: bool) -> Self {
        Self {
            rows: Chunks::new(types),
            links: Vec::new(),
            groups: Vec::new(),
            live: 0,
            index: updating.then(RowIndex::default),
            expiry: ExpiryQueue::default(),
            times: Vec::new(),
        }
    }

    /// The rows' columns.
    pub(super) fn chunks(&self) -> &Chunks {
        &self.rows
    }

    /// Number of rows that are there.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Hashes by which rows are found again; none when that is never needed.
    pub(super) fn hash_rows(&self, columns: &[ArrayRef], rows: usize) -> Vec<u64> {
        let mut hashes = Vec::new();
        if self.index.is_some() {
            hash_keys(columns, &mut hashes);
            hashes.resize(rows, 0);
        }
        hashes
    }

    /// Stores the columns of rows that are to be added one by one; returns the id of the first.
    pub(super) fn store(&mut self, columns: Vec<ArrayRef>, rows: usize) -> Result<u32, OperatorError> {
        let first = self.rows.append(columns, rows)?;
        self.links.resize(self.rows.len(), UNLINKED);
        Ok(first)
    }

    /// Adds a stored row to a key.
    pub(super) fn add(&mut self, row: u32, group: u32, matches: u32, hash: Option<u64>) {
        if self.groups.len() <= group as usize {
            self.groups.resize(group as usize + 1, (NONE, NONE));
        }
        let (first, last) = &mut self.groups[group as usize];
        let previous = std::mem::replace(last, row);
        if previous == NONE {
            *first = row;
        } else {
            self.links[previous as usize].next = row;
        }
        self.links[row as usize] = Link { group, next: NONE, previous, matches };
        self.live += 1;
        if let (Some(index), Some(hash)) = (&mut self.index, hash) {
            index.insert(row, of_group(hash, group));
        }
    }

    /// The same for a row with an event time.
    pub(super) fn add_until(&mut self, row: u32, group: u32, matches: u32, times: RowTimes) {
        self.add(row, group, matches, None);
        const NEVER: RowTimes = RowTimes { time_ms: 0, met_ms: i64::MIN, expires_ms: i64::MAX };
        self.times.resize(self.links.len(), NEVER);
        self.times[row as usize] = times;
        self.expiry.push(times.expires_ms, row);
    }

    /// A row of that key that equals row `row` of the batch: of several, the last to have come.
    pub(super) fn find(&self, matcher: &mut RowMatcher<'_>, row: usize, group: u32, hash: u64) -> Option<u32> {
        let is_equal =
            |stored: u32| self.links[stored as usize].group == group && matcher.is_equal(&self.rows, stored, row);
        self.index.as_ref()?.find(of_group(hash, group), is_equal)
    }

    /// Takes a row away.
    pub(super) fn remove(&mut self, row: u32) {
        let Link { group, next, previous, .. } = std::mem::replace(&mut self.links[row as usize], UNLINKED);
        debug_assert_ne!(group, NONE, "the row is there");
        let (first, last) = &mut self.groups[group as usize];
        match previous {
            NONE => *first = next,
            _ => self.links[previous as usize].next = next,
        }
        match next {
            NONE => *last = previous,
            _ => self.links[next as usize].previous = previous,
        }
        self.live -= 1;
        if let Some(index) = &mut self.index {
            index.remove(row);
        }
    }

    /// The rows of a key, in the order in which they came.
    pub(super) fn rows_of(&self, group: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.groups.get(group as usize).map_or(NONE, |(first, _)| *first);
        let some = |row: u32| (row != NONE).then_some(row);
        std::iter::successors(some(first), move |row| some(self.links[*row as usize].next))
    }

    /// Has the key rows?
    pub(super) fn has_rows(&self, group: u32) -> bool {
        self.groups.get(group as usize).is_some_and(|(first, _)| *first != NONE)
    }

    /// How many rows of the other side the row matches.
    pub(super) fn matches_mut(&mut self, row: u32) -> &mut u32 {
        &mut self.links[row as usize].matches
    }

    /// What event time means for the row.
    pub(super) fn times_of(&self, row: u32) -> RowTimes {
        self.times[row as usize]
    }

    /// The key's group id and the number of matches of every row that is there, by ascending row id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let links = (0..).zip(&self.links).filter(|(_, link)| link.group != NONE);
        links.map(|(row, link)| (row, link.group, link.matches))
    }

    /// Takes away the rows that no further row can match once event time is at `watermark_ms`, the first to go first,
    /// and says which had no match. Their columns stay until the next [`RowStore::tidy`].
    pub(super) fn expire(&mut self, watermark_ms: i64) -> Vec<u32> {
        let mut unmatched = Vec::new();
        while let Some(row) = self.expiry.pop(watermark_ms) {
            if self.links[row as usize].matches == 0 {
                unmatched.push(row);
            }
            self.remove(row);
        }
        unmatched
    }

    /// Puts small chunks together and, when most rows are gone, clears them away: then ids change, and it is true.
    pub(super) fn tidy(&mut self) -> Result<bool, OperatorError> {
        let gone = self.links.len() - self.live;
        if gone < self.live.max(MIN_GONE_ROWS) {
            self.rows.merge_small()?;
            return Ok(false);
        }
        let kept: Vec<u32> = self.iter().map(|(row, _, _)| row).collect();
        self.rows.retain(&kept)?;
        let mut new_id = vec![NONE; self.links.len()];
        kept.iter().zip(0..).for_each(|(row, id)| new_id[*row as usize] = id);
        let moved = |row: u32| if row == NONE { NONE } else { new_id[row as usize] };
        let move_link = |row: &u32| {
            let link = self.links[*row as usize];
            Link { next: moved(link.next), previous: moved(link.previous), ..link }
        };
        let links: Vec<Link> = kept.iter().map(move_link).collect();
        self.groups.iter_mut().for_each(|(first, last)| (*first, *last) = (moved(*first), moved(*last)));
        self.groups.shrink_to_fit();
        if let Some(old) = self.index.take() {
            let mut index = RowIndex::default();
            kept.iter().zip(0..).for_each(|(row, id)| index.insert(id, old.hash_of(*row)));
            self.index = Some(index);
        }
        if !self.times.is_empty() {
            self.times = kept.iter().map(|row| self.times[*row as usize]).collect();
            // All rows in the queue are there: one that goes is taken from it.
            self.expiry.renumber(moved);
        }
        self.links = links;
        Ok(true)
    }

    /// Gives the keys other group ids: `new_id` by the old one, of keys that have rows.
    pub(super) fn renumber_groups(&mut self, new_id: &[u32], groups: usize) {
        let mut renumbered = vec![(NONE, NONE); groups];
        for (ends, id) in self.groups.iter().zip(new_id).filter(|(ends, _)| ends.0 != NONE) {
            renumbered[*id as usize] = *ends;
        }
        self.groups = renumbered;
        let old_hashes = self.index.take();
        let mut index = old_hashes.as_ref().map(|_| RowIndex::default());
        for (row, link) in (0..).zip(&mut self.links).filter(|(_, link)| link.group != NONE) {
            let (old, new) = (link.group, new_id[link.group as usize]);
            link.group = new;
            if let (Some(index), Some(old_hashes)) = (&mut index, &old_hashes) {
                index.insert(row, of_group(of_group(old_hashes.hash_of(row), old), new));
            }
        }
        self.index = index;
    }
}

/// Rows of equal values but other keys are not the same. Its own inverse.
fn of_group(hash: u64, group: u32) -> u64 {
    hash ^ u64::from(group).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Int64Array;

    use super::*;

    /// A store of one column, its matcher's batch, and hashes.
    fn store(values: &[i64]) -> (RowStore, Vec<ArrayRef>, Vec<u64>) {
        let mut store = RowStore::new(vec![DataType::Int64], true);
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(values.to_vec()))];
        let hashes = store.hash_rows(&columns, values.len());
        store.store(columns.clone(), values.len()).unwrap();
        (store, columns, hashes)
    }

    #[test]
    fn rows_of_a_key_stand_in_order_and_go_by_value() {
        let (mut store, columns, hashes) = store(&[5, 5, 6, 5]);
        for (row, group) in [(0, 0), (1, 1), (2, 0), (3, 0)] {
            store.add(row, group, 0, Some(hashes[row as usize]));
        }
        let mut matcher = RowMatcher::new(&columns);
        assert_eq!(store.rows_of(0).collect::<Vec<_>>(), [0, 2, 3]);
        let found = store.find(&mut matcher, 0, 0, hashes[0]).unwrap();
        assert_eq!(found, 3, "the last of equal rows of the key");
        store.remove(found);
        store.remove(2);
        assert_eq!(store.rows_of(0).collect::<Vec<_>>(), [0]);
        assert_eq!(store.find(&mut matcher, 2, 0, hashes[2]), None);
        store.remove(0);
        assert!(!store.has_rows(0) && store.has_rows(1));
    }

    #[test]
    fn what_is_gone_is_cleared_away_and_the_rest_is_found() {
        let values: Vec<i64> = (0..5_000).map(|n| n / 2).collect();
        let (mut store, columns, hashes) = store(&values);
        (0..5_000).for_each(|row| store.add(row, row % 7, row, Some(hashes[row as usize])));
        assert!(!store.tidy().unwrap());
        (0..5_000).filter(|row| row % 10 != 0).for_each(|row| store.remove(row));
        assert!(store.tidy().unwrap());
        assert_eq!((store.len(), store.chunks().len()), (500, 500));
        assert_eq!(store.rows_of(0).count(), 72);
        let new_id: Vec<u32> = (0..7).map(|group| 6 - group).collect();
        store.renumber_groups(&new_id, 7);
        let mut matcher = RowMatcher::new(&columns);
        let found = store.find(&mut matcher, 70, 6, hashes[70]).unwrap();
        assert_eq!(*store.matches_mut(found), 70);
        assert_eq!(store.find(&mut matcher, 70, 0, hashes[70]), None);
    }
}
