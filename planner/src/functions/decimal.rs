//! Quotients, and products of many digits, of decimals.
//!
//! arrow divides and multiplies within 128 bits and cuts digits off; here the intermediate has 256 bits and the result
//! is rounded half up, away from zero, to the scale that Flink gives it.
//!
//! ```text
//! CAST(1 AS DECIMAL(38, 0)) / 3     ->  0.333333
//! CAST(2 AS DECIMAL(38, 0)) / 3     ->  0.666667
//! ```

use std::sync::{Arc, LazyLock};

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Decimal128Type, i256};
use datafusion_common::{Result, exec_datafusion_err, exec_err};
use datafusion_expr::{Expr, ScalarUDF};

use super::call::Call;
use super::param::Param::Decimal;
use super::scalar::{Arguments, Returns, ScalarFunction, takes};

const DIVIDE: &str = "decimal_divide";
const MULTIPLY: &str = "decimal_multiply";

static QUOTIENT: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    ScalarFunction::new(DIVIDE, takes(&[Decimal, Decimal]), Returns::Computed(quotient_type), divide).into_udf()
});

static PRODUCT: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    ScalarFunction::new(MULTIPLY, takes(&[Decimal, Decimal]), Returns::Computed(product_type), multiply).into_udf()
});

/// `dividend / divisor` of decimals or integers.
pub(crate) fn quotient(dividend: Expr, divisor: Expr) -> Expr {
    QUOTIENT.call(vec![dividend, divisor])
}

/// `left * right` of decimals or integers.
pub(crate) fn product(left: Expr, right: Expr) -> Expr {
    PRODUCT.call(vec![left, right])
}

/// The operator that a call of these functions stands for.
pub(crate) fn operator_of(name: &str) -> Option<datafusion_expr::Operator> {
    match name {
        DIVIDE => Some(datafusion_expr::Operator::Divide),
        MULTIPLY => Some(datafusion_expr::Operator::Multiply),
        _ => None,
    }
}

/// Precision and scale of a decimal, or of an integer next to one.
pub(crate) fn digits_of(data_type: &DataType) -> Option<(u8, i8)> {
    match data_type {
        DataType::Decimal128(p, s) => Some((*p, *s)),
        DataType::Int8 => Some((3, 0)),
        DataType::Int16 => Some((5, 0)),
        DataType::Int32 => Some((10, 0)),
        DataType::Int64 => Some((19, 0)),
        _ => None,
    }
}

/// Flink's type of a quotient: the scale is `max(6, s1 + p2 + 1)`, as far as 38 digits reach.
fn quotient_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    let ((p1, s1), (p2, s2)) = operands(arguments)?;
    let scale = (s1 + p2 + 1).max(6);
    Ok(fit(p1 - s1 + s2 + scale, scale))
}

/// Flink's type of a product: the digits add up, as far as 38 reach.
fn product_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    let ((p1, s1), (p2, s2)) = operands(arguments)?;
    Ok(fit(p1 + p2, s1 + s2))
}

type Digits = (i32, i32);

fn operands(arguments: &Arguments<'_>) -> std::result::Result<(Digits, Digits), String> {
    let digits = |index: usize| match arguments.types.get(index).copied().and_then(digits_of) {
        Some((p, s)) => Ok((i32::from(p), i32::from(s))),
        None => Err("takes decimals".to_string()),
    };
    Ok((digits(0)?, digits(1)?))
}

/// Flink's rule for results of more than 38 digits: keep the whole part, and at least 6 digits of the fraction.
fn fit(precision: i32, scale: i32) -> DataType {
    let (precision, scale) = match precision {
        ..=38 => (precision, scale),
        _ => (38, (38 - (precision - scale)).max(scale.min(6))),
    };
    // 1 to 38, and 0 to 38: the scales of the operands are.
    DataType::Decimal128(precision as u8, scale as i8)
}

