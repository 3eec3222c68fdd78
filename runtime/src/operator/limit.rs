//! `OFFSET … FETCH` over rows that are only ever added.

use super::{Operator, Output};
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;

/// Skips the first rows, then passes on so many.
#[derive(Debug)]
pub struct Limit {
    window: RowWindow,
}

impl Limit {
    /// Skips `offset` rows, then emits `fetch`; none means all.
    pub fn new(offset: u64, fetch: Option<u64>) -> Self {
        Self { window: RowWindow::new(offset, fetch) }
    }
}

impl Operator for Limit {
    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        out.emit(self.window.cut(batch));
        Ok(())
    }

    fn is_satisfied(&self) -> bool {
        self.window.is_full()
    }
}

/// Which rows of a sequence are wanted: so many after skipping some.
#[derive(Clone, Copy, Debug)]
pub struct RowWindow {
    to_skip: u64,
    to_emit: u64,
}

impl RowWindow {
    /// Skips `offset` rows, then wants `fetch`; none means all.
    pub fn new(offset: u64, fetch: Option<u64>) -> Self {
        Self { to_skip: offset, to_emit: fetch.unwrap_or(u64::MAX) }
    }

    /// Has every wanted row been seen?
    pub fn is_full(&self) -> bool {
        self.to_emit == 0
    }

    /// Rows from the start of the sequence that can matter.
    pub fn reach(&self) -> u64 {
        self.to_skip.saturating_add(self.to_emit)
    }

    /// The wanted rows of the next `batch`.
    pub fn cut(&mut self, batch: ChangeBatch) -> ChangeBatch {
        let rows = batch.num_rows() as u64;
        let skipped = rows.min(self.to_skip);
        let emitted = (rows - skipped).min(self.to_emit);
        self.to_skip -= skipped;
        self.to_emit -= emitted;
        if emitted == rows {
            return batch;
        }
        batch.slice(skipped as usize, emitted as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_rows::{numbers, values_of};

    fn check(offset: u64, fetch: Option<u64>, batch_size: i64, expect: std::ops::Range<i64>) {
        let mut limit = Limit::new(offset, fetch);
        let mut out = Output::default();
        for start in (0..10).step_by(batch_size as usize) {
            let batch = numbers(start..(start + batch_size).min(10));
            limit.process(0, ChangeBatch::insert_only(batch), 0, &mut out).unwrap();
        }
        let emitted: Vec<_> = out.drain().collect();
        assert_eq!(values_of(&emitted), expect.collect::<Vec<_>>(), "{offset} {fetch:?} {batch_size}");
    }

    #[test]
    fn the_wanted_rows_do_not_depend_on_batch_size() {
        for batch_size in [1, 3, 10] {
            check(0, None, batch_size, 0..10);
            check(0, Some(4), batch_size, 0..4);
            check(3, Some(4), batch_size, 3..7);
            check(8, Some(4), batch_size, 8..10);
            check(20, None, batch_size, 0..0);
            check(0, Some(0), batch_size, 0..0);
        }
    }

    #[test]
    fn is_satisfied_with_the_last_wanted_row_and_not_before() {
        let mut limit = Limit::new(1, Some(2));
        let mut out = Output::default();
        let mut satisfied = Vec::new();
        for n in 0..4 {
            satisfied.push(limit.is_satisfied());
            limit.process(0, ChangeBatch::insert_only(numbers([n])), 0, &mut out).unwrap();
        }
        assert_eq!(satisfied, [false, false, false, true]);
        assert!(Limit::new(0, Some(0)).is_satisfied());
    }
}
