//! The older form of windows, `GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)`, rewritten into a window function:
//!
//! ```sql
//! SELECT TUMBLE_START(ts, INTERVAL '1' HOUR), COUNT(*) FROM t WHERE x GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)
//! -- becomes
//! SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) WHERE x
//! GROUP BY window_start, window_end
//! ```
//!
//! Sessions are of the other keys, and of the rows that WHERE leaves:
//!
//! ```sql
//! SELECT k, COUNT(*) FROM t WHERE x GROUP BY SESSION(ts, INTERVAL '1' HOUR), k
//! -- becomes
//! SELECT k, COUNT(*)
//! FROM TABLE(SESSION((SELECT * FROM t WHERE x) PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' HOUR)) AS t
//! GROUP BY window_start, window_end, k
//! ```

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, GroupByExpr,
    Ident, ObjectName, ObjectNamePart, Select, SelectItem, SetExpr, TableAlias, TableFactor, VisitMut, VisitorMut,
    visit_expressions_mut,
};
use tidemark_parser::Diagnostic;

use super::text::ScriptText;
use super::window_tvf::PARTITIONED;
use crate::codes::{BAD_WINDOW, UNSUPPORTED};
use crate::logical::window_tvf::{WINDOW_END, WINDOW_START, WINDOW_TIME};

/// Rewrites `select` in place when it groups by a window; leaves it alone otherwise.
pub(crate) fn rewrite_group_window(select: &mut Select, script: &ScriptText) -> Result<(), Diagnostic> {
    let GroupByExpr::Expressions(groups, _) = &select.group_by else { return Ok(()) };
    let windows: Vec<&Function> = groups.iter().filter_map(group_window).collect();
    let window = match windows.as_slice() {
        [] => return Ok(()),
        [one] => (*one).clone(),
        [_, second, ..] => {
            return Err(
                Diagnostic::error(BAD_WINDOW, "a query groups by one window at most").at(script.span_of(*second))
            );
        }
    };
    let tvf = tvf_of(&window, script)?;
    let is_session = window.name.to_string().eq_ignore_ascii_case("SESSION");
    let keys = is_session.then(|| groups.iter().filter(|g| group_window(g).is_none()).cloned().collect());
    wrap_input(select, tvf, keys, &window, script)?;
    let mut marks = WindowMarks { window: &window, script, uses_time: false, finding: None };
    let _ = select.projection.visit(&mut marks);
    let _ = select.having.visit(&mut marks);
    if let Some(finding) = marks.finding {
        return Err(finding);
    }
    let uses_time = marks.uses_time;
    alias_unnamed(select);
    if let GroupByExpr::Expressions(groups, _) = &mut select.group_by {
        groups.retain(|g| group_window(g).is_none());
        let names = [WINDOW_START, WINDOW_END].into_iter().chain(uses_time.then_some(WINDOW_TIME));
        groups.splice(0..0, names.map(column));
    }
    Ok(())
}

fn column(name: &str) -> SqlExpr {
    SqlExpr::Identifier(Ident::new(name))
}

/// `TUMBLE(column, interval …)`, not the window function (whose first argument is a table).
fn group_window(expr: &SqlExpr) -> Option<&Function> {
    let SqlExpr::Function(f) = expr else { return None };
    matches!(f.name.to_string().to_ascii_uppercase().as_str(), "TUMBLE" | "HOP" | "SESSION").then_some(f)
}

fn arguments(function: &Function) -> Vec<&SqlExpr> {
    let FunctionArguments::List(list) = &function.args else { return vec![] };
    let expr_of = |a: &'_ FunctionArg| matches!(a, FunctionArg::Unnamed(FunctionArgExpr::Expr(_)));
    list.args
        .iter()
        .filter(|a| expr_of(a))
        .filter_map(|a| match a {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
            _ => None,
        })
        .collect()
}

