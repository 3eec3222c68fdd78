//! Expressions that Flink types or names otherwise than DataFusion.

use std::sync::{Mutex, PoisonError};

use arrow::datatypes::{DataType, Field};
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, DataFusionError, Result, ScalarValue, TableReference};
use datafusion_expr::planner::{ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr};
use datafusion_expr::{BinaryExpr, Cast, Expr, ExprSchemable, Operator};
use sqlparser::ast::BinaryOperator;
use tidemark_parser::{Diagnostic, suggest};

use super::errors::Finding;
use crate::codes::UNKNOWN_NAME;
use crate::functions::decimal;

/// Hooks into DataFusion's expression planning.
#[derive(Debug, Default)]
pub(crate) struct FlinkExprPlanner {
    /// DataFusion goes on when a hook fails, and then has less to say.
    missing_field: Mutex<Option<Diagnostic>>,
}

impl FlinkExprPlanner {
    /// The field that was missing when planning ended in `error`; else `error`.
    pub fn explain(&self, error: DataFusionError) -> DataFusionError {
        let missing = self.missing_field.lock().unwrap_or_else(PoisonError::into_inner).take();
        missing.map_or(error, |finding| Finding(finding).into())
    }
}

impl ExprPlanner for FlinkExprPlanner {
    /// Products and quotients of decimals have other types in Flink, by a digit, which shows in every printed result;
    /// DataFusion cuts off what Flink rounds.
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        if !matches!(expr.op, BinaryOperator::Multiply | BinaryOperator::Divide) {
            return Ok(PlannerResult::Original(expr));
        }
        let (left, right) = (expr.left.get_type(schema)?, expr.right.get_type(schema)?);
        let is_decimal = |t: &DataType| matches!(t, DataType::Decimal128(_, _));
        let (Some(left_digits), Some(right_digits), true) =
            (digits_of(&expr.left, &left), digits_of(&expr.right, &right), is_decimal(&left) || is_decimal(&right))
        else {
            return Ok(PlannerResult::Original(expr));
        };
        let planned = match expr.op {
            BinaryOperator::Divide => decimal::quotient(expr.left, expr.right),
            _ if left_digits.0 + right_digits.0 > 38 => decimal::product(expr.left, expr.right),
            _ => {
                let (precision, scale) = (left_digits.0 + right_digits.0, left_digits.1 + right_digits.1);
                let product = BinaryExpr::new(Box::new(expr.left), Operator::Multiply, Box::new(expr.right));
                cast(Expr::BinaryExpr(product), DataType::Decimal128(precision, scale))
            }
        };
        Ok(PlannerResult::Planned(planned))
    }

    /// A field that a row does not have, with the nearest that it has; the rest is DataFusion's.
    fn plan_compound_identifier(
        &self,
        field: &Field,
        _qualifier: Option<&TableReference>,
        nested_names: &[String],
    ) -> Result<PlannerResult<Vec<Expr>>> {
        let mut data_type = field.data_type();
        let mut path = field.name().clone();
        for name in nested_names {
            let DataType::Struct(fields) = data_type else { break };
            path = format!("{path}.{name}");
            match fields.find(name) {
                Some((_, found)) => data_type = found.data_type(),
                None => {
                    let names: Vec<&str> = fields.iter().map(|f| f.name().as_str()).collect();
                    let help = match suggest(name, names.iter().copied()) {
                        Some(nearest) => format!("did you mean `{nearest}`?"),
                        None => format!("the row has: {}", names.join(", ")),
                    };
                    let finding = Diagnostic::error(UNKNOWN_NAME, format!("there is no field `{path}`")).help(help);
                    *self.missing_field.lock().unwrap_or_else(PoisonError::into_inner) = Some(finding);
                    break;
                }
            }
        }
        Ok(PlannerResult::Original(vec![]))
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

/// Precision and scale of a decimal or an integer; a whole number written in the query is an `INT` when it fits.
fn digits_of(expr: &Expr, data_type: &DataType) -> Option<(u8, i8)> {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(v)), _) if i32::try_from(*v).is_ok() => {
            decimal::digits_of(&DataType::Int32)
        }
        _ => decimal::digits_of(data_type),
    }
}
