//! Times to text and back.
//!
//! Text that does not show a time is NULL, as in Flink; a pattern that means nothing is an error.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::{DataType, Date32Type, Float64Type, Int64Type, TimeUnit, TimestampMillisecondType};
use datafusion_common::{Result, ScalarValue};

use crate::functions::call::Call;
use crate::functions::compiled::Compiled;
use crate::functions::param::Param::{Long, NumberOrText, Text, TextOrLong, TimestampOrText};
use crate::functions::scalar::{Arguments, Returns, ScalarFunction, takes};
use crate::functions::temporal::text::{Day, parse_date, parse_timestamp};
use crate::functions::temporal::ticks::{TickScale, Ticks, Wall, Zone};
use crate::functions::temporal_format::{Dialect, Pattern};

const DEFAULT_PATTERN: &str = "yyyy-MM-dd HH:mm:ss";

/// What UNIX_TIMESTAMP gives for text that shows no time, by Flink's documentation.
const NO_UNIX_TIMESTAMP: i64 = i64::MIN;

pub(super) fn functions(zone: &Arc<str>) -> Vec<ScalarFunction> {
    let text = || Returns::Type(DataType::Utf8);
    let millis = || Returns::Type(DataType::Timestamp(TimeUnit::Millisecond, None));
    vec![
        ScalarFunction::new("date_format", takes(&[TimestampOrText, Text]), text(), date_format).nullable(),
        ScalarFunction::new("to_timestamp", takes(&[Text]).then_optional(&[Text]), millis(), to_timestamp).nullable(),
        ScalarFunction::new(
            "to_timestamp_ltz",
            takes(&[NumberOrText]).then_optional(&[TextOrLong, Text]),
            Returns::Computed(ltz_type),
            to_timestamp_ltz,
        )
        .nullable()
        .in_zone(zone),
        ScalarFunction::new("to_date", takes(&[Text]).then_optional(&[Text]), Returns::Type(DataType::Date32), to_date)
            .nullable(),
        ScalarFunction::new(
            "unix_timestamp",
            takes(&[TimestampOrText]).then_optional(&[Text]),
            Returns::Type(DataType::Int64),
            unix_timestamp,
        )
        .in_zone(zone),
        ScalarFunction::new("from_unixtime", takes(&[Long]).then_optional(&[Text]), text(), from_unixtime)
            .in_zone(zone),
        ScalarFunction::new("convert_tz", takes(&[Text, Text, Text]), text(), convert_tz).nullable(),
    ]
}

/// The patterns of an argument that may be left out.
fn patterns<'a>(
    call: &'a Call<'_>,
    index: usize,
    compile: fn(&str) -> std::result::Result<Pattern, String>,
) -> Result<Compiled<'a, std::result::Result<Pattern, String>>> {
    Compiled::with_default(call, index, DEFAULT_PATTERN, compile)
}

fn formatter(pattern: &str) -> std::result::Result<Pattern, String> {
    Pattern::compile(pattern, Dialect::Formatter)
}

fn simple(pattern: &str) -> std::result::Result<Pattern, String> {
    Pattern::compile(pattern, Dialect::Simple)
}

fn date_format(call: &Call<'_>) -> Result<ArrayRef> {
    let mut patterns = patterns(call, 1, formatter)?;
    if *call.type_of(0) == DataType::Utf8 {
        let texts = call.texts(0)?;
        return call.try_build_texts(|row, out| {
            let (Some(text), Some(pattern)) = (texts.get(row), patterns.require(row)?) else { return Ok(None) };
            let shown = parse_timestamp(text).filter(|_| text.contains(' '));
            Ok(shown.map(|wall| pattern.write(wall, out)))
        });
    }
    let times = Ticks::try_new(call, 0)?;
    call.try_build_texts(|row, out| {
        let (Some(wall), Some(pattern)) = (times.wall(row), patterns.require(row)?) else { return Ok(None) };
        pattern.write(wall, out);
        Ok(Some(()))
    })
}

/// Text by its pattern or else in SQL's own form.
fn parse_by(pattern: &Pattern, text: &str) -> Option<Wall> {
    pattern.parse(text).or_else(|| parse_timestamp(text))
}

fn to_timestamp(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let scale = TickScale::of(call.return_type);
    if !call.has(1) {
        return Ok(call.build::<TimestampMillisecondType>(|row| scale.ticks(parse_timestamp(texts.get(row)?)?)));
    }
    let mut patterns = patterns(call, 1, formatter)?;
    call.try_build::<TimestampMillisecondType>(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.require(row)?) else { return Ok(None) };
        Ok(parse_by(pattern, text).and_then(|wall| scale.ticks(wall)))
    })
}

/// The precision of the result is that of the number, and at least milliseconds.
fn ltz_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    let instant = |unit| Ok(DataType::Timestamp(unit, Some(Arc::clone(arguments.zone))));
    if *arguments.types[0] == DataType::Utf8 || arguments.types.len() == 1 {
        return instant(TimeUnit::Millisecond);
    }
    match arguments.literals[1] {
        Some(ScalarValue::Int64(Some(0 | 3))) => instant(TimeUnit::Millisecond),
        Some(ScalarValue::Int64(Some(6))) => instant(TimeUnit::Microsecond),
        Some(ScalarValue::Int64(Some(9))) => instant(TimeUnit::Nanosecond),
        _ => Err("takes a precision of 0 (seconds), 3 (milliseconds), 6 or 9, written out".into()),
    }
}

