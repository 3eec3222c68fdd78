//! `COUNT(*)` and `COUNT(x, …)`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Field, Int64Type};

use super::{Accumulator, AggregateError, AggregateRows, same_kind};

struct Count {
    counts: Vec<i64>,
}

/// Counts the rows whose arguments, if it has any, are all not NULL.
pub(super) fn create() -> Box<dyn Accumulator> {
    Box::new(Count { counts: Vec::new() })
}

impl Accumulator for Count {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let mask = rows.counted();
        rows.for_each(mask.as_ref(), |_, group| self.counts[group] += 1);
        Ok(())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let counts = &same_kind::<Self>(other).counts;
        for (from, to) in from.iter().zip(to) {
            self.counts[*to as usize] += counts[*from as usize];
        }
        Ok(())
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        Ok(Arc::new(Int64Array::from_iter_values(groups.iter().map(|group| self.counts[*group as usize]))))
    }
    fn state_fields(&self) -> Vec<Field> {
        vec![Field::new("count", DataType::Int64, false)]
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(vec![self.evaluate(groups)?])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        for (count, group) in state[0].as_primitive::<Int64Type>().values().iter().zip(groups) {
            self.counts[*group as usize] += count;
        }
        Ok(())
    }
}
