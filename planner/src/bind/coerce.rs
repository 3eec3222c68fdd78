//! Types made to agree: DataFusion's coercion, after literals have been given Flink's types.

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_common::{DFSchema, Result, ScalarValue};
use datafusion_expr::expr::{Case, ScalarFunction};
use datafusion_expr::expr_rewriter::NamePreserver;
use datafusion_expr::simplify::SimplifyContext;
use datafusion_expr::utils::merge_schema;
use datafusion_expr::{Cast, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, ScalarUDF, TryCast, lit};
use datafusion_optimizer::analyzer::Analyzer;
use datafusion_optimizer::analyzer::resolve_grouping_function::ResolveGroupingFunction;
use datafusion_optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion_optimizer::simplify_expressions::ExprSimplifier;

use crate::functions::row::cast_by_position;
use crate::overflow::check_constants;

/// Coerces types and resolves GROUPING functions.
pub(crate) fn analyze(plan: LogicalPlan, date_format: &Arc<ScalarUDF>) -> Result<LogicalPlan> {
    let plan = int_literals(plan)?;
    let analyzer = Analyzer::with_rules(vec![Arc::new(ResolveGroupingFunction::new()), Arc::new(TypeCoercion::new())]);
    let coerced = analyzer.execute_and_check(plan, &ConfigOptions::new(), |_, _| {})?;
    texts(coerced, date_format)
}

/// A whole number that fits is an `INT`, as in Flink; DataFusion reads all of them as `BIGINT`.
fn int_literals(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        // LIMIT and OFFSET are counts, not values.
        LogicalPlan::Limit(_) => Ok(Transformed::no(node)),
        LogicalPlan::Values(values) => {
            let mut rows = values.values;
            uncast_nulls(&mut rows);
            let rows = rows.into_iter().map(|row| row.into_iter().map(int_literals_of).collect());
            let rows: Result<Vec<Vec<Expr>>> = rows.collect();
            LogicalPlanBuilder::values(rows?)?.build().map(Transformed::yes)
        }
        node => {
            let names = NamePreserver::new(&node);
            let mapped = node.map_expressions(|expr| {
                let saved = names.save(&expr);
                Ok(Transformed::yes(saved.restore(int_literals_of(expr)?)))
            })?;
            mapped.map_data(LogicalPlan::recompute_schema)
        }
    })
    .map(|t| t.data)
}

/// DataFusion has typed the NULLs of a column of whole numbers as `BIGINT`, which would then win over `INT`.
fn uncast_nulls(rows: &mut [Vec<Expr>]) {
    let width = rows.first().map_or(0, Vec::len);
    for column in 0..width {
        if !rows.iter().any(|row| matches!(row[column], Expr::Literal(ScalarValue::Int64(Some(_)), _))) {
            continue;
        }
        for row in rows.iter_mut() {
            let mut value = &row[column];
            while let Expr::Cast(cast) = value {
                value = cast.expr.as_ref();
            }
            if matches!(value, Expr::Literal(v, _) if v.is_null()) {
                row[column] = Expr::Literal(ScalarValue::Null, None);
            }
        }
    }
}

fn int_literals_of(expr: Expr) -> Result<Expr> {
    let narrowed = expr.transform_down(|e| match e {
        // What these functions yield depends on a number that must stay a plain literal, of the type they declare.
        Expr::ScalarFunction(call)
            if matches!(call.func.name(), "to_timestamp_ltz" | "round" | "truncate" | "sha2") =>
        {
            Ok(Transformed::new(Expr::ScalarFunction(call), false, TreeNodeRecursion::Jump))
        }
        Expr::Literal(ScalarValue::Int64(Some(v)), metadata) => match i32::try_from(v) {
            Ok(small) => Ok(Transformed::yes(Expr::Literal(ScalarValue::Int32(Some(small)), metadata))),
            Err(_) => Ok(Transformed::no(Expr::Literal(ScalarValue::Int64(Some(v)), metadata))),
        },
        other => Ok(Transformed::no(other)),
    });
    narrowed.map(|t| t.data)
}

/// Coerces and simplifies a single expression over `schema`.
pub(crate) fn coerce_expr(expr: Expr, schema: &DFSchema, date_format: &Arc<ScalarUDF>) -> Result<Expr> {
    let simplifier = ExprSimplifier::new(SimplifyContext::builder().with_schema(Arc::new(schema.clone())).build());
    let coerced = simplifier.coerce(int_literals_of(expr)?, schema)?;
    let coerced = coerced.transform_up(|e| text_of(e, schema, date_format))?.data;
    check_constants(&coerced)?;
    simplifier.simplify(coerced)
}

