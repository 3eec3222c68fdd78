//! Arithmetic that leaves its type is an error: in physical expressions, and in constants before they are folded.
//!
//! DataFusion folds constants with arithmetic that wraps, so [`CheckConstants`] evaluates them first.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Decimal128Type, FieldRef, Schema};
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, DataFusionError, Result, ScalarValue};
use datafusion_expr::{ColumnarValue, Expr, LogicalPlan, Operator, Volatility};
use datafusion_optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::{BinaryExpr, Literal, NegativeExpr};
use tidemark_parser::Diagnostic;

use crate::bind::Finding;
use crate::codes::BAD_QUERY;
use crate::lower::ExprCompiler;

/// Makes `expr`, whose columns are those of `schema`, fail where its value leaves its type.
pub(crate) fn checked(expr: Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Transformed<Arc<dyn PhysicalExpr>>> {
    if let Some(negative) = expr.downcast_ref::<NegativeExpr>() {
        let data_type = negative.data_type(schema)?;
        if !data_type.is_signed_integer() {
            return Ok(Transformed::no(expr));
        }
        // The smallest integer has no opposite: a subtraction tells, a negation wraps.
        let zero = Arc::new(Literal::new(ScalarValue::new_zero(&data_type)?));
        let difference = BinaryExpr::new(zero, Operator::Minus, Arc::clone(negative.arg()));
        return Ok(Transformed::yes(Arc::new(difference.with_fail_on_overflow(true))));
    }
    let Some(binary) = expr.downcast_ref::<BinaryExpr>() else { return Ok(Transformed::no(expr)) };
    let arithmetic: Arc<dyn PhysicalExpr> = Arc::new(binary.clone().with_fail_on_overflow(true));
    // Types of fewer digits are wide enough for what two operands can yield.
    Ok(Transformed::yes(match arithmetic.data_type(schema)? {
        DataType::Decimal128(38, _) if binary.op().is_numerical_operators() => Arc::new(In38Digits(arithmetic)),
        _ => arithmetic,
    }))
}

/// A decimal of 38 digits: 128 bits hold some values of 39.
#[derive(Debug, Eq)]
struct In38Digits(Arc<dyn PhysicalExpr>);

// Derived, they would move the expression out of the reference.
impl PartialEq for In38Digits {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq(&other.0)
    }
}

impl Hash for In38Digits {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

const BOUND: i128 = 10_i128.pow(38);

impl fmt::Display for In38Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PhysicalExpr for In38Digits {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let value = self.0.evaluate(batch)?;
        let is_within = |v: i128| -BOUND < v && v < BOUND;
        let is_valid = match &value {
            ColumnarValue::Scalar(ScalarValue::Decimal128(Some(v), _, _)) => is_within(*v),
            ColumnarValue::Scalar(_) => true,
            // What stands under a NULL is nobody's value.
            ColumnarValue::Array(array) => array.as_primitive_opt::<Decimal128Type>().is_none_or(|values| {
                values.values().iter().all(|v| is_within(*v)) || values.iter().flatten().all(is_within)
            }),
        };
        if is_valid { Ok(value) } else { datafusion_common::exec_err!("decimal overflow") }
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.0.return_field(schema)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.0]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self(Arc::clone(&children[0]))))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_sql(f)
    }
}

/// Refuses constants that overflow. Stands right before each folding: rules move constants into other expressions.
#[derive(Debug)]
pub(crate) struct CheckConstants;

impl OptimizerRule for CheckConstants {
    fn name(&self) -> &str {
        "check_constants"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, _config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        plan.apply_expressions(|expr| check_constants(expr).map(|()| TreeNodeRecursion::Continue))?;
        Ok(Transformed::no(plan))
    }
}

/// Evaluates the constants in `expr`, the largest first; an overflow is a finding that names the constant.
pub(crate) fn check_constants(expr: &Expr) -> Result<()> {
    let visited = expr.apply(|e| {
        if !is_arithmetic_constant(e) {
            return Ok(TreeNodeRecursion::Continue);
        }
        match evaluate_once(e) {
            Ok(()) => Ok(TreeNodeRecursion::Jump),
            Err(DataFusionError::External(finding)) => Err(DataFusionError::External(finding)),
            // Whatever else is wrong shows when it runs, if it ever does.
            Err(_) => Ok(TreeNodeRecursion::Continue),
        }
    });
    visited.map(|_| ())
}

fn evaluate_once(expr: &Expr) -> Result<()> {
    let mut compiler = ExprCompiler::new(&DFSchema::empty(), &[], 0, "UTC")?;
    let compiled = compiler.compile(expr, "constant")?;
    let one_row = RecordBatchOptions::new().with_row_count(Some(1));
    let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &one_row)?;
    match compiled.evaluate(&row) {
        Err(e) if e.reason.ends_with("overflow") => Err(Finding(Diagnostic::error(BAD_QUERY, e.to_string())).into()),
        Err(e) => Err(DataFusionError::Execution(e.to_string())),
        Ok(_) => Ok(()),
    }
}

/// Does `expr` compute something, of literals alone?
fn is_arithmetic_constant(expr: &Expr) -> bool {
    let mut computes = false;
    let mut is_constant = true;
    let walked = expr.apply(|e| {
        match e {
            Expr::BinaryExpr(binary) => computes |= binary.op.is_numerical_operators(),
            Expr::Negative(_) => computes = true,
            Expr::ScalarFunction(call) => {
                is_constant &= call.func.signature().volatility == Volatility::Immutable;
                computes |= crate::functions::decimal::operator_of(call.func.name()).is_some();
            }
            Expr::Literal(_, _) | Expr::Cast(_) | Expr::TryCast(_) | Expr::Case(_) | Expr::Not(_) => {}
            Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::IsTrue(_) | Expr::IsFalse(_) | Expr::IsUnknown(_) => {}
            Expr::IsNotTrue(_) | Expr::IsNotFalse(_) | Expr::IsNotUnknown(_) => {}
            Expr::Between(_) | Expr::InList(_) | Expr::Like(_) | Expr::SimilarTo(_) => {}
            _ => is_constant = false,
        }
        Ok(if is_constant { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    walked.is_ok() && is_constant && computes
}
