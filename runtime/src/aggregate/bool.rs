//! `BOOL_AND`, `BOOL_OR`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::{DataType, Field};

use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// How truth values are joined.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Junction {
    /// True if all are.
    And,
    /// True if any is.
    Or,
}

/// Joins booleans.
pub(super) fn create(junction: Junction) -> Box<dyn Accumulator> {
    Box::new(Bool { junction, values: Vec::new() })
}

struct Bool {
    junction: Junction,
    values: Vec<Option<bool>>,
}

impl Bool {
    #[inline]
    fn join(&mut self, group: usize, value: bool) {
        let joined = match (self.values[group], self.junction) {
            (None, _) => value,
            (Some(before), Junction::And) => before & value,
            (Some(before), Junction::Or) => before | value,
        };
        self.values[group] = Some(joined);
    }
}

impl Accumulator for Bool {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, None);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let values = rows.arg().as_boolean().values();
        rows.for_each(rows.counted().as_ref(), |row, group| self.join(group, values.value(row)));
        Ok(())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let values = &same_kind::<Self>(other).values;
        for (from, to) in from.iter().zip(to) {
            if let Some(value) = values[*from as usize] {
                self.join(*to as usize, value);
            }
        }
        Ok(())
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        Ok(Arc::new(groups.iter().map(|group| self.values[*group as usize]).collect::<BooleanArray>()))
    }
    fn state_fields(&self) -> Vec<Field> {
        vec![Field::new("value", DataType::Boolean, true)]
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(vec![self.evaluate(groups)?])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        for (value, group) in state[0].as_boolean().iter().zip(groups) {
            if let Some(value) = value {
                self.join(*group as usize, value);
            }
        }
        Ok(())
    }
}
