//! Columns of dates, times and timestamps as integers, and their wall-clock time.

use arrow::array::timezone::Tz;
use std::cell::Cell;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use chrono::{DateTime, LocalResult, NaiveDateTime, Offset, TimeZone};
use datafusion_common::{Result, exec_err};

use crate::functions::call::Call;

pub(in crate::functions) const SECONDS_PER_DAY: i64 = 86_400;
pub(in crate::functions) const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A column of times. A tick is the unit of its type: a day for dates.
pub(in crate::functions) struct Ticks {
    array: ArrayRef,
    constant: bool,
    scale: TickScale,
    zone: Option<Zone>,
}

/// What a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions) enum TickScale {
    /// A whole day.
    Day,
    /// So many make a second.
    PerSecond(i64),
}

/// A wall-clock time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::functions) struct Wall {
    /// Since 1970-01-01.
    pub days: i64,
    /// Since midnight, less than a day.
    pub nanos: i64,
}

impl Ticks {
    /// Argument `index` of a call, which is a date, a time or a timestamp.
    pub fn try_new(call: &Call<'_>, index: usize) -> Result<Self> {
        let (array, constant) = call.raw(index);
        let data_type = array.data_type();
        let zone = match data_type {
            DataType::Timestamp(_, Some(zone)) => Zone::other_than_utc(zone)?,
            _ => None,
        };
        let array = match data_type {
            DataType::Date32 | DataType::Time32(_) => cast(&cast(array, &DataType::Int32)?, &DataType::Int64)?,
            _ => cast(array, &DataType::Int64)?,
        };
        Ok(Ticks { array, constant, scale: TickScale::of(data_type), zone })
    }

    fn values(&self) -> &Int64Array {
        self.array.as_primitive::<Int64Type>()
    }

    /// Ticks since 1970-01-01, of UTC where the type has a zone.
    pub fn get(&self, row: usize) -> Option<i64> {
        let row = if self.constant { 0 } else { row };
        let values = self.values();
        values.is_valid(row).then(|| values.value(row))
    }

    /// The wall-clock time of a row, in its type's zone.
    pub fn wall(&self, row: usize) -> Option<Wall> {
        self.get(row).map(|ticks| self.wall_of(ticks))
    }

    /// The instant of a row as UTC's wall-clock time.
    pub fn instant(&self, row: usize) -> Option<Wall> {
        self.get(row).map(|ticks| self.scale.wall(ticks))
    }

    fn wall_of(&self, ticks: i64) -> Wall {
        let wall = self.scale.wall(ticks);
        match &self.zone {
            None => wall,
            Some(zone) => wall.plus_seconds(zone.utc_offset(wall.seconds())),
        }
    }

    /// A wall-clock time of the type's zone as UTC's; as it is where the type has no zone.
    pub fn to_instant(&self, wall: Wall) -> Wall {
        match &self.zone {
            None => wall,
            Some(zone) => wall.plus_seconds(-zone.local_offset(wall.seconds())),
        }
    }

    /// Each instant to a number.
    pub fn map_instant(&self, value: impl Fn(Wall) -> i64) -> Int64Array {
        self.values().unary(|ticks| value(self.scale.wall(ticks)))
    }

    /// Each wall-clock time to a number.
    pub fn map_wall(&self, value: impl Fn(Wall) -> i64) -> Int64Array {
        self.values().unary(|ticks| value(self.wall_of(ticks)))
    }

    /// Each time to the last multiple of a unit since 1970-01-01 00:00:00 that is not after it; `None` where that is
    /// not the same as a multiple since midnight: with a zone, and where a tick is longer than the unit.
    pub fn floor_to_multiple(&self, unit_nanos: i64) -> Option<Int64Array> {
        let (TickScale::PerSecond(per_second), None) = (self.scale, &self.zone) else { return None };
        let unit_ticks = unit_nanos / (NANOS_PER_SECOND / per_second);
        (unit_ticks > 0).then(|| self.values().unary(|ticks: i64| ticks.wrapping_sub(ticks.rem_euclid(unit_ticks))))
    }

    /// Each time moved by nanoseconds that its wall-clock time tells.
    pub fn shift(&self, nanos: impl Fn(Wall) -> i64) -> Result<Int64Array> {
        let TickScale::PerSecond(per_second) = self.scale else { return Ok(self.values().clone()) };
        let per_tick = NANOS_PER_SECOND / per_second;
        self.in_range(|ticks| ticks.checked_add(nanos(self.wall_of(ticks)) / per_tick))
    }

