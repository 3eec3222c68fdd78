//! Which rows of the other side each row of a batch matches.

use arrow::array::{ArrayRef, BooleanArray, UInt32Array};

use super::chunks::NONE;
use super::plan::JoinPlan;
use super::row_store::{RowStore, RowTimes};
use crate::error::OperatorError;

/// So many pairs are looked at together, or those of one row.
const MAX_PAIRS: usize = 32 * 1024;

/// Rows of a batch and where they belong.
pub(super) struct BatchRows<'a> {
    /// The side that they came to.
    pub(super) input: usize,
    /// Their kept columns.
    pub(super) columns: &'a [ArrayRef],
    /// Their keys' group ids; [`NONE`] for a row that nothing can match.
    pub(super) groups: &'a [u32],
    /// Their event times, when the join asks for them; of a row that nothing can match, anything.
    pub(super) times: Option<&'a [RowTimes]>,
}

/// The pairs of some successive rows of a batch.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    start: usize,
    /// For each row, where its pairs end.
    ends: Vec<usize>,
    rows: Vec<u32>,
    others: Vec<u32>,
}

impl Pairs {
    /// Finds the pairs of rows from `start` on; returns the row behind the last that it has looked at.
    pub(super) fn find(
        &mut self,
        plan: &JoinPlan,
        batch: &BatchRows<'_>,
        start: usize,
        other: &RowStore,
    ) -> Result<usize, OperatorError> {
        self.start = start;
        self.ends.clear();
        self.rows.clear();
        self.others.clear();
        for (row, group) in batch.groups.iter().enumerate().skip(start) {
            if *group != NONE {
                match (plan.interval, batch.times) {
                    (Some(interval), Some(times)) => {
                        let admits = |o: &u32| {
                            let (own, other) = (times[row], other.times_of(*o));
                            let [left, right] = if batch.input == 0 { [own, other] } else { [other, own] };
                            // Neither was done with when the other came.
                            interval.admits(left.time_ms, right.time_ms)
                                && left.expires_ms > right.met_ms
                                && right.expires_ms > left.met_ms
                        };
                        self.others.extend(other.rows_of(*group).filter(admits));
                    }
                    _ => self.others.extend(other.rows_of(*group)),
                }
            }
            self.rows.resize(self.others.len(), row as u32);
            self.ends.push(self.others.len());
            if self.others.len() >= MAX_PAIRS {
                break;
            }
        }
        if let (Some(condition), false) = (&plan.condition, self.others.is_empty()) {
            let rows = UInt32Array::from_iter_values(self.rows.iter().copied());
            let mask = condition.evaluate(batch.input, batch.columns, &rows, other.chunks(), &self.others)?;
            self.keep(&mask);
        }
        Ok(start + self.ends.len())
    }

    /// The rows that row `row` of the batch matches, in the order in which they came.
    pub(super) fn of(&self, row: usize) -> &[u32] {
        let row = row - self.start;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.others[start..self.ends[row]]
    }

    /// Keeps the pairs where `mask` is true.
    fn keep(&mut self, mask: &BooleanArray) {
        if mask.true_count() == mask.len() {
            return;
        }
        let (mut pair, mut kept) = (0, 0);
        for end in &mut self.ends {
            while pair < *end {
                self.others[kept] = self.others[pair];
                kept += usize::from(mask.value(pair));
                pair += 1;
            }
            *end = kept;
        }
        self.others.truncate(kept);
    }
}
