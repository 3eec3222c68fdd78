//! `SUM` of integers, floats and decimals.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array, Float64Array, Int64Array, PrimitiveArray};
use arrow::datatypes::{
    ArrowNativeType, ArrowPrimitiveType, DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// A sum of arguments of type `arg`, for a column of type `result`.
pub(super) fn create(arg: &DataType, result: &DataType) -> Result<Box<dyn Accumulator>, AggregateError> {
    Ok(match (arg, result) {
        (DataType::Int8, _) => integer::<Int8Type>(),
        (DataType::Int16, _) => integer::<Int16Type>(),
        (DataType::Int32, _) => integer::<Int32Type>(),
        (DataType::Int64, _) => integer::<Int64Type>(),
        (DataType::UInt8, _) => integer::<UInt8Type>(),
        (DataType::UInt16, _) => integer::<UInt16Type>(),
        (DataType::UInt32, _) => integer::<UInt32Type>(),
        (DataType::UInt64, _) => integer::<UInt64Type>(),
        (DataType::Float32, _) => float::<Float32Type>(),
        (DataType::Float64, _) => float::<Float64Type>(),
        (DataType::Decimal128(_, scale), DataType::Decimal128(precision, result_scale)) if scale == result_scale => {
            Box::new(Sum::<Decimal128Type, _> {
                sums: Sums::default(),
                kind: DecimalResult { precision: *precision, scale: *scale },
                values: PhantomData,
            })
        }
        _ => return Err(AggregateError::Reason(format!("a sum of {arg} as {result} is not supported"))),
    })
}

fn integer<T: ArrowPrimitiveType<Native: Into<i128>>>() -> Box<dyn Accumulator> {
    Box::new(Sum::<T, _> { sums: Sums::default(), kind: IntegerResult, values: PhantomData })
}

fn float<T: ArrowPrimitiveType<Native: Into<f64>>>() -> Box<dyn Accumulator> {
    Box::new(Sum::<T, _> { sums: Sums::default(), kind: FloatResult, values: PhantomData })
}

/// Running sums, and whether a value went into each.
#[derive(Default)]
struct Sums<S> {
    sums: Vec<S>,
    is_some: Vec<bool>,
}

/// What the sums of one kind of value are kept in and become.
trait SumKind: Send + 'static {
    /// Wide enough that a sum only overflows when its result does: the order of the rows cannot matter then.
    type Sum: ArrowNativeType;

    /// What sums are kept as in state tables: the same machine values, of type [`SumKind::state_type`].
    type State: ArrowPrimitiveType<Native = Self::Sum>;

    /// The type of a sum in state tables.
    fn state_type(&self) -> DataType;

    /// Adds; false on overflow.
    fn add(sum: &mut Self::Sum, value: Self::Sum) -> bool;

    /// Why it overflowed.
    const OVERFLOW: &'static str;

    /// The result column.
    fn results(&self, sums: impl Iterator<Item = Option<Self::Sum>>) -> Result<ArrayRef, AggregateError>;
}

struct IntegerResult;

impl SumKind for IntegerResult {
    type Sum = i128;
    type State = Decimal128Type;
    const OVERFLOW: &'static str = "integer overflow";

    fn state_type(&self) -> DataType {
        DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0)
    }

    #[inline]
    fn add(sum: &mut i128, value: i128) -> bool {
        // 2⁶³ rows of 64-bit values fit.
        *sum = sum.wrapping_add(value);
        true
    }

    fn results(&self, sums: impl Iterator<Item = Option<i128>>) -> Result<ArrayRef, AggregateError> {
        let to_i64 = |sum: Option<i128>| sum.map(i64::try_from).transpose();
        let sums: Result<Int64Array, _> = sums.map(to_i64).collect();
        match sums {
            Ok(sums) => Ok(Arc::new(sums)),
            Err(_) => Err(AggregateError::Reason(Self::OVERFLOW.into())),
        }
    }
}

