//! Reading text by a pattern.

use super::{Dialect, Field, Item, MONTHS, Pattern, WEEKDAYS};
use crate::functions::temporal::calendar::{Date, days_in_month};
use crate::functions::temporal::ticks::{NANOS_PER_SECOND, Wall};

/// More digits than this do not fit into an `i64`.
const MAX_DIGITS: usize = 18;

/// What was read; a part that the pattern does not have keeps its default, that of 1970-01-01 00:00:00.
struct Parts {
    year: i64,
    month: i64,
    day: i64,
    day_of_year: Option<i64>,
    hour: i64,
    /// 0 to 11, with or without [`Parts::afternoon`].
    hour12: Option<i64>,
    afternoon: bool,
    minute: i64,
    second: i64,
    nanos: i64,
}

impl Pattern {
    /// The time that a text shows; `None` if it does not follow the pattern.
    pub fn parse(&self, text: &str) -> Option<Wall> {
        let mut parts = Parts {
            year: 1970,
            month: 1,
            day: 1,
            day_of_year: None,
            hour: 0,
            hour12: None,
            afternoon: false,
            minute: 0,
            second: 0,
            nanos: 0,
        };
        let mut rest = text;
        for (index, item) in self.items.iter().enumerate() {
            rest = match item {
                Item::Literal(literal) => rest.strip_prefix(literal.as_str())?,
                Item::Field(field, run) => {
                    self.parse_field(*field, *run, &self.items[index + 1..], rest, &mut parts)?
                }
            };
        }
        match self.dialect {
            Dialect::Formatter => rest.is_empty().then(|| parts.strict()).flatten(),
            Dialect::Simple => parts.lenient(),
        }
    }

    /// Reads one field and returns what is left.
    fn parse_field<'a>(
        &self,
        field: Field,
        run: usize,
        following: &[Item],
        text: &'a str,
        parts: &mut Parts,
    ) -> Option<&'a str> {
        match field {
            Field::Month if run >= 3 => {
                let (index, rest) = name(text, &MONTHS)?;
                parts.month = index + 1;
                return Some(rest);
            }
            Field::Weekday => return name(text, &WEEKDAYS).map(|(_, rest)| rest),
            Field::AmPm => {
                let (index, rest) = whole_name(text, &["AM", "PM"])?;
                parts.afternoon = index == 1;
                return Some(rest);
            }
            Field::Era => return whole_name(text, &["BC", "AD"]).map(|(_, rest)| rest),
            _ => {}
        }
        let (number, digits, rest) = self.number(field, run, following, text)?;
        match field {
            Field::Year if run == 2 && digits == 2 => parts.year = 2000 + number,
            Field::Year => parts.year = number,
            Field::Month => parts.month = number,
            Field::Day => parts.day = number,
            Field::DayOfYear => parts.day_of_year = Some(number),
            Field::Hour => parts.hour = number,
            Field::HourFrom1 => parts.hour = number % 24,
            Field::Hour12 => parts.hour12 = Some(number % 12),
            Field::Hour12From0 => parts.hour12 = Some(number),
            Field::Minute => parts.minute = number,
            Field::Second => parts.second = number,
            Field::Fraction => parts.nanos = scale_fraction(number, digits),
            Field::Millis => parts.nanos = number.checked_mul(1_000_000)?,
            Field::NanoOfSecond => parts.nanos = number,
            // The rest can be written but does not say which time it is.
            _ => return None,
        }
        Some(rest)
    }

    /// A number, how many digits it has, and what is left.
    fn number<'a>(&self, field: Field, run: usize, following: &[Item], text: &'a str) -> Option<(i64, usize, &'a str)> {
        let text = if self.dialect == Dialect::Simple { text.trim_start_matches(' ') } else { text };
        let available = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let adjacent = following.first().is_some_and(Item::is_number);
        let digits = match self.dialect {
            Dialect::Simple if adjacent => run.min(available),
            Dialect::Simple => available,
            // One letter, or a year of three and more, takes all digits but those that the next fields need.
            Dialect::Formatter if run == 1 || (field == Field::Year && run != 2) => {
                let reserved: usize =
                    following.iter().map_while(|item| if item.is_number() { Some(item.width()) } else { None }).sum();
                available.saturating_sub(reserved)
            }
            Dialect::Formatter => run,
        };
        let too_few = self.dialect == Dialect::Formatter && digits < run;
        if digits == 0 || digits > available || digits > MAX_DIGITS || too_few {
            return None;
        }
        Some((text[..digits].parse().ok()?, digits, &text[digits..]))
    }
}