/// The arguments of the window function behind its table: `DESCRIPTOR(ts), intervals …`.
fn tvf_of(window: &Function, script: &ScriptText) -> Result<Vec<SqlExpr>, Diagnostic> {
    let args = arguments(window);
    let time = match args.first() {
        Some(SqlExpr::Identifier(ident)) => ident.clone(),
        Some(SqlExpr::CompoundIdentifier(parts)) if !parts.is_empty() => parts[parts.len() - 1].clone(),
        _ => {
            return Err(Diagnostic::error(BAD_WINDOW, format!("`{window}` does not start with a time column"))
                .at(script.span_of(window))
                .help("write for example TUMBLE(ts, INTERVAL '1' HOUR)"));
        }
    };
    let descriptor = call("DESCRIPTOR", vec![SqlExpr::Identifier(time)]);
    Ok(std::iter::once(descriptor).chain(args[1..].iter().map(|e| (*e).clone())).collect())
}

/// `session_keys` are the other keys of GROUP BY when the window is a session.
fn wrap_input(
    select: &mut Select,
    tvf: Vec<SqlExpr>,
    session_keys: Option<Vec<SqlExpr>>,
    window: &Function,
    script: &ScriptText,
) -> Result<(), Diagnostic> {
    let unsupported = || {
        Diagnostic::error(UNSUPPORTED, "GROUP BY a window over a join or several tables is not supported")
            .at(script.span_of(window))
            .help("put the join into a view or subquery, and use TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), …))")
    };
    let [from] = select.from.as_mut_slice() else { return Err(unsupported()) };
    if !from.joins.is_empty() {
        return Err(unsupported());
    }
    let (data, alias) = match &from.relation {
        relation if session_keys.is_some() && select.selection.is_some() => {
            let mut query = sqlparser::ast::Query::from_factor(relation.clone());
            if let SetExpr::Select(inner) = query.body.as_mut() {
                inner.selection = select.selection.take();
            }
            (SqlExpr::Subquery(Box::new(query)), name_of(relation))
        }
        TableFactor::Table { name, alias, args: None, with_hints, .. } if with_hints.is_empty() => {
            let parts: Vec<Ident> = name.0.iter().filter_map(|p| p.as_ident().cloned()).collect();
            (call("TABLE", vec![SqlExpr::CompoundIdentifier(parts)]), alias.clone())
        }
        relation @ TableFactor::Table { args: None, .. } => {
            let query = sqlparser::ast::Query::from_factor(relation.clone());
            (SqlExpr::Subquery(Box::new(query)), None)
        }
        TableFactor::Derived { subquery, alias, lateral: false, .. } => {
            (SqlExpr::Subquery(subquery.clone()), alias.clone())
        }
        _ => return Err(unsupported()),
    };
    let data = match session_keys {
        Some(mut keys) => {
            let names: Vec<Ident> = alias.iter().chain(&name_of(&from.relation)).map(|a| a.name.clone()).collect();
            keys.iter_mut().for_each(|key| unqualify(key, &names));
            call(PARTITIONED, std::iter::once(data).chain(keys).collect())
        }
        None => data,
    };
    let args = std::iter::once(data).chain(tvf).collect();
    let name = window.name.to_string();
    from.relation = TableFactor::TableFunction { expr: call(&name, args), alias };
    Ok(())
}

/// What columns of the relation are qualified with: its alias, or its name.
fn name_of(relation: &TableFactor) -> Option<TableAlias> {
    match relation {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(alias.clone())
        }
        TableFactor::Table { name, .. } => {
            let name = name.0.last()?.as_ident()?.clone();
            Some(TableAlias { explicit: true, name, columns: vec![], at: None })
        }
        _ => None,
    }
}

/// `t.k` becomes `k`: within the window function, the table has no alias.
fn unqualify(key: &mut SqlExpr, names: &[Ident]) {
    let _ = visit_expressions_mut(key, |expr| {
        if let SqlExpr::CompoundIdentifier(parts) = expr
            && let [qualifier, column] = parts.as_slice()
            && names.iter().any(|name| name.value == qualifier.value)
        {
            *expr = SqlExpr::Identifier(column.clone());
        }
        ControlFlow::<()>::Continue(())
    });
}

