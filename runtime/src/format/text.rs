//! Values as text: the one place where that is decided.
//!
//! Timestamps are written as `2026-01-01 10:00:00.000` with the type's precision, instants on the zone's wall clock;
//! decimals with their scale, floats in the shortest form that reads back as the same number, bytes as hexadecimal
//! digits, arrays, maps and rows as JSON.

mod interval;
mod json;
mod temporal;

#[cfg(test)]
mod tests;

use std::fmt::Write;

use arrow::array::*;
use arrow::compute::cast;
use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};

pub use json::JsonFormatter;
pub use temporal::TimestampStyle;

use super::scalar::unit_nanos;
use super::zone::Zone;

/// Writes the values of one column.
pub struct TextFormatter {
    array: ArrayRef,
    values: Values,
}

/// The column by how its values are written.
enum Values {
    Bool(BooleanArray),
    Int(Int64Array),
    Unsigned(UInt64Array),
    Float(Float32Array),
    Double(Float64Array),
    Decimal {
        values: Decimal128Array,
        scale: i8,
    },
    String(StringArray),
    LargeString(LargeStringArray),
    StringView(StringViewArray),
    Bytes(BinaryArray),
    Date(Date32Array),
    /// Units since midnight.
    Time {
        values: Int64Array,
        unit: TimeUnit,
    },
    /// Units since 1970; with a zone, instants.
    Timestamp {
        values: Int64Array,
        unit: TimeUnit,
        zone: Option<Zone>,
    },
    Interval(IntervalMonthDayNanoArray),
    /// An elapsed time.
    Duration {
        values: Int64Array,
        unit: TimeUnit,
    },
    Nested(Box<JsonFormatter>),
    /// What no SQL type of ours is kept as.
    Other,
}