struct FloatResult;

impl SumKind for FloatResult {
    type Sum = f64;
    type State = Float64Type;
    const OVERFLOW: &'static str = "float overflow";

    fn state_type(&self) -> DataType {
        DataType::Float64
    }

    #[inline]
    fn add(sum: &mut f64, value: f64) -> bool {
        *sum += value;
        true
    }

    fn results(&self, sums: impl Iterator<Item = Option<f64>>) -> Result<ArrayRef, AggregateError> {
        Ok(Arc::new(sums.collect::<Float64Array>()))
    }
}

struct DecimalResult {
    precision: u8,
    scale: i8,
}

impl SumKind for DecimalResult {
    type Sum = i128;
    type State = Decimal128Type;
    const OVERFLOW: &'static str = "decimal overflow";

    fn state_type(&self) -> DataType {
        DataType::Decimal128(DECIMAL128_MAX_PRECISION, self.scale)
    }

    #[inline]
    fn add(sum: &mut i128, value: i128) -> bool {
        let (total, has_overflowed) = sum.overflowing_add(value);
        *sum = total;
        !has_overflowed
    }

    fn results(&self, sums: impl Iterator<Item = Option<i128>>) -> Result<ArrayRef, AggregateError> {
        let sums: Decimal128Array = sums.collect();
        let sums = sums.with_precision_and_scale(self.precision, self.scale)?;
        if sums.validate_decimal_precision(self.precision).is_err() {
            return Err(AggregateError::Reason(Self::OVERFLOW.into()));
        }
        Ok(Arc::new(sums))
    }
}

struct Sum<T, K: SumKind> {
    sums: Sums<K::Sum>,
    kind: K,
    values: PhantomData<fn(T)>,
}

impl<T, K> Accumulator for Sum<T, K>
where
    T: ArrowPrimitiveType<Native: Into<K::Sum>>,
    K: SumKind,
{
    fn resize(&mut self, groups: usize) {
        self.sums.sums.resize(groups, K::Sum::default());
        self.sums.is_some.resize(groups, false);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let values = rows.arg().as_primitive::<T>().values();
        let mut fits = true;
        rows.for_each(rows.counted().as_ref(), |row, group| {
            fits &= K::add(&mut self.sums.sums[group], values[row].into());
            self.sums.is_some[group] = true;
        });
        overflow_unless::<K>(fits)
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        let other = &same_kind::<Self>(other).sums;
        let mut fits = true;
        for (from, to) in from.iter().zip(to) {
            let (from, to) = (*from as usize, *to as usize);
            fits &= K::add(&mut self.sums.sums[to], other.sums[from]);
            self.sums.is_some[to] |= other.is_some[from];
        }
        overflow_unless::<K>(fits)
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        self.kind.results(groups.iter().map(|group| {
            let group = *group as usize;
            self.sums.is_some[group].then(|| self.sums.sums[group])
        }))
    }

    fn state_fields(&self) -> Vec<Field> {
        vec![Field::new("sum", self.kind.state_type(), true)]
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        let sum = |group: &u32| self.sums.is_some[*group as usize].then(|| self.sums.sums[*group as usize]);
        let sums: PrimitiveArray<K::State> = groups.iter().map(sum).collect();
        Ok(vec![Arc::new(sums.with_data_type(self.kind.state_type()))])
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        let mut fits = true;
        for (sum, group) in state[0].as_primitive::<K::State>().iter().zip(groups) {
            if let Some(sum) = sum {
                let group = *group as usize;
                fits &= K::add(&mut self.sums.sums[group], sum);
                self.sums.is_some[group] = true;
            }
        }
        overflow_unless::<K>(fits)
    }
}

fn overflow_unless<K: SumKind>(fits: bool) -> Result<(), AggregateError> {
    if fits { Ok(()) } else { Err(AggregateError::Reason(K::OVERFLOW.into())) }
}
