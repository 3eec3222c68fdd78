//! `ARRAY_AGG`: all values in arrival order, NULL included.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute;
use arrow::datatypes::{DataType, Field, FieldRef};

use super::value_log::ValueLog;
use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// Lists of values of type `arg`, for a column of type `result`.
pub(super) fn create(
    arg: &DataType,
    result: &DataType,
    distinct: bool,
) -> Result<Box<dyn Accumulator>, AggregateError> {
    let DataType::List(element) = result else {
        return Err(AggregateError::Reason(format!("an array of {arg} as {result} is not supported")));
    };
    Ok(Box::new(ArrayAgg { element: FieldRef::clone(element), log: ValueLog::new(arg, distinct)? }))
}

struct ArrayAgg {
    element: FieldRef,
    log: ValueLog,
}

impl Accumulator for ArrayAgg {
    fn resize(&mut self, groups: usize) {
        self.log.resize(groups);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        self.log.append(rows.arg(), rows.groups, rows.arrival, rows.passed())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        self.log.merge(&same_kind::<Self>(other).log, from, to)
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        let (values, ends) = self.log.lists(groups)?;
        let lengths: Vec<usize> =
            ends.iter().scan(0, |start, end| Some(end - std::mem::replace(start, *end))).collect();
        let has_rows: NullBuffer = lengths.iter().map(|length| *length > 0).collect();
        let values = compute::cast(&values, self.element.data_type())?;
        let element = FieldRef::clone(&self.element);
        Ok(Arc::new(ListArray::try_new(element, OffsetBuffer::from_lengths(lengths), values, Some(has_rows))?))
    }
    fn state_fields(&self) -> Vec<Field> {
        self.log.state_fields()
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(self.log.state(groups)?)
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        self.log.merge_state(state, groups)
    }
}