impl Item {
    fn is_number(&self) -> bool {
        match self {
            Item::Literal(_) => false,
            Item::Field(Field::Month, run) => *run < 3,
            Item::Field(field, _) => !matches!(field, Field::Weekday | Field::AmPm | Field::Era),
        }
    }

    fn width(&self) -> usize {
        match self {
            Item::Literal(text) => text.len(),
            Item::Field(_, run) => *run,
        }
    }
}

/// The number of a name that is given in full or by its first three letters, in any case.
fn name<'a>(text: &'a str, names: &[&str]) -> Option<(i64, &'a str)> {
    whole_name(text, names).or_else(|| {
        let (head, rest) = text.split_at_checked(3)?;
        let index = names.iter().position(|name| name[..3].eq_ignore_ascii_case(head))?;
        Some((index as i64, rest))
    })
}

fn whole_name<'a>(text: &'a str, names: &[&str]) -> Option<(i64, &'a str)> {
    names.iter().enumerate().find_map(|(index, name)| {
        let (head, rest) = text.split_at_checked(name.len())?;
        head.eq_ignore_ascii_case(name).then_some((index as i64, rest))
    })
}

/// Nanoseconds of the digits behind the point.
fn scale_fraction(number: i64, digits: usize) -> i64 {
    match digits {
        0..=9 => number * 10_i64.pow(9 - digits as u32),
        _ => number / 10_i64.pow((digits - 9) as u32),
    }
}

impl Parts {
    fn hour(&self) -> i64 {
        match self.hour12 {
            Some(hour) => hour + if self.afternoon { 12 } else { 0 },
            None => self.hour,
        }
    }

    /// Every part within its range.
    fn strict(&self) -> Option<Wall> {
        let in_range = |value, end| (0..end).contains(&value);
        let whole = in_range(self.hour(), 24) && in_range(self.minute, 60) && in_range(self.second, 60);
        if !whole || !in_range(self.nanos, NANOS_PER_SECOND) || !in_range(self.year, 10_000) {
            return None;
        }
        let days = match self.day_of_year {
            Some(day) => {
                let days_in_year = 337 + days_in_month(self.year, 2);
                (1..=days_in_year).contains(&day).then(|| Date { year: self.year, month: 1, day }.to_days())?
            }
            None => Date::clamped(self.year, self.month, self.day)?.to_days(),
        };
        let seconds = (self.hour() * 60 + self.minute) * 60 + self.second;
        Some(Wall { days, nanos: seconds * NANOS_PER_SECOND + self.nanos })
    }

    /// Parts past their range carry over into the larger ones.
    fn lenient(&self) -> Option<Wall> {
        /// Far enough for every calendar, near enough for `i64`.
        const LIMIT: i64 = 1_000_000_000;
        let parts = [self.year, self.month, self.day, self.hour(), self.minute, self.second, self.nanos / 1_000_000];
        if parts.iter().any(|part| part.abs() > LIMIT) {
            return None;
        }
        let month = Date { year: self.year, month: 1, day: 1 }.add_months(self.month - 1);
        let days = match self.day_of_year {
            Some(day) => Date { year: self.year, month: 1, day }.to_days(),
            None => month.to_days() + self.day - 1,
        };
        let seconds = (self.hour() * 60 + self.minute) * 60 + self.second + self.nanos / NANOS_PER_SECOND;
        Some(Wall { days, nanos: self.nanos % NANOS_PER_SECOND }.plus_seconds(seconds))
    }
}
