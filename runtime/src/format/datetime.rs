//! Dates, times and timestamps from text, and the calendar behind them.
//!
//! Read are SQL's `2026-01-01 10:00:00.123` and ISO 8601's `2026-01-01T10:00:00.123Z` or `…+02:00`; seconds and
//! fraction may be missing, and a date alone is its midnight. Digits of a fraction beyond the ninth are dropped.

/// Nanoseconds of a day.
pub(crate) const DAY_NANOS: i64 = 86_400_000_000_000;
const SECOND_NANOS: i64 = 1_000_000_000;

/// What a text says: a wall clock's day and time, and how far that clock is ahead of UTC, if the text says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WallTime {
    /// Days since 1970-01-01.
    pub days: i64,
    /// Nanoseconds since midnight.
    pub nanos: i64,
    /// Seconds ahead of UTC.
    pub offset_seconds: Option<i64>,
}

/// `2026-01-01 10:00:00.123`, `2026-01-01T10:00:00Z`, `2026-01-01 10:00+02:00`, `2026-01-01`
pub(crate) fn parse_timestamp(text: &[u8]) -> Option<WallTime> {
    let days = parse_days(text)?;
    match text.get(10) {
        None => return Some(WallTime { days, nanos: 0, offset_seconds: None }),
        Some(b' ' | b'T' | b't') => {}
        Some(_) => return None,
    }
    let (nanos, rest) = parse_clock(&text[11..])?;
    Some(WallTime { days, nanos, offset_seconds: parse_offset(rest)? })
}

/// Days since 1970-01-01 of `2026-01-01`
pub(crate) fn parse_date(text: &[u8]) -> Option<i32> {
    (text.len() == 10).then_some(())?;
    i32::try_from(parse_days(text)?).ok()
}

/// Nanoseconds since midnight of `10:00:00.123`
pub(crate) fn parse_time(text: &[u8]) -> Option<i64> {
    let (nanos, rest) = parse_clock(text)?;
    rest.is_empty().then_some(nanos)
}

fn parse_days(text: &[u8]) -> Option<i64> {
    let head: &[u8; 10] = text.first_chunk()?;
    let year = two_digits(head[0], head[1])? * 100 + two_digits(head[2], head[3])?;
    let month = two_digits(head[5], head[6])?;
    let day = two_digits(head[8], head[9])?;
    let is_date = head[4] == b'-' && head[7] == b'-' && (1..=12).contains(&month) && day >= 1;
    (is_date && day <= days_of_month(year, month)).then(|| days_from_civil(i64::from(year), month, day))
}

/// `10:00[:00[.123456789]]`, and what stands behind it.
fn parse_clock(text: &[u8]) -> Option<(i64, &[u8])> {
    let head: &[u8; 5] = text.first_chunk()?;
    let (hour, minute) = (two_digits(head[0], head[1])?, two_digits(head[3], head[4])?);
    (head[2] == b':' && hour < 24 && minute < 60).then_some(())?;
    let mut nanos = i64::from(hour * 3_600 + minute * 60) * SECOND_NANOS;
    let mut rest = &text[5..];
    if let [b':', tens, units, ..] = *rest {
        let second = two_digits(tens, units)?;
        (second < 60).then_some(())?;
        nanos += i64::from(second) * SECOND_NANOS;
        rest = &rest[3..];
        if let [b'.' | b',', digits @ ..] = rest {
            let (fraction, length) = parse_fraction(digits)?;
            nanos += fraction;
            rest = &digits[length..];
        }
    }
    Some((nanos, rest))
}

/// Nanoseconds of a fraction's digits and how many there are: at least one.
fn parse_fraction(digits: &[u8]) -> Option<(i64, usize)> {
    let mut nanos = 0;
    let mut unit = SECOND_NANOS / 10;
    let mut length = 0;
    while let Some(digit) = digits.get(length).map(|d| d.wrapping_sub(b'0')).filter(|d| *d < 10) {
        nanos += i64::from(digit) * unit;
        unit /= 10;
        length += 1;
    }
    (length > 0).then_some((nanos, length))
}

