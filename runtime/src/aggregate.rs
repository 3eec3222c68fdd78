//! Aggregates of many groups at once.
//!
//! An [`Accumulator`] holds the state of one aggregate call for all groups of a table, in flat vectors indexed by
//! the group ids that a key table deals out, and takes a column of values with the group of each row:
//!
//! ```text
//! SUM   groups [0, 1, 0, 2]   values [5, 7, NULL, NULL]   ->   [5, 7, NULL]
//! ```
//!
//! **Invariant:** states merge: updating two accumulators with parts of the rows and merging them gives what one
//! accumulator would have over all rows, whatever the parts. What depends on arrival order keeps the number of
//! the row that it came from, so that merging the slices of a window does not disturb it.

use std::any::Any;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;
use tidemark_planner::stream_plan::{AggregateCall, AggregateFunction};

use crate::error::OperatorError;

mod array_agg;
mod avg;
mod bool;
mod byte_slots;
mod count;
mod distinct;
mod first_last;
pub(crate) mod group_output;
pub(crate) mod group_sets;
pub(crate) mod group_state;
pub(crate) mod group_table;
mod list_agg;
mod min_max;
mod ordered_values;
mod row_values;
mod state_lists;
pub(crate) mod states;
mod sum;
mod value_log;
mod variance;

/// The state of one aggregate call, for groups `0..n`.
pub(crate) trait Accumulator: Any + Send {
    /// Grows to `groups` groups, the new ones without rows; 0 forgets all.
    fn resize(&mut self, groups: usize);

    /// Counts rows in. Every group of `rows` is there already.
    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError>;

    /// Adds group `from[i]` of `other`, an accumulator of the same call, to group `to[i]`, one after the other. A group of
    /// `other` occurs once at most in `from`.
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError>;

    /// The results of these groups; the state stays as it is.
    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError>;

    /// The columns in which [`Accumulator::state`] gives a state. They are part of the format of checkpoints.
    fn state_fields(&self) -> Vec<Field>;

    /// The states of these groups, one row a group.
    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError>;

    /// Adds states that an accumulator of the same call gave: row `i` belongs to `groups[i]`, and several may belong
    /// to one group.
    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError>;
}

/// Rows for an accumulator to count in.
pub(crate) struct AggregateRows<'a> {
    /// The argument columns.
    pub(crate) args: &'a [ArrayRef],
    /// The group of each row.
    pub(crate) groups: &'a [u32],
    /// Only rows where it is true count.
    pub(crate) filter: Option<&'a BooleanArray>,
    /// When each row arrived.
    pub(crate) arrival: Arrival<'a>,
}

/// The numbers of rows in the order of their arrival at the operator.
#[derive(Clone, Copy)]
pub(crate) enum Arrival<'a> {
    /// One after the other from this one.
    From(u64),
    /// Rows `indices` of a batch whose first row has the number `base`.
    Picked { base: u64, indices: &'a [u32] },
    /// Any numbers.
    Numbered(&'a [u64]),
}

impl Arrival<'_> {
    /// The number of row `row`.
    #[inline]
    pub(crate) fn of(&self, row: usize) -> u64 {
        match self {
            Arrival::From(first) => first + row as u64,
            Arrival::Picked { base, indices } => base + u64::from(indices[row]),
            Arrival::Numbered(numbers) => numbers[row],
        }
    }
}

impl AggregateRows<'_> {
    /// The only argument.
    fn arg(&self) -> &ArrayRef {
        &self.args[0]
    }

    /// Which rows count: those that pass the filter and whose arguments are all not NULL. `None` means all.
    fn counted(&self) -> Option<BooleanBuffer> {
        self.args.iter().filter_map(|arg| valid_mask(arg.as_ref())).chain(self.passed()).reduce(|a, b| &a & &b)
    }

    /// Which rows pass the filter. `None` means all.
    fn passed(&self) -> Option<BooleanBuffer> {
        self.filter.map(|filter| match filter.nulls() {
            Some(nulls) => filter.values() & nulls.inner(),
            None => filter.values().clone(),
        })
    }

    /// Calls `count` with row and group of each row of `mask`.
    #[inline]
    fn for_each(&self, mask: Option<&BooleanBuffer>, mut count: impl FnMut(usize, usize)) {
        match mask {
            None => self.groups.iter().enumerate().for_each(|(row, group)| count(row, *group as usize)),
            Some(mask) => mask.set_indices().for_each(|row| count(row, self.groups[row] as usize)),
        }
    }
}