/// An instant becomes the wall-clock time of its zone, where arrow would drop the zone and keep UTC.
/// `CAST(… AS STRING)` writes booleans and timestamps as Flink does: `TRUE`, `2026-01-01 10:00:00.000`.
fn texts(plan: LogicalPlan, date_format: &Arc<ScalarUDF>) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let names = NamePreserver::new(&node);
        node.map_expressions(|expr| {
            let saved = names.save(&expr);
            let mapped = expr.transform_up(|e| text_of(e, &schema, date_format))?;
            Ok(mapped.update_data(|e| saved.restore(e)))
        })
    })
    .map(|t| t.data)
}

/// The cast of a timestamp to a lower precision: to the past, where arrow would round towards 1970. `None` if it is no
/// such cast.
pub(super) fn rounded_down(time: &Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    let (DataType::Timestamp(from, _), DataType::Timestamp(to_unit, _)) = (from, to) else { return None };
    let unit = unit_of_precision(*to_unit).filter(|_| to_unit < from)?;
    if is_whole(time, unit) {
        return None;
    }
    let whole = crate::functions::floor_to(time.clone(), unit);
    Some(Expr::Cast(Cast::new(Box::new(whole), to.clone())))
}

/// What a timestamp of that unit counts; nothing is finer than nanoseconds.
fn unit_of_precision(unit: TimeUnit) -> Option<&'static str> {
    match unit {
        TimeUnit::Second => Some("SECOND"),
        TimeUnit::Millisecond => Some("MILLISECOND"),
        TimeUnit::Microsecond => Some("MICROSECOND"),
        TimeUnit::Nanosecond => None,
    }
}

/// Is it rounded down to `unit` already? Types are made to agree more than once.
fn is_whole(time: &Expr, unit: &str) -> bool {
    let Expr::ScalarFunction(call) = time else { return false };
    call.func.name() == crate::functions::FLOOR_TO
        && matches!(&call.args[1], Expr::Literal(ScalarValue::Utf8(Some(name)), _) if name == unit)
}

fn text_of(expr: Expr, schema: &DFSchema, date_format: &Arc<ScalarUDF>) -> Result<Transformed<Expr>> {
    // What can be cast to these types at all can always be: TRY_CAST and CAST are one.
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) = &expr else {
        return Ok(Transformed::no(expr));
    };
    let inner_type = inner.get_type(schema)?;
    if matches!(inner_type, DataType::Timestamp(_, Some(_)))
        && matches!(field.data_type(), DataType::Timestamp(_, None) | DataType::Date32)
    {
        let local = crate::functions::to_local_time(inner.as_ref().clone());
        let local = Expr::Cast(Cast::new(Box::new(local), field.data_type().clone()));
        // The wall-clock time may have to lose precision, too.
        return text_of(local, schema, date_format).map(|t| Transformed::yes(t.data));
    }
    if let Some(cast) = rounded_down(inner, &inner_type, field.data_type()) {
        return Ok(Transformed::yes(cast));
    }
    if let Some(cast) = cast_by_position(inner, &inner_type, field.data_type()) {
        return Ok(Transformed::yes(cast));
    }
    if *field.data_type() != DataType::Utf8 {
        return Ok(Transformed::no(expr));
    }
    let written = match inner_type {
        DataType::Boolean => {
            // The value stands here once: twice at each of several levels would be a plan of exponential size.
            let when = |value: bool, text: &str| (Box::new(lit(value)), Box::new(lit(text)));
            let branches = vec![when(true, "TRUE"), when(false, "FALSE")];
            Expr::Case(Case::new(Some(inner.clone()), branches, None))
        }
        DataType::Timestamp(unit, _) => {
            let pattern = match unit {
                TimeUnit::Second => "yyyy-MM-dd HH:mm:ss",
                TimeUnit::Millisecond => "yyyy-MM-dd HH:mm:ss.SSS",
                TimeUnit::Microsecond => "yyyy-MM-dd HH:mm:ss.SSSSSS",
                TimeUnit::Nanosecond => "yyyy-MM-dd HH:mm:ss.SSSSSSSSS",
            };
            let args = vec![inner.as_ref().clone(), lit(pattern)];
            Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(date_format), args))
        }
        _ => return Ok(Transformed::no(expr)),
    };
    Ok(Transformed::yes(written))
}