fn to_timestamp_ltz(call: &Call<'_>) -> Result<ArrayRef> {
    let ticks = match call.type_of(0) {
        DataType::Utf8 => ltz_from_text(call)?,
        data_type => {
            let precision = call.optional_longs(1)?.and_then(|p| p.constant().flatten()).unwrap_or(3);
            let factor = if precision == 0 { 1_000 } else { 1 };
            let in_range = |ticks: i64| ticks.checked_mul(factor).filter(|t| in_calendar(call.return_type, *t));
            if *data_type == DataType::Float64 {
                let numbers = call.primitives::<Float64Type>(0)?;
                // What is finer than the precision is cut off; the cast saturates, which is out of range.
                call.try_build_longs(|row| Ok(numbers.get(row).and_then(|n| in_range(n as i64))))?
            } else {
                let numbers = call.longs(0)?;
                call.try_build_longs(|row| Ok(numbers.get(row).and_then(in_range)))?
            }
        }
    };
    super::typed(ticks, call.return_type)
}

/// Flink's instants lie in the years 0 to 9999; others are NULL.
fn in_calendar(data_type: &DataType, ticks: i64) -> bool {
    const FIRST_SECOND: i64 = -62_167_219_200;
    const END_SECOND: i64 = 253_402_300_800;
    let per_second = match TickScale::of(data_type) {
        TickScale::PerSecond(per_second) => per_second,
        TickScale::Day => return true,
    };
    (FIRST_SECOND..END_SECOND).contains(&ticks.div_euclid(per_second))
}

/// Without a zone of its own the text is taken as UTC's.
fn ltz_from_text(call: &Call<'_>) -> Result<Int64Array> {
    let texts = call.texts(0)?;
    let mut patterns = patterns(call, 1, formatter)?;
    let mut zones = Compiled::with_default(call, 2, "UTC", zone)?;
    let scale = TickScale::of(call.return_type);
    call.try_build_longs(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.require(row)?) else { return Ok(None) };
        let (Some(wall), Some(zone)) = (parse_by(pattern, text), zones.require(row)?) else { return Ok(None) };
        let offset = zone.as_ref().map_or(0, |zone| zone.local_offset(wall.seconds()));
        Ok(scale.ticks(wall.plus_seconds(-offset)))
    })
}

/// A zone by name; `Ok(None)` is UTC.
fn zone(name: &str) -> std::result::Result<Option<Zone>, String> {
    Zone::other_than_utc(name).map_err(|e| e.strip_backtrace())
}

fn to_date(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    if !call.has(1) {
        return Ok(call.build::<Date32Type>(|row| {
            // A time of day behind the date is ignored.
            let date = texts.get(row)?.split(' ').next()?;
            i32::try_from(parse_date(date, Day::Exact)?).ok()
        }));
    }
    let mut patterns = patterns(call, 1, simple)?;
    call.try_build::<Date32Type>(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.require(row)?) else { return Ok(None) };
        Ok(pattern.parse(text).and_then(|wall| i32::try_from(wall.days).ok()))
    })
}

fn unix_timestamp(call: &Call<'_>) -> Result<ArrayRef> {
    if *call.type_of(0) != DataType::Utf8 {
        let times = Ticks::try_new(call, 0)?;
        return Ok(call.build::<Int64Type>(|row| times.instant(row).map(Wall::seconds)));
    }
    let texts = call.texts(0)?;
    let zone = Zone::other_than_utc(call.zone)?;
    let mut patterns = patterns(call, 1, simple)?;
    call.try_build::<Int64Type>(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.require(row)?) else { return Ok(None) };
        let Some(wall) = pattern.parse(text) else { return Ok(Some(NO_UNIX_TIMESTAMP)) };
        let local = wall.seconds();
        Ok(Some(local - zone.as_ref().map_or(0, |zone| zone.local_offset(local))))
    })
}

fn from_unixtime(call: &Call<'_>) -> Result<ArrayRef> {
    let seconds = call.longs(0)?;
    let zone = Zone::other_than_utc(call.zone)?;
    let mut patterns = patterns(call, 1, simple)?;
    call.try_build_texts(|row, out| {
        let (Some(seconds), Some(pattern)) = (seconds.get(row), patterns.require(row)?) else { return Ok(None) };
        let offset = zone.as_ref().map_or(0, |zone| zone.utc_offset(seconds));
        pattern.write(Wall::from_seconds(seconds.saturating_add(offset), 0), out);
        Ok(Some(()))
    })
}

fn convert_tz(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let (mut from, mut to) = (Compiled::new(call, 1, zone)?, Compiled::new(call, 2, zone)?);
    let mut pattern = Compiled::with_default(call, 3, DEFAULT_PATTERN, simple)?;
    call.try_build_texts(|row, out| {
        let (Some(text), Some(from), Some(to)) = (texts.get(row), from.require(row)?, to.require(row)?) else {
            return Ok(None);
        };
        let Some(pattern) = pattern.require(row)? else { return Ok(None) };
        Ok(pattern.parse(text).map(|wall| {
            let instant = wall.seconds() - from.as_ref().map_or(0, |zone| zone.local_offset(wall.seconds()));
            let local = instant + to.as_ref().map_or(0, |zone| zone.utc_offset(instant));
            pattern.write(Wall::from_seconds(local, 0), out);
        }))
    })
}
