//! Key values of at most 64 bits as one canonical machine word.

use arrow::datatypes::ArrowNativeType;

/// A native value that a key column may hold, as a 64-bit word and back.
///
/// Equal keys have equal words: signed integers are sign-extended, unsigned ones zero-extended, floats become the
/// bits of an `f64` with one zero and one NaN.
pub(crate) trait KeyWord: ArrowNativeType {
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

macro_rules! integer_words {
    ($($native:ty as $wide:ty),*) => {$(
        impl KeyWord for $native {
            #[inline]
            fn to_word(self) -> u64 {
                <$wide>::from(self) as u64
            }

            #[inline]
            fn from_word(word: u64) -> Self {
                word as $native
            }
        }
    )*};
}

integer_words!(i8 as i64, i16 as i64, i32 as i64, i64 as i64, u8 as u64, u16 as u64, u32 as u64, u64 as u64);

/// The value that stands for all floats that SQL calls equal: `-0.0` is `0.0`, and there is one NaN.
pub(crate) fn canonical_f64(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

impl KeyWord for f64 {
    #[inline]
    fn to_word(self) -> u64 {
        canonical_f64(self).to_bits()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        f64::from_bits(word)
    }
}

impl KeyWord for f32 {
    #[inline]
    fn to_word(self) -> u64 {
        f64::from(self).to_word()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        f64::from_bits(word) as f32
    }
}

/// Runs `$body` with `$t` naming the Arrow primitive type of `$data_type` when its values are [`KeyWord`]s, and
/// `$otherwise` for all other types.
macro_rules! with_word_type {
    ($data_type:expr, $t:ident => $body:expr, $otherwise:expr) => {{
        use arrow::datatypes as types;
        use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
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
            DataType::Duration(TimeUnit::Second) => with!(DurationSecondType),
            DataType::Duration(TimeUnit::Millisecond) => with!(DurationMillisecondType),
            DataType::Duration(TimeUnit::Microsecond) => with!(DurationMicrosecondType),
            DataType::Duration(TimeUnit::Nanosecond) => with!(DurationNanosecondType),
            DataType::Interval(IntervalUnit::YearMonth) => with!(IntervalYearMonthType),
            DataType::Decimal32(_, _) => with!(Decimal32Type),
            DataType::Decimal64(_, _) => with!(Decimal64Type),
            _ => $otherwise,
        }
    }};
}

pub(crate) use with_word_type;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_have_equal_words() {
        assert_eq!((-0.0f64).to_word(), 0.0f64.to_word());
        assert_eq!((-f64::NAN).to_word(), f64::NAN.to_word());
        assert_eq!(1.5f32.to_word(), 1.5f64.to_word());
        assert_eq!((-1i8).to_word(), (-1i64).to_word());
        assert_ne!(255u8.to_word(), (-1i8).to_word());
        assert_eq!(i8::from_word((-7i8).to_word()), -7);
        assert_eq!(f32::from_word(2.25f32.to_word()), 2.25);
    }
}
