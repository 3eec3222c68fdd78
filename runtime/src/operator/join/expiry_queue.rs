//! Which rows go when event time goes on: the first to go first, of those that go together the first to have come.
//!
//! Most rows come in the order in which they go; these wait in a queue, and only the others in a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Rows by the watermark (ms) with which they go, then by row id.
#[derive(Debug, Default)]
pub(super) struct ExpiryQueue {
    in_order: VecDeque<(i64, u32)>,
    others: BinaryHeap<Reverse<(i64, u32)>>,
}

impl ExpiryQueue {
    /// Adds a row that goes with that watermark.
    pub(super) fn push(&mut self, expires_ms: i64, row: u32) {
        let entry = (expires_ms, row);
        if self.in_order.back().is_none_or(|last| *last <= entry) {
            self.in_order.push_back(entry);
        } else {
            self.others.push(Reverse(entry));
        }
    }

    /// Takes out the first row to go, if it goes with that watermark.
    pub(super) fn pop(&mut self, watermark_ms: i64) -> Option<u32> {
        let next = self.in_order.front().copied();
        let other = self.others.peek().map(|Reverse(entry)| *entry);
        let is_other = match (next, other) {
            (Some(next), Some(other)) => other < next,
            (next, _) => next.is_none(),
        };
        let (expires_ms, row) = if is_other { other? } else { next? };
        if expires_ms > watermark_ms {
            return None;
        }
        if is_other {
            self.others.pop();
        } else {
            self.in_order.pop_front();
        }
        Some(row)
    }

    /// Gives the rows other ids, which keep their order.
    pub(super) fn renumber(&mut self, new_id: impl Fn(u32) -> u32) {
        self.in_order.iter_mut().for_each(|(_, row)| *row = new_id(*row));
        let others = std::mem::take(&mut self.others).into_iter();
        self.others = others.map(|Reverse((at, row))| Reverse((at, new_id(row)))).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_in_order_whatever_order_they_came_in() {
        let mut queue = ExpiryQueue::default();
        for (row, expires_ms) in (0..).zip([5, 7, 3, 7, 1, 9, 3]) {
            queue.push(expires_ms, row);
        }
        let mut gone = |watermark_ms| std::iter::from_fn(|| queue.pop(watermark_ms)).collect::<Vec<_>>();
        assert!(gone(0).is_empty());
        assert_eq!(gone(6), [4, 2, 6, 0]);
        queue.renumber(|row| row - 1);
        let mut gone = |watermark_ms| std::iter::from_fn(|| queue.pop(watermark_ms)).collect::<Vec<_>>();
        assert_eq!(gone(i64::MAX), [0, 2, 4]);
    }
}
