//! `MATCH_RECOGNIZE (…)`: variables, conditions and measures resolved against the input.
//!
//! An expression inside the clause is cut in two: the leaves, which the pattern determines (`A.x`, `PREV(A.x)`,
//! `SUM(B.y)`, `CLASSIFIER()`), and the ordinary expression over them.
//!
//! ```text
//! A.price < LAST(B.price, 1) * 2     ->     $0 < $1 * 2     $0: price of the last A, $1: price of the last B but one
//! ```

mod calls;
mod expression;
mod leaves;
mod resolve;
mod row_expression;
mod variables;

use std::sync::Arc;

use datafusion_common::{Column, DataFusionError, Result};
use datafusion_expr::planner::{PlannedRelation, RelationPlannerContext};
use datafusion_expr::{Expr, Extension, LogicalPlan, ScalarUDF, SortExpr};
use sqlparser::ast::{
    AfterMatchSkip, EmptyMatchesMode, Expr as SqlExpr, Ident, OrderByExpr, RowsPerMatch, Spanned, TableFactor,
};
use tidemark_parser::match_recognize::MatchRecognize as Clause;
use tidemark_parser::{Diagnostic, Span, suggest};

use super::coerce;
use super::conditions::check_conditions;
use super::errors::Finding;
use super::text::ScriptText;
use super::window_tvf::interval_ms;
use crate::codes::{BAD_PATTERN, UNKNOWN_NAME};
use crate::functions::FunctionRegistry;
use crate::logical::match_recognize::{BoundExpr, BoundVariable, MatchPlaces, MatchRecognize, MatchSpec};
use crate::stream_plan::match_recognize::{MatchRows, MatchSkip};
use expression::ExprBinder;
use variables::{Variables, canonical};

pub(crate) use calls::is_pattern_function;

/// What binding the clause needs from the session.
pub(crate) struct MatchContext<'s> {
    pub functions: &'s FunctionRegistry,
    pub date_format: &'s Arc<ScalarUDF>,
    /// The meaning of a clause without AFTER MATCH SKIP.
    pub default_skip: MatchSkip,
}

/// Plans the clause over its input as a relation.
pub(crate) fn plan_match_recognize(
    factor: &TableFactor,
    script: &ScriptText,
    session: &MatchContext,
    ctx: &mut dyn RelationPlannerContext,
) -> Result<PlannedRelation> {
    let Some((clause, table, alias)) = Clause::of(factor) else {
        return Err(DataFusionError::Internal("not a MATCH_RECOGNIZE".into()));
    };
    // What the clause computes depends on the types of its input, which are known once it is analysed.
    let input = ctx.plan(table.clone())?;
    check_conditions(&input, script)?;
    let input = coerce::analyze(input, session.date_format)?;
    let variables = Variables::of(&clause, script)?;
    let pattern = resolve::resolve_pattern(&clause.pattern, &variables, script)?;
    let rows = match_rows(&clause.rows_per_match);
    resolve::check_exclusion(&clause.pattern, rows, script)?;
    let partition_by = clause.partition_by.iter().map(|key| column_of(key, &input, "PARTITION BY", script));
    let partition_by = partition_by.collect::<Result<Vec<_>>>()?;
    let order_by = clause.order_by.iter().map(|key| order_key(key, &input, script)).collect::<Result<Vec<_>>>()?;
    if order_by.is_empty() {
        let place = resolve::span_of_pattern(&clause.pattern, script);
        return refuse(place, "MATCH_RECOGNIZE lacks ORDER BY", "order the rows by the time attribute: ORDER BY ts");
    }
    let within_ms = clause.within.as_ref().map(|bound| within_ms(bound, script, ctx)).transpose()?;
    let skip = match &clause.after_match_skip {
        Some(skip) => match_skip(skip, &variables, script)?,
        None => session.default_skip.clone(),
    };
    let places = MatchPlaces {
        pattern: resolve::span_of_pattern(&clause.pattern, script),
        order: clause.order_by.first().and_then(|key| place(script, key.expr.span())),
        within: clause.within.as_ref().and_then(|bound| place(script, bound.span())),
        default_skip: clause.after_match_skip.is_none(),
    };
    let mut binder = ExprBinder::new(script, session, ctx, &input, &variables, &pattern, rows, &order_by)?;
    let (bound_variables, measures) = bind_expressions(&clause, &mut binder)?;
    check_names(&clause, &partition_by, &input, rows, script)?;
    let spec = MatchSpec {
        partition_by,
        order_by,
        pattern,
        variables: bound_variables,
        within_ms,
        skip,
        rows,
        measures,
        places,
    };
    let node = MatchRecognize::try_new(Arc::new(input), Arc::new(spec))?;
    Ok(PlannedRelation::new(LogicalPlan::Extension(Extension { node: Arc::new(node) }), alias.cloned()))
}

