//! `TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), size [, offset]))` and its sisters, positional or with named arguments.

use std::sync::Arc;

use datafusion_common::{DFSchema, Result, ScalarValue};
use datafusion_expr::planner::{PlannedRelation, RelationPlannerContext};
use datafusion_expr::{Expr, Extension, LogicalPlan};
use sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, ObjectNamePart,
    Spanned, TableAlias, TableFactor,
};
use tidemark_parser::Diagnostic;

use super::errors::Finding;
use super::text::ScriptText;
use crate::codes::BAD_WINDOW;
use crate::logical::window_tvf::{WINDOW_END, WINDOW_START, WINDOW_TIME, WindowTvf};
use crate::stream_plan::WindowKind;

/// Is it the name of a window function?
pub(crate) fn is_window_function(name: &str) -> bool {
    matches!(name.to_ascii_uppercase().as_str(), "TUMBLE" | "HOP" | "CUMULATE" | "SESSION")
}

/// Plans a window function as a relation.
pub(crate) fn plan_window_tvf(
    function: &Function,
    alias: Option<TableAlias>,
    script: &ScriptText,
    ctx: &mut dyn RelationPlannerContext,
) -> Result<PlannedRelation> {
    let name = function.name.to_string().to_ascii_uppercase();
    let arguments = Arguments::of(function, &name, script)?;
    let input = ctx.plan(arguments.data.clone())?;
    for field in input.schema().fields() {
        if [WINDOW_START, WINDOW_END, WINDOW_TIME].contains(&field.name().as_str()) {
            return Err(arguments.refuse(
                script,
                format!("the input of {name} already has a column `{}`", field.name()),
                "select it under another name before the next window",
            ));
        }
    }
    let time = ctx.sql_to_expr(SqlExpr::Identifier(arguments.time.clone()), input.schema())?;
    let kind = arguments.window_kind(&name, script, ctx)?;
    let partition = arguments.partition.iter().map(|key| ctx.sql_to_expr(key.clone(), input.schema()));
    let partition = partition.collect::<Result<Vec<_>>>()?;
    let node = WindowTvf::try_new(Arc::new(input), time, kind, partition, script.span(arguments.time.span))?;
    Ok(PlannedRelation::new(LogicalPlan::Extension(Extension { node: Arc::new(node) }), alias))
}

struct Arguments<'f> {
    function: &'f Function,
    data: TableFactor,
    /// `PARTITION BY`
    partition: Vec<SqlExpr>,
    time: Ident,
    lengths: Vec<(String, SqlExpr)>,
}

/// The parameters behind DATA and TIMECOL, in positional order.
fn length_parameters(function: &str) -> &'static [&'static str] {
    match function {
        "TUMBLE" => &["SIZE", "OFFSET"],
        "HOP" => &["SLIDE", "SIZE", "OFFSET"],
        "SESSION" => &["GAP"],
        _ => &["STEP", "SIZE", "OFFSET"],
    }
}

impl<'f> Arguments<'f> {
    fn of(function: &'f Function, name: &str, script: &ScriptText) -> Result<Self> {
        let whole = script.span_of_call(function);
        let refuse = |message: String| -> datafusion_common::DataFusionError {
            let d = Diagnostic::error(BAD_WINDOW, message).at(whole).help(usage(name));
            Finding(d).into()
        };
        let FunctionArguments::List(list) = &function.args else {
            return Err(refuse(format!("{name} needs arguments")));
        };
        let (mut data, mut partition, mut time, mut lengths) = (None, vec![], None, vec![]);
        let mut given: Vec<String> = vec![];
        for (position, argument) in list.args.iter().enumerate() {
            let (parameter, expr) = match argument {
                FunctionArg::Named { name: parameter, arg: FunctionArgExpr::Expr(expr), .. } => {
                    (parameter.value.to_ascii_uppercase(), expr)
                }
                FunctionArg::ExprNamed { name: parameter, arg: FunctionArgExpr::Expr(expr), .. } => {
                    (parameter.to_string().trim_matches('`').to_ascii_uppercase(), expr)
                }
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => {
                    let parameter = match position {
                        0 => "DATA",
                        1 => "TIMECOL",
                        n => length_parameters(name).get(n - 2).copied().unwrap_or("?"),
                    };
                    (parameter.to_string(), expr)
                }
                other => return Err(refuse(format!("`{other}` is not an argument of {name}"))),
            };
            if parameter != "?" && given.contains(&parameter) {
                return Err(refuse(format!("{parameter} of {name} is given twice")));
            }
            given.push(parameter.clone());
            match parameter.as_str() {
                "DATA" => {
                    let (table, keys) = without_partition(expr);
                    if let (Some(key), true) = (keys.first(), name != "SESSION") {
                        let d = Diagnostic::error(
                            BAD_WINDOW,
                            format!("{name} has no PARTITION BY: all rows share its windows"),
                        );
                        return Err(
                            Finding(d.at(script.span_of(key)).help("put the column into GROUP BY instead")).into()
                        );
                    }
                    partition = keys;
                    data = Some(data_of(&table).ok_or_else(|| {
                        refuse(format!(
                            "the first argument of {name} is TABLE t or a subquery in parentheses, not `{expr}`"
                        ))
                    })?)
                }
                "TIMECOL" => {
                    time = Some(descriptor_of(expr).ok_or_else(|| {
                        refuse(format!("the time column of {name} is given as DESCRIPTOR(column), not `{expr}`"))
                    })?)
                }
                p if length_parameters(name).contains(&p) => lengths.push((parameter, expr.clone())),
                "?" => {
                    return Err(refuse(format!(
                        "{name} takes at most {} arguments",
                        length_parameters(name).len() + 2
                    )));
                }
                p => return Err(refuse(format!("{name} has no parameter {p}"))),
            }
        }
        match (data, time) {
            (Some(data), Some(time)) => Ok(Self { function, data, partition, time, lengths }),
            (None, _) => Err(refuse(format!("{name} lacks its input table"))),
            (_, None) => Err(refuse(format!("{name} lacks DESCRIPTOR(time column)"))),
        }
    }

