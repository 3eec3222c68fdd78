use super::{Dialect, Pattern};
use crate::functions::temporal::calendar::Date;
use crate::functions::temporal::ticks::{NANOS_PER_SECOND, Wall};

/// 2024-02-29 13:05:09.123456, a Thursday, at another hour if need be.
fn wall(hour: i64) -> Wall {
    let days = Date { year: 2024, month: 2, day: 29 }.to_days();
    Wall { days, nanos: ((hour * 60 + 5) * 60 + 9) * NANOS_PER_SECOND + 123_456_000 }
}

fn written(pattern: &str, dialect: Dialect, wall: Wall) -> String {
    let mut out = String::new();
    Pattern::compile(pattern, dialect).unwrap().write(wall, &mut out);
    out
}

#[test]
fn letters_write_fields() {
    for (pattern, expected) in [
        ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2024-02-29T13:05:09.123"),
        ("yy y yyyyy", "24 2024 02024"),
        ("M MM MMM MMMM MMMMM L", "2 02 Feb February F 2"),
        ("E EEE EEEE EEEEE", "Thu Thu Thursday T"),
        ("H HH k h hh K a", "13 13 13 1 01 1 PM"),
        ("S SS SSSSSS SSSSSSSSSSS", "1 12 123456 12345600000"),
        ("n A N", "123456000 47109123 47109123456000"),
        ("D DDD w W F e u Q QQQ G", "60 060 9 5 1 5 2024 1 Q1 AD"),
        ("'it''s' ''", "it's '"),
        ("yyyy年MM月", "2024年02月"),
    ] {
        assert_eq!(written(pattern, Dialect::Formatter, wall(13)), expected, "{pattern}");
    }
    assert_eq!(written("hh kk KK a", Dialect::Formatter, wall(0)), "12 24 00 AM");
    assert_eq!(written("u F S", Dialect::Simple, wall(13)), "4 5 123");
}

#[test]
fn weeks_are_those_of_the_english_locale() {
    let days = Date { year: 2024, month: 12, day: 30 }.to_days();
    assert_eq!(written("YYYY ww W F", Dialect::Formatter, Wall { days, nanos: 0 }), "2025 01 5 2");
}

#[test]
fn patterns_without_meaning_are_refused() {
    for (pattern, message) in [
        ("yyyy b", "the pattern 'yyyy b' has 'b', which has no meaning"),
        ("HH:mm Z", "the pattern 'HH:mm Z' has 'Z', which has no meaning"),
        ("yyyy'T", "the pattern 'yyyy'T' has a quote that is not closed"),
    ] {
        assert_eq!(Pattern::compile(pattern, Dialect::Formatter).unwrap_err(), message);
    }
}

fn read(pattern: &str, dialect: Dialect, text: &str) -> Option<String> {
    let wall = Pattern::compile(pattern, dialect).unwrap().parse(text)?;
    let mut out = String::new();
    Pattern::compile("yyyy-MM-dd HH:mm:ss.SSSSSS", Dialect::Formatter).unwrap().write(wall, &mut out);
    Some(out)
}

#[test]
fn strict_reading() {
    for (pattern, text, expected) in [
        ("yyyyMMddHHmmss", "20240229130509", Some("2024-02-29 13:05:09.000000")),
        ("yyyy-MM-dd", "2024-02-31", Some("2024-02-29 00:00:00.000000")),
        ("yyyy-MM-dd", "2024-02-32", None),
        ("yyyy-MM-dd", "2024-2-29", None),
        ("yyyy-M-d", "2024-2-29", Some("2024-02-29 00:00:00.000000")),
        ("yyyy-M-d", "2024-2-29 ", None),
        ("yyyy DDD", "2024 060", Some("2024-02-29 00:00:00.000000")),
        ("yy", "24", Some("2024-01-01 00:00:00.000000")),
        ("d MMMM yyyy", "29 february 2024", Some("2024-02-29 00:00:00.000000")),
        ("EEE, d MMM yyyy", "Thu, 29 Feb 2024", Some("2024-02-29 00:00:00.000000")),
        ("hh:mm a", "12:05 am", Some("1970-01-01 00:05:00.000000")),
        ("HH:mm:ss.SSS", "13:05:09.120", Some("1970-01-01 13:05:09.120000")),
        ("HH:mm", "24:00", None),
        ("HH:mm", "é", None),
    ] {
        assert_eq!(read(pattern, Dialect::Formatter, text).as_deref(), expected, "{pattern} {text}");
    }
}

#[test]
fn lenient_reading_carries_over_and_ignores_the_rest() {
    for (pattern, text, expected) in [
        ("yyyy-MM-dd HH:mm:ss", "2024-02-30 25:61:61", Some("2024-03-02 02:02:01.000000")),
        ("yyyy-MM-dd", "2024-14-1 and more", Some("2025-02-01 00:00:00.000000")),
        ("yyyyMMdd", "20240229", Some("2024-02-29 00:00:00.000000")),
        ("yyyy-MM-dd", "2024-02", None),
    ] {
        assert_eq!(read(pattern, Dialect::Simple, text).as_deref(), expected, "{pattern} {text}");
    }
}
