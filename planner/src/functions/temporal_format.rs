//! Java's date and time patterns (`DateTimeFormatter`, `SimpleDateFormat`), for writing and reading.
//!
//! ```text
//! yyyy-MM-dd'T'HH:mm:ss.SSS     2024-02-29T13:05:09.123
//! ```
//!
//! Letters that name a zone have no meaning here, as in Flink: what is written is a local time.

use crate::functions::temporal::calendar::{Date, day_of_year, iso_weekday, week_of};
use crate::functions::temporal::ticks::{NANOS_PER_SECOND, Wall};

pub(super) mod parse;

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Longest run of one letter that a pattern may have.
const MAX_RUN: usize = 19;

/// Which of Java's two classes defines the letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `java.time.format.DateTimeFormatter`: `u` is the year; reading is strict.
    Formatter,
    /// `java.text.SimpleDateFormat`: `u` is the day of the week; reading carries over (`Feb 30` is March 1) and
    /// ignores what follows.
    Simple,
}

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    items: Vec<Item>,
    dialect: Dialect,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Literal(String),
    Field(Field, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    WeekYear,
    Month,
    Day,
    Hour,
    /// 1 to 24.
    HourFrom1,
    Hour12,
    /// 0 to 11.
    Hour12From0,
    Minute,
    Second,
    Fraction,
    Millis,
    NanoOfSecond,
    MilliOfDay,
    NanoOfDay,
    AmPm,
    Weekday,
    WeekdayNumber,
    DayOfYear,
    WeekOfYear,
    WeekOfMonth,
    WeekdayInMonth,
    /// 1 to 7, counted from the month's first day.
    AlignedWeekday,
    /// 1 for Sunday.
    LocalWeekdayNumber,
    Quarter,
    Era,
}

impl Pattern {
    /// Compiles a pattern. The error is a sentence.
    pub fn compile(pattern: &str, dialect: Dialect) -> Result<Pattern, String> {
        let mut items = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if first == '\'' {
                let (text, after) = quoted(&rest[1..])
                    .ok_or_else(|| format!("the pattern '{pattern}' has a quote that is not closed"))?;
                push_literal(&mut items, &text);
                rest = after;
            } else if first.is_ascii_alphabetic() {
                let run = rest.len() - rest.trim_start_matches(first).len();
                let field = Field::of(first, dialect)
                    .filter(|_| run <= MAX_RUN)
                    .ok_or_else(|| format!("the pattern '{pattern}' has '{}', which has no meaning", &rest[..run]))?;
                items.push(Item::Field(field, run));
                rest = &rest[run..];
            } else {
                push_literal(&mut items, first.encode_utf8(&mut [0; 4]));
                rest = &rest[first.len_utf8()..];
            }
        }
        Ok(Pattern { items, dialect })
    }

    /// Appends a time.
    pub fn write(&self, wall: Wall, out: &mut String) {
        let date = Date::from_days(wall.days);
        for item in &self.items {
            match item {
                Item::Literal(text) => out.push_str(text),
                Item::Field(field, run) => field.write(*run, wall, date, out),
            }
        }
    }
}

/// Text up to the closing quote, two quotes standing for one, and what follows it.
fn quoted(rest: &str) -> Option<(String, &str)> {
    if let Some(after) = rest.strip_prefix('\'') {
        return Some(("'".into(), after));
    }
    let mut text = String::new();
    let mut rest = rest;
    loop {
        let end = rest.find('\'')?;
        text.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                text.push('\'');
                rest = after;
            }
            None => return Some((text, rest)),
        }
    }
}

fn push_literal(items: &mut Vec<Item>, text: &str) {
    match items.last_mut() {
        Some(Item::Literal(last)) => last.push_str(text),
        _ => items.push(Item::Literal(text.into())),
    }
}

impl Field {
    fn of(letter: char, dialect: Dialect) -> Option<Field> {
        Some(match letter {
            'y' => Field::Year,
            'u' if dialect == Dialect::Simple => Field::WeekdayNumber,
            'u' => Field::Year,
            'Y' => Field::WeekYear,
            'M' | 'L' => Field::Month,
            'd' => Field::Day,
            'H' => Field::Hour,
            'k' => Field::HourFrom1,
            'h' => Field::Hour12,
            'K' => Field::Hour12From0,
            'm' => Field::Minute,
            's' => Field::Second,
            'S' if dialect == Dialect::Simple => Field::Millis,
            'S' => Field::Fraction,
            'n' if dialect == Dialect::Formatter => Field::NanoOfSecond,
            'A' if dialect == Dialect::Formatter => Field::MilliOfDay,
            'N' if dialect == Dialect::Formatter => Field::NanoOfDay,
            'a' => Field::AmPm,
            'E' => Field::Weekday,
            'D' => Field::DayOfYear,
            'w' => Field::WeekOfYear,
            'W' => Field::WeekOfMonth,
            'F' if dialect == Dialect::Simple => Field::WeekdayInMonth,
            'F' => Field::AlignedWeekday,
            'e' | 'c' if dialect == Dialect::Formatter => Field::LocalWeekdayNumber,
            'Q' | 'q' if dialect == Dialect::Formatter => Field::Quarter,
            'G' => Field::Era,
            _ => return None,
        })
    }