fn divide(call: &Call<'_>) -> Result<ArrayRef> {
    let (result, left, right) = (Limits::of(call.return_type)?, scale_at(call, 0)?, scale_at(call, 1)?);
    // In units of the result, a quotient of unscaled values is this power of ten too small.
    let shift = result.scale - left + right;
    let (up, down) = (power_of_ten(shift.max(0)), power_of_ten((-shift).max(0)));
    let narrow_up = up.to_i128();
    compute(call, |dividend, divisor| {
        if divisor == 0 {
            return exec_err!("division by zero");
        }
        // Most values have few digits: 128 bits hold them, and are divided much faster.
        if shift >= 0
            && let Some(scaled) = narrow_up.and_then(|up| dividend.checked_mul(up))
        {
            return result.check_narrow(divide_half_up(scaled, divisor));
        }
        let scaled = i256::from_i128(dividend).checked_mul(up);
        let divisor = i256::from_i128(divisor).checked_mul(down);
        // What does not fit into 256 bits has more than 38 digits when it is divided by 38 digits.
        let quotient = scaled.zip(divisor).and_then(|(scaled, divisor)| divide_wide(scaled, divisor));
        quotient.map_or_else(overflow, |q| result.check(q))
    })
}

fn multiply(call: &Call<'_>) -> Result<ArrayRef> {
    let (result, left, right) = (Limits::of(call.return_type)?, scale_at(call, 0)?, scale_at(call, 1)?);
    let down = power_of_ten((left + right - result.scale).max(0));
    compute(call, |left, right| {
        // 38 digits twice are 76, which 256 bits hold.
        let product = i256::from_i128(left).checked_mul(i256::from_i128(right));
        product.and_then(|p| divide_wide(p, down)).map_or_else(overflow, |p| result.check(p))
    })
}

fn compute(call: &Call<'_>, value: impl Fn(i128, i128) -> Result<i128>) -> Result<ArrayRef> {
    let (left, right) = (call.primitives::<Decimal128Type>(0)?, call.primitives::<Decimal128Type>(1)?);
    call.try_build::<Decimal128Type>(|row| match (left.get(row), right.get(row)) {
        (Some(left), Some(right)) => value(left, right).map(Some),
        _ => Ok(None),
    })
}

fn scale_at(call: &Call<'_>, index: usize) -> Result<i32> {
    match call.type_of(index) {
        DataType::Decimal128(_, scale) => Ok(i32::from(*scale)),
        other => datafusion_common::internal_err!("a decimal arrived as {other}"),
    }
}

/// What a result type holds.
struct Limits {
    scale: i32,
    /// The first value with one digit too many.
    bound: i128,
}

impl Limits {
    fn of(data_type: &DataType) -> Result<Self> {
        let DataType::Decimal128(precision, scale) = data_type else {
            return datafusion_common::internal_err!("a decimal was planned as {data_type}");
        };
        Ok(Self { scale: i32::from(*scale), bound: 10_i128.pow(u32::from(*precision)) })
    }

    fn check(&self, value: i256) -> Result<i128> {
        value.to_i128().map_or_else(overflow, |v| self.check_narrow(v))
    }

    fn check_narrow(&self, value: i128) -> Result<i128> {
        if value.unsigned_abs() >= self.bound.unsigned_abs() { overflow() } else { Ok(value) }
    }
}

fn overflow<T>() -> Result<T> {
    Err(exec_datafusion_err!("decimal overflow"))
}

/// `divisor` is not 0.
fn divide_half_up(dividend: i128, divisor: i128) -> i128 {
    // The smallest number by −1 cannot be: a decimal has 38 digits.
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let is_half = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    match (is_half, (dividend < 0) == (divisor < 0)) {
        (false, _) => quotient,
        (true, true) => quotient + 1,
        (true, false) => quotient - 1,
    }
}

/// As [`divide_half_up`]; `None` when it cannot be computed.
fn divide_wide(dividend: i256, divisor: i256) -> Option<i256> {
    let quotient = dividend.checked_div(divisor)?;
    let rest = dividend.wrapping_sub(quotient.wrapping_mul(divisor)).checked_abs()?;
    if rest < divisor.checked_abs()?.wrapping_sub(rest) {
        return Some(quotient);
    }
    let one = i256::from_i128(1);
    if dividend.is_negative() == divisor.is_negative() { quotient.checked_add(one) } else { quotient.checked_sub(one) }
}

/// At most 10^76.
fn power_of_ten(exponent: i32) -> i256 {
    let exponent = u32::try_from(exponent).unwrap_or(0);
    i256::from_i128(10).checked_pow(exponent).expect("a scale is at most 38, and two of them 76 digits")
}

#[cfg(test)]
mod tests;
