//! `AVG` of integers, floats and decimals.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array, Float64Array, Int64Array, PrimitiveArray, UInt64Array};
use arrow::datatypes::{
    ArrowNativeType, ArrowPrimitiveType, DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};

use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// A mean of arguments of type `arg`, for a column of type `result`.
pub(super) fn create(arg: &DataType, result: &DataType) -> Result<Box<dyn Accumulator>, AggregateError> {
    let mean = match (arg, result) {
        (DataType::Decimal128(_, from), DataType::Decimal128(precision, to)) if to >= from => {
            ExactMean::Decimal { precision: *precision, scale: *to, shift: to.abs_diff(*from).into() }
        }
        (DataType::Decimal128(_, _), _) => {
            return Err(AggregateError::Reason(format!("a mean of {arg} as {result} is not supported")));
        }
        (_, result) if result.is_integer() => ExactMean::Integer,
        _ => ExactMean::Float,
    };
    Ok(match arg {
        DataType::Int8 => exact::<Int8Type>(mean),
        DataType::Int16 => exact::<Int16Type>(mean),
        DataType::Int32 => exact::<Int32Type>(mean),
        DataType::Int64 => exact::<Int64Type>(mean),
        DataType::UInt8 => exact::<UInt8Type>(mean),
        DataType::UInt16 => exact::<UInt16Type>(mean),
        DataType::UInt32 => exact::<UInt32Type>(mean),
        DataType::UInt64 => exact::<UInt64Type>(mean),
        DataType::Decimal128(_, _) => exact::<Decimal128Type>(mean),
        DataType::Float32 => float::<Float32Type>(),
        DataType::Float64 => float::<Float64Type>(),
        _ => return Err(AggregateError::Reason(format!("a mean of {arg} is not supported"))),
    })
}

fn exact<T: ArrowPrimitiveType<Native: Into<i128>>>(kind: ExactMean) -> Box<dyn Accumulator> {
    Box::new(Avg::<T, _> { sums: Vec::new(), counts: Vec::new(), kind, values: PhantomData })
}

fn float<T: ArrowPrimitiveType<Native: Into<f64>>>() -> Box<dyn Accumulator> {
    Box::new(Avg::<T, _> { sums: Vec::new(), counts: Vec::new(), kind: FloatMean, values: PhantomData })
}

/// How values are summed, and what sum and count become.
trait MeanKind: Send + 'static {
    type Sum: ArrowNativeType;

    /// What sums are kept as in state tables: the same machine values, of type [`MeanKind::STATE_TYPE`].
    type State: ArrowPrimitiveType<Native = Self::Sum>;

    /// The type of a sum in state tables.
    const STATE_TYPE: DataType;

    /// `None` on overflow.
    fn add(sum: Self::Sum, value: Self::Sum) -> Option<Self::Sum>;

    /// The result column of groups that have rows, and of those that do not.
    fn results(&self, groups: impl Iterator<Item = Option<(Self::Sum, u64)>>) -> Result<ArrayRef, AggregateError>;
}

struct FloatMean;

impl MeanKind for FloatMean {
    type Sum = f64;
    type State = Float64Type;
    const STATE_TYPE: DataType = DataType::Float64;

    #[inline]
    fn add(sum: f64, value: f64) -> Option<f64> {
        Some(sum + value)
    }

    fn results(&self, groups: impl Iterator<Item = Option<(f64, u64)>>) -> Result<ArrayRef, AggregateError> {
        let means: Float64Array = groups.map(|group| group.map(|(sum, count)| sum / count as f64)).collect();
        Ok(Arc::new(means))
    }
}

/// A mean of exact sums: of integers, or of decimals as their unscaled values.
enum ExactMean {
    /// A double.
    Float,
    /// An integer, truncated.
    Integer,
    /// A decimal with `shift` more digits behind the point than the sum, rounded half away from zero.
    Decimal { precision: u8, scale: i8, shift: u32 },
}

