//! `VAR_POP`, `VAR_SAMP`, `STDDEV_POP`, `STDDEV_SAMP`.
//!
//! Rows update mean and sum of squared deviations as in B. P. Welford, *Note on a Method for Calculating Corrected
//! Sums of Squares and Products* (1962); states merge as in T. F. Chan, G. H. Golub and R. J. LeVeque, *Updating
//! Formulae and a Pairwise Algorithm for Computing Sample Variances* (1979). Both keep their digits where the sum
//! of squares would cancel.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Float64Type};

use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// Which number to make of the deviations.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    /// Divide by one less than the number of rows; NULL for fewer than two.
    pub(super) is_sample: bool,
    /// The square root of it: the standard deviation.
    pub(super) is_root: bool,
}

/// Spread of numbers of any type that casts to DOUBLE.
pub(super) fn create(measure: Measure) -> Box<dyn Accumulator> {
    Box::new(Variance { measure, moments: Vec::new() })
}

#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Moments {
    #[inline]
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let from_old_mean = value - self.mean;
        self.mean += from_old_mean / self.count;
        self.squares += from_old_mean * (value - self.mean);
    }

    fn merge(&mut self, other: &Moments) {
        if self.count == 0.0 {
            *self = *other;
        } else if other.count > 0.0 {
            let count = self.count + other.count;
            let between = other.mean - self.mean;
            self.squares += other.squares + between * between * self.count * other.count / count;
            self.mean += between * other.count / count;
            self.count = count;
        }
    }
}

struct Variance {
    measure: Measure,
    moments: Vec<Moments>,
}

impl Accumulator for Variance {
    fn resize(&mut self, groups: usize) {
        self.moments.resize(groups, Moments::default());
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let doubles = compute::cast(rows.arg(), &DataType::Float64)?;
        let values = doubles.as_primitive::<Float64Type>().values();
        rows.for_each(rows.counted().as_ref(), |row, group| self.moments[group].add(values[row]));
        Ok(())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let moments = &same_kind::<Self>(other).moments;
        for (from, to) in from.iter().zip(to) {
            self.moments[*to as usize].merge(&moments[*from as usize]);
        }
        Ok(())
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        let Measure { is_sample, is_root } = self.measure;
        let result = |group: &u32| {
            let moments = self.moments[*group as usize];
            let divisor = if is_sample { moments.count - 1.0 } else { moments.count };
            let variance = (divisor > 0.0).then(|| moments.squares / divisor);
            if is_root { variance.map(f64::sqrt) } else { variance }
        };
        let results: Float64Array = groups.iter().map(result).collect();
        Ok(Arc::new(results))
    }
    fn state_fields(&self) -> Vec<Field> {
        ["count", "mean", "squares"].map(|name| Field::new(name, DataType::Float64, false)).to_vec()
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        let column = |number: fn(&Moments) -> f64| {
            let numbers = groups.iter().map(|group| number(&self.moments[*group as usize]));
            Arc::new(Float64Array::from_iter_values(numbers)) as ArrayRef
        };
        Ok(vec![column(|moments| moments.count), column(|moments| moments.mean), column(|moments| moments.squares)])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let [count, mean, squares] = [0, 1, 2].map(|column| state[column].as_primitive::<Float64Type>().values());
        for (row, group) in groups.iter().enumerate() {
            let moments = Moments { count: count[row], mean: mean[row], squares: squares[row] };
            self.moments[*group as usize].merge(&moments);
        }
        Ok(())
    }
}