    fn refuse(&self, script: &ScriptText, message: String, help: &str) -> datafusion_common::DataFusionError {
        Finding(Diagnostic::error(BAD_WINDOW, message).at(script.span_of_call(self.function)).help(help)).into()
    }

    fn window_kind(&self, name: &str, script: &ScriptText, ctx: &mut dyn RelationPlannerContext) -> Result<WindowKind> {
        let mut length = |parameter: &str| -> Result<Option<i64>> {
            let Some((_, expr)) = self.lengths.iter().find(|(p, _)| p == parameter) else { return Ok(None) };
            let planned = ctx.sql_to_expr(expr.clone(), &DFSchema::empty())?;
            match interval_ms(&planned) {
                Some(ms) => Ok(Some(ms)),
                None => Err(Finding(
                    Diagnostic::error(BAD_WINDOW, format!("`{expr}` is not an interval of fixed length"))
                        .at(script.span(expr.span()))
                        .help("write for example INTERVAL '10' MINUTE; months and years differ in length"),
                )
                .into()),
            }
        };
        if name == "SESSION" {
            return match length("GAP")? {
                Some(gap_ms) if gap_ms > 0 => Ok(WindowKind::Session { gap_ms }),
                Some(_) => Err(self.refuse(script, "the gap of SESSION must be positive".into(), usage(name))),
                None => Err(self.refuse(script, "SESSION lacks its gap".into(), usage(name))),
            };
        }
        let size = length("SIZE")?;
        let pace = match name {
            "TUMBLE" => None,
            "HOP" => length("SLIDE")?,
            _ => length("STEP")?,
        };
        let offset_ms = length("OFFSET")?.unwrap_or(0);
        let lengths = if name == "TUMBLE" { (size, Some(1)) } else { (size, pace) };
        let (Some(size_ms), Some(pace_ms)) = lengths else {
            return Err(self.refuse(script, format!("{name} lacks an interval"), usage(name)));
        };
        build_window(name, size_ms, pace_ms, offset_ms).map_err(|message| self.refuse(script, message, usage(name)))
    }
}

/// Checks lengths and builds the window; `pace_ms` is HOP's slide or CUMULATE's step.
pub(crate) fn build_window(name: &str, size_ms: i64, pace_ms: i64, offset_ms: i64) -> Result<WindowKind, String> {
    if size_ms <= 0 || pace_ms <= 0 {
        return Err(format!("the intervals of {name} must be positive"));
    }
    if offset_ms.abs() >= size_ms {
        return Err(format!("the offset of {name} must be smaller than the window"));
    }
    match name {
        "TUMBLE" => Ok(WindowKind::Tumble { size_ms, offset_ms }),
        _ if pace_ms > size_ms => Err(format!("the windows of {name} must not be shorter than their step")),
        _ if size_ms % pace_ms != 0 => Err(format!("the size of {name} must be a multiple of its step")),
        _ if size_ms / pace_ms > MAX_SLICES_PER_WINDOW => {
            Err(format!("a window of {name} may have at most {MAX_SLICES_PER_WINDOW} steps"))
        }
        "HOP" => Ok(WindowKind::Hop { size_ms, slide_ms: pace_ms, offset_ms }),
        _ => Ok(WindowKind::Cumulate { max_size_ms: size_ms, step_ms: pace_ms, offset_ms }),
    }
}

