//! Units of time, and the arithmetic of each on wall-clock times.

use crate::functions::temporal::calendar::{Date, day_of_year, iso_week, iso_weekday};
use crate::functions::temporal::ticks::{NANOS_PER_SECOND, SECONDS_PER_DAY, Wall};

const NANOS_PER_DAY: i64 = SECONDS_PER_DAY * NANOS_PER_SECOND;

/// A unit of time, as EXTRACT, FLOOR, CEIL, TIMESTAMPADD and TIMESTAMPDIFF name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions) enum Unit {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    /// 1 for Sunday.
    DayOfWeek,
    /// 1 for Monday.
    IsoDayOfWeek,
    DayOfYear,
    IsoYear,
    /// Seconds since 1970-01-01 00:00:00 UTC.
    Epoch,
}

impl Unit {
    /// The unit of that name, in any case, in the singular or the plural.
    pub fn parse(name: &str) -> Option<Unit> {
        let upper = name.to_ascii_uppercase();
        let upper = upper.strip_prefix("SQL_TSI_").unwrap_or(&upper);
        Some(match upper.strip_suffix('S').unwrap_or(upper) {
            "NANOSECOND" => Unit::Nanosecond,
            "MICROSECOND" => Unit::Microsecond,
            "MILLISECOND" => Unit::Millisecond,
            "SECOND" => Unit::Second,
            "MINUTE" => Unit::Minute,
            "HOUR" => Unit::Hour,
            "DAY" => Unit::Day,
            "WEEK" => Unit::Week,
            "MONTH" => Unit::Month,
            "QUARTER" => Unit::Quarter,
            "YEAR" => Unit::Year,
            "DECADE" => Unit::Decade,
            "CENTURY" => Unit::Century,
            "MILLENNIUM" | "MILLENIUM" => Unit::Millennium,
            "DOW" | "DAYOFWEEK" => Unit::DayOfWeek,
            "ISODOW" => Unit::IsoDayOfWeek,
            "DOY" | "DAYOFYEAR" => Unit::DayOfYear,
            "ISOYEAR" => Unit::IsoYear,
            "EPOCH" => Unit::Epoch,
            _ => return None,
        })
    }

    /// Length of a unit that divides a day.
    pub fn nanos(self) -> Option<i64> {
        Some(match self {
            Unit::Nanosecond => 1,
            Unit::Microsecond => 1_000,
            Unit::Millisecond => 1_000_000,
            Unit::Second => NANOS_PER_SECOND,
            Unit::Minute => 60 * NANOS_PER_SECOND,
            Unit::Hour => 3_600 * NANOS_PER_SECOND,
            _ => return None,
        })
    }

    /// Length of a unit that is the same everywhere in a time without zone and starts with 1970-01-01.
    pub fn fixed_nanos(self) -> Option<i64> {
        self.nanos().or((self == Unit::Day).then_some(NANOS_PER_DAY))
    }

    /// Length of a unit that is always so many days.
    fn days(self) -> Option<i64> {
        match self {
            Unit::Day => Some(1),
            Unit::Week => Some(7),
            _ => None,
        }
    }

    /// Length of a unit of the calendar.
    fn months(self) -> Option<i64> {
        Some(match self {
            Unit::Month => 1,
            Unit::Quarter => 3,
            Unit::Year => 12,
            Unit::Decade => 120,
            Unit::Century => 1_200,
            Unit::Millennium => 12_000,
            _ => return None,
        })
    }

    /// Is it a length, so that times can be rounded to it?
    pub fn is_length(self) -> bool {
        self.nanos().or(self.days()).or(self.months()).is_some()
    }

    /// The field of a time, as EXTRACT gives it.
    pub fn extract(self, wall: Wall) -> i64 {
        let date = || Date::from_days(wall.days);
        let of_second = wall.nanos % NANOS_PER_SECOND;
        match self {
            Unit::Nanosecond => of_second,
            Unit::Microsecond => of_second / 1_000,
            Unit::Millisecond => of_second / 1_000_000,
            Unit::Second => wall.nanos / NANOS_PER_SECOND % 60,
            Unit::Minute => wall.nanos / (60 * NANOS_PER_SECOND) % 60,
            Unit::Hour => wall.nanos / (3_600 * NANOS_PER_SECOND),
            Unit::Day => date().day,
            Unit::Week => iso_week(wall.days).1,
            Unit::Month => date().month,
            Unit::Quarter => (date().month + 2) / 3,
            Unit::Year => date().year,
            Unit::Decade => date().year.div_euclid(10),
            Unit::Century => age(date().year, 100),
            Unit::Millennium => age(date().year, 1_000),
            Unit::DayOfWeek => iso_weekday(wall.days) % 7 + 1,
            Unit::IsoDayOfWeek => iso_weekday(wall.days),
            Unit::DayOfYear => day_of_year(wall.days),
            Unit::IsoYear => iso_week(wall.days).0,
            Unit::Epoch => wall.seconds(),
        }
    }

