//! Rounding: ABS keeps company because it, too, keeps the number's type.
//!
//! `ROUND` and `TRUNCATE` of a decimal have the scale that they round to, so the number of digits must be written
//! out; of a double they work on its decimal digits: `ROUND(1.005, 2)` is 1.01.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{ArrowPrimitiveType, DataType, Decimal128Type, Float64Type, Int64Type};
use datafusion_common::{Result, ScalarValue, exec_err};

use crate::functions::call::Call;
use crate::functions::param::Param::{Long, Number};
use crate::functions::scalar::{Arguments, Returns, ScalarFunction, takes};

const MAX_PRECISION: u8 = 38;
/// Digits beyond this change no number.
const MAX_DIGITS: i64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// To the nearest, halves away from zero.
    HalfUp,
    /// Towards zero.
    Down,
    /// Towards negative infinity.
    Floor,
    /// Towards positive infinity.
    Ceil,
}

pub(super) fn functions() -> Vec<ScalarFunction> {
    let number_and_digits = takes(&[Number]).then_optional(&[Long]);
    let rounded = || Returns::Computed(rounded_type);
    let whole = || Returns::Computed(whole_type);
    vec![
        ScalarFunction::new("round", number_and_digits, rounded(), |call| round(call, Mode::HalfUp)),
        ScalarFunction::new("truncate", number_and_digits, rounded(), |call| round(call, Mode::Down)),
        ScalarFunction::new("floor", takes(&[Number]), whole(), |call| round(call, Mode::Floor)),
        ScalarFunction::new("ceil", takes(&[Number]), whole(), |call| round(call, Mode::Ceil)),
        ScalarFunction::new("ceiling", takes(&[Number]), whole(), |call| round(call, Mode::Ceil)),
    ]
}

/// A decimal loses the digits behind those that are kept and may gain one in front.
fn rounded_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    let DataType::Decimal128(precision, scale) = arguments.types[0] else { return Ok(arguments.types[0].clone()) };
    let digits = match arguments.literals.get(1) {
        None => 0,
        Some(Some(ScalarValue::Int64(Some(digits)))) => *digits,
        Some(_) => return Err("of a DECIMAL needs the number of digits written out".into()),
    };
    if digits >= i64::from(*scale) {
        return Ok(DataType::Decimal128(*precision, *scale));
    }
    let kept = i8::try_from(digits.max(0)).unwrap_or(*scale);
    let whole_digits = i16::from(*precision) - i16::from(*scale) + 1;
    let precision = u8::try_from(whole_digits + i16::from(kept)).unwrap_or(MAX_PRECISION).min(MAX_PRECISION);
    Ok(DataType::Decimal128(precision, kept))
}

fn whole_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    Ok(match arguments.types[0] {
        DataType::Decimal128(precision, _) => DataType::Decimal128(*precision, 0),
        other => other.clone(),
    })
}

fn round(call: &Call<'_>, mode: Mode) -> Result<ArrayRef> {
    let digits = call.optional_longs(1)?;
    let digits = |row| digits.as_ref().map_or(Some(0), |d| d.get(row)).map(|d| d.clamp(-MAX_DIGITS, MAX_DIGITS));
    let (array, _) = call.raw(0);
    match array.data_type() {
        DataType::Decimal128(_, scale) => {
            let numbers = call.primitives::<Decimal128Type>(0)?;
            let DataType::Decimal128(precision, to_scale) = *call.return_type else {
                return exec_err!("a decimal rounds to a decimal");
            };
            call.try_build::<Decimal128Type>(|row| {
                let (Some(number), Some(digits)) = (numbers.get(row), digits(row)) else { return Ok(None) };
                let dropped = i64::from(*scale) - digits;
                let rounded = round_integer(number, dropped, mode)
                    .and_then(|n| rescale(n, i32::from(to_scale) - i32::from(*scale)))
                    .filter(|n| n.unsigned_abs() < 10_u128.pow(u32::from(precision)));
                match rounded {
                    Some(rounded) => Ok(Some(rounded)),
                    None => exec_err!("the rounded number does not fit into {}: overflow", call.return_type),
                }
            })
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let doubles = cast(array, &DataType::Float64)?;
            let doubles: &PrimitiveArray<Float64Type> = doubles.as_primitive();
            let mut buffer = String::new();
            let rounded = per_row(call, doubles, |row, number| {
                Ok(Some(match mode {
                    Mode::Floor => number.floor(),
                    Mode::Ceil => number.ceil(),
                    _ => match digits(row) {
                        Some(digits) => round_double(number, digits, mode, &mut buffer),
                        None => return Ok(None),
                    },
                }))
            })?;
            Ok(cast(&rounded, call.return_type)?)
        }
        _ => {
            let longs = cast(array, &DataType::Int64)?;
            let rounded = per_row::<Int64Type>(call, longs.as_primitive(), |row, number| {
                let Some(digits) = digits(row) else { return Ok(None) };
                match round_integer(number.into(), -digits, mode).and_then(|n| i64::try_from(n).ok()) {
                    Some(rounded) => Ok(Some(rounded)),
                    None => exec_err!("the rounded number does not fit into BIGINT: integer overflow"),
                }
            })?;
            Ok(cast(&rounded, call.return_type)?)
        }
    }
}

