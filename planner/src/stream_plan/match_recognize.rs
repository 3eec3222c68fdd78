//! Row pattern recognition as the runtime runs it: variables are numbers, expressions are compiled.

use serde::Serialize;

pub use super::row_pattern::{RowPattern, VariableSet};
use super::{AggregateCall, SortKey};
use crate::compiled_expr::CompiledExpr;

/// The most variables of a pattern: the variables that a row may be are one word of bits.
pub const MAX_PATTERN_VARIABLES: usize = 64;
/// The most steps that a pattern may unroll to.
pub const MAX_PATTERN_STEPS: u64 = 10_000;

/// Finds patterns among the rows of each key.
#[derive(Clone, Debug, Serialize)]
pub struct MatchRecognizeNode {
    /// Key columns of the input; none means that all rows are one partition.
    pub partition_by: Vec<usize>,
    /// The order of a partition's rows; rows that are equal in it stay in the order of arrival.
    pub order_by: Vec<SortKey>,
    /// The event time of a row, when the first key of the order is one.
    pub time_column: Option<usize>,
    /// Are rows taken as the watermark passes them? Otherwise when the (bounded) input ends.
    pub by_watermark: bool,
    /// The pattern.
    pub pattern: RowPattern,
    /// Its variables; a variable's number is its place.
    pub variables: Vec<PatternVariable>,
    /// A match spans less than this (exclusive), from its first row to its last.
    pub within_ms: Option<i64>,
    /// Where the search goes on behind a match.
    pub skip: MatchSkip,
    /// Go on behind the match or its first row where `skip` cannot be done; otherwise the job fails.
    pub skip_leniently: bool,
    /// Which rows come out.
    pub rows: MatchRows,
    /// The measures.
    pub measures: Vec<MatchExpr>,
    /// The output columns.
    pub output: Vec<MatchColumn>,
    /// Does anything read MATCH_NUMBER()? Otherwise matches need not be counted per key.
    pub reads_match_number: bool,
}

/// A variable and what a row must fulfil to be it: both conditions, or nothing.
#[derive(Clone, Debug, Serialize)]
pub struct PatternVariable {
    /// As CLASSIFIER() gives it.
    pub name: String,
    /// What the row and its neighbours decide. Its leaves are [`MatchLeaf::Value`]s of the row itself, moved by
    /// [`Navigation::physical`] rows.
    pub row: Option<MatchExpr>,
    /// What depends on the rows matched so far.
    pub path: Option<MatchExpr>,
}

/// Where the search goes on behind a match that is not empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchSkip {
    /// Behind its last row.
    PastLastRow,
    /// At its second row.
    ToNextRow,
    /// At the first or last row of a variable.
    ToVariable {
        /// One variable, or those of a union variable.
        variables: VariableSet,
        /// At the last row?
        to_last: bool,
        /// As written.
        name: String,
    },
}

/// Which rows come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchRows {
    /// One row a match.
    One,
    /// Each row of a match that is not excluded.
    All {
        /// One row for an empty match?
        show_empty: bool,
        /// A row for each row where no match begins and that is in none?
        with_unmatched: bool,
    },
}

/// An output column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchColumn {
    /// A column of the input: of the row, or of the match's first row when a match is one row.
    Input(usize),
    /// A measure.
    Measure(usize),
}

/// An expression over values that the pattern determines.
#[derive(Clone, Debug, Serialize)]
pub struct MatchExpr {
    /// What the columns of `expr` are.
    pub leaves: Vec<MatchLeaf>,
    /// The expression over them.
    pub expr: CompiledExpr,
}

/// A value that the pattern determines.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchLeaf {
    /// Of one row; NULL when there is no such row.
    Value {
        /// Which row.
        row: Navigation,
        /// What of it.
        value: RowExpr,
    },
    /// Of all rows of some variables.
    Aggregate {
        /// The aggregate; its arguments and filter are places in `args`.
        call: AggregateCall,
        /// What it reads of each row.
        args: Vec<RowExpr>,
        /// Whose rows.
        variables: VariableSet,
        /// Over the whole match, rather than up to the row at hand?
        is_final: bool,
    },
    /// 1, 2, … per partition.
    MatchNumber,
    /// The event time of the match's last row; of an empty match, of the row where it is.
    MatchRowtime,
}

/// A row relative to a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Serialize)]
pub struct Navigation {
    /// Among the rows of these variables,
    pub variables: VariableSet,
    /// counted from the last rather than from the first,
    pub from_last: bool,
    /// the one so many rows further;
    pub offset: u32,
    /// of the whole match rather than up to the row at hand;
    pub is_final: bool,
    /// then so many rows of the partition forward, or back when negative.
    pub physical: i64,
}

/// An expression over one row.
#[derive(Clone, Debug, Serialize)]
pub struct RowExpr {
    /// What the columns of `expr` are.
    pub inputs: Vec<RowInput>,
    /// The expression over them.
    pub expr: CompiledExpr,
}

/// What an expression over one row reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowInput {
    /// A column of the input.
    Column(usize),
    /// CLASSIFIER(): the name of the variable that the row is.
    Classifier,
    /// MATCH_NUMBER()
    MatchNumber,
}
