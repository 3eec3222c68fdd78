//! The functions that exist in `MATCH_RECOGNIZE` only, and how their calls are written.

use datafusion_common::Result;
use sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Spanned, UnaryOperator, Value,
};

use super::{place, refuse};
use crate::bind::text::ScriptText;

/// Calls that a pattern gives a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternCall {
    First,
    Last,
    Prev,
    Next,
    Classifier,
    MatchNumber,
    MatchRowtime,
    MatchProctime,
    Running,
    Final,
}

impl PatternCall {
    pub fn of(function: &Function) -> Option<Self> {
        let [part] = function.name.0.as_slice() else { return None };
        Self::named(&part.as_ident()?.value)
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "FIRST" => PatternCall::First,
            "LAST" => PatternCall::Last,
            "PREV" => PatternCall::Prev,
            "NEXT" => PatternCall::Next,
            "CLASSIFIER" => PatternCall::Classifier,
            "MATCH_NUMBER" => PatternCall::MatchNumber,
            "MATCH_ROWTIME" => PatternCall::MatchRowtime,
            "MATCH_PROCTIME" => PatternCall::MatchProctime,
            "RUNNING" => PatternCall::Running,
            "FINAL" => PatternCall::Final,
            _ => return None,
        })
    }

    pub fn is_logical(self) -> bool {
        matches!(self, PatternCall::First | PatternCall::Last)
    }

    pub fn is_physical(self) -> bool {
        matches!(self, PatternCall::Prev | PatternCall::Next)
    }
}

/// Does the name denote a function of patterns?
pub(crate) fn is_pattern_function(name: &str) -> bool {
    PatternCall::named(name).is_some()
}

/// A call's plain arguments.
pub(super) fn arguments(function: &Function) -> Vec<&SqlExpr> {
    let FunctionArguments::List(list) = &function.args else { return vec![] };
    let plain = list.args.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    });
    plain.collect()
}

/// The expression and the offset of `FIRST(e [, n])` and its like.
pub(super) fn navigation_arguments<'f>(
    function: &'f Function,
    default: u32,
    script: &ScriptText,
) -> Result<(&'f SqlExpr, u32)> {
    let span = place(script, function.name.span());
    let name = function.name.to_string().to_uppercase();
    let usage = format!("{name}(A.x) or {name}(A.x, 2)");
    match arguments(function).as_slice() {
        [expr] => Ok((expr, default)),
        [expr, offset] => match offset_of(offset) {
            Some(offset) => Ok((expr, offset)),
            None => refuse(
                place(script, offset.span()).or(span),
                &format!("the offset of {name} is a whole number that is not negative, not `{offset}`"),
                &usage,
            ),
        },
        _ => refuse(span, &format!("{name} takes an expression and an offset"), &usage),
    }
}

fn offset_of(expr: &SqlExpr) -> Option<u32> {
    match expr {
        SqlExpr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        SqlExpr::UnaryOp { op: UnaryOperator::Plus, expr } | SqlExpr::Nested(expr) => offset_of(expr),
        _ => None,
    }
}

/// The conjuncts of a condition.
pub(super) fn conjuncts(expr: &SqlExpr) -> Vec<&SqlExpr> {
    match expr {
        SqlExpr::BinaryOp { left, op: sqlparser::ast::BinaryOperator::And, right } => {
            let mut all = conjuncts(left);
            all.extend(conjuncts(right));
            all
        }
        SqlExpr::Nested(inner) => conjuncts(inner),
        other => vec![other],
    }
}

/// The conjunction of some conditions; `None` of none.
pub(super) fn conjunction(conditions: Vec<&SqlExpr>) -> Option<SqlExpr> {
    let nested = |expr: &SqlExpr| SqlExpr::Nested(Box::new(expr.clone()));
    match conditions.as_slice() {
        [] => None,
        [one] => Some((*one).clone()),
        [first, rest @ ..] => Some(rest.iter().fold(nested(first), |all, condition| SqlExpr::BinaryOp {
            left: Box::new(all),
            op: sqlparser::ast::BinaryOperator::And,
            right: Box::new(nested(condition)),
        })),
    }
}
