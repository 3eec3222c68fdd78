//! Intervals and elapsed times as text, in SQL's form: `+1-02` for years and months, `+3 04:05:06.789` for days.

use std::fmt::Write;

use arrow::datatypes::{IntervalMonthDayNano, TimeUnit};

use super::super::datetime::DAY_NANOS;
use super::super::scalar::unit_nanos;

/// Appends an interval. One of both kinds is written as both, with a space between.
pub(super) fn write_interval(interval: IntervalMonthDayNano, out: &mut String) {
    let nanos = i128::from(interval.days) * i128::from(DAY_NANOS) + i128::from(interval.nanoseconds);
    if interval.months != 0 {
        let months = interval.months.unsigned_abs();
        let sign = if interval.months < 0 { '-' } else { '+' };
        // A String takes all that is written to it.
        let _ = write!(out, "{sign}{}-{:02}", months / 12, months % 12);
        if nanos == 0 {
            return;
        }
        out.push(' ');
    }
    write_days(nanos, out);
}

/// Appends an elapsed time of `units`.
pub(super) fn write_duration(units: i64, unit: TimeUnit, out: &mut String) {
    write_days(i128::from(units) * i128::from(unit_nanos(unit)), out);
}

fn write_days(nanos: i128, out: &mut String) {
    let sign = if nanos < 0 { '-' } else { '+' };
    let ms = nanos.unsigned_abs() / 1_000_000;
    let (seconds, day) = (ms / 1_000, 86_400);
    let (hours, minutes) = (seconds % day / 3_600, seconds / 60 % 60);
    // A String takes all that is written to it.
    let _ = write!(out, "{sign}{} {hours:02}:{minutes:02}:{:02}.{:03}", seconds / day, seconds % 60, ms % 1_000);
}