fn valid_mask(array: &dyn Array) -> Option<BooleanBuffer> {
    array.logical_nulls().filter(|nulls| nulls.null_count() > 0).map(|nulls| nulls.into_inner())
}

/// An aggregate cannot take a row or tell its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AggregateError {
    /// Because of the values.
    #[error("{0}")]
    Reason(String),
    /// A kernel says so.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

impl AggregateError {
    /// The same, naming the call.
    pub(crate) fn of_call(self, call: &AggregateCall) -> OperatorError {
        match self {
            AggregateError::Reason(reason) => OperatorError::Aggregate { call: call.text.clone(), reason },
            AggregateError::Arrow(error) => OperatorError::Arrow(error),
        }
    }
}

/// An accumulator without groups for `call`, whose arguments have these types.
pub(crate) fn create_accumulator(
    call: &AggregateCall,
    arg_types: &[DataType],
) -> Result<Box<dyn Accumulator>, OperatorError> {
    let result = call.field.data_type();
    let created = match (&call.function, arg_types) {
        (AggregateFunction::Count, _) => Ok(count::create()),
        (function, [arg]) => create_unary(function, call.distinct, arg, result),
        (function, _) => Err(AggregateError::Reason(format!("{function:?} takes one argument"))),
    };
    let accumulator = created.map_err(|error| error.of_call(call))?;
    if call.distinct && is_changed_by_distinct(&call.function) {
        return distinct::create(accumulator, arg_types).map_err(|error| error.of_call(call));
    }
    Ok(accumulator)
}

fn create_unary(
    function: &AggregateFunction,
    distinct: bool,
    arg: &DataType,
    result: &DataType,
) -> Result<Box<dyn Accumulator>, AggregateError> {
    match function {
        AggregateFunction::Count => Ok(count::create()),
        AggregateFunction::Sum => sum::create(arg, result),
        AggregateFunction::Avg => avg::create(arg, result),
        AggregateFunction::Min => min_max::create::<false>(arg),
        AggregateFunction::Max => min_max::create::<true>(arg),
        AggregateFunction::StddevPop => Ok(variance::create(variance::Measure { is_sample: false, is_root: true })),
        AggregateFunction::StddevSamp => Ok(variance::create(variance::Measure { is_sample: true, is_root: true })),
        AggregateFunction::VarPop => Ok(variance::create(variance::Measure { is_sample: false, is_root: false })),
        AggregateFunction::VarSamp => Ok(variance::create(variance::Measure { is_sample: true, is_root: false })),
        AggregateFunction::FirstValue => first_last::create::<false>(arg),
        AggregateFunction::LastValue => first_last::create::<true>(arg),
        AggregateFunction::ListAgg { separator } => list_agg::create(arg, separator, distinct),
        AggregateFunction::ArrayAgg => array_agg::create(arg, result, distinct),
        AggregateFunction::BoolAnd => Ok(bool::create(bool::Junction::And)),
        AggregateFunction::BoolOr => Ok(bool::create(bool::Junction::Or)),
    }
}

/// Functions for which a repeated value makes a difference and that do not see to it themselves.
fn is_changed_by_distinct(function: &AggregateFunction) -> bool {
    matches!(
        function,
        AggregateFunction::Count
            | AggregateFunction::Sum
            | AggregateFunction::Avg
            | AggregateFunction::StddevPop
            | AggregateFunction::StddevSamp
            | AggregateFunction::VarPop
            | AggregateFunction::VarSamp
    )
}

/// `other` as the type that all accumulators of one call have.
fn same_kind<A: Accumulator>(other: &dyn Accumulator) -> &A {
    let other: &dyn Any = other;
    other.downcast_ref().expect("accumulators of one call are created alike")
}

#[cfg(test)]
mod tests;
