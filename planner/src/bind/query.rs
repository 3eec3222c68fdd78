//! Queries to logical plans: names resolved, types coerced, nothing optimised yet.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, FieldRef};
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_common::{DFSchema, DataFusionError, Result, Spans, TableReference};
use datafusion_expr::planner::{ContextProvider, ExprPlanner, RelationPlanner, TypePlanner};
use datafusion_expr::{
    AggregateUDF, Expr, ExprSchemable, HigherOrderUDF, LogicalPlan, LogicalPlanBuilder, ScalarUDF, TableSource,
    WindowUDF,
};
use datafusion_sql::planner::{NullOrdering, ParserOptions, PlannerContext, SqlToRel};
use sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArguments, GroupByExpr, Ident, LimitClause, Query, Select, SetExpr, SetOperator,
    Statement, TableFactor, Value, VisitMut, VisitorMut, visit_expressions_mut,
};
use tidemark_parser::{Diagnostic, code};

use super::coerce;
use super::conditions::check_conditions;
use super::diagnose;
use super::errors::Finding;
use super::expr_planner::FlinkExprPlanner;
use super::group_window::rewrite_group_window;
use super::lengths::rewrite_length;
use super::like::rewrite_like;
use super::limits::{MAX_VIEW_DEPTH, check_size, too_many_views};
use super::literals::rewrite_literal;
use super::match_recognize::is_pattern_function;
use super::output_names::{expand_wildcard, name_outputs};
use super::relation::{CatalogTable, FlinkRelations};
use super::text::ScriptText;
use super::unknown_function::unknown_function;
use crate::catalog::table::{Column, TableDef, ViewDef};
use crate::catalog::{Catalog, Relation};
use crate::codes::{BAD_DEFINITION, BAD_PATTERN, BAD_QUERY, UNKNOWN_NAME, UNSUPPORTED};
use crate::functions::{FunctionRegistry, syntax};
use crate::settings::Settings;
use crate::types;

/// The only catalog and its only database, by the names that they have in a new session of Flink's.
const CATALOG: &str = "default_catalog";
const DATABASE: &str = "default_database";

static CONFIG: LazyLock<ConfigOptions> = LazyLock::new(ConfigOptions::new);

/// Binds the queries of one script.
pub struct QueryBinder<'a> {
    catalog: &'a Catalog,
    settings: &'a Settings,
    text: &'a str,
    functions: FunctionRegistry,
    date_format: Arc<ScalarUDF>,
    flink: Arc<FlinkExprPlanner>,
    expr_planners: Vec<Arc<dyn ExprPlanner>>,
    relation_planners: Vec<Arc<dyn RelationPlanner>>,
    type_planner: Arc<dyn TypePlanner>,
    /// How many views select from what is bound.
    view_depth: usize,
}

impl<'a> QueryBinder<'a> {
    /// A binder for the script `text`.
    pub fn new(catalog: &'a Catalog, settings: &'a Settings, text: &'a str) -> Self {
        let time_zone: Arc<str> = Arc::from(settings.time_zone());
        let functions = FunctionRegistry::new(&time_zone);
        let mut expr_planners = crate::functions::expr_planner::expr_planners();
        let flink = Arc::new(FlinkExprPlanner::default());
        expr_planners.insert(0, Arc::clone(&flink) as Arc<dyn ExprPlanner>);
        let date_format = functions.scalar("date_format").expect("DATE_FORMAT is one of the functions");
        let relations = FlinkRelations {
            catalog: catalog.clone(),
            text: Arc::from(text),
            functions: functions.clone(),
            date_format: Arc::clone(&date_format),
            default_skip: settings.default_skip(),
        };
        Self {
            catalog,
            settings,
            text,
            date_format,
            functions,
            flink,
            expr_planners,
            relation_planners: vec![Arc::new(relations)],
            type_planner: Arc::new(FlinkTypes { time_zone }),
            view_depth: 0,
        }
    }