/// `SELECT * FROM factor`
trait FromFactor {
    fn from_factor(factor: TableFactor) -> Self;
}

impl FromFactor for sqlparser::ast::Query {
    fn from_factor(factor: TableFactor) -> Self {
        use sqlparser::ast::{SetExpr, TableWithJoins, helpers::attached_token::AttachedToken};
        let select = Select {
            select_token: AttachedToken::empty(),
            optimizer_hints: vec![],
            distinct: None,
            select_modifiers: None,
            top: None,
            top_before_distinct: false,
            projection: vec![SelectItem::Wildcard(Default::default())],
            exclude: None,
            into: None,
            from: vec![TableWithJoins { relation: factor, joins: vec![] }],
            lateral_views: vec![],
            prewhere: None,
            selection: None,
            connect_by: vec![],
            group_by: GroupByExpr::Expressions(vec![], vec![]),
            cluster_by: vec![],
            distribute_by: vec![],
            sort_by: vec![],
            having: None,
            named_window: vec![],
            qualify: None,
            window_before_qualify: false,
            value_table_mode: None,
            flavor: sqlparser::ast::SelectFlavor::Standard,
        };
        sqlparser::ast::Query {
            with: None,
            body: Box::new(SetExpr::Select(Box::new(select))),
            order_by: None,
            limit_clause: None,
            fetch: None,
            locks: vec![],
            for_clause: None,
            settings: None,
            format_clause: None,
            pipe_operators: vec![],
        }
    }
}

fn call(name: &str, args: Vec<SqlExpr>) -> SqlExpr {
    SqlExpr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(Ident::new(name))]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.into_iter().map(|e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e))).collect(),
            clauses: vec![],
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: vec![],
    })
}

/// `TUMBLE_START(ts, …)` and the like become columns of the window.
struct WindowMarks<'a> {
    window: &'a Function,
    script: &'a ScriptText<'a>,
    uses_time: bool,
    finding: Option<Diagnostic>,
}

impl VisitorMut for WindowMarks<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut SqlExpr) -> ControlFlow<()> {
        let SqlExpr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let name = function.name.to_string().to_ascii_uppercase();
        let Some((window, mark)) = name.split_once('_') else { return ControlFlow::Continue(()) };
        let replacement = match mark {
            "START" => WINDOW_START,
            "END" => WINDOW_END,
            "ROWTIME" | "PROCTIME" => WINDOW_TIME,
            _ => return ControlFlow::Continue(()),
        };
        if !matches!(window, "TUMBLE" | "HOP" | "SESSION") {
            return ControlFlow::Continue(());
        }
        let same_window = window == self.window.name.to_string().to_ascii_uppercase()
            && arguments(function)
                .iter()
                .map(|e| e.to_string())
                .eq(arguments(self.window).iter().map(|e| e.to_string()));
        if !same_window {
            self.finding = Some(
                Diagnostic::error(
                    BAD_WINDOW,
                    format!("`{function}` speaks of another window than GROUP BY {}", self.window),
                )
                .at(self.script.span_of_call(function))
                .help("repeat the window's arguments exactly"),
            );
            return ControlFlow::Break(());
        }
        self.uses_time |= replacement == WINDOW_TIME;
        *expr = column(replacement);
        ControlFlow::Continue(())
    }
}

/// A window column that is selected twice gets a number behind its name, as two columns of a result may not share one.
fn alias_unnamed(select: &mut Select) {
    let mut seen: Vec<String> = vec![];
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(SqlExpr::Identifier(ident)) = item else { continue };
        if [WINDOW_START, WINDOW_END, WINDOW_TIME].contains(&ident.value.as_str()) {
            let count = seen.iter().filter(|s| **s == ident.value).count();
            seen.push(ident.value.clone());
            if count > 0 {
                let alias = Ident::new(format!("{}{}", ident.value, count));
                *item = SelectItem::ExprWithAlias { expr: SqlExpr::Identifier(ident.clone()), alias };
            }
        }
    }
}
