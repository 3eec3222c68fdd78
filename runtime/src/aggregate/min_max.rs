//! `MIN` and `MAX` of any ordered type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field};

use super::ordered_values::{OrderedValue, with_ordered_type};
use super::row_values::RowValues;
use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// The smallest (`IS_MAX` false) or largest of values of type `arg`.
pub(super) fn create<const IS_MAX: bool>(arg: &DataType) -> Result<Box<dyn Accumulator>, AggregateError> {
    with_ordered_type!(
        arg,
        T => Ok(Box::new(PrimitiveExtreme::<T, IS_MAX> { data_type: arg.clone(), values: Vec::new(), is_some: Vec::new() })),
        Ok(Box::new(RowExtreme::<IS_MAX> { values: RowValues::new(arg)? }))
    )
}

struct PrimitiveExtreme<T: ArrowPrimitiveType, const IS_MAX: bool> {
    data_type: DataType,
    values: Vec<T::Native>,
    is_some: Vec<bool>,
}

impl<T, const IS_MAX: bool> PrimitiveExtreme<T, IS_MAX>
where
    T: ArrowPrimitiveType<Native: OrderedValue>,
{
    #[inline]
    fn offer(&mut self, group: usize, value: T::Native) {
        let best = self.values[group];
        let is_better = if IS_MAX { best.precedes(value) } else { value.precedes(best) };
        if is_better || !self.is_some[group] {
            self.values[group] = value;
            self.is_some[group] = true;
        }
    }
}

impl<T, const IS_MAX: bool> Accumulator for PrimitiveExtreme<T, IS_MAX>
where
    T: ArrowPrimitiveType<Native: OrderedValue>,
{
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, T::Native::default());
        self.is_some.resize(groups, false);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let values = rows.arg().as_primitive::<T>().values();
        rows.for_each(rows.counted().as_ref(), |row, group| self.offer(group, values[row]));
        Ok(())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let other = same_kind::<Self>(other);
        for (from, to) in from.iter().zip(to) {
            if other.is_some[*from as usize] {
                self.offer(*to as usize, other.values[*from as usize]);
            }
        }
        Ok(())
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        let result = |group: &u32| self.is_some[*group as usize].then(|| self.values[*group as usize]);
        let results: PrimitiveArray<T> = groups.iter().map(result).collect();
        Ok(Arc::new(results.with_data_type(self.data_type.clone())))
    }
    fn state_fields(&self) -> Vec<Field> {
        vec![Field::new("value", self.data_type.clone(), true)]
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(vec![self.evaluate(groups)?])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        for (value, group) in state[0].as_primitive::<T>().iter().zip(groups) {
            if let Some(value) = value {
                self.offer(*group as usize, value);
            }
        }
        Ok(())
    }
}

/// For types without machine values: their rows' bytes compare as they do.
struct RowExtreme<const IS_MAX: bool> {
    values: RowValues,
}

impl<const IS_MAX: bool> RowExtreme<IS_MAX> {
    fn offer(&mut self, group: usize, value: &[u8]) {
        let is_better = match self.values.get(group) {
            None => true,
            Some(best) if IS_MAX => best < value,
            Some(best) => value < best,
        };
        if is_better {
            self.values.set(group, value);
        }
    }
}

impl<const IS_MAX: bool> Accumulator for RowExtreme<IS_MAX> {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let values = self.values.encode(rows.arg())?;
        rows.for_each(rows.counted().as_ref(), |row, group| self.offer(group, values.row(row).as_ref()));
        Ok(())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let other = same_kind::<Self>(other);
        for (from, to) in from.iter().zip(to) {
            if let Some(value) = other.values.get(*from as usize) {
                self.offer(*to as usize, value);
            }
        }
        Ok(())
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        Ok(self.values.column(groups)?)
    }
    fn state_fields(&self) -> Vec<Field> {
        vec![Field::new("value", self.values.data_type().clone(), true)]
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(vec![self.evaluate(groups)?])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let values = self.values.encode(&state[0])?;
        for (row, group) in groups.iter().enumerate().filter(|(row, _)| state[0].is_valid(*row)) {
            self.offer(*group as usize, values.row(row).as_ref());
        }
        Ok(())
    }
}