    /// Each wall-clock time to another of the same type.
    pub fn map_to_wall(&self, value: impl Fn(Wall) -> Wall) -> Result<Int64Array> {
        self.in_range(|ticks| self.scale.ticks(self.to_instant(value(self.wall_of(ticks)))))
    }

    fn in_range(&self, value: impl Fn(i64) -> Option<i64>) -> Result<Int64Array> {
        let values: Int64Array = self.values().unary_opt(value);
        if values.null_count() > self.values().null_count() {
            return exec_err!("timestamp out of range");
        }
        Ok(values)
    }
}

impl TickScale {
    pub fn of(data_type: &DataType) -> TickScale {
        match data_type {
            DataType::Date32 => TickScale::Day,
            DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => {
                TickScale::PerSecond(match unit {
                    TimeUnit::Second => 1,
                    TimeUnit::Millisecond => 1_000,
                    TimeUnit::Microsecond => 1_000_000,
                    TimeUnit::Nanosecond => NANOS_PER_SECOND,
                })
            }
            // Date64 counts milliseconds.
            _ => TickScale::PerSecond(1_000),
        }
    }

    fn wall(self, ticks: i64) -> Wall {
        match self {
            TickScale::Day => Wall { days: ticks, nanos: 0 },
            TickScale::PerSecond(per_second) => {
                let per_day = per_second * SECONDS_PER_DAY;
                Wall {
                    days: ticks.div_euclid(per_day),
                    nanos: ticks.rem_euclid(per_day) * (NANOS_PER_SECOND / per_second),
                }
            }
        }
    }

    /// Ticks of a time; `None` if they do not fit. What is finer than a tick is cut off.
    pub fn ticks(self, wall: Wall) -> Option<i64> {
        match self {
            TickScale::Day => i32::try_from(wall.days).ok().map(i64::from),
            TickScale::PerSecond(per_second) => wall
                .days
                .checked_mul(per_second * SECONDS_PER_DAY)?
                .checked_add(wall.nanos / (NANOS_PER_SECOND / per_second)),
        }
    }
}

impl Wall {
    /// Whole seconds since 1970-01-01.
    pub fn seconds(self) -> i64 {
        self.days * SECONDS_PER_DAY + self.nanos / NANOS_PER_SECOND
    }

    pub fn from_seconds(seconds: i64, nanos: i64) -> Wall {
        Wall {
            days: seconds.div_euclid(SECONDS_PER_DAY),
            nanos: seconds.rem_euclid(SECONDS_PER_DAY) * NANOS_PER_SECOND + nanos,
        }
    }

    pub fn plus_seconds(self, seconds: i64) -> Wall {
        Wall::from_seconds(self.seconds().saturating_add(seconds), self.nanos % NANOS_PER_SECOND)
    }
}

/// A time zone other than UTC. It remembers the offset of the day it was last asked for: times of a batch are near
/// each other, and finding an offset costs ten times as much as using it.
#[derive(Debug)]
pub(in crate::functions) struct Zone {
    tz: Tz,
    /// Day and offset of the last instant.
    utc: Cell<Option<(i64, i64)>>,
    /// Day and offset of the last wall-clock time.
    local: Cell<Option<(i64, i64)>>,
}

impl Zone {
    /// The zone of that name (an IANA name, an offset such as `+08:00` or from GMT such as `GMT+8`); `None` for UTC,
    /// where no conversion is needed.
    pub fn other_than_utc(name: &str) -> Result<Option<Zone>> {
        if name == "UTC" || name == "+00:00" {
            return Ok(None);
        }
        match parse_zone(name) {
            Some(tz) => Ok(Some(Zone { tz, utc: Cell::new(None), local: Cell::new(None) })),
            None => exec_err!("unknown time zone '{name}'"),
        }
    }

    /// Seconds that the zone's clocks are ahead of UTC at an instant.
    pub fn utc_offset(&self, utc_seconds: i64) -> i64 {
        remembered(&self.utc, utc_seconds, |seconds| utc_offset(self.tz, seconds))
    }

    /// Seconds that the zone's clocks are ahead of UTC when they show a time: the earlier instant of two, and in a
    /// gap the offset before it.
    pub fn local_offset(&self, local_seconds: i64) -> i64 {
        remembered(&self.local, local_seconds, |seconds| local_offset(self.tz, seconds))
    }
}