    fn write(self, run: usize, wall: Wall, date: Date, out: &mut String) {
        /// Weeks are those of Java's default locale, English: they start on Sunday, the first holds January 1.
        const FIRST_WEEKDAY: i64 = 7;
        const NANOS_PER_MINUTE: i64 = 60 * NANOS_PER_SECOND;
        const NANOS_PER_HOUR: i64 = 60 * NANOS_PER_MINUTE;
        let nanos = wall.nanos % NANOS_PER_SECOND;
        let hour = wall.nanos / NANOS_PER_HOUR;
        let number = match self {
            Field::Year => return write_year(date.year, run, out),
            Field::WeekYear => return write_year(week_of(wall.days, FIRST_WEEKDAY, 1).0, run, out),
            Field::Month if run >= 3 => return write_name(MONTHS[(date.month - 1) as usize], run, out),
            Field::Weekday => return write_name(WEEKDAYS[(iso_weekday(wall.days) - 1) as usize], run, out),
            Field::AmPm => return out.push_str(if hour < 12 { "AM" } else { "PM" }),
            Field::Era => return out.push_str(if date.year > 0 { "AD" } else { "BC" }),
            Field::Fraction => return write_fraction(nanos, run, out),
            Field::Quarter if run == 3 => {
                out.push('Q');
                out.push(char::from(b'0' + (date.month as u8).div_ceil(3)));
                return;
            }
            Field::Month => date.month,
            Field::Day => date.day,
            Field::Hour => hour,
            Field::HourFrom1 => (hour + 23) % 24 + 1,
            Field::Hour12 => (hour + 11) % 12 + 1,
            Field::Hour12From0 => hour % 12,
            Field::Minute => wall.nanos / NANOS_PER_MINUTE % 60,
            Field::Second => wall.nanos / NANOS_PER_SECOND % 60,
            Field::Millis => nanos / 1_000_000,
            Field::NanoOfSecond => nanos,
            Field::MilliOfDay => wall.nanos / 1_000_000,
            Field::NanoOfDay => wall.nanos,
            Field::WeekdayNumber => iso_weekday(wall.days),
            Field::DayOfYear => day_of_year(wall.days),
            Field::WeekOfYear => week_of(wall.days, FIRST_WEEKDAY, 1).1,
            Field::WeekOfMonth => {
                let weekday_of_first = iso_weekday(wall.days - date.day + 1) % 7;
                (date.day + weekday_of_first - 1) / 7 + 1
            }
            Field::WeekdayInMonth => (date.day - 1) / 7 + 1,
            Field::AlignedWeekday => (date.day - 1) % 7 + 1,
            Field::LocalWeekdayNumber => iso_weekday(wall.days) % 7 + 1,
            Field::Quarter => (date.month + 2) / 3,
        };
        write_number(number, run, out);
    }
}

/// Two letters are the last two digits; otherwise at least as many digits as letters. A year before 1 counts from
/// 1 BC on.
fn write_year(year: i64, run: usize, out: &mut String) {
    let year = if year > 0 { year } else { 1 - year };
    write_number(if run == 2 { year % 100 } else { year }, run, out);
}

/// A number that is not negative, with zeros in front up to a width.
fn write_number(number: i64, width: usize, out: &mut String) {
    let mut digits = [b'0'; MAX_RUN];
    let mut rest = number;
    let mut first = MAX_RUN;
    while rest > 0 || first == MAX_RUN {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let first = first.min(MAX_RUN - width.min(MAX_RUN));
    out.extend(digits[first..].iter().map(|digit| char::from(*digit)));
}

/// Three letters are the short form, four the whole name, five its first letter.
fn write_name(name: &str, run: usize, out: &mut String) {
    out.push_str(match run {
        4 => name,
        5 => &name[..1],
        _ => &name[..3],
    });
}

/// As many digits as letters; past nanoseconds there are only zeros.
fn write_fraction(nanos: i64, run: usize, out: &mut String) {
    let digits = run.min(9) as u32;
    write_number(nanos / 10_i64.pow(9 - digits), run.min(9), out);
    out.extend(std::iter::repeat_n('0', run.saturating_sub(9)));
}

#[cfg(test)]
mod tests;