/// Numbers to numbers; a constant argument stands for every row.
fn per_row<T: ArrowPrimitiveType>(
    call: &Call<'_>,
    numbers: &PrimitiveArray<T>,
    mut round: impl FnMut(usize, T::Native) -> Result<Option<T::Native>>,
) -> Result<ArrayRef> {
    let constant = call.raw(0).1;
    let rounded: PrimitiveArray<T> = (0..call.rows)
        .map(|row| {
            let index = if constant { 0 } else { row };
            if numbers.is_null(index) { Ok(None) } else { round(row, numbers.value(index)) }
        })
        .collect::<Result<_>>()?;
    Ok(Arc::new(rounded))
}

/// The number with so many of its last digits made zero; `None` on overflow.
fn round_integer(number: i128, dropped: i64, mode: Mode) -> Option<i128> {
    if dropped <= 0 {
        return Some(number);
    }
    let Some(unit) = u32::try_from(dropped).ok().and_then(|d| 10_i128.checked_pow(d)) else {
        // More digits than any number has.
        return match mode {
            Mode::Floor if number < 0 => None,
            Mode::Ceil if number > 0 => None,
            _ => Some(0),
        };
    };
    let rest = number % unit;
    let whole = number - rest;
    let away = match mode {
        Mode::Down => false,
        Mode::HalfUp => rest.unsigned_abs() >= unit.unsigned_abs().div_ceil(2),
        Mode::Floor => rest < 0,
        Mode::Ceil => rest > 0,
    };
    if !away {
        return Some(whole);
    }
    if number < 0 { whole.checked_sub(unit) } else { whole.checked_add(unit) }
}

/// The number in a type with so many more (or fewer, all zero) digits behind the point.
fn rescale(number: i128, more_digits: i32) -> Option<i128> {
    let factor = 10_i128.checked_pow(more_digits.unsigned_abs())?;
    if more_digits >= 0 { number.checked_mul(factor) } else { Some(number / factor) }
}

/// The same without the detour by decimal digits, where these do not matter: the number is not large and not near
/// the place where its rounding turns. The quotient of two integers that are exact is the nearest double.
fn round_plain_double(number: f64, digits: i64, mode: Mode) -> Option<f64> {
    /// The product is then exact to less than [`NEAR`].
    const LARGE: f64 = 1e12;
    const NEAR: f64 = 1e-3;
    let unit = 10_f64.powi(i32::try_from(digits).ok().filter(|d| (0..=15).contains(d))?);
    let scaled = number.abs() * unit;
    if scaled >= LARGE {
        return None;
    }
    let (whole, rest) = (scaled.floor(), scaled.fract());
    let rounded = match mode {
        Mode::HalfUp if (rest - 0.5).abs() > NEAR => scaled.round(),
        Mode::Down if rest > NEAR && rest < 1.0 - NEAR => whole,
        _ => return None,
    };
    Some((rounded / unit).copysign(number))
}

