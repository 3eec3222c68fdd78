//! Conditions are BOOLEAN. DataFusion casts whatever stands where one belongs; here it is refused, at its place.

use arrow::datatypes::DataType;
use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, DataFusionError, Result};
use datafusion_expr::utils::merge_schema;
use datafusion_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use sqlparser::ast::{BinaryOperator, Expr as SqlExpr, Query, Select, UnaryOperator, Value, Visit, Visitor};
use std::ops::ControlFlow;
use tidemark_parser::{Diagnostic, Span};

use super::errors::Finding;
use super::text::ScriptText;
use crate::codes::BAD_QUERY;
use crate::types;

/// How a finding about WHERE or HAVING begins, which DataFusion makes itself, without a place.
pub(super) const FILTER_TAKES_CONDITION: &str = "a filter takes a condition";

/// Refuses other values than BOOLEAN in `FILTER (WHERE …)`, `CASE WHEN …`, `AND` and `OR`.
/// `plan` is not coerced yet.
pub(super) fn check_conditions(plan: &LogicalPlan, script: &ScriptText) -> Result<()> {
    let mut findings: Vec<DataFusionError> = vec![];
    plan.apply_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        node.apply_expressions(|expr| find_wrong(expr, &schema, script, &mut findings))
    })?;
    all_of(findings)
}

/// The same for one expression over `schema`.
pub(super) fn check_expr(expr: &Expr, schema: &DFSchema, script: &ScriptText) -> Result<()> {
    let mut findings = vec![];
    find_wrong(expr, schema, script, &mut findings)?;
    all_of(findings)
}

fn find_wrong(
    expr: &Expr,
    schema: &DFSchema,
    script: &ScriptText,
    findings: &mut Vec<DataFusionError>,
) -> Result<TreeNodeRecursion> {
    expr.apply(|e| {
        for (what, condition) in conditions_of(e) {
            findings.extend(refuse(what, condition, schema, script).map(DataFusionError::from));
        }
        Ok(TreeNodeRecursion::Continue)
    })
}

fn all_of(mut findings: Vec<DataFusionError>) -> Result<()> {
    match findings.len() {
        0 => Ok(()),
        1 => Err(findings.swap_remove(0)),
        _ => Err(DataFusionError::Collection(findings)),
    }
}

/// The conditions right below `expr`, each with the word that wants one.
fn conditions_of(expr: &Expr) -> Vec<(&'static str, &Expr)> {
    match expr {
        Expr::AggregateFunction(call) => call.params.filter.iter().map(|f| ("FILTER", f.as_ref())).collect(),
        Expr::Case(case) if case.expr.is_none() => {
            case.when_then_expr.iter().map(|(when, _)| ("CASE WHEN", when.as_ref())).collect()
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => vec![("AND", left), ("AND", right)],
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => vec![("OR", left), ("OR", right)],
        _ => vec![],
    }
}

fn refuse(what: &str, condition: &Expr, schema: &DFSchema, script: &ScriptText) -> Option<Finding> {
    // A type that cannot be told is told of elsewhere.
    let data_type = condition.get_type(schema).ok()?;
    if matches!(data_type, DataType::Boolean | DataType::Null) {
        return None;
    }
    let message = format!("{what} takes a condition, but `{condition}` is {}", types::sql_name(&data_type));
    Some(Finding(Diagnostic::error(BAD_QUERY, message).at(script.span_of_columns(condition))))
}

/// The WHERE or HAVING of `query` that `message`, DataFusion's refusal, speaks of.
pub(super) fn filter_place(message: &str, query: &Query, script: &ScriptText) -> Option<Span> {
    if !message.starts_with(FILTER_TAKES_CONDITION) {
        return None;
    }
    let mut filters = Filters::default();
    let _ = query.visit(&mut filters);
    let is_meant = |condition: &&SqlExpr| {
        let text = condition.to_string();
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
        words.all(|word| message.to_lowercase().contains(&word.to_lowercase()))
    };
    let condition = filters.0.iter().find(is_meant).or(filters.0.first())?;
    match condition {
        SqlExpr::Function(call) => script.span_of_call(call),
        other => script.span_of(other),
    }
}

/// The conditions of a query that may be none, by their look.
#[derive(Default)]
struct Filters(Vec<SqlExpr>);

impl Visitor for Filters {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let conditions = select.selection.iter().chain(&select.having);
        self.0.extend(conditions.filter(|c| !looks_boolean(c)).cloned());
        ControlFlow::Continue(())
    }
}

fn looks_boolean(expr: &SqlExpr) -> bool {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, NotEq, Or};
    match expr {
        SqlExpr::Nested(inner) => looks_boolean(inner),
        SqlExpr::BinaryOp { op, .. } => matches!(op, And | Or | Eq | NotEq | Gt | GtEq | Lt | LtEq),
        SqlExpr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        SqlExpr::Value(value) => matches!(value.value, Value::Boolean(_) | Value::Null),
        SqlExpr::IsNull(_) | SqlExpr::IsNotNull(_) | SqlExpr::InList { .. } | SqlExpr::Between { .. } => true,
        SqlExpr::Like { .. } | SqlExpr::ILike { .. } | SqlExpr::SimilarTo { .. } => true,
        _ => false,
    }
}
