use arrow::datatypes::DataType;
use datafusion_common::ScalarValue;
use datafusion_expr::{Expr, lit};

use super::{product, quotient};
use crate::functions::check::{check_error_of, check_value_of};

/// `text` as `DECIMAL(precision, scale)`.
fn decimal(unscaled: i128, precision: u8, scale: i8) -> Expr {
    lit(ScalarValue::Decimal128(Some(unscaled), precision, scale))
}

const NINES: i128 = 10_i128.pow(38) - 1;

#[test]
fn quotients_are_rounded_half_up() {
    let check =
        |dividend, divisor, expected, data_type| check_value_of(quotient(dividend, divisor), expected, data_type);
    check(decimal(1, 38, 0), lit(3_i32), "0.333333", "DECIMAL(38, 6)");
    check(decimal(2, 38, 0), lit(3_i32), "0.666667", "DECIMAL(38, 6)");
    check(decimal(-2, 38, 0), lit(3_i32), "-0.666667", "DECIMAL(38, 6)");
    check(decimal(20000, 38, 2), decimal(300, 10, 2), "66.666667", "DECIMAL(38, 6)");
    check(decimal(6383, 38, 2), lit(3_i64), "21.276667", "DECIMAL(38, 6)");
    check(decimal(1, 5, 0), decimal(8, 1, 0), "0.125000", "DECIMAL(11, 6)");
    // Half of the last digit: away from zero.
    check(decimal(1, 38, 0), decimal(2_000_000, 7, 0), "0.000001", "DECIMAL(38, 6)");
    check(decimal(1, 38, 0), decimal(-2_000_000, 7, 0), "-0.000001", "DECIMAL(38, 6)");
    check(decimal(1, 38, 0), decimal(2_000_001, 7, 0), "0.000000", "DECIMAL(38, 6)");
    // The dividend in units of the result needs more than 128 bits.
    check(decimal(NINES, 38, 0), decimal(NINES, 38, 0), "1.000000", "DECIMAL(38, 6)");
    check(decimal(NINES, 38, 10), decimal(NINES, 38, 10), "1.000000", "DECIMAL(38, 6)");
    check(decimal(1, 38, 38), decimal(1, 38, 38), "1.000000", "DECIMAL(38, 6)");
}

#[test]
fn products_of_many_digits_are_rounded_half_up() {
    let check = |left, right, expected, data_type| check_value_of(product(left, right), expected, data_type);
    // 0.5 * 0.0000005 has more digits than 38 columns leave room for.
    check(decimal(5, 38, 1), decimal(5, 38, 7), "0.000000", "DECIMAL(38, 6)");
    check(decimal(10, 38, 1), decimal(5, 38, 7), "0.000001", "DECIMAL(38, 6)");
    check(decimal(-10, 38, 1), decimal(5, 38, 7), "-0.000001", "DECIMAL(38, 6)");
    check(
        decimal(10_i128.pow(37), 38, 20),
        decimal(2 * 10_i128.pow(20), 38, 20),
        "200000000000000000.000000",
        "DECIMAL(38, 6)",
    );
    check(decimal(3, 20, 0), decimal(4, 20, 0), "12", "DECIMAL(38, 0)");
}

#[test]
fn too_many_digits_and_division_by_zero_are_errors() {
    check_error_of(quotient(decimal(NINES, 38, 0), decimal(1, 1, 0)), "decimal overflow");
    check_error_of(quotient(decimal(NINES, 38, 0), decimal(1, 38, 38)), "decimal overflow");
    check_error_of(quotient(decimal(0, 38, 0), decimal(0, 1, 0)), "division by zero");
    check_error_of(product(decimal(NINES, 38, 0), decimal(2, 1, 0)), "decimal overflow");
}

#[test]
fn null_gives_null() {
    let null = || lit(ScalarValue::try_from(&DataType::Decimal128(10, 2)).unwrap());
    check_value_of(quotient(null(), decimal(0, 1, 0)), "NULL", "DECIMAL(14, 6)");
    check_value_of(product(decimal(1, 38, 0), null()), "NULL", "DECIMAL(38, 2)");
}
