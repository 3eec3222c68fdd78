//! Matches that are decided, until they are emitted.

use super::path::Label;
use super::rows::RowId;

/// What was decided about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A match begins with it.
    Match,
    /// A match without rows is in front of it.
    Empty,
    /// No match begins with it, and it is in none.
    Unmatched,
}

/// One decision.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// What.
    pub kind: Kind,
    /// The number of the match in its partition.
    pub number: i64,
    /// In [`Found::rows`]: its first row. Of an empty match and of an unmatched row, the row.
    pub first: usize,
    /// How many rows it has.
    pub len: usize,
    /// How many rows of the partition are kept in front of the first, and behind the last.
    pub around: (usize, usize),
    /// In [`Found::labels`]: its first row's.
    pub labels: usize,
}

/// Decisions, in order.
#[derive(Debug, Default)]
pub struct Found {
    /// What was decided.
    pub heads: Vec<Head>,
    /// The rows that the decisions speak of.
    pub rows: Vec<RowId>,
    /// What the rows of matches are.
    pub labels: Vec<Label>,
}

impl Found {
    /// Nothing is left.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.rows.clear();
        self.labels.clear();
    }

    /// What the rows of a match are.
    pub fn labels_of(&self, head: &Head) -> &[Label] {
        let count = if head.kind == Kind::Match { head.len } else { 0 };
        &self.labels[head.labels..head.labels + count]
    }

    /// The row `at` rows behind the first; [`RowId::NONE`] outside of what is kept.
    pub fn row(&self, head: &Head, at: i64) -> RowId {
        let within = at >= -(head.around.0 as i64) && at < (head.len.max(1) + head.around.1) as i64;
        if within { self.rows[(head.first as i64 + at) as usize] } else { RowId::NONE }
    }
}
