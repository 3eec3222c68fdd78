//! Row pattern recognition by brute force: every way to match is tried in the order in which SQL prefers them, and the
//! first that fits is the match. Nothing of the engine is used; it knows the complete, sorted partition.

pub mod cases;
pub mod matcher;
pub mod pattern;
pub mod predicate;
pub mod statement;

/// A row of the tests' table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: i32,
    /// When it is delivered: a number that no other row has.
    pub id: i32,
    /// The value; NULL is `None`.
    pub value: Option<i32>,
    /// Event time (ms).
    pub time: i64,
}