/// ``, `Z`, `+02:00`, `+0200` or `+02`: the outer `None` says that it is none of them.
fn parse_offset(text: &[u8]) -> Option<Option<i64>> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (sign, hours, minutes) = match *text {
        [] => return Some(None),
        [b'Z' | b'z'] => return Some(Some(0)),
        [sign, a, b] => (sign, two_digits(a, b)?, 0),
        [sign, a, b, c, d] | [sign, a, b, b':', c, d] => (sign, two_digits(a, b)?, two_digits(c, d)?),
        _ => return None,
    };
    let seconds = i64::from(hours * 3_600 + minutes * 60);
    match sign {
        _ if hours > 18 || minutes > 59 => None,
        b'+' => Some(Some(seconds)),
        b'-' => Some(Some(-seconds)),
        _ => None,
    }
}

fn two_digits(tens: u8, units: u8) -> Option<u32> {
    let (tens, units) = (tens.wrapping_sub(b'0'), units.wrapping_sub(b'0'));
    (tens < 10 && units < 10).then(|| u32::from(tens) * 10 + u32::from(units))
}

fn days_of_month(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years start in March here, so that the leap day comes
/// last; 400 years have 146,097 days.
pub(crate) fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of the `days`-th day after 1970-01-01: the way back of [`days_from_civil`].
pub(crate) fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<(i64, Option<i64>)> {
        let time = parse_timestamp(text.as_bytes())?;
        Some((time.days * 86_400 + time.nanos / SECOND_NANOS, time.offset_seconds))
    }

    #[test]
    fn both_standards() {
        // date -u -d @1767261600 is 2026-01-01 10:00:00
        for (text, offset) in [
            ("2026-01-01 10:00:00", None),
            ("2026-01-01T10:00:00", None),
            ("2026-01-01 10:00", None),
            ("2026-01-01T10:00:00.5", None),
            ("2026-01-01T10:00:00Z", Some(0)),
            ("2026-01-01 10:00:00.123Z", Some(0)),
            ("2026-01-01T10:00:00.123456789+02:00", Some(7_200)),
            ("2026-01-01T10:00:00-0530", Some(-19_800)),
            ("2026-01-01 10:00:00 +01", Some(3_600)),
        ] {
            assert_eq!(seconds(text), Some((1_767_261_600, offset)), "{text}");
        }
        assert_eq!(seconds("2026-01-01"), Some((1_767_225_600, None)));
        assert_eq!(seconds("1969-12-31 23:59:59"), Some((-1, None)));
    }

    #[test]
    fn fractions() {
        let nanos = |text: &str| parse_time(text.as_bytes());
        assert_eq!(nanos("00:00:00.123"), Some(123_000_000));
        assert_eq!(nanos("00:00:01.000000001"), Some(1_000_000_001));
        assert_eq!(nanos("00:00:00.0000000019"), Some(1), "beyond nanoseconds it is cut off");
        assert_eq!(nanos("00:00:00."), None);
    }

    #[test]
    fn what_is_no_timestamp() {
        for text in [
            "",
            "abc",
            "2026",
            "2026-1-1",
            "2026-02-29",
            "2025-13-01",
            "2026-01-00",
            "2026-01-01 24:00:00",
            "2026-01-01 10:60:00",
            "2026-01-01 10:00:60",
            "2026-01-01x10:00:00",
            "2026-01-01 10:00:00 Berlin",
            "2026-01-01 10:00:00+99:00",
            "2026/01/01 10:00:00",
            "2026-01-01 ",
            "1767261600",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(parse_date(b"2026-01-01 00:00:00"), None);
        assert_eq!(parse_time(b"10:00:00Z"), None);
    }

    #[test]
    fn every_day_of_eight_centuries_there_and_back() {
        for days in -146_097..146_097 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        assert_eq!(civil_from_days(19_782), (2024, 2, 29));
    }
}
