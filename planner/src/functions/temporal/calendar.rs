//! The proleptic Gregorian calendar over days since 1970-01-01, for every day that fits in an `i64` of milliseconds.
//!
//! The conversions between days and dates are Howard Hinnant's (`days_from_civil`, `civil_from_days`): eras of 400
//! years that start on March 1.

/// A date. Year 0 is 1 BC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions) struct Date {
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
}

impl Date {
    /// The date of a day since 1970-01-01.
    pub fn from_days(days: i64) -> Date {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        Date {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
        }
    }

    /// Days since 1970-01-01. The day may be past the month's end.
    pub fn to_days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let shifted_month = if self.month > 2 { self.month - 3 } else { self.month + 9 };
        let day_of_year = (153 * shifted_month + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// A date that was read: a day up to 31 that the month lacks is its last day, as in Java's and Flink's reading
    /// of `2023-02-30`; other days and months are none.
    pub fn clamped(year: i64, month: i64, day: i64) -> Option<Date> {
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| Date {
            year,
            month,
            day: day.min(days_in_month(year, month)),
        })
    }

    /// The same day some months later, or that month's last day.
    pub fn add_months(self, months: i64) -> Date {
        let month0 = self.year * 12 + self.month - 1 + months;
        let (year, month) = (month0.div_euclid(12), month0.rem_euclid(12) + 1);
        Date { year, month, day: self.day.min(days_in_month(year, month)) }
    }
}

pub(in crate::functions) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// 1 for Monday to 7 for Sunday.
pub(in crate::functions) fn iso_weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// 1 for January 1.
pub(in crate::functions) fn day_of_year(days: i64) -> i64 {
    let year = Date::from_days(days).year;
    days - Date { year, month: 1, day: 1 }.to_days() + 1
}

/// Year and week of ISO 8601: weeks start on Monday, week 1 holds January 4.
pub(in crate::functions) fn iso_week(days: i64) -> (i64, i64) {
    week_of(days, 1, 4)
}

/// Year and week where weeks start on a weekday (1 Monday to 7 Sunday) and week 1 has at least so many days.
pub(in crate::functions) fn week_of(days: i64, first_weekday: i64, min_days: i64) -> (i64, i64) {
    // The week belongs to the year of the day by which it has `min_days` days behind it.
    let start = days - (iso_weekday(days) - first_weekday).rem_euclid(7);
    let year = Date::from_days(start + 7 - min_days).year;
    let first_decider = Date { year, month: 1, day: 1 }.to_days();
    let week = (start + 7 - min_days - first_decider) / 7 + 1;
    (year, week)
}

#[cfg(test)]
mod tests {
    use super::{Date, day_of_year, iso_week, iso_weekday, week_of};

    fn days(year: i64, month: i64, day: i64) -> i64 {
        Date { year, month, day }.to_days()
    }

    #[test]
    fn days_and_dates_are_inverse() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(1969, 12, 31), -1);
        for day in (-1_000_000..1_000_000).step_by(997) {
            assert_eq!(Date::from_days(day).to_days(), day);
        }
    }

    #[test]
    fn weeks_belong_to_the_year_that_has_most_of_them() {
        assert_eq!(iso_week(days(2024, 12, 30)), (2025, 1));
        assert_eq!(iso_week(days(2021, 1, 3)), (2020, 53));
        assert_eq!(iso_week(days(2021, 1, 4)), (2021, 1));
        assert_eq!(iso_weekday(days(2024, 3, 3)), 7);
        assert_eq!(day_of_year(days(2024, 12, 31)), 366);
    }

    #[test]
    fn weeks_that_start_on_sunday_begin_with_january_1() {
        assert_eq!(week_of(days(2024, 1, 1), 7, 1), (2024, 1));
        assert_eq!(week_of(days(2024, 1, 6), 7, 1), (2024, 1));
        assert_eq!(week_of(days(2024, 1, 7), 7, 1), (2024, 2));
        assert_eq!(week_of(days(2024, 12, 29), 7, 1), (2025, 1));
    }

    #[test]
    fn months_end_where_they_end() {
        assert_eq!(Date { year: 2024, month: 1, day: 31 }.add_months(1), Date { year: 2024, month: 2, day: 29 });
        assert_eq!(Date { year: 2024, month: 3, day: 31 }.add_months(-13), Date { year: 2023, month: 2, day: 28 });
        assert_eq!(Date::clamped(2023, 2, 31), Some(Date { year: 2023, month: 2, day: 28 }));
        assert_eq!(Date::clamped(2023, 2, 32), None);
    }
}
