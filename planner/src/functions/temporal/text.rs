//! Reading SQL's own form of dates and timestamps from text.

use crate::functions::temporal::calendar::Date;
use crate::functions::temporal::ticks::{NANOS_PER_SECOND, Wall};

/// What to do with a day up to 31 that its month lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions) enum Day {
    /// It is no date.
    Exact,
    /// It is the month's last day.
    Clamped,
}

/// `2024-02-29 13:05:09[.123456789]` or `2024-02-29`; parts but the year may leave out leading zeros.
pub(in crate::functions) fn parse_timestamp(text: &str) -> Option<Wall> {
    let Some((date, time)) = text.split_once(' ') else {
        return Some(Wall { days: parse_date(text, Day::Clamped)?, nanos: 0 });
    };
    Some(Wall { days: parse_date(date, Day::Clamped)?, nanos: parse_time(time)? })
}

/// `2024-02-29`: days since 1970-01-01.
pub(in crate::functions) fn parse_date(text: &str, rule: Day) -> Option<i64> {
    let mut parts = text.split('-');
    let year = number(parts.next()?, 4, 4)?;
    let month = number(parts.next()?, 1, 2)?;
    let day = number(parts.next()?, 1, 2)?;
    if parts.next().is_some() {
        return None;
    }
    let date = Date::clamped(year, month, day)?;
    (rule == Day::Clamped || date.day == day).then(|| date.to_days())
}

/// `13:05:09[.123456789]`: nanoseconds since midnight.
fn parse_time(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = whole.split(':');
    let hour = number(parts.next()?, 1, 2).filter(|h| *h < 24)?;
    let minute = number(parts.next()?, 1, 2).filter(|m| *m < 60)?;
    let second = number(parts.next()?, 1, 2).filter(|s| *s < 60)?;
    if parts.next().is_some() {
        return None;
    }
    let nanos = number(fraction, 1, 9)? * 10_i64.pow(9 - fraction.len() as u32);
    Some(((hour * 60 + minute) * 60 + second) * NANOS_PER_SECOND + nanos)
}

/// Digits only, so many of them.
fn number(text: &str, least: usize, most: usize) -> Option<i64> {
    let fits = (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}
