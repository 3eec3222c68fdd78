//! `OFFSET … FETCH` over rows that are only ever added.

use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::state::NumberTable;
use super::{Operator, Output};
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;

const POSITION: NumberTable<1> = NumberTable { name: "position", columns: ["rows"] };

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
    fn state_tables(&self) -> Vec<StateTableSchema> {
        vec![POSITION.schema()]
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        Ok(OperatorSnapshot { tables: vec![POSITION.write([None], [self.window.position()])?] })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        if let Some([position]) = POSITION.read_largest(snapshot)? {
            self.window.go_to(position);
        }
        Ok(())
    }

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
    /// The first row that is wanted, and the first behind it that is not.
    start: u64,
    end: u64,
    /// The next row.
    next: u64,
}

impl RowWindow {
    /// Skips `offset` rows, then wants `fetch`; none means all.
    pub fn new(offset: u64, fetch: Option<u64>) -> Self {
        Self { start: offset, end: offset.saturating_add(fetch.unwrap_or(u64::MAX)), next: 0 }
    }

    /// Has every wanted row been seen?
    pub fn is_full(&self) -> bool {
        self.next.max(self.start) >= self.end
    }

    /// Rows from the start of the sequence that can matter.
    pub fn reach(&self) -> u64 {
        self.end
    }

    /// How many rows have been seen, for [`RowWindow::go_to`].
    pub fn position(&self) -> i64 {
        i64::try_from(self.next).unwrap_or(i64::MAX)
    }

    /// Goes on behind that many rows.
    pub fn go_to(&mut self, position: i64) {
        self.next = u64::try_from(position).unwrap_or(0);
    }

    /// The wanted rows of the next `batch`.
    pub fn cut(&mut self, batch: ChangeBatch) -> ChangeBatch {
        let rows = batch.num_rows() as u64;
        let skipped = self.start.saturating_sub(self.next).min(rows);
        let wanted_end = self.end.saturating_sub(self.next).min(rows);
        self.next = self.next.saturating_add(rows);
        if skipped == 0 && wanted_end == rows {
            return batch;
        }
        batch.slice(skipped as usize, wanted_end.saturating_sub(skipped) as usize)
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