/// The double nearest to the decimal that its shortest decimal form rounds to.
fn round_double(number: f64, digits: i64, mode: Mode, buffer: &mut String) -> f64 {
    use std::fmt::Write;
    /// A double has at most so many decimal digits that matter.
    const SIGNIFICANT: i64 = 17;
    if !number.is_finite() || number == 0.0 {
        return number;
    }
    if let Some(rounded) = round_plain_double(number, digits, mode) {
        return rounded;
    }
    buffer.clear();
    // Shortest digits and exponent, such as 1.005e0; writing to a String does not fail.
    let _ = write!(buffer, "{number:e}");
    let (mantissa, exponent) = buffer.split_once('e').unwrap_or((buffer, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let fraction_digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    let mut integer = 0_i128;
    for digit in mantissa.bytes().filter(u8::is_ascii_digit) {
        integer = integer * 10 + i128::from(digit - b'0');
    }
    let scale = fraction_digits - exponent;
    let dropped = scale - digits;
    if dropped <= 0 {
        return number;
    }
    if dropped > SIGNIFICANT + 1 {
        return 0.0 * number.signum();
    }
    let rounded = round_integer(integer, dropped, mode).unwrap_or(integer);
    buffer.clear();
    let _ = write!(buffer, "{rounded}e{}", -scale);
    buffer.parse::<f64>().map_or(number, |n| n.copysign(number))
}

#[cfg(test)]
mod tests {
    use super::{Mode, round_double, round_integer, round_plain_double};

    #[test]
    fn halves_go_away_from_zero() {
        for (number, dropped, mode, expected) in [
            (25, 1, Mode::HalfUp, Some(30)),
            (-25, 1, Mode::HalfUp, Some(-30)),
            (24, 1, Mode::HalfUp, Some(20)),
            (-25, 1, Mode::Down, Some(-20)),
            (-21, 1, Mode::Floor, Some(-30)),
            (21, 1, Mode::Ceil, Some(30)),
            (20, 1, Mode::Ceil, Some(20)),
            (7, 60, Mode::HalfUp, Some(0)),
            (7, 0, Mode::HalfUp, Some(7)),
            (i128::MAX, 1, Mode::Ceil, None),
        ] {
            assert_eq!(round_integer(number, dropped, mode), expected, "{number} {dropped} {mode:?}");
        }
    }

    #[test]
    fn doubles_round_by_their_decimal_digits() {
        let mut buffer = String::new();
        for (number, digits, mode, expected) in [
            (1.005, 2, Mode::HalfUp, 1.01),
            (2.5, 0, Mode::HalfUp, 3.0),
            (-2.5, 0, Mode::HalfUp, -3.0),
            (42.345, 2, Mode::Down, 42.34),
            (-42.345, -1, Mode::Down, -40.0),
            (1e300, 2, Mode::HalfUp, 1e300),
            (1e-300, 2, Mode::HalfUp, 0.0),
            (0.5, 0, Mode::HalfUp, 1.0),
            (123456.0, -3, Mode::HalfUp, 123000.0),
        ] {
            assert_eq!(round_double(number, digits, mode, &mut buffer), expected, "{number} {digits}");
        }
        for step in -20_000..20_000 {
            let number = f64::from(step) * 0.0137;
            for (digits, mode) in [(0, Mode::HalfUp), (2, Mode::HalfUp), (3, Mode::Down), (4, Mode::HalfUp)] {
                if let Some(plain) = round_plain_double(number, digits, mode) {
                    // 25 decimals are more than enough to see to which side of a half the number lies.
                    let decimal = format!("{:.25}", number.abs());
                    let cut = decimal.find('.').map_or(0, |point| point + 1 + digits as usize);
                    let kept: f64 = decimal[..cut].parse().unwrap();
                    let is_up = mode == Mode::HalfUp && decimal.as_bytes()[cut] >= b'5';
                    let step_up = if is_up { 10_f64.powi(-(digits as i32)) } else { 0.0 };
                    assert!((plain.abs() - kept - step_up).abs() < 1e-9, "{number} {digits} {mode:?}: {plain}");
                }
            }
        }
        assert!(round_double(f64::NAN, 2, Mode::HalfUp, &mut buffer).is_nan());
    }
}
