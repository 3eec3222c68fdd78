//! One value of a column from its text.

use std::marker::PhantomData;

use arrow::datatypes::TimeUnit;

use super::datetime::{WallTime, parse_date, parse_time, parse_timestamp};
use super::zone::Zone;

/// Reads values of one type.
pub(crate) trait ParseScalar: Send {
    /// As Arrow keeps it.
    type Value: Copy + Default + Send;

    /// The value, or `None` when `text` is not one.
    fn parse(&self, text: &[u8]) -> Option<Self::Value>;

    /// What else there is to say of a text that is not one.
    fn remark(&self, _text: &[u8]) -> Option<&'static str> {
        None
    }
}

/// `true` and `false`, whatever the case.
pub(crate) struct ParseBool;

impl ParseScalar for ParseBool {
    type Value = bool;

    fn parse(&self, text: &[u8]) -> Option<bool> {
        let text = text.trim_ascii();
        match () {
            () if text.eq_ignore_ascii_case(b"true") => Some(true),
            () if text.eq_ignore_ascii_case(b"false") => Some(false),
            () => None,
        }
    }
}

/// Whole numbers. `1.0` and `1e3` are whole, `1.5` is not.
pub(crate) struct ParseInt<T>(pub PhantomData<fn() -> T>);

impl<T: lexical_core::FromLexical + TryFrom<i128> + Copy + Default + Send> ParseScalar for ParseInt<T> {
    type Value = T;

    fn parse(&self, text: &[u8]) -> Option<T> {
        lexical_core::parse(text).ok().or_else(|| whole_number(text))
    }
}

#[cold]
fn whole_number<T: TryFrom<i128>>(text: &[u8]) -> Option<T> {
    let text = text.trim_ascii();
    let (value, is_exact) = parse_decimal(text, 0)?;
    is_exact.then_some(())?;
    T::try_from(value).ok()
}

/// Floating point numbers, `NaN` and `Infinity` included.
pub(crate) struct ParseFloat<T>(pub PhantomData<fn() -> T>);

impl<T: lexical_core::FromLexical + Copy + Default + Send> ParseScalar for ParseFloat<T> {
    type Value = T;

    fn parse(&self, text: &[u8]) -> Option<T> {
        lexical_core::parse(text).ok().or_else(|| lexical_core::parse(text.trim_ascii()).ok())
    }
}

/// Exact decimals: never by way of a float. Digits beyond the scale are rounded half up, as Flink does.
pub(crate) struct ParseDecimal {
    /// Digits in all.
    pub precision: u8,
    /// Digits behind the point.
    pub scale: i8,
}

impl ParseScalar for ParseDecimal {
    type Value = i128;

    fn parse(&self, text: &[u8]) -> Option<i128> {
        let (value, _) = parse_decimal(text.trim_ascii(), i32::from(self.scale))?;
        let limit = 10_u128.pow(u32::from(self.precision));
        (value.unsigned_abs() < limit).then_some(value)
    }
}

/// `text` times ten to the `scale`, rounded half up (away from zero), and whether nothing was rounded.
fn parse_decimal(text: &[u8], scale: i32) -> Option<(i128, bool)> {
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let exponent_at = digits.iter().position(|c| matches!(c, b'e' | b'E')).unwrap_or(digits.len());
    let exponent: i32 = match digits.get(exponent_at + 1..) {
        Some(exponent) => lexical_core::parse(exponent).ok()?,
        None if exponent_at < digits.len() => return None,
        None => 0,
    };
    let mantissa = &digits[..exponent_at];
    let point = mantissa.iter().position(|c| *c == b'.').unwrap_or(mantissa.len());
    let fraction = mantissa.get(point + 1..).unwrap_or(&[]);
    // How many of the digits, point left out, stand before the point of the scaled number.
    let kept = i64::from(exponent) + i64::from(scale) + point as i64;
    let mut value: i128 = 0;
    let mut rest = Rest::default();
    for (i, digit) in mantissa[..point].iter().chain(fraction).enumerate() {
        let digit = digit.wrapping_sub(b'0');
        (digit < 10).then_some(())?;
        match i as i64 {
            i if i < kept => value = value.checked_mul(10)?.checked_add(i128::from(digit))?,
            i => rest.add(digit, i == kept),
        }
    }
    let count = (point + fraction.len()) as i64;
    (count > 0).then_some(())?;
    for _ in count..kept.min(count + 40) {
        value = value.checked_mul(10)?;
    }
    // Forty zeros more do not fit an i128 unless the number is zero.
    (kept <= count + 40 || value == 0).then_some(())?;
    value += i128::from(rest.rounds_up);
    Some((if is_negative { -value } else { value }, !rest.is_inexact))
}

