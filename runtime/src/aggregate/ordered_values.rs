//! The order of fixed-width values, as MIN and MAX see it.

use arrow::datatypes::{ArrowNativeType, i256};

/// A value that has a place among others of its type.
pub(super) trait OrderedValue: ArrowNativeType {
    /// Is it smaller than `other`? NaN is larger than all other floats, and equal to itself.
    fn precedes(self, other: Self) -> bool;
}

macro_rules! ordered_by_comparison {
    ($($native:ty),*) => {$(
        impl OrderedValue for $native {
            #[inline]
            fn precedes(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}

macro_rules! ordered_floats {
    ($($native:ty),*) => {$(
        impl OrderedValue for $native {
            #[inline]
            fn precedes(self, other: Self) -> bool {
                self < other || (other.is_nan() && !self.is_nan())
            }
        }
    )*};
}

ordered_by_comparison!(i8, i16, i32, i64, i128, i256, u8, u16, u32, u64);
ordered_floats!(f32, f64);

/// Runs `$body` with `$t` naming the Arrow primitive type of `$data_type` when its values are ordered machine
/// values, and `$otherwise` for all other types.
macro_rules! with_ordered_type {
    ($data_type:expr, $t:ident => $body:expr, $otherwise:expr) => {{
        use arrow::datatypes as types;
        use arrow::datatypes::{DataType, TimeUnit};
        macro_rules! with {
            ($arrow_type:ident) => {{
                type $t = types::$arrow_type;
                $body
            }};
        }
        match $data_type {
            DataType::Int8 => with!(Int8Type),
            DataType::Int16 => with!(Int16Type),
            DataType::Int32 => with!(Int32Type),
            DataType::Int64 => with!(Int64Type),
            DataType::UInt8 => with!(UInt8Type),
            DataType::UInt16 => with!(UInt16Type),
            DataType::UInt32 => with!(UInt32Type),
            DataType::UInt64 => with!(UInt64Type),
            DataType::Float32 => with!(Float32Type),
            DataType::Float64 => with!(Float64Type),
            DataType::Decimal128(_, _) => with!(Decimal128Type),
            DataType::Decimal256(_, _) => with!(Decimal256Type),
            DataType::Date32 => with!(Date32Type),
            DataType::Date64 => with!(Date64Type),
            DataType::Time32(TimeUnit::Second) => with!(Time32SecondType),
            DataType::Time32(_) => with!(Time32MillisecondType),
            DataType::Time64(TimeUnit::Microsecond) => with!(Time64MicrosecondType),
            DataType::Time64(_) => with!(Time64NanosecondType),
            DataType::Timestamp(TimeUnit::Second, _) => with!(TimestampSecondType),
            DataType::Timestamp(TimeUnit::Millisecond, _) => with!(TimestampMillisecondType),
            DataType::Timestamp(TimeUnit::Microsecond, _) => with!(TimestampMicrosecondType),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => with!(TimestampNanosecondType),
            _ => $otherwise,
        }
    }};
}

pub(super) use with_ordered_type;
