//! Makes the values of one column.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::*;

use super::super::random::Stream;
use crate::format::datetime::DAY_NANOS;
use crate::format::scalar::unit_nanos;

/// How a column is made.
pub(super) struct Column {
    pub data_type: DataType,
    pub values: Values,
    /// Share of NULLs.
    pub null_rate: f64,
    pub stream: Stream,
    pub nulls: Stream,
}

/// Which values a column has.
pub(super) enum Values {
    /// `start + i`
    Sequence { start: i128, end: i128 },
    /// A whole number; of decimals, the digits without the point.
    Number { min: i128, max: i128 },
    /// `min` to below `max`
    Float { min: f64, max: f64 },
    /// Hexadecimal digits, or bytes.
    Text { length: usize },
    /// `start + i * interval`, less up to `max_past`
    Time { start_nanos: i128, interval_nanos: i128, max_past_nanos: i128 },
    /// Any value of the type.
    Any,
}

impl Column {
    /// The values of `rows`.
    pub fn rows(&self, rows: Range<u64>) -> ArrayRef {
        match &self.data_type {
            DataType::Boolean => {
                Arc::new(BooleanArray::from_iter(rows.map(|i| (!self.is_null(i)).then(|| self.bit(i)))))
            }
            DataType::Utf8 => self.strings(rows),
            DataType::Binary => self.bytes(rows),
            DataType::Int8 => self.numbers::<Int8Type>(rows, |v| v as i8),
            DataType::Int16 => self.numbers::<Int16Type>(rows, |v| v as i16),
            DataType::Int32 => self.numbers::<Int32Type>(rows, |v| v as i32),
            DataType::Int64 => self.numbers::<Int64Type>(rows, |v| v as i64),
            DataType::Decimal128(_, _) => self.numbers::<Decimal128Type>(rows, |v| v),
            DataType::Float32 => self.primitive::<Float32Type>(rows, |i| self.float(i) as f32),
            DataType::Float64 => self.primitive::<Float64Type>(rows, |i| self.float(i)),
            DataType::Date32 => self.primitive::<Date32Type>(rows, |i| self.time(i, DAY_NANOS) as i32),
            DataType::Time32(TimeUnit::Second) => {
                self.primitive::<Time32SecondType>(rows, |i| self.of_day(i, 86_400) as i32)
            }
            DataType::Time32(_) => self.primitive::<Time32MillisecondType>(rows, |i| self.of_day(i, 86_400_000) as i32),
            DataType::Time64(unit) => {
                let units = DAY_NANOS / unit_nanos(*unit);
                match unit {
                    TimeUnit::Nanosecond => self.primitive::<Time64NanosecondType>(rows, |i| self.of_day(i, units)),
                    _ => self.primitive::<Time64MicrosecondType>(rows, |i| self.of_day(i, units)),
                }
            }
            DataType::Timestamp(unit, _) => {
                let time = |i| self.time(i, unit_nanos(*unit));
                match unit {
                    TimeUnit::Second => self.primitive::<TimestampSecondType>(rows, time),
                    TimeUnit::Millisecond => self.primitive::<TimestampMillisecondType>(rows, time),
                    TimeUnit::Microsecond => self.primitive::<TimestampMicrosecondType>(rows, time),
                    TimeUnit::Nanosecond => self.primitive::<TimestampNanosecondType>(rows, time),
                }
            }
            other => unreachable!("no recipe was made for a column of {other}"),
        }
    }

    fn is_null(&self, row: u64) -> bool {
        self.null_rate > 0.0 && self.nulls.at(row).unit() < self.null_rate
    }

    fn primitive<A: ArrowPrimitiveType>(&self, rows: Range<u64>, value: impl Fn(u64) -> A::Native) -> ArrayRef {
        let array: PrimitiveArray<A> = match self.null_rate > 0.0 {
            true => rows.map(|i| (!self.is_null(i)).then(|| value(i))).collect(),
            false => PrimitiveArray::from_iter_values(rows.map(value)),
        };
        Arc::new(array.with_data_type(self.data_type.clone()))
    }

    fn numbers<A: ArrowPrimitiveType>(&self, rows: Range<u64>, narrow: impl Fn(i128) -> A::Native) -> ArrayRef {
        let unit = match self.data_type {
            DataType::Decimal128(_, scale) => 10_i128.pow(u32::from(scale.unsigned_abs())),
            _ => 1,
        };
        self.primitive::<A>(rows, |i| {
            narrow(match &self.values {
                Values::Number { min, max } => self.stream.at(i).between(*min, *max),
                _ => self.count(i) * unit,
            })
        })
    }

    /// The value of a sequence.
    fn count(&self, row: u64) -> i128 {
        match &self.values {
            Values::Sequence { start, .. } => start + i128::from(row),
            _ => 0,
        }
    }

    fn float(&self, row: u64) -> f64 {
        match &self.values {
            Values::Float { min, max } => min + self.stream.at(row).unit() * (max - min),
            _ => self.count(row) as f64,
        }
    }

    fn bit(&self, row: u64) -> bool {
        self.stream.at(row).bits() & 1 == 1
    }

    fn of_day(&self, row: u64, units: i64) -> i64 {
        self.stream.at(row).below(units.unsigned_abs()) as i64
    }

    /// A time in units of `unit_nanos`; at the end of what the type can hold, time stands still.
    fn time(&self, row: u64, unit_nanos: i64) -> i64 {
        let Values::Time { start_nanos, interval_nanos, max_past_nanos } = &self.values else { return 0 };
        let past = match max_past_nanos {
            0 => 0,
            most => self.stream.at(row).between(0, *most),
        };
        let nanos = start_nanos + i128::from(row).saturating_mul(*interval_nanos) - past;
        i64::try_from(nanos.div_euclid(i128::from(unit_nanos))).unwrap_or(i64::MAX)
    }

    fn strings(&self, rows: Range<u64>) -> ArrayRef {
        let mut builder = StringBuilder::new();
        let mut text = vec![];
        for row in rows {
            text.clear();
            match &self.values {
                _ if self.is_null(row) => {
                    builder.append_null();
                    continue;
                }
                Values::Text { length } => self.stream.at(row).text(b"0123456789abcdef", *length, &mut text),
                _ => text.extend_from_slice(self.count(row).to_string().as_bytes()),
            }
            builder.append_value(String::from_utf8_lossy(&text));
        }
        Arc::new(builder.finish())
    }

    fn bytes(&self, rows: Range<u64>) -> ArrayRef {
        let all: Vec<u8> = (0..=255).collect();
        let length = if let Values::Text { length } = self.values { length } else { 0 };
        let mut builder = BinaryBuilder::new();
        let mut bytes = vec![];
        for row in rows {
            bytes.clear();
            self.stream.at(row).text(&all, length, &mut bytes);
            builder.append_option((!self.is_null(row)).then_some(&bytes));
        }
        Arc::new(builder.finish())
    }
}