/// The most steps a window may consist of: each row of a bare window function is repeated so often.
pub const MAX_SLICES_PER_WINDOW: i64 = 100_000;

fn usage(name: &str) -> &'static str {
    match name {
        "TUMBLE" => "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR [, offset])",
        "HOP" => "HOP(TABLE t, DESCRIPTOR(ts), slide, size [, offset])",
        "SESSION" => "SESSION(TABLE t [PARTITION BY k, …], DESCRIPTOR(ts), gap)",
        _ => "CUMULATE(TABLE t, DESCRIPTOR(ts), step, size [, offset])",
    }
}

/// What calls the input of a session window that an older `GROUP BY SESSION(…), k` has been rewritten to. No user can
/// write this name.
pub(crate) const PARTITIONED: &str = "$partitioned";

/// The input and its keys: `TABLE t PARTITION BY k`, which the parser gives as a call `TABLE(t, k)`.
fn without_partition(expr: &SqlExpr) -> (SqlExpr, Vec<SqlExpr>) {
    let SqlExpr::Function(call) = expr else { return (expr.clone(), vec![]) };
    let mut call = call.clone();
    let FunctionArguments::List(list) = &mut call.args else { return (expr.clone(), vec![]) };
    let keys = list.args.split_off(list.args.len().min(1));
    let key_of = |arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(key)) => Some(key),
        _ => None,
    };
    let keys = keys.into_iter().filter_map(key_of).collect();
    match list.args.first() {
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(input))) if call.name.to_string() == PARTITIONED => {
            (input.clone(), keys)
        }
        _ => (SqlExpr::Function(call), keys),
    }
}

/// `TABLE t` (which the parser gives as a function named TABLE) or a subquery, as a relation.
fn data_of(expr: &SqlExpr) -> Option<TableFactor> {
    match expr {
        SqlExpr::Function(f) if f.name.to_string().eq_ignore_ascii_case("TABLE") => {
            let FunctionArguments::List(list) = &f.args else { return None };
            let [FunctionArg::Unnamed(FunctionArgExpr::Expr(table))] = list.args.as_slice() else { return None };
            let parts = match table {
                SqlExpr::Identifier(ident) => vec![ident.clone()],
                SqlExpr::CompoundIdentifier(parts) => parts.clone(),
                _ => return None,
            };
            Some(table_factor(ObjectName(parts.into_iter().map(ObjectNamePart::Identifier).collect())))
        }
        SqlExpr::Subquery(query) => {
            Some(TableFactor::Derived { lateral: false, subquery: query.clone(), alias: None, sample: None })
        }
        SqlExpr::Nested(inner) => data_of(inner),
        _ => None,
    }
}

/// `name` as a plain table factor.
pub(crate) fn table_factor(name: ObjectName) -> TableFactor {
    TableFactor::Table {
        name,
        alias: None,
        args: None,
        with_hints: vec![],
        version: None,
        with_ordinality: false,
        partitions: vec![],
        json_path: None,
        sample: None,
        index_hints: vec![],
    }
}

fn descriptor_of(expr: &SqlExpr) -> Option<Ident> {
    let SqlExpr::Function(f) = expr else { return None };
    let FunctionArguments::List(list) = &f.args else { return None };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(SqlExpr::Identifier(ident)))]
            if f.name.to_string().eq_ignore_ascii_case("DESCRIPTOR") =>
        {
            Some(ident.clone())
        }
        _ => None,
    }
}

/// An interval literal in milliseconds; `None` when it is none or has months.
pub(crate) fn interval_ms(expr: &Expr) -> Option<i64> {
    const DAY_MS: i64 = 86_400_000;
    match expr {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(v)), _) if v.months == 0 => {
            i64::from(v.days).checked_mul(DAY_MS)?.checked_add(v.nanoseconds / 1_000_000)
        }
        Expr::Literal(ScalarValue::IntervalDayTime(Some(v)), _) => {
            i64::from(v.days).checked_mul(DAY_MS)?.checked_add(i64::from(v.milliseconds))
        }
        Expr::Negative(inner) => interval_ms(inner).map(|ms| -ms),
        _ => None,
    }
}
