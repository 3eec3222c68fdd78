//! Bounds on the difference of two event times, read from the condition of a join.
//!
//! ```text
//! a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts + INTERVAL '5' MINUTE     ->   -1 h <= a.ts - b.ts <= 5 min
//! ```

use arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::ScalarValue;
use datafusion_expr::{Between, BinaryExpr, Expr, Operator};

use super::condition::Condition;
use super::place_of;
use crate::lower::Relation;
use crate::lower::attribute::Attribute;

/// The bounds, and where the event times stand among the logical columns.
pub(super) struct Interval {
    pub times: [usize; 2],
    pub lower_ms: i64,
    pub upper_ms: i64,
}

/// `times[0] - times[1] op ms`, op being `>=`, `<=` or `=`.
struct Bound {
    times: [usize; 2],
    op: Operator,
    ms: i64,
}

/// An event time of one side, plus a constant.
struct Shifted {
    side: usize,
    place: usize,
    ms: i64,
}

impl Condition {
    /// The bounds that the condition puts on two event times, when it bounds them on both sides. What they say
    /// exactly is taken out of the residual condition.
    pub fn take_interval(&mut self, relations: &[Relation; 2]) -> Option<Interval> {
        let keys = self.keys.iter().filter(|key| !key.null_safe);
        let keys = keys.filter_map(|key| bound_of(&key.exprs[0], Operator::Eq, &key.exprs[1], relations));
        let mut bounds: Vec<Bound> = keys.collect();
        let of_residual: Vec<Vec<Bound>> = self.residual.iter().map(|e| bounds_of(e, relations)).collect();
        bounds.extend(of_residual.iter().flatten().map(|b| Bound { times: b.times, op: b.op, ms: b.ms }));
        let times = bounds.first()?.times;
        bounds.retain(|b| b.times == times);
        let lower = bounds.iter().filter(|b| b.op != Operator::LtEq).map(|b| b.ms).max()?;
        let upper = bounds.iter().filter(|b| b.op != Operator::GtEq).map(|b| b.ms).min()?;
        let slack = if is_exact(times, relations) { 0 } else { 1 };
        if slack == 0 {
            let mut of_residual = of_residual.iter();
            let is_said = |bounds: &Vec<Bound>| !bounds.is_empty() && bounds.iter().all(|b| b.times == times);
            self.residual.retain(|_| !of_residual.next().is_some_and(is_said));
        }
        Some(Interval { times, lower_ms: lower.saturating_sub(slack), upper_ms: upper.saturating_add(slack) })
    }
}

/// Are both times whole milliseconds, so that the bounds say all that the condition does?
fn is_exact(times: [usize; 2], relations: &[Relation; 2]) -> bool {
    times.iter().zip(relations).all(|(place, relation)| {
        matches!(
            relation.schema.field(*place).data_type(),
            DataType::Timestamp(TimeUnit::Second | TimeUnit::Millisecond, _)
        )
    })
}

/// What a condition says about the difference of two event times; nothing when it says something else too.
fn bounds_of(expr: &Expr, relations: &[Relation; 2]) -> Vec<Bound> {
    let bound = |left: &Expr, op: Operator, right: &Expr| bound_of(left, op, right, relations);
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => bound(left, *op, right).into_iter().collect(),
        Expr::Between(Between { expr, negated: false, low, high }) => {
            match (bound(expr, Operator::GtEq, low), bound(expr, Operator::LtEq, high)) {
                (Some(low), Some(high)) => vec![low, high],
                _ => vec![],
            }
        }
        _ => vec![],
    }
}

fn bound_of(left: &Expr, op: Operator, right: &Expr, relations: &[Relation; 2]) -> Option<Bound> {
    let (left, right) = (shifted(left, relations)?, shifted(right, relations)?);
    let (first, op, second) = match (left.side, right.side) {
        (0, 1) => (left, op, right),
        (1, 0) => (right, op.swap()?, left),
        _ => return None,
    };
    // first + a op second + b   is   first - second op b - a
    let ms = second.ms.checked_sub(first.ms)?;
    let (op, ms) = match op {
        Operator::Gt => (Operator::GtEq, ms.checked_add(1)?),
        Operator::Lt => (Operator::LtEq, ms.checked_sub(1)?),
        Operator::GtEq | Operator::LtEq | Operator::Eq => (op, ms),
        _ => return None,
    };
    let times = [first.place, second.place];
    // A strict bound over finer times admits what the next millisecond would not.
    let ms = match (is_exact(times, relations), op) {
        (true, _) | (_, Operator::Eq) => ms,
        (false, Operator::GtEq) => ms.saturating_sub(1),
        (false, _) => ms.saturating_add(1),
    };
    Some(Bound { times, op, ms })
}

/// An event time column, with intervals of a fixed length added or taken away.
fn shifted(expr: &Expr, relations: &[Relation; 2]) -> Option<Shifted> {
    match expr {
        Expr::Alias(alias) => shifted(&alias.expr, relations),
        Expr::Column(_) => (0..2).find_map(|side| {
            let place = place_of(expr, &relations[side])?;
            (relations[side].attributes[place] == Attribute::Rowtime).then_some(Shifted { side, place, ms: 0 })
        }),
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) => {
            let (time, by) = match (length_ms(right), length_ms(left)) {
                (Some(ms), _) => (shifted(left, relations)?, ms),
                (None, Some(ms)) if *op == Operator::Plus => (shifted(right, relations)?, ms),
                _ => return None,
            };
            let ms = if *op == Operator::Plus { time.ms.checked_add(by)? } else { time.ms.checked_sub(by)? };
            Some(Shifted { ms, ..time })
        }
        _ => None,
    }
}

/// The length of an interval literal in milliseconds, when it is fixed and whole.
fn length_ms(expr: &Expr) -> Option<i64> {
    const DAY_MS: i64 = 86_400_000;
    let Expr::Literal(value, _) = expr else { return None };
    match value {
        ScalarValue::IntervalMonthDayNano(Some(i)) if i.months == 0 && i.nanoseconds % 1_000_000 == 0 => {
            i64::from(i.days).checked_mul(DAY_MS)?.checked_add(i.nanoseconds / 1_000_000)
        }
        ScalarValue::IntervalDayTime(Some(i)) => {
            i64::from(i.days).checked_mul(DAY_MS)?.checked_add(i64::from(i.milliseconds))
        }
        ScalarValue::DurationMillisecond(Some(ms)) => Some(*ms),
        ScalarValue::DurationSecond(Some(s)) => s.checked_mul(1000),
        _ => None,
    }
}