/// The digits behind those kept.
#[derive(Default)]
struct Rest {
    rounds_up: bool,
    is_inexact: bool,
}

impl Rest {
    fn add(&mut self, digit: u8, is_first: bool) {
        self.rounds_up |= is_first && digit >= 5;
        self.is_inexact |= digit != 0;
    }
}

/// Days since 1970-01-01.
pub(crate) struct ParseDate;

impl ParseScalar for ParseDate {
    type Value = i32;

    fn parse(&self, text: &[u8]) -> Option<i32> {
        parse_date(text).or_else(|| parse_date(text.trim_ascii()))
    }
}

/// Time of day.
pub(crate) struct ParseTime<T> {
    unit_nanos: i64,
    value: PhantomData<fn() -> T>,
}

impl<T> ParseTime<T> {
    /// For times in `unit`.
    pub fn new(unit: TimeUnit) -> Self {
        Self { unit_nanos: unit_nanos(unit), value: PhantomData }
    }
}

impl<T: TryFrom<i64> + Copy + Default + Send> ParseScalar for ParseTime<T> {
    type Value = T;

    fn parse(&self, text: &[u8]) -> Option<T> {
        T::try_from(parse_time(text.trim_ascii())? / self.unit_nanos).ok()
    }
}

/// Timestamps, in units of `unit_nanos`.
pub(crate) struct ParseTimestamp {
    /// Nanoseconds of one unit.
    pub unit_nanos: i64,
    /// For `TIMESTAMP_LTZ`: where a text without offset was written. For `TIMESTAMP` none: a wall time has no offset,
    /// but a `Z`, which many programs write behind every timestamp, is taken for the wall time of UTC.
    pub zone: Option<Zone>,
}

impl ParseTimestamp {
    /// Is there an offset where none belongs?
    fn has_stray_offset(&self, time: &WallTime, text: &[u8]) -> bool {
        self.zone.is_none()
            && time.offset_seconds.is_some()
            && !matches!(text.trim_ascii_end().last(), Some(b'Z' | b'z'))
    }
}

impl ParseScalar for ParseTimestamp {
    type Value = i64;

    fn parse(&self, text: &[u8]) -> Option<i64> {
        let time = parse_timestamp(text).or_else(|| parse_timestamp(text.trim_ascii()))?;
        if self.has_stray_offset(&time, text) {
            return None;
        }
        let mut seconds = time.days * 86_400 + time.nanos / 1_000_000_000;
        if let Some(zone) = self.zone {
            seconds = match time.offset_seconds {
                Some(offset) => seconds - offset,
                None => zone.to_utc_seconds(seconds),
            };
        }
        let fraction = time.nanos % 1_000_000_000 / self.unit_nanos;
        seconds.checked_mul(1_000_000_000 / self.unit_nanos)?.checked_add(fraction)
    }

    fn remark(&self, text: &[u8]) -> Option<&'static str> {
        let time = parse_timestamp(text.trim_ascii())?;
        self.has_stray_offset(&time, text).then_some("it has an offset, so the column should be TIMESTAMP_LTZ")
    }
}

