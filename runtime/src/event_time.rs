//! Event times as milliseconds, whatever unit a timestamp column has.

use arrow::array::{Array, ArrayRef};
use arrow::buffer::{NullBuffer, ScalarBuffer};

use crate::error::OperatorError;
use crate::window::event_times;

/// Milliseconds since 1970, one a row. The value of a NULL row means nothing.
#[derive(Clone, Debug)]
pub struct EventTimes {
    /// The times.
    pub ms: ScalarBuffer<i64>,
    /// Which rows have one.
    pub nulls: Option<NullBuffer>,
}

impl EventTimes {
    /// Reads a timestamp column. Finer units are cut down to the millisecond below, also before 1970;
    /// milliseconds are not copied.
    pub fn of(column: &ArrayRef) -> Result<Self, OperatorError> {
        let nulls = column.nulls().filter(|n| n.null_count() > 0).cloned();
        Ok(Self { ms: event_times(column)?, nulls })
    }

    /// The time of row `row`, if it has one.
    pub fn get(&self, row: usize) -> Option<i64> {
        match &self.nulls {
            Some(nulls) if nulls.is_null(row) => None,
            _ => Some(self.ms[row]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    };

    use super::*;

    fn check(column: impl Array + 'static, expect: &[Option<i64>]) {
        let column: ArrayRef = Arc::new(column);
        let times = EventTimes::of(&column).unwrap();
        assert_eq!((0..column.len()).map(|row| times.get(row)).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn every_unit_becomes_the_millisecond_below() {
        check(TimestampSecondArray::from(vec![Some(2), None, Some(-1)]), &[Some(2_000), None, Some(-1_000)]);
        check(TimestampMillisecondArray::from(vec![7, -7]), &[Some(7), Some(-7)]);
        check(TimestampMicrosecondArray::from(vec![1_999, -1, -1_001]), &[Some(1), Some(-1), Some(-2)]);
        check(TimestampNanosecondArray::from(vec![1_999_999, -1]), &[Some(1), Some(-1)]);
    }

    #[test]
    fn a_column_of_another_type_is_refused() {
        let column: ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![1]));
        assert!(EventTimes::of(&column).is_err());
    }
}
