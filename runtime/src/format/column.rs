//! Columns that are built from text, a block of values at a time.

mod bytes;
mod nested;
mod primitive;

use std::marker::PhantomData;

use arrow::array::ArrayRef;
use arrow::datatypes::*;

pub(crate) use nested::{JsonInText, json_nested_builder};

use super::cell::{BadCells, Cell, CellSource};
use super::scalar::{ParseDate, ParseDecimal, ParseFloat, ParseInt, ParseTime, ParseTimestamp, unit_nanos};
use super::type_name::a_type;
use super::zone::Zone;
use bytes::{BinaryColumn, StringColumn};
use primitive::{BooleanColumn, PrimitiveColumn};

/// Builds one column.
pub(crate) trait ColumnBuilder<S: CellSource>: Send {
    /// Reads `cells` of `input`, one row each. A value that cannot be read is noted in `bad` and a value of the
    /// type, not NULL, stands in its place.
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &S, bad: &mut BadCells);

    /// All rows since the last time.
    fn finish(&mut self) -> ArrayRef;
}

/// A builder for `field`.
pub(crate) fn column_builder<S: CellSource>(field: &Field, zone: Zone) -> Box<dyn ColumnBuilder<S>> {
    macro_rules! primitive {
        ($arrow:ty, $parse:expr) => {
            Box::new(PrimitiveColumn::<$arrow, _>::new(field, $parse))
        };
    }
    macro_rules! timestamp {
        ($arrow:ty, $unit:expr, $zone:expr) => {
            primitive!($arrow, ParseTimestamp { unit_nanos: unit_nanos(*$unit), zone: $zone.as_ref().map(|_| zone) })
        };
    }
    match field.data_type() {
        DataType::Boolean => Box::new(BooleanColumn::new(field)),
        DataType::Int8 => primitive!(Int8Type, ParseInt(PhantomData)),
        DataType::Int16 => primitive!(Int16Type, ParseInt(PhantomData)),
        DataType::Int32 => primitive!(Int32Type, ParseInt(PhantomData)),
        DataType::Int64 => primitive!(Int64Type, ParseInt(PhantomData)),
        DataType::Float32 => primitive!(Float32Type, ParseFloat(PhantomData)),
        DataType::Float64 => primitive!(Float64Type, ParseFloat(PhantomData)),
        DataType::Decimal128(precision, scale) => {
            primitive!(Decimal128Type, ParseDecimal { precision: *precision, scale: *scale })
        }
        DataType::Date32 => primitive!(Date32Type, ParseDate),
        DataType::Time32(unit @ TimeUnit::Second) => primitive!(Time32SecondType, ParseTime::new(*unit)),
        DataType::Time32(unit) => primitive!(Time32MillisecondType, ParseTime::new(*unit)),
        DataType::Time64(unit @ TimeUnit::Nanosecond) => primitive!(Time64NanosecondType, ParseTime::new(*unit)),
        DataType::Time64(unit) => primitive!(Time64MicrosecondType, ParseTime::new(*unit)),
        DataType::Timestamp(unit @ TimeUnit::Second, tz) => timestamp!(TimestampSecondType, unit, tz),
        DataType::Timestamp(unit @ TimeUnit::Millisecond, tz) => timestamp!(TimestampMillisecondType, unit, tz),
        DataType::Timestamp(unit @ TimeUnit::Microsecond, tz) => timestamp!(TimestampMicrosecondType, unit, tz),
        DataType::Timestamp(unit, tz) => timestamp!(TimestampNanosecondType, unit, tz),
        DataType::Binary => Box::new(BinaryColumn::new(field)),
        DataType::List(_) | DataType::Struct(_) | DataType::Map(_, _) => S::nested_builder(field, zone),
        _ => Box::new(StringColumn::new(field)),
    }
}

/// Can a column of this type be read from text?
pub(crate) fn is_readable(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) => is_readable(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|f| is_readable(f.data_type())),
        DataType::Map(entries, _) => is_readable(entries.data_type()),
        _ => {
            let is_number = data_type.is_signed_integer() || matches!(data_type, DataType::Float32 | DataType::Float64);
            is_number
                || matches!(data_type, DataType::Boolean | DataType::Decimal128(_, _) | DataType::Date32)
                || matches!(data_type, DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(_, _))
                || matches!(data_type, DataType::Utf8 | DataType::Binary)
        }
    }
}

/// Why NULL cannot be taken.
fn null_reason(data_type: &DataType) -> String {
    format!("NULL in {} NOT NULL column", a_type(data_type))
}