/// The offset at a time, looked up once a day of times unless the day's ends differ.
fn remembered(last: &Cell<Option<(i64, i64)>>, seconds: i64, offset: impl Fn(i64) -> i64) -> i64 {
    let day = seconds.div_euclid(SECONDS_PER_DAY);
    if let Some((last_day, last_offset)) = last.get()
        && last_day == day
    {
        return last_offset;
    }
    let start = offset(day * SECONDS_PER_DAY);
    if start != offset(day * SECONDS_PER_DAY + SECONDS_PER_DAY - 1) {
        return offset(seconds);
    }
    last.set(Some((day, start)));
    start
}

fn parse_zone(name: &str) -> Option<Tz> {
    if let Ok(zone) = name.parse::<Tz>() {
        return Some(zone);
    }
    let offset = name.strip_prefix("GMT").or_else(|| name.strip_prefix("UTC"))?;
    let (sign, digits) = offset.split_at_checked(1)?;
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "00"));
    format!("{sign}{hours:0>2}:{minutes}").parse().ok()
}

fn naive(seconds: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp(seconds, 0).map(|t| t.naive_utc())
}

/// 0 where the calendar of `chrono` ends.
fn utc_offset(zone: Tz, utc_seconds: i64) -> i64 {
    naive(utc_seconds).map_or(0, |t| i64::from(zone.offset_from_utc_datetime(&t).fix().local_minus_utc()))
}

fn local_offset(zone: Tz, local_seconds: i64) -> i64 {
    /// Longer than any gap, shorter than the time between two changes.
    const BEFORE_GAP_SECONDS: i64 = 86_400;
    let offset = |seconds| match naive(seconds).map(|t| zone.offset_from_local_datetime(&t)) {
        Some(LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _)) => {
            Some(i64::from(offset.fix().local_minus_utc()))
        }
        _ => None,
    };
    offset(local_seconds).or_else(|| offset(local_seconds - BEFORE_GAP_SECONDS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{NANOS_PER_SECOND, Wall, Zone, local_offset, parse_zone, utc_offset};

    #[test]
    fn clocks_change_where_they_change() {
        let zone = Zone::other_than_utc("Europe/Berlin").unwrap().unwrap();
        // 2024-03-31: 02:00 becomes 03:00. 2024-10-27: 03:00 becomes 02:00.
        let (march, october) = (19_813, 20_023);
        let at =
            |days, hour: i64, minute: i64| Wall { days, nanos: (hour * 60 + minute) * 60 * NANOS_PER_SECOND }.seconds();
        assert_eq!(zone.local_offset(at(march, 1, 59)), 3_600);
        assert_eq!(zone.local_offset(at(march, 2, 30)), 3_600, "in the gap the clock has not changed yet");
        assert_eq!(zone.local_offset(at(march, 3, 0)), 7_200);
        assert_eq!(zone.local_offset(at(october, 2, 30)), 7_200, "the earlier of two");
        assert_eq!(zone.utc_offset(at(march, 0, 59)), 3_600);
        assert_eq!(zone.utc_offset(at(march, 1, 0)), 7_200);
    }

    #[test]
    fn what_is_remembered_is_what_would_be_found() {
        for name in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu"]
        {
            let zone = Zone::other_than_utc(name).unwrap().unwrap();
            let tz = parse_zone(name).unwrap();
            // From 1900 to 2040 by steps that are no whole hours, each time asked twice.
            for seconds in (-2_208_988_800_i64..2_208_988_800).step_by(10_007 * 7) {
                for _ in 0..2 {
                    assert_eq!(zone.utc_offset(seconds), utc_offset(tz, seconds), "{name} {seconds}");
                    assert_eq!(zone.local_offset(seconds), local_offset(tz, seconds), "{name} {seconds}");
                }
            }
        }
    }

    #[test]
    fn zones_have_names_and_offsets() {
        let offset = |name: &str| Zone::other_than_utc(name).unwrap().map(|zone| zone.utc_offset(0));
        assert_eq!(offset("UTC"), None);
        assert_eq!(offset("+08:00"), Some(28_800));
        assert_eq!(offset("GMT-3"), Some(-10_800));
        assert!(Zone::other_than_utc("Nowhere").is_err());
    }
}