impl MeanKind for ExactMean {
    type Sum = i128;
    type State = Decimal128Type;
    // Unscaled: what the scale is, the plan knows.
    const STATE_TYPE: DataType = DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0);

    #[inline]
    fn add(sum: i128, value: i128) -> Option<i128> {
        sum.checked_add(value)
    }

    fn results(&self, groups: impl Iterator<Item = Option<(i128, u64)>>) -> Result<ArrayRef, AggregateError> {
        match self {
            ExactMean::Float => {
                let mean = |(sum, count): (i128, u64)| sum as f64 / count as f64;
                Ok(Arc::new(groups.map(|group| group.map(mean)).collect::<Float64Array>()))
            }
            ExactMean::Integer => {
                // A mean lies between the values, which all fit.
                let mean = |(sum, count): (i128, u64)| (sum / i128::from(count)) as i64;
                Ok(Arc::new(groups.map(|group| group.map(mean)).collect::<Int64Array>()))
            }
            ExactMean::Decimal { precision, scale, shift } => {
                let mean = |(sum, count)| decimal_mean(sum, count, *shift).ok_or_else(overflow);
                let means: Decimal128Array =
                    groups.map(|group| group.map(mean).transpose()).collect::<Result<_, AggregateError>>()?;
                let means = means.with_precision_and_scale(*precision, *scale)?;
                means.validate_decimal_precision(*precision).map_err(|_| overflow())?;
                Ok(Arc::new(means))
            }
        }
    }
}

/// `sum · 10^shift / count`, rounded half away from zero. `None` when it needs more than 127 bits.
fn decimal_mean(sum: i128, count: u64, shift: u32) -> Option<i128> {
    let divisor = i256::from_i128(i128::from(count));
    let scaled = i256::from_i128(sum).checked_mul(i256::from_i128(10).checked_pow(shift)?)?;
    let quotient = scaled.checked_div(divisor)?;
    let rest = scaled.checked_rem(divisor)?.to_i128()?;
    let away_from_zero = if rest.unsigned_abs() * 2 >= u128::from(count) { rest.signum() } else { 0 };
    quotient.to_i128()?.checked_add(away_from_zero)
}

fn overflow() -> AggregateError {
    AggregateError::Reason("decimal overflow".into())
}

struct Avg<T, K: MeanKind> {
    sums: Vec<K::Sum>,
    counts: Vec<u64>,
    kind: K,
    values: PhantomData<fn(T)>,
}

impl<T, K: MeanKind> Avg<T, K> {
    /// Adds sums and counts, each to its group.
    fn add_states<'a>(
        &mut self,
        states: impl Iterator<Item = ((&'a K::Sum, &'a u64), &'a u32)>,
    ) -> Result<(), AggregateError> {
        for ((sum, count), group) in states {
            let group = *group as usize;
            self.sums[group] = K::add(self.sums[group], *sum).ok_or_else(overflow)?;
            self.counts[group] += count;
        }
        Ok(())
    }
}

impl<T, K> Accumulator for Avg<T, K>
where
    T: ArrowPrimitiveType<Native: Into<K::Sum>>,
    K: MeanKind,
{
    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, K::Sum::default());
        self.counts.resize(groups, 0);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let values = rows.arg().as_primitive::<T>().values();
        let mut fits = true;
        rows.for_each(rows.counted().as_ref(), |row, group| {
            match K::add(self.sums[group], values[row].into()) {
                Some(sum) => self.sums[group] = sum,
                None => fits = false,
            }
            self.counts[group] += 1;
        });
        if fits { Ok(()) } else { Err(overflow()) }
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let other = same_kind::<Self>(other);
        let states = from.iter().map(|from| (&other.sums[*from as usize], &other.counts[*from as usize]));
        self.add_states(states.zip(to))
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        self.kind.results(groups.iter().map(|group| {
            let group = *group as usize;
            let count = self.counts[group];
            (count > 0).then(|| (self.sums[group], count))
        }))
    }

    fn state_fields(&self) -> Vec<Field> {
        vec![Field::new("sum", K::STATE_TYPE, false), Field::new("count", DataType::UInt64, false)]
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        let sums = groups.iter().map(|group| self.sums[*group as usize]);
        let sums = PrimitiveArray::<K::State>::from_iter_values(sums).with_data_type(K::STATE_TYPE);
        let counts = UInt64Array::from_iter_values(groups.iter().map(|group| self.counts[*group as usize]));
        Ok(vec![Arc::new(sums), Arc::new(counts)])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let sums = state[0].as_primitive::<K::State>().values();
        let counts = state[1].as_primitive::<UInt64Type>().values();
        self.add_states(sums.iter().zip(counts).zip(groups))
    }
}
