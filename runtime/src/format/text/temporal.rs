//! Dates, times and timestamps as text.

use arrow::datatypes::TimeUnit;

use super::super::datetime::{DAY_NANOS, civil_from_days};
use super::super::scalar::unit_nanos;
use super::super::zone::Zone;

/// How a timestamp looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampStyle {
    /// Between date and time.
    separator: char,
    /// Are instants written in UTC, with a `Z`, rather than on the session's wall clock?
    is_utc: bool,
}

impl TimestampStyle {
    /// `2026-01-01 10:00:00.000`, instants on the session's wall clock.
    pub const SQL: Self = Self { separator: ' ', is_utc: false };
    /// `2026-01-01 10:00:00.000`, instants as `2026-01-01 10:00:00.000Z`.
    pub const SQL_UTC: Self = Self { separator: ' ', is_utc: true };
    /// `2026-01-01T10:00:00.000`, instants as `2026-01-01T10:00:00.000Z`.
    pub const ISO_UTC: Self = Self { separator: 'T', is_utc: true };
}

/// Appends a timestamp of `units` since 1970; with a zone it is an instant.
pub(super) fn write_timestamp(units: i64, unit: TimeUnit, zone: Option<Zone>, style: TimestampStyle, out: &mut String) {
    let per_second = 1_000_000_000 / unit_nanos(unit);
    let mut seconds = units.div_euclid(per_second);
    let nanos = units.rem_euclid(per_second) * unit_nanos(unit);
    if let Some(zone) = zone.filter(|_| !style.is_utc) {
        seconds = seconds.saturating_add(zone.offset_seconds(seconds));
    }
    write_date(seconds.div_euclid(86_400), out);
    out.push(style.separator);
    write_time(seconds.rem_euclid(86_400) * 1_000_000_000 + nanos, unit, out);
    if zone.is_some() && style.is_utc {
        out.push('Z');
    }
}

/// Appends a date of `days` since 1970.
pub(super) fn write_date(days: i64, out: &mut String) {
    let (year, month, day) = civil_from_days(days);
    if year < 0 {
        out.push('-');
    }
    write_digits(year.unsigned_abs(), 4, out);
    out.push('-');
    write_digits(u64::from(month), 2, out);
    out.push('-');
    write_digits(u64::from(day), 2, out);
}

/// Appends a time of day of `nanos` since midnight with the digits of `unit`.
pub(super) fn write_time(nanos: i64, unit: TimeUnit, out: &mut String) {
    let nanos = nanos.rem_euclid(DAY_NANOS).unsigned_abs();
    let seconds = nanos / 1_000_000_000;
    write_digits(seconds / 3_600, 2, out);
    out.push(':');
    write_digits(seconds / 60 % 60, 2, out);
    out.push(':');
    write_digits(seconds % 60, 2, out);
    let digits = fraction_digits(unit);
    if digits > 0 {
        out.push('.');
        write_digits(nanos % 1_000_000_000 / unit_nanos(unit).unsigned_abs(), digits, out);
    }
}

/// Digits behind the point of a second.
pub(super) fn fraction_digits(unit: TimeUnit) -> usize {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// Appends `value` with at least `width` digits.
pub(super) fn write_digits(mut value: u64, width: usize, out: &mut String) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while value > 0 || digits.len() - at < width {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend(digits[at..].iter().map(|d| char::from(*d)));
}