impl TextFormatter {
    /// For `array`; instants are shown on the wall clock of `zone`.
    pub fn new(array: &ArrayRef, zone: Zone) -> Result<Self, ArrowError> {
        let ints = || Ok::<_, ArrowError>(cast(array, &DataType::Int64)?.as_primitive().clone());
        let values = match array.data_type() {
            DataType::Boolean => Values::Bool(array.as_boolean().clone()),
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Values::Int(ints()?),
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
                Values::Unsigned(cast(array, &DataType::UInt64)?.as_primitive().clone())
            }
            DataType::Float32 => Values::Float(array.as_primitive().clone()),
            DataType::Float64 => Values::Double(array.as_primitive().clone()),
            DataType::Decimal128(_, scale) => Values::Decimal { values: array.as_primitive().clone(), scale: *scale },
            DataType::Utf8 => Values::String(array.as_string().clone()),
            DataType::LargeUtf8 => Values::LargeString(array.as_string().clone()),
            DataType::Utf8View => Values::StringView(array.as_string_view().clone()),
            DataType::Binary => Values::Bytes(array.as_binary().clone()),
            DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
                Values::Bytes(cast(array, &DataType::Binary)?.as_binary().clone())
            }
            DataType::Date32 => Values::Date(array.as_primitive().clone()),
            DataType::Time32(unit) => {
                let ints = cast(array, &DataType::Int32)?;
                Values::Time { values: cast(&ints, &DataType::Int64)?.as_primitive().clone(), unit: *unit }
            }
            DataType::Time64(unit) => Values::Time { values: ints()?, unit: *unit },
            DataType::Timestamp(unit, tz) => {
                Values::Timestamp { values: ints()?, unit: *unit, zone: tz.as_ref().map(|_| zone) }
            }
            DataType::Duration(unit) => Values::Duration { values: ints()?, unit: *unit },
            DataType::Interval(IntervalUnit::MonthDayNano) => Values::Interval(array.as_primitive().clone()),
            DataType::Interval(_) => {
                let wide = cast(array, &DataType::Interval(IntervalUnit::MonthDayNano))?;
                Values::Interval(wide.as_primitive().clone())
            }
            DataType::Dictionary(_, value) => return Self::new(&cast(array, value)?, zone),
            DataType::List(_) | DataType::Struct(_) | DataType::Map(_, _) => {
                Values::Nested(Box::new(JsonFormatter::new(array, zone, TimestampStyle::SQL)?))
            }
            _ => Values::Other,
        };
        Ok(Self { array: array.clone(), values })
    }

    /// Is the value of `row` NULL?
    pub fn is_null(&self, row: usize) -> bool {
        // An array of type NULL has no validity of its own.
        self.array.is_null(row) || *self.array.data_type() == DataType::Null
    }

    /// Appends the value of `row`, which must not be NULL.
    pub fn write(&self, row: usize, out: &mut String) {
        debug_assert!(!self.is_null(row), "how NULL is written is the caller's to say");
        match &self.values {
            Values::Bool(values) => out.push_str(if values.value(row) { "true" } else { "false" }),
            Values::Int(values) => write_number(values.value(row), out),
            Values::Unsigned(values) => write_number(values.value(row), out),
            Values::Float(values) => write_float(values.value(row), values.value(row).is_infinite(), out),
            Values::Double(values) => write_float(values.value(row), values.value(row).is_infinite(), out),
            Values::Decimal { values, scale } => write_decimal(values.value(row), *scale, out),
            Values::String(values) => out.push_str(values.value(row)),
            Values::LargeString(values) => out.push_str(values.value(row)),
            Values::StringView(values) => out.push_str(values.value(row)),
            Values::Bytes(values) => write_hex(values.value(row), out),
            Values::Date(values) => temporal::write_date(i64::from(values.value(row)), out),
            Values::Time { values, unit } => temporal::write_time(values.value(row) * unit_nanos(*unit), *unit, out),
            Values::Timestamp { values, unit, zone } => {
                temporal::write_timestamp(values.value(row), *unit, *zone, TimestampStyle::SQL, out);
            }
            Values::Interval(values) => interval::write_interval(values.value(row), out),
            Values::Duration { values, unit } => interval::write_duration(values.value(row), *unit, out),
            Values::Nested(values) => values.write(row, out),
            Values::Other => self.write_other(row, out),
        }
    }

    fn write_other(&self, row: usize, out: &mut String) {
        match ArrayFormatter::try_new(&self.array, &FormatOptions::default()) {
            Ok(formatter) => {
                // A String takes all that is written to it.
                let _ = write!(out, "{}", formatter.value(row));
            }
            Err(_) => out.push('?'),
        }
    }
}

fn write_number(value: impl lexical_core::ToLexical, out: &mut String) {
    let mut buffer = [0; lexical_core::BUFFER_SIZE];
    let digits = lexical_core::write(value, &mut buffer);
    out.push_str(std::str::from_utf8(digits).unwrap_or("?"));
}

/// `1.0`, `1e16`, `NaN`, `Infinity`
fn write_float(value: impl std::fmt::Debug + PartialOrd + Default, is_infinite: bool, out: &mut String) {
    if is_infinite {
        out.push_str(if value < Default::default() { "-Infinity" } else { "Infinity" });
        return;
    }
    // A String takes all that is written to it.
    let _ = write!(out, "{value:?}");
}

fn write_decimal(value: i128, scale: i8, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    let digits = value.unsigned_abs();
    let written = match u32::try_from(scale) {
        Ok(0) => write!(out, "{digits}"),
        Ok(scale) => {
            let unit = 10_u128.pow(scale);
            write!(out, "{}.{:0width$}", digits / unit, digits % unit, width = scale as usize)
        }
        Err(_) => write!(out, "{digits}{:0width$}", 0, width = usize::from(scale.unsigned_abs())),
    };
    // A String takes all that is written to it.
    let _ = written;
}

fn write_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(u32::from(digit), 16).unwrap_or('?'));
        }
    }
}