    /// The logical plan of `query`, with all types coerced.
    pub fn bind(&self, query: &Query) -> Result<LogicalPlan, Vec<Diagnostic>> {
        let script = ScriptText::new(self.text);
        let mut query = query.clone();
        qualified_names(&mut query);
        expand_wildcard(&mut query, |q| self.column_names(q, &script));
        name_outputs(&mut query, &script);
        self.prepare(&mut query, &script)?;
        let planned = self.sql_to_rel().sql_statement_to_plan(Statement::Query(Box::new(query)));
        let planned = planned.map_err(|e| self.flink.explain(e));
        let checked = planned.and_then(|plan| {
            check_size(&plan)?;
            check_conditions(&plan, &script).map(|()| plan)
        });
        checked.and_then(|plan| coerce::analyze(plan, &self.date_format)).map_err(|e| diagnose(&e, &script))
    }

    /// Table and name of each column that `query` yields; `None` when it cannot be planned.
    fn column_names(&self, mut query: Query, script: &ScriptText) -> Option<Vec<(Option<String>, String)>> {
        self.prepare(&mut query, script).ok()?;
        let plan = self.sql_to_rel().sql_statement_to_plan(Statement::Query(Box::new(query))).ok()?;
        let name = |column: datafusion_common::Column| (column.relation.map(|r| r.table().to_string()), column.name);
        Some(plan.schema().columns().into_iter().map(name).collect())
    }

    /// The coerced logical expression of `expr` over the columns of `table`.
    pub(crate) fn table_expr(&self, table: &TableDef, expr: &SqlExpr) -> Result<(Expr, DFSchema), Diagnostic> {
        let script = ScriptText::new(self.text);
        let first = |mut findings: Vec<Diagnostic>| findings.swap_remove(0);
        let mut expr = expr.clone();
        qualified_names(&mut expr);
        if let Some(call) = aggregate_in(&expr, &self.functions) {
            let d = Diagnostic::error(BAD_DEFINITION, "a table's expressions are of one row: there is no aggregate");
            return Err(d.at(script.span_of_call(&call)).help("aggregate in a query or a view over the table"));
        }
        self.prepare(&mut expr, &script).map_err(first)?;
        let bound = || -> Result<(Expr, DFSchema)> {
            let fields = table.columns.iter().filter(|c| c.data_type != DataType::Null).map(Column::field);
            let schema = DFSchema::from_unqualified_fields(fields.collect::<Vec<_>>().into(), Default::default())?;
            let logical = self.sql_to_rel().sql_to_expr(expr, &schema, &mut PlannerContext::new());
            let logical = logical.map_err(|e| self.flink.explain(e))?;
            Ok((coerce::coerce_expr(logical, &schema, &self.date_format)?, schema))
        };
        bound().map_err(|e| first(diagnose(&e, &script)))
    }

    /// Type and nullability of `expr` over the columns of `table`.
    pub(crate) fn bind_table_expr(&self, table: &TableDef, expr: &SqlExpr) -> Result<FieldRef, Diagnostic> {
        let (logical, schema) = self.table_expr(table, expr)?;
        let field = logical.to_field(&schema).map(|(_, field)| field);
        field.map_err(|e| diagnose(&e, &ScriptText::new(self.text)).swap_remove(0))
    }