/// All conditions and measures; all that is wrong with them at once.
fn bind_expressions(clause: &Clause, binder: &mut ExprBinder) -> Result<(Vec<BoundVariable>, Vec<BoundExpr>)> {
    let (mut errors, mut measures) = (vec![], vec![]);
    let mut variables: Vec<BoundVariable> =
        binder.variable_names().map(|name| BoundVariable { name: name.into(), row: None, path: None }).collect();
    for definition in &clause.define {
        match binder.condition(definition) {
            Ok((variable, row, path)) => {
                variables[variable].row = row;
                variables[variable].path = path;
            }
            Err(error) => errors.push(error),
        }
    }
    for measure in &clause.measures {
        match binder.measure(&measure.expr, &measure.alias) {
            Ok(bound) => measures.push(bound),
            Err(error) => errors.push(error),
        }
    }
    match errors.len() {
        0 => Ok((variables, measures)),
        1 => Err(errors.swap_remove(0)),
        _ => Err(DataFusionError::Collection(errors)),
    }
}

/// Two output columns must not have one name.
fn check_names(
    clause: &Clause,
    partition_by: &[Column],
    input: &LogicalPlan,
    rows: MatchRows,
    script: &ScriptText,
) -> Result<()> {
    let mut taken: Vec<String> = partition_by.iter().map(|column| column.name.clone()).collect();
    if matches!(rows, MatchRows::All { .. }) {
        taken.extend(input.schema().fields().iter().map(|field| field.name().clone()));
    }
    for measure in &clause.measures {
        if taken.contains(&measure.alias.value) {
            let message = format!("two columns of the result are named `{}`", measure.alias.value);
            return refuse(place(script, measure.alias.span), &message, "give the measure another name");
        }
        taken.push(measure.alias.value.clone());
    }
    Ok(())
}

fn match_rows(rows: &RowsPerMatch) -> MatchRows {
    match rows {
        RowsPerMatch::OneRow => MatchRows::One,
        RowsPerMatch::AllRows(mode) => MatchRows::All {
            show_empty: !matches!(mode, Some(EmptyMatchesMode::Omit)),
            with_unmatched: matches!(mode, Some(EmptyMatchesMode::WithUnmatched)),
        },
    }
}

fn match_skip(skip: &AfterMatchSkip, variables: &Variables, script: &ScriptText) -> Result<MatchSkip> {
    let to = |name: &Ident, to_last: bool| match variables.set_of(name) {
        Some(set) => Ok(MatchSkip::ToVariable { variables: set, to_last, name: canonical(name) }),
        None => Err(variables.unknown(name, script)),
    };
    match skip {
        AfterMatchSkip::PastLastRow => Ok(MatchSkip::PastLastRow),
        AfterMatchSkip::ToNextRow => Ok(MatchSkip::ToNextRow),
        AfterMatchSkip::ToFirst(name) => to(name, false),
        AfterMatchSkip::ToLast(name) => to(name, true),
    }
}

fn within_ms(bound: &SqlExpr, script: &ScriptText, ctx: &mut dyn RelationPlannerContext) -> Result<i64> {
    let planned = ctx.sql_to_expr(bound.clone(), &datafusion_common::DFSchema::empty())?;
    match interval_ms(&planned) {
        Some(ms) if ms > 0 => Ok(ms),
        _ => refuse(
            place(script, bound.span()),
            &format!("`{bound}` is not a positive interval of fixed length"),
            "write for example WITHIN INTERVAL '1' HOUR; months and years differ in length",
        ),
    }
}

fn order_key(key: &OrderByExpr, input: &LogicalPlan, script: &ScriptText) -> Result<SortExpr> {
    let column = column_of(&key.expr, input, "ORDER BY", script)?;
    let asc = key.options.asc.unwrap_or(true);
    Ok(SortExpr::new(Expr::Column(column), asc, key.options.nulls_first.unwrap_or(asc)))
}

/// A bare column of the input.
fn column_of(expr: &SqlExpr, input: &LogicalPlan, clause: &str, script: &ScriptText) -> Result<Column> {
    let span = place(script, expr.span());
    let SqlExpr::Identifier(name) = expr else {
        let message = format!("{clause} of MATCH_RECOGNIZE takes columns of its input, not `{expr}`");
        return refuse(span, &message, "compute it in a subquery: FROM (SELECT …) MATCH_RECOGNIZE (…)");
    };
    find_column(name, input, span)
}

/// The input's column of that name.
fn find_column(name: &Ident, input: &LogicalPlan, span: Option<Span>) -> Result<Column> {
    let schema = input.schema();
    let found = schema.columns_with_unqualified_name(&name.value);
    match found.as_slice() {
        [column] => Ok(column.clone()),
        [] => {
            let mut d = Diagnostic::error(UNKNOWN_NAME, format!("there is no column `{}`", name.value)).at(span);
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            d.help = match suggest(&name.value, names.iter().copied()) {
                Some(near) => Some(format!("did you mean `{near}`?")),
                None => Some(format!("columns in reach: {}", names.join(", "))),
            };
            Err(Finding(d).into())
        }
        _ => {
            let message = format!("`{}` is ambiguous: several columns of the input have this name", name.value);
            let d = Diagnostic::error(UNKNOWN_NAME, message).at(span);
            Err(Finding(d.help("give them different names in a subquery")).into())
        }
    }
}

/// A span in the script; none for the text of a view, whose script is gone.
fn place(script: &ScriptText, span: sqlparser::tokenizer::Span) -> Option<Span> {
    if script.text.is_empty() { None } else { script.span(span) }
}

fn refuse<T>(span: Option<Span>, message: &str, help: &str) -> Result<T> {
    Err(Finding(Diagnostic::error(BAD_PATTERN, message).at(span).help(help)).into())
}
