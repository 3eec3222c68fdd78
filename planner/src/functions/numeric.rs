//! Functions of numbers.
//!
//! What is computed in floating point takes any number as `DOUBLE` and never fails: the logarithm of 0 is
//! `-Infinity`, the root of −1 is `NaN`, as in Java.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type};
use datafusion_common::{Result, exec_err};

use super::adapted::invoke;
use super::call::Call;
use super::param::Param::{Double, Long, Number};
use super::scalar::{Returns, ScalarFunction, takes};

mod round;

pub(super) fn functions() -> Vec<ScalarFunction> {
    let double = || Returns::Type(DataType::Float64);
    let mut functions = vec![
        ScalarFunction::new("power", takes(&[Double, Double]), double(), |call| binary(call, f64::powf)),
        ScalarFunction::new("atan2", takes(&[Double, Double]), double(), |call| binary(call, f64::atan2)),
        ScalarFunction::new("log", takes(&[Double]).then_optional(&[Double]), double(), log),
        ScalarFunction::new("pi", takes(&[]), double(), |call| constant(call, std::f64::consts::PI)),
        ScalarFunction::new("e", takes(&[]), double(), |call| constant(call, std::f64::consts::E)),
        ScalarFunction::new("rand", takes(&[]), double(), random).volatile(),
        ScalarFunction::new("rand_integer", takes(&[Long]), Returns::Type(DataType::Int32), random_integer).volatile(),
        ScalarFunction::new("sign", takes(&[Number]), Returns::Argument(0), sign),
        ScalarFunction::new("bin", takes(&[Long]), Returns::Type(DataType::Utf8), bin),
    ];
    macro_rules! unary {
        ($($name:literal: $function:expr),* $(,)?) => {$(
            functions.push(ScalarFunction::new($name, takes(&[Double]), double(), |call| unary(call, $function)));
        )*};
    }
    unary! {
        "sqrt": f64::sqrt, "ln": f64::ln, "log2": f64::log2, "log10": f64::log10, "exp": f64::exp,
        "sin": f64::sin, "cos": f64::cos, "tan": f64::tan, "cot": |x| 1.0 / x.tan(),
        "asin": f64::asin, "acos": f64::acos, "atan": f64::atan,
        "sinh": f64::sinh, "cosh": f64::cosh, "tanh": f64::tanh,
        "degrees": f64::to_degrees, "radians": f64::to_radians,
    }
    functions.extend(round::functions());
    functions
}

fn unary(call: &Call<'_>, function: fn(f64) -> f64) -> Result<ArrayRef> {
    let (array, _) = call.raw(0);
    Ok(Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(function)))
}

fn binary(call: &Call<'_>, function: fn(f64, f64) -> f64) -> Result<ArrayRef> {
    let (left, right) = (call.doubles(0)?, call.doubles(1)?);
    Ok(call.build::<Float64Type>(|row| Some(function(left.get(row)?, right.get(row)?))))
}

fn constant(call: &Call<'_>, value: f64) -> Result<ArrayRef> {
    Ok(call.build::<Float64Type>(|_| Some(value)))
}

/// The natural logarithm, or that of the second number to the base of the first.
fn log(call: &Call<'_>) -> Result<ArrayRef> {
    if !call.has(1) {
        return unary(call, f64::ln);
    }
    binary(call, |base, x| x.ln() / base.ln())
}

/// A number from 0 to below 1, anew for every row.
fn random(call: &Call<'_>) -> Result<ArrayRef> {
    invoke(&datafusion_functions::math::random(), vec![], vec![], call.rows, Arc::default())
}

/// An integer from 0 to below the bound, anew for every row.
fn random_integer(call: &Call<'_>) -> Result<ArrayRef> {
    let bounds = call.longs(0)?;
    let random = random(call)?;
    let random = random.as_primitive::<Float64Type>();
    call.try_build::<Int32Type>(|row| match bounds.get(row) {
        None => Ok(None),
        // A product below the bound, so it fits where the bound does.
        Some(bound) if i32::try_from(bound).is_ok_and(|b| b > 0) => Ok(Some((random.value(row) * bound as f64) as i32)),
        Some(bound) => exec_err!("RAND_INTEGER takes a positive INT, not {bound}"),
    })
}

/// −1, 0 or 1 in the number's type.
fn sign(call: &Call<'_>) -> Result<ArrayRef> {
    let (array, _) = call.raw(0);
    Ok(match array.data_type() {
        DataType::Decimal128(_, scale) => {
            let one = 10_i128.pow(u32::try_from(*scale).unwrap_or(0));
            let signs = array.as_primitive::<Decimal128Type>().unary::<_, Decimal128Type>(|n| n.signum() * one);
            Arc::new(signs.with_data_type(call.return_type.clone()))
        }
        DataType::Float32 => Arc::new(
            array.as_primitive::<Float32Type>().unary::<_, Float32Type>(|n| if n == 0.0 { n } else { n.signum() }),
        ),
        DataType::Float64 => Arc::new(
            array.as_primitive::<Float64Type>().unary::<_, Float64Type>(|n| if n == 0.0 { n } else { n.signum() }),
        ),
        integer => {
            let longs = arrow::compute::cast(array, &DataType::Int64)?;
            let signs = longs.as_primitive::<Int64Type>().unary::<_, Int64Type>(i64::signum);
            arrow::compute::cast(&signs, integer)?
        }
    })
}

/// Two's complement without leading zeros.
fn bin(call: &Call<'_>) -> Result<ArrayRef> {
    use std::fmt::Write;
    let longs = call.longs(0)?;
    call.build_texts(|row, out| write!(out, "{:b}", longs.get(row)?).ok())
}

#[cfg(test)]
mod tests;
