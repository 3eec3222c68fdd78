//! Fields of times, rounding and arithmetic.
//!
//! Times with a zone are taken as the wall-clock times of that zone.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type, TimeUnit};
use datafusion_common::{Result, ScalarValue, exec_err};

use super::call::Call;
use super::param::Param::{DateOrTimestamp, Long, Temporal, Text};
use super::scalar::{Arguments, Returns, ScalarFunction, takes};
use super::syntax::{CEIL_TO, EXTRACT, FLOOR_TO};
use ticks::{TickScale, Ticks};
use unit::Unit;

pub(super) mod calendar;
pub(super) mod convert;
pub(super) mod text;
pub(super) mod ticks;
mod unit;

pub(super) fn functions(zone: &Arc<str>) -> Vec<ScalarFunction> {
    let bigint = || Returns::Type(DataType::Int64);
    let mut functions = vec![
        ScalarFunction::new(EXTRACT, takes(&[Text, Temporal]), bigint(), extract),
        ScalarFunction::new("date_part", takes(&[Text, Temporal]), bigint(), extract),
        ScalarFunction::new(FLOOR_TO, takes(&[Temporal, Text]), Returns::Argument(0), |call| round(call, true)),
        ScalarFunction::new(CEIL_TO, takes(&[Temporal, Text]), Returns::Argument(0), |call| round(call, false)),
        ScalarFunction::new(
            "timestampadd",
            takes(&[Text, Long, DateOrTimestamp]),
            Returns::Computed(sum_type),
            timestampadd,
        ),
        ScalarFunction::new(
            "timestampdiff",
            takes(&[Text, DateOrTimestamp, DateOrTimestamp]),
            Returns::Type(DataType::Int32),
            timestampdiff,
        ),
    ];
    macro_rules! field {
        ($name:literal, $unit:expr) => {
            functions.push(ScalarFunction::new($name, takes(&[Temporal]), bigint(), |call| field(call, 0, $unit)))
        };
    }
    field!("year", Unit::Year);
    field!("quarter", Unit::Quarter);
    field!("month", Unit::Month);
    field!("week", Unit::Week);
    field!("dayofyear", Unit::DayOfYear);
    field!("dayofmonth", Unit::Day);
    field!("dayofweek", Unit::DayOfWeek);
    field!("hour", Unit::Hour);
    field!("minute", Unit::Minute);
    field!("second", Unit::Second);
    functions.extend(convert::functions(zone));
    functions
}

/// The unit that an argument names, and its name.
fn unit_of<'a>(call: &'a Call<'_>, index: usize) -> Result<(Unit, &'a str)> {
    match call.texts(index)?.constant().flatten() {
        Some(name) => match Unit::parse(name) {
            Some(unit) => Ok((unit, name)),
            None => exec_err!("'{name}' is not a unit of time"),
        },
        None => exec_err!("the unit of time must be written out"),
    }
}

fn extract(call: &Call<'_>) -> Result<ArrayRef> {
    field(call, 1, unit_of(call, 0)?.0)
}

fn field(call: &Call<'_>, index: usize, unit: Unit) -> Result<ArrayRef> {
    let times = Ticks::try_new(call, index)?;
    let values = match unit {
        Unit::Epoch => times.map_instant(|instant| unit.extract(instant)),
        _ => times.map_wall(|wall| unit.extract(wall)),
    };
    Ok(Arc::new(values))
}

/// Down to the unit's last start, or up to its next.
fn round(call: &Call<'_>, rounds_down: bool) -> Result<ArrayRef> {
    let (unit, name) = unit_of(call, 1)?;
    if !unit.is_length() {
        return exec_err!("times cannot be rounded to {name}");
    }
    let times = Ticks::try_new(call, 0)?;
    let direct = if rounds_down { unit.fixed_nanos().and_then(|nanos| times.floor_to_multiple(nanos)) } else { None };
    let rounded = match (direct, unit.nanos()) {
        (Some(rounded), _) => rounded,
        // Hours and less are moved on the line of instants: an hour that the clocks show twice stays the same one.
        (None, Some(nanos)) => times.shift(|wall| match wall.nanos % nanos {
            0 => 0,
            rest if rounds_down => -rest,
            rest => nanos - rest,
        })?,
        (None, None) => times.map_to_wall(|wall| if rounds_down { unit.floor(wall) } else { unit.ceil(wall) })?,
    };
    typed(rounded, call.return_type)
}

/// Ticks as the type that they count for.
fn typed(ticks: Int64Array, data_type: &DataType) -> Result<ArrayRef> {
    Ok(match data_type {
        DataType::Date32 | DataType::Time32(_) => cast(&cast(&ticks, &DataType::Int32)?, data_type)?,
        _ => cast(&ticks, data_type)?,
    })
}

/// A time plus a unit has the time's type, made finer if the unit is finer; a date plus hours is a timestamp.
fn sum_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    let unit = match arguments.literals.first() {
        Some(Some(ScalarValue::Utf8(Some(name)))) => Unit::parse(name).filter(|unit| unit.is_length()),
        // Simplified or not, only a literal gets here; other calls fail when they run.
        _ => None,
    };
    let Some(unit) = unit else { return Err("needs a unit of time such as MINUTE first".into()) };
    let at_least = match unit {
        Unit::Nanosecond => TimeUnit::Nanosecond,
        Unit::Microsecond => TimeUnit::Microsecond,
        _ => TimeUnit::Millisecond,
    };
    Ok(match arguments.types[2] {
        DataType::Date32 if unit.nanos().is_none() => DataType::Date32,
        DataType::Date32 => DataType::Timestamp(at_least.max(TimeUnit::Microsecond), None),
        DataType::Timestamp(unit, zone) => DataType::Timestamp((*unit).max(at_least), zone.clone()),
        other => other.clone(),
    })
}

fn timestampadd(call: &Call<'_>) -> Result<ArrayRef> {
    let (unit, _) = unit_of(call, 0)?;
    let counts = call.longs(1)?;
    let times = Ticks::try_new(call, 2)?;
    let scale = TickScale::of(call.return_type);
    let sums = call.try_build_longs(|row| {
        // Hours are as long across a change of the clocks; days and months follow the wall clock.
        let sum = if unit.nanos().is_some() {
            let (Some(count), Some(instant)) = (counts.get(row), times.instant(row)) else { return Ok(None) };
            unit.add(instant, count)
        } else {
            let (Some(count), Some(wall)) = (counts.get(row), times.wall(row)) else { return Ok(None) };
            unit.add(wall, count).map(|sum| times.to_instant(sum))
        };
        match sum.and_then(|sum| scale.ticks(sum)) {
            Some(ticks) => Ok(Some(ticks)),
            None => exec_err!("timestamp out of range"),
        }
    })?;
    typed(sums, call.return_type)
}

fn timestampdiff(call: &Call<'_>) -> Result<ArrayRef> {
    let (unit, name) = unit_of(call, 0)?;
    let from = Ticks::try_new(call, 1)?;
    let to = Ticks::try_new(call, 2)?;
    // As in TIMESTAMPADD.
    let time = |times: &Ticks, row| if unit.nanos().is_some() { times.instant(row) } else { times.wall(row) };
    call.try_build::<Int32Type>(|row| {
        let (Some(from), Some(to)) = (time(&from, row), time(&to, row)) else { return Ok(None) };
        match unit.between(from, to).and_then(|count| i32::try_from(count).ok()) {
            Some(count) => Ok(Some(count)),
            None => exec_err!("the difference in units of {name} does not fit into INT: integer overflow"),
        }
    })
}

#[cfg(test)]
mod tests;
