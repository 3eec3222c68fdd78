//! Rows that wait for the watermark, and the order in which they are taken.
//!
//! ```text
//! rows at 3, 1, 9, then watermark 5   ->   1, 3      (9 waits)
//! ```

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::rows::RowId;

/// A row that waits. Ordered by time, then by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    /// Its event time (ms).
    pub time: i64,
    /// When it arrived.
    pub arrival: u64,
    /// Its key.
    pub slot: u32,
    /// The row.
    pub row: RowId,
}

/// Rows ahead of the watermark. Those that came in order wait in a queue, the others in a heap.
#[derive(Debug, Default)]
pub struct ReleaseBuffer {
    in_order: VecDeque<Waiting>,
    others: BinaryHeap<Reverse<Waiting>>,
    arrivals: u64,
}

impl ReleaseBuffer {
    /// Lets a row wait.
    pub fn push(&mut self, time: i64, slot: u32, row: RowId) {
        let waiting = Waiting { time, arrival: self.arrivals, slot, row };
        self.arrivals += 1;
        match self.in_order.back() {
            Some(last) if last.time > time => self.others.push(Reverse(waiting)),
            _ => self.in_order.push_back(waiting),
        }
    }

    /// Lets rows wait that have waited before; numbers of arrival go on behind `arrivals` and theirs.
    pub fn restore(&mut self, mut rows: Vec<Waiting>, arrivals: u64) {
        rows.sort_unstable();
        let behind = rows.iter().map(|waiting| waiting.arrival + 1).fold(arrivals, u64::max);
        self.arrivals = self.arrivals.max(behind);
        self.in_order = rows.into();
    }

    /// The rows that wait, by time and arrival.
    pub fn rows(&self) -> Vec<Waiting> {
        let mut rows: Vec<Waiting> = self.others.iter().map(|Reverse(waiting)| *waiting).collect();
        rows.extend(&self.in_order);
        rows.sort_unstable();
        rows
    }

    /// Takes out the rows whose time is at or before `watermark`, in order of time, then of arrival.
    pub fn release(&mut self, watermark: i64, released: &mut Vec<Waiting>) {
        loop {
            let other = self.others.peek().map(|Reverse(waiting)| *waiting);
            let next = match (self.in_order.front(), other) {
                (Some(first), Some(other)) if other < *first => other,
                (Some(first), _) => *first,
                (None, Some(other)) => other,
                (None, None) => return,
            };
            if next.time > watermark {
                return;
            }
            match Some(next) == other {
                true => drop(self.others.pop()),
                false => drop(self.in_order.pop_front()),
            }
            released.push(next);
        }
    }

    /// Gives the rows that wait new numbers of keys or rows, in an order that stays as long as nothing is pushed or
    /// released. Times and arrivals must stay.
    pub fn update(&mut self, mut change: impl FnMut(&mut Waiting)) {
        self.in_order.iter_mut().for_each(&mut change);
        let mut others = std::mem::take(&mut self.others).into_vec();
        others.sort_unstable();
        others.iter_mut().for_each(|Reverse(waiting)| change(waiting));
        self.others = others.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::match_recognize::rows::RowStore;

    #[test]
    fn rows_leave_by_time_and_then_by_arrival() {
        let mut buffer = ReleaseBuffer::default();
        for (idx, time) in [3, 1, 9, 3, 2, 9, 1].into_iter().enumerate() {
            buffer.push(time, idx as u32, RowStore::id(0, idx));
        }
        let mut slots = |watermark| {
            let mut released = vec![];
            buffer.release(watermark, &mut released);
            released.iter().map(|waiting| waiting.slot).collect::<Vec<_>>()
        };
        assert!(slots(0).is_empty());
        assert_eq!(slots(3), [1, 6, 4, 0, 3]);
        assert!(slots(8).is_empty());
        assert_eq!(slots(9), [2, 5]);
    }

    #[test]
    fn what_is_renumbered_keeps_its_place() {
        let mut buffer = ReleaseBuffer::default();
        [5, 1, 4, 2]
            .into_iter()
            .enumerate()
            .for_each(|(idx, time)| buffer.push(time, idx as u32, RowStore::id(0, idx)));
        buffer.update(|waiting| waiting.slot += 10);
        buffer.push(3, 14, RowStore::id(0, 4));
        let mut released = vec![];
        buffer.release(9, &mut released);
        assert_eq!(
            released.iter().map(|w| (w.time, w.slot)).collect::<Vec<_>>(),
            [(1, 11), (2, 13), (3, 14), (4, 12), (5, 10)]
        );
        buffer.release(i64::MAX, &mut released);
        assert_eq!(released.len(), 5, "nothing is left");
    }
}
