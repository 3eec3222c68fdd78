//! A timestamp plus or minus an interval of fixed length, as integer arithmetic.
//!
//! ```text
//! ts - INTERVAL '5' SECOND      ts - INTERVAL(0 months, 0 days, 5e9 ns)   ->   ts - DURATION(5000 ms)
//! ```
//! An interval without months has a fixed length in the dialect: a day is 24 hours, also where the clocks change.
//! arrow's interval arithmetic goes through the calendar for each row, which costs some 50 times as much.

use std::sync::Arc;

use arrow::datatypes::{DataType, IntervalDayTime, IntervalMonthDayNano, Schema, TimeUnit};
use datafusion_common::tree_node::Transformed;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::Operator;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::{BinaryExpr, Literal};

const NANOS_PER_DAY: i128 = 86_400_000_000_000;
const NANOS_PER_MILLI: i128 = 1_000_000;

/// Replaces the interval of `expr`, whose columns are those of `schema`, when its length is a number of the
/// timestamp's own units.
pub(super) fn to_duration(expr: Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Transformed<Arc<dyn PhysicalExpr>>> {
    let replaced = expr.downcast_ref::<BinaryExpr>().and_then(|binary| replace(binary, schema));
    Ok(match replaced {
        Some(shifted) => Transformed::yes(Arc::new(shifted)),
        None => Transformed::no(expr),
    })
}

fn replace(binary: &BinaryExpr, schema: &Schema) -> Option<BinaryExpr> {
    let (left, operator, right) = (binary.left(), *binary.op(), binary.right());
    if !matches!(operator, Operator::Plus | Operator::Minus) {
        return None;
    }
    if let Some(duration) = duration_for(right, left, schema) {
        return Some(BinaryExpr::new(Arc::clone(left), operator, duration));
    }
    let duration = duration_for(left, right, schema).filter(|_| operator == Operator::Plus)?;
    Some(BinaryExpr::new(duration, operator, Arc::clone(right)))
}

/// The literal `interval` in units of `time`.
fn duration_for(
    interval: &Arc<dyn PhysicalExpr>,
    time: &Arc<dyn PhysicalExpr>,
    schema: &Schema,
) -> Option<Arc<dyn PhysicalExpr>> {
    let nanos = fixed_nanos(interval.downcast_ref::<Literal>()?.value())?;
    let DataType::Timestamp(unit, _) = time.data_type(schema).ok()? else { return None };
    let unit_nanos = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => NANOS_PER_MILLI,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    if nanos % unit_nanos != 0 {
        return None;
    }
    let units = Some(i64::try_from(nanos / unit_nanos).ok()?);
    let value = match unit {
        TimeUnit::Second => ScalarValue::DurationSecond(units),
        TimeUnit::Millisecond => ScalarValue::DurationMillisecond(units),
        TimeUnit::Microsecond => ScalarValue::DurationMicrosecond(units),
        TimeUnit::Nanosecond => ScalarValue::DurationNanosecond(units),
    };
    Some(Arc::new(Literal::new(value)))
}

/// The length of an interval without months.
fn fixed_nanos(value: &ScalarValue) -> Option<i128> {
    match value {
        ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano { months: 0, days, nanoseconds })) => {
            Some(i128::from(*days) * NANOS_PER_DAY + i128::from(*nanoseconds))
        }
        ScalarValue::IntervalDayTime(Some(IntervalDayTime { days, milliseconds })) => {
            Some(i128::from(*days) * NANOS_PER_DAY + i128::from(*milliseconds) * NANOS_PER_MILLI)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, AsArray, RecordBatch, TimestampMillisecondArray};
    use arrow::datatypes::{Field, TimestampMillisecondType};
    use datafusion_physical_expr::expressions::Column;

    use super::*;

    /// `ts <operator> interval` over one row, in ms, and whether it has become integer arithmetic.
    fn shift(ts: i64, zone: Option<&str>, operator: Operator, interval: ScalarValue) -> (Option<i64>, bool) {
        let column: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![ts]).with_timezone_opt(zone));
        let schema = Arc::new(Schema::new(vec![Field::new("ts", column.data_type().clone(), false)]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
        let ts: Arc<dyn PhysicalExpr> = Arc::new(Column::new("ts", 0));
        let interval: Arc<dyn PhysicalExpr> = Arc::new(Literal::new(interval));
        let binary = BinaryExpr::new(ts, operator, interval).with_fail_on_overflow(true);
        let expr = to_duration(Arc::new(binary), &schema).unwrap();
        let value = expr.data.evaluate(&batch).ok().map(|v| v.into_array(1).unwrap());
        (value.map(|v| v.as_primitive::<TimestampMillisecondType>().value(0)), expr.transformed)
    }

    fn interval(months: i32, days: i32, nanoseconds: i64) -> ScalarValue {
        ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano { months, days, nanoseconds }))
    }

    #[test]
    fn a_fixed_length_is_added_as_a_number() {
        assert_eq!(shift(7_000, None, Operator::Minus, interval(0, 0, 5_000_000_000)), (Some(2_000), true));
        assert_eq!(shift(7_000, None, Operator::Plus, interval(0, 1, 1_000_000)), (Some(86_407_001), true));
        assert_eq!(shift(-1, None, Operator::Minus, interval(0, 0, 1_000_000)), (Some(-2), true));
    }

    #[test]
    fn a_day_has_24_hours_where_the_clocks_change() {
        // 2026-03-29 00:00 in Berlin; the next midnight there is 23 hours away.
        let midnight = 1_774_738_800_000;
        let (shifted, _) = shift(midnight, Some("Europe/Berlin"), Operator::Plus, interval(0, 1, 0));
        assert_eq!(shifted, Some(midnight + 86_400_000));
    }

    #[test]
    fn months_and_finer_units_go_through_the_calendar() {
        // 1970-01-31 and a month.
        let january_31 = 30 * 86_400_000;
        assert_eq!(
            shift(january_31, None, Operator::Plus, interval(1, 0, 0)),
            (Some(january_31 + 28 * 86_400_000), false)
        );
        assert!(!shift(0, None, Operator::Plus, interval(0, 0, 1)).1);
    }

    #[test]
    fn an_overflow_is_an_error() {
        assert_eq!(shift(i64::MIN, None, Operator::Minus, interval(0, 0, 1_000_000)), (None, true));
    }
}
