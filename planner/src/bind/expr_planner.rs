//! Expressions that Flink types or names otherwise than DataFusion.

use arrow::datatypes::DataType;
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, Result, ScalarValue};
use datafusion_expr::planner::{ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr};
use datafusion_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator};
use sqlparser::ast::BinaryOperator;

/// Hooks into DataFusion's expression planning.
#[derive(Debug)]
pub(crate) struct FlinkExprPlanner;

impl ExprPlanner for FlinkExprPlanner {
    /// Flink's type of `DECIMAL(p1, s1) * DECIMAL(p2, s2)` is `DECIMAL(p1 + p2, s1 + s2)`, and that of a quotient
    /// has the scale `max(6, s1 + p2 + 1)`: DataFusion's differ by a digit, which shows in every printed result.
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let op = match expr.op {
            BinaryOperator::Multiply => Operator::Multiply,
            BinaryOperator::Divide => Operator::Divide,
            _ => return Ok(PlannerResult::Original(expr)),
        };
        let (left, right) = (expr.left.get_type(schema)?, expr.right.get_type(schema)?);
        let (Some((p1, s1)), Some((p2, s2))) = (digits_of(&expr.left, &left), digits_of(&expr.right, &right)) else {
            return Ok(PlannerResult::Original(expr));
        };
        let is_decimal = |t: &DataType| matches!(t, DataType::Decimal128(_, _));
        if !is_decimal(&left) && !is_decimal(&right) {
            return Ok(PlannerResult::Original(expr));
        }
        let (precision, scale) = match op {
            Operator::Multiply => (p1 + p2, s1 + s2),
            _ => {
                let scale = (s1 + p2 + 1).max(6);
                (p1 - s1 + s2 + scale, scale)
            }
        };
        let (precision, scale) = fit(precision, scale);
        let dividend = match op {
            // The quotient's digits come from the dividend's: scaled up first, nothing is lost.
            Operator::Divide => cast(expr.left, DataType::Decimal128(38, scale.min(38 - (p1 - s1)) as i8)),
            _ => expr.left,
        };
        let product = Expr::BinaryExpr(BinaryExpr::new(Box::new(dividend), op, Box::new(expr.right)));
        Ok(PlannerResult::Planned(cast(product, DataType::Decimal128(precision as u8, scale as i8))))
    }

    /// DataFusion leaves casts out of names, so that `SUM(CAST(x AS INT))` and `SUM(CAST(x AS DOUBLE))` would be two
    /// columns of one name.
    fn plan_aggregate(&self, mut expr: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        for argument in &mut expr.args {
            if has_cast(argument)? {
                let name = argument.to_string();
                *argument = std::mem::take(argument).alias(name);
            }
        }
        Ok(PlannerResult::Original(expr))
    }
}

fn has_cast(expr: &Expr) -> Result<bool> {
    let mut found = false;
    expr.apply(|e| {
        found |= matches!(e, Expr::Cast(_) | Expr::TryCast(_));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast(Cast::new(Box::new(expr), data_type))
}

/// As [`decimal_of`]; a whole number written in the query is an `INT` when it fits.
fn digits_of(expr: &Expr, data_type: &DataType) -> Option<(i32, i32)> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(v)), _) if i32::try_from(*v).is_ok() => decimal_of(&DataType::Int32),
        _ => decimal_of(data_type),
    }
}

/// Precision and scale of a decimal, or of an integer next to one.
fn decimal_of(data_type: &DataType) -> Option<(i32, i32)> {
    match data_type {
        DataType::Decimal128(p, s) => Some((i32::from(*p), i32::from(*s))),
        DataType::Int8 => Some((3, 0)),
        DataType::Int16 => Some((5, 0)),
        DataType::Int32 => Some((10, 0)),
        DataType::Int64 => Some((19, 0)),
        _ => None,
    }
}

/// Flink's rule for results of more than 38 digits: keep the whole part, and at least 6 digits of the fraction.
fn fit(precision: i32, scale: i32) -> (i32, i32) {
    if precision <= 38 {
        return (precision, scale);
    }
    let whole = precision - scale;
    (38, (38 - whole).max(scale.min(6)))
}