    fn sql_to_rel(&self) -> SqlToRel<'_, Self> {
        let options = ParserOptions::new()
            .with_enable_ident_normalization(false)
            .with_map_string_types_to_utf8view(false)
            .with_parse_float_as_decimal(true)
            .with_collect_spans(true)
            .with_default_null_ordering(NullOrdering::NullsMin);
        SqlToRel::new_with_options(self, options)
    }

    /// Rewrites what DataFusion cannot plan into what it can, and refuses unknown functions at their place.
    fn prepare<N: VisitMut>(&self, node: &mut N, script: &ScriptText) -> Result<(), Vec<Diagnostic>> {
        let mut rewriter = Rewriter { functions: &self.functions, script, findings: vec![], in_pattern: vec![false] };
        let _ = node.visit(&mut rewriter);
        if rewriter.findings.is_empty() { Ok(()) } else { Err(rewriter.findings) }
    }

    /// The plan of a view. Its places are kept when its definition stands in this script; those in another script
    /// would point at words that have nothing to do with it.
    fn view_plan(&self, view: &ViewDef) -> Result<LogicalPlan> {
        if self.view_depth == MAX_VIEW_DEPTH {
            return Err(too_many_views());
        }
        let is_here = self.text.get(view.query_span.start..view.query_span.end) == Some(view.query_text.as_str());
        let mut binder = QueryBinder::new(self.catalog, self.settings, if is_here { self.text } else { "" });
        binder.view_depth = self.view_depth + 1;
        let plan = binder.bind(&view.query).map_err(|findings| {
            let unusable = |d: Diagnostic| {
                // It is about all views together.
                if d.code == code::TOO_DEEP {
                    return DataFusionError::from(Finding(Diagnostic { span: None, ..d }));
                }
                let message = format!("view `{}` cannot be used any more: {}", view.name, d.message);
                let d = Diagnostic::error(UNKNOWN_NAME, message).at(d.span.filter(|_| is_here));
                DataFusionError::from(Finding(d.help("drop it and create it anew")))
            };
            DataFusionError::Collection(findings.into_iter().map(unusable).collect())
        })?;
        let plan = if is_here { plan } else { without_places(plan)? };
        if view.columns.is_empty() {
            return Ok(plan);
        }
        let columns = plan.schema().columns().into_iter().zip(&view.columns);
        let renamed: Vec<Expr> = columns.map(|(column, name)| Expr::Column(column).alias(name)).collect();
        LogicalPlanBuilder::from(plan).project(renamed)?.build()
    }
}

/// The plan with columns that do not know where they were written.
fn without_places(plan: LogicalPlan) -> Result<LogicalPlan> {
    let forget = |expr: Expr| match expr {
        Expr::Column(mut column) if column.spans.first().is_some() => {
            column.spans = Spans::default();
            Ok(Transformed::yes(Expr::Column(column)))
        }
        other => Ok(Transformed::no(other)),
    };
    plan.transform_up_with_subqueries(|node| node.map_expressions(|expr| expr.transform_up(forget))).map(|t| t.data)
}

