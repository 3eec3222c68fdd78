//! Which keys to look at when only time has passed, and how far consumers may be told that time has come.
//!
//! Each key stands in each list at most once with a time that is still true; others are skipped when they come up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::keys::Keys;
use super::partition::Partition;

/// Times at which keys wait.
#[derive(Debug, Default)]
pub struct Schedule {
    /// The time of the first row of a key's oldest open match; the match is over some time later.
    open: BinaryHeap<Reverse<(i64, u32)>>,
    /// The time of the earliest match of a key that is not emitted.
    holds: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Schedule {
    /// The key is to be looked at when its oldest open match is over.
    pub fn wait_for(&mut self, slot: u32, partition: &mut Partition) {
        let Some(oldest) = partition.oldest_open().filter(|_| !partition.has_deadline) else { return };
        partition.has_deadline = true;
        self.open.push(Reverse((partition.time(oldest), slot)));
    }

    /// Adds the keys whose oldest open match is over to `touched`, in the order of their first rows.
    pub fn due(&mut self, is_due: impl Fn(i64) -> bool, keys: &mut Keys, touched: &mut Vec<u32>) {
        let mut due = vec![];
        while let Some(Reverse((first, slot))) = self.open.peek().copied() {
            if !is_due(first) {
                break;
            }
            self.open.pop();
            if let Some(partition) = keys.get_mut(slot) {
                partition.has_deadline = false;
                due.push(slot);
            }
        }
        if due.is_empty() {
            return;
        }
        keys.sort_by_first_row(&mut due);
        due.dedup();
        let mut known = touched.clone();
        known.sort_unstable();
        touched.extend(due.into_iter().filter(|slot| known.binary_search(slot).is_err()));
    }

    /// The earliest match of the key that is not emitted is at `hold`.
    pub fn hold(&mut self, slot: u32, partition: &mut Partition, hold: Option<i64>) {
        if partition.hold != hold {
            partition.hold = hold;
            self.holds.extend(hold.map(|hold| Reverse((hold, slot))));
        }
    }

    /// The earliest match of any key that is not emitted.
    pub fn earliest_hold(&mut self, keys: &Keys) -> Option<i64> {
        while let Some(Reverse((hold, slot))) = self.holds.peek().copied() {
            if keys.get(slot).is_some_and(|partition| partition.hold == Some(hold)) {
                return Some(hold);
            }
            self.holds.pop();
        }
        None
    }

    /// Keys have new numbers.
    pub fn renumber(&mut self, numbers: &[u32]) {
        for list in [&mut self.open, &mut self.holds] {
            let entries = std::mem::take(list).into_vec();
            let renewed = entries.into_iter().filter_map(|Reverse((time, slot))| {
                let slot = numbers[slot as usize];
                (slot != u32::MAX).then_some(Reverse((time, slot)))
            });
            *list = renewed.collect();
        }
    }
}