/// Nanoseconds of one unit.
pub(crate) fn unit_nanos(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> Option<i64> {
        ParseInt(PhantomData).parse(text.as_bytes())
    }

    fn decimal(text: &str) -> Option<i128> {
        ParseDecimal { precision: 5, scale: 2 }.parse(text.as_bytes())
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(int("42"), Some(42));
        assert_eq!(int(" -42 "), Some(-42));
        assert_eq!(int("9223372036854775807"), Some(i64::MAX));
        assert_eq!(int("9223372036854775808"), None);
        assert_eq!(int("1.0"), Some(1));
        assert_eq!(int("1e3"), Some(1_000));
        assert_eq!(int("1200e-2"), Some(12));
        for text in ["", "abc", "1.5", "1e-1", "1 2", "0x10", "1e999999999", "-", "."] {
            assert_eq!(int(text), None, "{text}");
        }
        assert_eq!(ParseInt::<i8>(PhantomData).parse(b"128"), None);
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal("1.1"), Some(110));
        assert_eq!(decimal("-1.005"), Some(-101), "half up is away from zero");
        assert_eq!(decimal("1.0049999999999999999"), Some(100));
        assert_eq!(decimal("999.99"), Some(99_999));
        assert_eq!(decimal("999.995"), None, "six digits after rounding");
        assert_eq!(decimal("1e2"), Some(10_000));
        assert_eq!(decimal("12e-1"), Some(120));
        assert_eq!(decimal(".5"), Some(50));
        assert_eq!(decimal("0e99999"), Some(0));
        assert_eq!(decimal("0.004"), Some(0));
        assert_eq!(decimal("5e-3"), Some(1));
        assert_eq!(decimal("5e-4"), Some(0));
        for text in ["", "abc", "1.2.3", "1e", "--1", "1,5"] {
            assert_eq!(decimal(text), None, "{text}");
        }
        let wide = ParseDecimal { precision: 38, scale: 0 };
        assert_eq!(wide.parse(b"99999999999999999999999999999999999999"), Some(10_i128.pow(38) - 1));
        assert_eq!(wide.parse(b"100000000000000000000000000000000000000"), None);
    }

    #[test]
    fn floats() {
        let float = |text: &str| ParseFloat::<f64>(PhantomData).parse(text.as_bytes());
        assert_eq!(float("1.5e3"), Some(1_500.0));
        assert_eq!(float("-7"), Some(-7.0));
        assert_eq!(float(" 0.1"), Some(0.1));
        assert!(float("NaN").is_some_and(f64::is_nan));
        assert_eq!(float("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(float("1,5"), None);
    }

    #[test]
    fn an_offset_is_for_instants() {
        let at = |text: &str, zone| ParseTimestamp { unit_nanos: 1_000_000, zone }.parse(text.as_bytes());
        let ten = 1_767_261_600_000;
        let hour = 3_600_000;
        assert_eq!(at("2026-01-01T10:00:00.001+02:00", None), None, "a wall time has no offset");
        assert_eq!(at("2026-01-01T10:00:00.001+00:00 ", None), None);
        assert_eq!(at("2026-01-01T10:00:00.001Z", None), Some(ten + 1));
        let wall = ParseTimestamp { unit_nanos: 1_000_000, zone: None };
        assert!(wall.remark(b"2026-01-01T10:00:00+02:00").is_some_and(|remark| remark.contains("TIMESTAMP_LTZ")));
        assert_eq!(wall.remark(b"yesterday"), None);
        assert_eq!(at("2026-01-01T10:00:00.001+02:00", Some(Zone::Utc)), Some(ten + 1 - 2 * hour));
        let berlin = Zone::parse("Europe/Berlin").ok();
        assert_eq!(at("2026-01-01 10:00:00", berlin), Some(ten - hour));
        assert_eq!(at("2026-01-01T10:00:00Z", berlin), Some(ten));
        assert_eq!(at("1969-12-31 23:59:59.999", None), Some(-1));
        let nanos = ParseTimestamp { unit_nanos: 1, zone: None };
        assert_eq!(nanos.parse(b"2500-01-01 00:00:00"), None, "beyond what 64 bits of nanoseconds hold");
    }
}
