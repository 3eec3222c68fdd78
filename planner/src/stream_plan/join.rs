//! Joins.

use serde::Serialize;

use crate::compiled_expr::CompiledExpr;

/// Joins two inputs, left and right.
///
/// Output columns: those of the left side, then those of the right one, of each the first
/// [`output`](JoinSide::output) of its kept columns. Both inputs come by the hash of their keys.
#[derive(Clone, Debug, Serialize)]
pub struct JoinNode {
    /// Which rows come out.
    pub join_type: JoinType,
    /// Left, right.
    pub sides: [JoinSide; 2],
    /// For each key: does NULL equal NULL (`IS NOT DISTINCT FROM`)? Otherwise a NULL matches nothing.
    pub null_safe: Vec<bool>,
    /// What rows of equal keys must fulfil to match; none if nothing.
    pub condition: Option<JoinCondition>,
    /// What bounds the state in time.
    pub bound: JoinBound,
}

/// Which rows a join emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinType {
    /// Pairs that match.
    Inner,
    /// Pairs, and left rows without a match, padded with NULL.
    Left,
    /// Pairs, and right rows without a match.
    Right,
    /// Pairs, and rows of both sides without a match.
    Full,
    /// Left rows with a match, each once.
    Semi,
    /// Left rows without a match.
    Anti,
}

impl JoinType {
    /// As in SQL: `LEFT`.
    pub fn name(self) -> &'static str {
        match self {
            JoinType::Inner => "INNER",
            JoinType::Left => "LEFT",
            JoinType::Right => "RIGHT",
            JoinType::Full => "FULL",
            JoinType::Semi => "SEMI",
            JoinType::Anti => "ANTI",
        }
    }
}

/// One input of a join.
#[derive(Clone, Debug, Serialize)]
pub struct JoinSide {
    /// Columns of the input that must equal those of the other side, pair by pair and of the same types.
    pub keys: Vec<usize>,
    /// Columns of the input that the join keeps: those of the output first, then others that the condition reads.
    pub columns: Vec<usize>,
    /// How many of the kept columns are put out.
    pub output: usize,
    /// May its rows be taken back?
    pub updating: bool,
}

/// A condition over pairs of rows.
#[derive(Clone, Debug, Serialize)]
pub struct JoinCondition {
    /// Where its columns come from: the side (0 is left), and the place among the side's kept columns.
    pub columns: Vec<(usize, usize)>,
    /// A boolean over these columns; a pair matches where it is true.
    pub expr: CompiledExpr,
}

/// What bounds a join's state in time. Columns are those of the inputs, left and right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinBound {
    /// Nothing: every row is kept until it is taken back.
    None,
    /// Two event times are at most so far apart: `lower_ms <= left - right <= upper_ms`. The output is append-only.
    Interval {
        /// The event time columns.
        times: [usize; 2],
        /// Least difference in milliseconds.
        lower_ms: i64,
        /// Greatest difference.
        upper_ms: i64,
    },
    /// Both inputs are windowed alike, and rows of one window meet when it ends. The window's bounds are keys too.
    /// The output is append-only.
    Window {
        /// `window_start`, `Timestamp(ms)` without zone.
        starts: [usize; 2],
        /// `window_end`.
        ends: [usize; 2],
        /// The zone in which the windows are aligned, as in [`super::TimeWindow::zone`].
        zone: Option<String>,
    },
}
