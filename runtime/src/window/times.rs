//! Event times as milliseconds.

use arrow::array::{Array, AsArray};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{
    DataType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow::error::ArrowError;

use crate::error::OperatorError;

/// Times and lengths up to this (36 million years) can be added up without overflow.
pub(crate) const MAX_TIME_MS: i64 = 1 << 60;

/// The instants of a timestamp column in ms, rounded down; anything where they are NULL.
pub(crate) fn event_times(column: &dyn Array) -> Result<ScalarBuffer<i64>, OperatorError> {
    match column.data_type() {
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            Ok(column.as_primitive::<TimestampMillisecondType>().values().clone())
        }
        DataType::Timestamp(TimeUnit::Second, _) => {
            Ok(column.as_primitive::<TimestampSecondType>().values().iter().map(|t| t.saturating_mul(1000)).collect())
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Ok(column.as_primitive::<TimestampMicrosecondType>().values().iter().map(|t| t.div_euclid(1000)).collect())
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Ok(column
            .as_primitive::<TimestampNanosecondType>()
            .values()
            .iter()
            .map(|t| t.div_euclid(1_000_000))
            .collect()),
        other => Err(ArrowError::InvalidArgumentError(format!("{other} is not an event time")).into()),
    }
}

/// Smallest and largest of the times, which must not be empty. Refuses times that windows cannot be computed for.
pub(crate) fn range_of(times: &[i64]) -> Result<(i64, i64), OperatorError> {
    let (min, max) = times.iter().fold((i64::MAX, i64::MIN), |(min, max), time| (min.min(*time), max.max(*time)));
    if min < -MAX_TIME_MS || max > MAX_TIME_MS {
        let time = if max > MAX_TIME_MS { max } else { min };
        return Err(OperatorError::Limit(format!(
            "the event time {time} ms is more than 36 million years away from 1970"
        )));
    }
    Ok((min, max))
}