    /// The last start of the unit that is not after the time. Weeks start on Sunday.
    pub fn floor(self, wall: Wall) -> Wall {
        if let Some(nanos) = self.nanos() {
            return Wall { nanos: wall.nanos - wall.nanos % nanos, ..wall };
        }
        let days = match self {
            Unit::Week => wall.days - iso_weekday(wall.days) % 7,
            Unit::Month | Unit::Quarter => {
                let date = Date::from_days(wall.days);
                let length = self.months().unwrap_or(1);
                Date { month: (date.month - 1) / length * length + 1, day: 1, ..date }.to_days()
            }
            Unit::Year | Unit::Decade => {
                let length = self.months().unwrap_or(12) / 12;
                let year = Date::from_days(wall.days).year;
                Date { year: year.div_euclid(length) * length, month: 1, day: 1 }.to_days()
            }
            // The first century starts with year 1.
            Unit::Century | Unit::Millennium => {
                let length = self.months().unwrap_or(12) / 12;
                let year = Date::from_days(wall.days).year;
                Date { year: (year - 1).div_euclid(length) * length + 1, month: 1, day: 1 }.to_days()
            }
            _ => wall.days,
        };
        Wall { days, nanos: 0 }
    }

    /// The first start of the unit that is not before the time.
    pub fn ceil(self, wall: Wall) -> Wall {
        let floor = self.floor(wall);
        if floor == wall { wall } else { self.add(floor, 1).unwrap_or(wall) }
    }

    /// The time so many units later; months keep the day or end at the month's last. `None` if out of range.
    pub fn add(self, wall: Wall, count: i64) -> Option<Wall> {
        /// More days than any type of time can hold; as seconds they fit in an `i64`.
        const MAX_DAYS: i64 = 400 * 1_000_000_000;
        self.added(wall, count).filter(|sum| (-MAX_DAYS..=MAX_DAYS).contains(&sum.days))
    }

    fn added(self, wall: Wall, count: i64) -> Option<Wall> {
        if let Some(nanos) = self.nanos() {
            let per_day = NANOS_PER_DAY / nanos;
            let total = wall.nanos + count % per_day * nanos;
            let days = wall.days.checked_add(count / per_day)?.checked_add(total.div_euclid(NANOS_PER_DAY))?;
            return Some(Wall { days, nanos: total.rem_euclid(NANOS_PER_DAY) });
        }
        /// More months than any type of time can hold.
        const MAX_MONTHS: i64 = 12 * 1_000_000_000;
        let days = match (self.days(), self.months()) {
            (Some(days), _) => wall.days.checked_add(count.checked_mul(days)?)?,
            (None, Some(months)) => {
                let months = count.checked_mul(months).filter(|m| m.abs() <= MAX_MONTHS)?;
                Date::from_days(wall.days).add_months(months).to_days()
            }
            (None, None) => return None,
        };
        Some(Wall { days, ..wall })
    }

    /// Whole units from one time to another, towards zero. `None` if they do not fit.
    pub fn between(self, from: Wall, to: Wall) -> Option<i64> {
        if let Some(months) = self.months() {
            return Some(months_between(from, to) / months);
        }
        let length = self.nanos().or(self.days().map(|days| days * NANOS_PER_DAY))?;
        let days = to.days - from.days;
        let nanos = to.nanos - from.nanos;
        // The exact product is only needed for centuries.
        match days.checked_mul(NANOS_PER_DAY).and_then(|n| n.checked_add(nanos)) {
            Some(total) => Some(total / length),
            None => {
                let total = i128::from(days) * i128::from(NANOS_PER_DAY) + i128::from(nanos);
                i64::try_from(total / i128::from(length)).ok()
            }
        }
    }
}

/// Centuries and millennia count from 1, before year 1 from -1.
fn age(year: i64, length: i64) -> i64 {
    if year > 0 { (year + length - 1) / length } else { -((length - year) / length) }
}

/// Whole months, where a month is over when as many months added to the earlier time do not pass the later one.
fn months_between(from: Wall, to: Wall) -> i64 {
    if (to.days, to.nanos) < (from.days, from.nanos) {
        return -months_between(to, from);
    }
    let (start, end) = (Date::from_days(from.days), Date::from_days(to.days));
    let months = (end.year - start.year) * 12 + end.month - start.month;
    let reached = start.add_months(months).to_days();
    if (reached, from.nanos) > (to.days, to.nanos) { months - 1 } else { months }
}