struct Rewriter<'a> {
    functions: &'a FunctionRegistry,
    script: &'a ScriptText<'a>,
    findings: Vec<Diagnostic>,
    /// Is the clause at hand MATCH_RECOGNIZE? One level for each that a query or such a clause opens.
    in_pattern: Vec<bool>,
}

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.in_pattern.push(false);
        if query.with.as_ref().is_some_and(|w| w.recursive) {
            let span = query.with.as_ref().and_then(|w| self.script.span_of(w));
            self.findings.push(Diagnostic::error(UNSUPPORTED, "WITH RECURSIVE is not supported on streams").at(span));
        }
        fetch_as_limit(query);
        if let Some(lock) = query.locks.first() {
            let d = Diagnostic::error(UNSUPPORTED, format!("{lock} is not supported: a query locks nothing"));
            self.findings.push(d.at(self.script.span_of(query)).help("leave it out"));
        }
        if let SetExpr::SetOperation { op, right, .. } = query.body.as_ref()
            && !matches!(op, SetOperator::Union)
        {
            let d = Diagnostic::error(UNSUPPORTED, format!("{op} is not supported yet"));
            self.findings.push(d.at(self.script.span_of(right.as_ref())));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.in_pattern.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if let Err(d) = rewrite_group_window(select, self.script) {
            self.findings.push(d);
        }
        if let Some(call) = select.selection.as_ref().and_then(|condition| aggregate_in(condition, self.functions)) {
            let d =
                Diagnostic::error(BAD_QUERY, "aggregates cannot be used in WHERE").at(self.script.span_of_call(&call));
            self.findings.push(d.help("write HAVING for a condition on groups"));
        }
        if let GroupByExpr::Expressions(groups, _) = &select.group_by
            && let Some(call) = groups.iter().find_map(|group| aggregate_in(group, self.functions))
        {
            let d = Diagnostic::error(BAD_QUERY, "aggregates cannot be used in GROUP BY");
            self.findings.push(d.at(self.script.span_of_call(&call)).help("aggregate in a query within FROM first"));
        }
        if let Some(hint) = select.optimizer_hints.first() {
            let d = Diagnostic::error(UNSUPPORTED, format!("the hint `{hint}` is not supported"));
            self.findings.push(d.at(self.script.span_of(select)).help("leave it out"));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if matches!(factor, TableFactor::MatchRecognize { .. }) {
            self.in_pattern.push(true);
        }
        // Other hints than OPTIONS are refused as hints, not as unknown functions.
        if let TableFactor::Table { with_hints, .. } = factor {
            for hint in std::mem::take(with_hints) {
                match &hint {
                    SqlExpr::Function(f) if f.name.to_string().eq_ignore_ascii_case("OPTIONS") => with_hints.push(hint),
                    other => self.findings.push(unsupported_hint(other, self.script)),
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if matches!(factor, TableFactor::MatchRecognize { .. }) {
            self.in_pattern.pop();
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut SqlExpr) -> ControlFlow<()> {
        self.findings.extend(rewrite_literal(expr, self.script));
        rewrite_length(expr);
        self.findings.extend(rewrite_like(expr, self.script));
        syntax::rewrite_expr(expr);
        let in_pattern = self.in_pattern.last() == Some(&true);
        if let SqlExpr::Function(function) = expr
            && is_pattern_function(&function.name.to_string())
        {
            if !in_pattern {
                let name = function.name.to_string().to_uppercase();
                let message = format!("{name} has a meaning in MATCH_RECOGNIZE only");
                self.findings.push(Diagnostic::error(BAD_PATTERN, message).at(self.script.span_of_call(function)));
            }
            return ControlFlow::Continue(());
        }
        // What cannot stand in a pattern is refused where the pattern is bound.
        if in_pattern && !matches!(expr, SqlExpr::Function(function) if function.over.is_none()) {
            return ControlFlow::Continue(());
        }
        let unsupported = match expr {
            SqlExpr::Function(function) if function.over.is_some() => Some("OVER is not supported yet"),
            SqlExpr::Function(function) => {
                self.findings.extend(unknown_function(self.functions, function, self.script));
                None
            }
            _ => None,
        };
        if let Some(message) = unsupported {
            self.findings.push(Diagnostic::error(UNSUPPORTED, message).at(self.script.span_of(expr)));
        }
        ControlFlow::Continue(())
    }
}

/// `t.user` is a column, although `user` alone is a function without parentheses.
fn qualified_names<N: VisitMut>(node: &mut N) {
    let _ = visit_expressions_mut(node, |expr: &mut SqlExpr| {
        if let SqlExpr::Function(Function { name, args: FunctionArguments::None, .. }) = expr
            && name.0.len() > 1
        {
            let parts: Option<Vec<Ident>> = name.0.iter().map(|part| part.as_ident().cloned()).collect();
            if let Some(parts) = parts {
                *expr = SqlExpr::CompoundIdentifier(parts);
            }
        }
        ControlFlow::<()>::Continue(())
    });
}

/// The first call of an aggregate in `condition`, subqueries left out.
fn aggregate_in(condition: &SqlExpr, functions: &FunctionRegistry) -> Option<Function> {
    let mut found = None;
    let _ = sqlparser::ast::visit_expressions(condition, |e| match e {
        SqlExpr::Subquery(_) | SqlExpr::InSubquery { .. } | SqlExpr::Exists { .. } => ControlFlow::Break(()),
        SqlExpr::Function(f)
            if f.over.is_none() && functions.aggregate(&f.name.to_string().to_lowercase()).is_some() =>
        {
            found = Some(f.clone());
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    found
}

/// `FETCH NEXT n ROWS ONLY` is `LIMIT n`.
fn fetch_as_limit(query: &mut Query) {
    let limit = match &query.fetch {
        Some(fetch) if !fetch.percent && !fetch.with_ties => fetch.quantity.clone().unwrap_or_else(|| number("1")),
        _ => return,
    };
    match &mut query.limit_clause {
        Some(LimitClause::LimitOffset { limit: own @ None, .. }) => *own = Some(limit),
        None => {
            query.limit_clause = Some(LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by: vec![] })
        }
        Some(_) => return,
    }
    query.fetch = None;
}

fn number(digits: &str) -> SqlExpr {
    SqlExpr::value(Value::Number(digits.into(), false))
}

fn unsupported_hint(hint: &SqlExpr, script: &ScriptText) -> Diagnostic {
    let (name, span) = match hint {
        SqlExpr::Function(f) => (f.name.to_string().to_uppercase(), script.span_of_call(f)),
        other => (other.to_string(), script.span_of(other)),
    };
    let d = Diagnostic::error(BAD_QUERY, format!("the hint {name} is not supported")).at(span);
    d.help("write /*+ OPTIONS('key' = 'value') */")
}

impl ContextProvider for QueryBinder<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        refuse_elsewhere(&name)?;
        match self.catalog.relation(name.table()) {
            Some(Relation::Table(def)) => Ok(Arc::new(CatalogTable::new(def.in_zone(self.settings.time_zone())))),
            Some(Relation::View(view)) => Ok(Arc::new(ViewSource { plan: self.view_plan(view)? })),
            None => {
                let d = super::ddl::unknown_relation(self.catalog, name.table(), Default::default());
                Err(Finding(Diagnostic { span: None, ..d }).into())
            }
        }
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.expr_planners
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        &self.relation_planners
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::clone(&self.type_planner))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.functions.scalar(&name.to_lowercase())
    }

    fn get_higher_order_meta(&self, _name: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.functions.aggregate(&name.to_lowercase())
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.functions.window(&name.to_lowercase())
    }

    fn get_variable_type(&self, _variable_names: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &CONFIG
    }

    fn udf_names(&self) -> Vec<String> {
        vec![]
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        vec![]
    }

    fn udaf_names(&self) -> Vec<String> {
        vec![]
    }

    fn udwf_names(&self) -> Vec<String> {
        vec![]
    }
}

/// Refuses a name that says another catalog or database than the only ones.
fn refuse_elsewhere(name: &TableReference) -> Result<()> {
    let is_here = name.catalog().is_none_or(|c| c == CATALOG) && name.schema().is_none_or(|s| s == DATABASE);
    if is_here {
        return Ok(());
    }
    let d = Diagnostic::error(UNKNOWN_NAME, format!("there is no table or view `{name}`"));
    let way_out =
        format!("`{CATALOG}` is the only catalog and `{DATABASE}` the only database: write `{}`", name.table());
    Err(Finding(d.help(way_out)).into())
}

/// A view: DataFusion puts its plan in place of a scan.
#[derive(Debug)]
struct ViewSource {
    plan: LogicalPlan,
}

impl TableSource for ViewSource {
    fn schema(&self) -> arrow::datatypes::SchemaRef {
        Arc::new(self.plan.schema().as_arrow().clone())
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        Some(Cow::Borrowed(&self.plan))
    }
}

/// Types in CAST mean what they mean in CREATE TABLE.
#[derive(Debug)]
struct FlinkTypes {
    time_zone: Arc<str>,
}

impl TypePlanner for FlinkTypes {
    fn plan_type_field(&self, sql_type: &sqlparser::ast::DataType) -> Result<Option<FieldRef>> {
        let kind = tidemark_parser::sql_type_of(sql_type);
        let data_type = kind.and_then(|kind| types::to_arrow(&kind, &self.time_zone)).map_err(DataFusionError::Plan)?;
        Ok(Some(Arc::new(arrow::datatypes::Field::new("", data_type, true))))
    }
}
