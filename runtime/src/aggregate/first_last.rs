//! `FIRST_VALUE` and `LAST_VALUE` in arrival order, NULL skipped.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, UInt64Array};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Field, UInt64Type};

use super::ordered_values::with_ordered_type;
use super::row_values::RowValues;
use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// The first (`IS_LAST` false) or last of values of type `arg`.
pub(super) fn create<const IS_LAST: bool>(arg: &DataType) -> Result<Box<dyn Accumulator>, AggregateError> {
    with_ordered_type!(
        arg,
        T => Ok(Box::new(PrimitiveChoice::<T, IS_LAST> {
            data_type: arg.clone(),
            values: Vec::new(),
            arrivals: Vec::new(),
        })),
        Ok(Box::new(RowChoice::<IS_LAST> { values: RowValues::new(arg)?, arrivals: Vec::new() }))
    )
}

/// When the chosen value of a group arrived.
type Arrived = Option<u64>;

/// Is a value that arrived at `candidate` to be chosen over the one of `chosen`?
#[inline]
fn is_chosen<const IS_LAST: bool>(candidate: u64, chosen: Arrived) -> bool {
    chosen.is_none_or(|chosen| if IS_LAST { candidate > chosen } else { candidate < chosen })
}

struct PrimitiveChoice<T: ArrowPrimitiveType, const IS_LAST: bool> {
    data_type: DataType,
    values: Vec<T::Native>,
    arrivals: Vec<Arrived>,
}

impl<T: ArrowPrimitiveType, const IS_LAST: bool> PrimitiveChoice<T, IS_LAST> {
    #[inline]
    fn offer(&mut self, group: usize, value: T::Native, arrival: u64) {
        if is_chosen::<IS_LAST>(arrival, self.arrivals[group]) {
            self.values[group] = value;
            self.arrivals[group] = Some(arrival);
        }
    }
}

impl<T: ArrowPrimitiveType, const IS_LAST: bool> Accumulator for PrimitiveChoice<T, IS_LAST> {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, T::Native::default());
        self.arrivals.resize(groups, None);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let values = rows.arg().as_primitive::<T>().values();
        rows.for_each(rows.counted().as_ref(), |row, group| self.offer(group, values[row], rows.arrival.of(row)));
        Ok(())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let other = same_kind::<Self>(other);
        for (from, to) in from.iter().zip(to) {
            if let Some(arrival) = other.arrivals[*from as usize] {
                self.offer(*to as usize, other.values[*from as usize], arrival);
            }
        }
        Ok(())
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        let result = |group: &u32| self.arrivals[*group as usize].map(|_| self.values[*group as usize]);
        let results: PrimitiveArray<T> = groups.iter().map(result).collect();
        Ok(Arc::new(results.with_data_type(self.data_type.clone())))
    }
    fn state_fields(&self) -> Vec<Field> {
        state_fields(&self.data_type)
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(vec![self.evaluate(groups)?, arrivals_of(&self.arrivals, groups)])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let values = state[0].as_primitive::<T>().values();
        for_each_arrived(&state[1], |row, arrival| self.offer(groups[row] as usize, values[row], arrival));
        Ok(())
    }
}

/// For types without machine values.
struct RowChoice<const IS_LAST: bool> {
    values: RowValues,
    arrivals: Vec<Arrived>,
}

impl<const IS_LAST: bool> RowChoice<IS_LAST> {
    fn offer(&mut self, group: usize, value: &[u8], arrival: u64) {
        if is_chosen::<IS_LAST>(arrival, self.arrivals[group]) {
            self.values.set(group, value);
            self.arrivals[group] = Some(arrival);
        }
    }
}

impl<const IS_LAST: bool> Accumulator for RowChoice<IS_LAST> {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups);
        self.arrivals.resize(groups, None);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let values = self.values.encode(rows.arg())?;
        rows.for_each(rows.counted().as_ref(), |row, group| {
            self.offer(group, values.row(row).as_ref(), rows.arrival.of(row));
        });
        Ok(())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let other = same_kind::<Self>(other);
        for (from, to) in from.iter().zip(to) {
            let from = *from as usize;
            if let (Some(arrival), Some(value)) = (other.arrivals[from], other.values.get(from)) {
                self.offer(*to as usize, value, arrival);
            }
        }
        Ok(())
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        Ok(self.values.column(groups)?)
    }
    fn state_fields(&self) -> Vec<Field> {
        state_fields(self.values.data_type())
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(vec![self.evaluate(groups)?, arrivals_of(&self.arrivals, groups)])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let values = self.values.encode(&state[0])?;
        for_each_arrived(&state[1], |row, arrival| self.offer(groups[row] as usize, values.row(row).as_ref(), arrival));
        Ok(())
    }
}

/// A value, and when it arrived; both NULL before there is one.
fn state_fields(value: &DataType) -> Vec<Field> {
    vec![Field::new("value", value.clone(), true), Field::new("arrival", DataType::UInt64, true)]
}

fn arrivals_of(arrivals: &[Arrived], groups: &[u32]) -> ArrayRef {
    Arc::new(groups.iter().map(|group| arrivals[*group as usize]).collect::<UInt64Array>())
}

/// Calls `offer` with row and arrival of each state that has a value.
fn for_each_arrived(arrivals: &ArrayRef, mut offer: impl FnMut(usize, u64)) {
    let arrivals = arrivals.as_primitive::<UInt64Type>();
    (0..arrivals.len()).filter(|row| arrivals.is_valid(*row)).for_each(|row| offer(row, arrivals.value(row)));
}
