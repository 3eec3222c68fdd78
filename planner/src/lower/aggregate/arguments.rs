//! The columns that an aggregate reads, and its calls in terms of them.

use std::sync::Arc;

use arrow::datatypes::FieldRef;
use datafusion_expr::{Expr, lit};
use tidemark_parser::Diagnostic;

use super::grouping::Grouping;
use crate::codes::{BAD_QUERY, UNSUPPORTED};
use crate::functions::aggregate::aggregate_function_of;
use crate::lower::expression::sql_text;
use crate::lower::{Lowered, Lowering, Relation};
use crate::stream_plan::{AggregateCall, AggregateFunction};

/// An aggregate call whose arguments are still expressions.
pub(in crate::lower) struct Call {
    pub function: AggregateFunction,
    pub args: Vec<Expr>,
    pub filter: Option<Expr>,
    pub distinct: bool,
    pub field: FieldRef,
    text: String,
}

impl Lowering<'_> {
    /// The aggregate calls; the result fields come from the logical schema.
    pub(super) fn calls(&self, exprs: &[Expr], grouping: &Grouping) -> Lowered<Vec<Call>> {
        let base = grouping.schema.fields().len() - grouping.calls.len();
        exprs.iter().enumerate().map(|(i, e)| self.call(e, &grouping.schema.fields()[base + i])).collect()
    }

    /// One call; `field` is its result.
    pub(in crate::lower) fn call(&self, expr: &Expr, field: &FieldRef) -> Lowered<Call> {
        let Expr::AggregateFunction(call) = expr.clone().unalias() else {
            return self.unsupported(&format!("the aggregate {}", sql_text(expr)));
        };
        let refuse = |code, message: String| Box::new(Diagnostic::error(code, message).at(self.span_of_expr(expr)));
        let params = call.params;
        if !params.order_by.is_empty() {
            return Err(refuse(
                UNSUPPORTED,
                format!("ORDER BY inside {} is not supported yet", call.func.name().to_uppercase()),
            ));
        }
        let function = aggregate_function_of(&call.func, &params.args).map_err(|message| {
            // What can be wrong here is the second argument.
            let place = params.args.get(1).and_then(|separator| self.span_of_expr(separator));
            Box::new(Diagnostic::error(BAD_QUERY, message).at(place))
        })?;
        let ignores_nulls = matches!(function, AggregateFunction::FirstValue | AggregateFunction::LastValue);
        if params
            .null_treatment
            .is_some_and(|t| !(ignores_nulls && t == datafusion_expr::expr::NullTreatment::IgnoreNulls))
        {
            return Err(refuse(
                UNSUPPORTED,
                format!("IGNORE NULLS or RESPECT NULLS of {} is not supported", call.func.name().to_uppercase()),
            ));
        }
        let text = sql_text(expr);
        let args = match &function {
            // COUNT(*) arrives as COUNT(1): a constant that is never NULL counts rows.
            AggregateFunction::Count if !params.distinct => {
                params.args.into_iter().filter(|a| !matches!(a, Expr::Literal(v, _) if !v.is_null())).collect()
            }
            AggregateFunction::ListAgg { .. } => params.args.into_iter().take(1).collect(),
            _ => params.args,
        };
        let filter = params.filter.map(|f| *f);
        Ok(Call { function, args, filter, distinct: params.distinct, field: Arc::clone(field), text })
    }
}

/// Collects the expressions that the operator reads as columns; equal ones share a column.
pub(super) struct Arguments {
    pub exprs: Vec<Expr>,
    columns: Vec<usize>,
    names: Vec<datafusion_common::Column>,
}

impl Arguments {
    pub fn new(input: &Relation) -> Self {
        Self { exprs: vec![], columns: input.columns.clone(), names: input.schema.columns() }
    }

    pub fn add(&mut self, expr: &Expr) -> usize {
        let expr = expr.clone().unalias();
        match self.exprs.iter().position(|e| *e == expr) {
            Some(index) => index,
            None => {
                self.exprs.push(expr);
                self.exprs.len() - 1
            }
        }
    }

    /// Passes on the input's physical column.
    pub fn keep(&mut self, physical: usize) -> usize {
        match self.columns.iter().position(|c| *c == physical) {
            Some(logical) => {
                let column = Expr::Column(self.names[logical].clone());
                self.add(&column)
            }
            // A window's time column is always one of the relation's: it was found by name.
            None => self.add(&lit(datafusion_common::ScalarValue::Null)),
        }
    }

    pub fn call(&mut self, call: Call) -> AggregateCall {
        AggregateCall {
            function: call.function,
            args: call.args.iter().map(|a| self.add(a)).collect(),
            distinct: call.distinct,
            filter: call.filter.as_ref().map(|f| self.add(f)),
            field: call.field,
            text: call.text,
        }
    }
}
