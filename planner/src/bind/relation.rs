//! Table factors: plain tables with hints, window functions, and what must be refused rather than ignored.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion_common::Result;
use datafusion_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion_expr::{LogicalPlanBuilder, ScalarUDF, TableSource};
use sqlparser::ast::{
    BinaryOperator, Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments,
    ObjectName, Spanned, TableFactor, Value,
};
use tidemark_parser::ast::{Name, OptionEntry};
use tidemark_parser::{Diagnostic, Span};

use super::errors::Finding;
use super::match_recognize::{MatchContext, plan_match_recognize};
use super::table_options::merge_hint;
use super::text::ScriptText;
use super::window_tvf::{is_window_function, plan_window_tvf, table_factor};
use crate::catalog::Catalog;
use crate::catalog::table::{Column, TableDef};
use crate::codes::{BAD_QUERY, UNKNOWN_NAME, UNSUPPORTED};
use crate::functions::FunctionRegistry;
use crate::stream_plan::match_recognize::MatchSkip;

/// A table of the catalog as DataFusion sees it: all columns, computed and metadata ones included.
#[derive(Debug)]
pub(crate) struct CatalogTable {
    pub def: Arc<TableDef>,
    schema: SchemaRef,
}

impl CatalogTable {
    pub fn new(def: Arc<TableDef>) -> Self {
        let schema = Arc::new(Schema::new(def.columns.iter().map(Column::field).collect::<Vec<_>>()));
        Self { def, schema }
    }
}

impl TableSource for CatalogTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Plans the table factors that DataFusion does not know or would half understand.
#[derive(Debug)]
pub(crate) struct FlinkRelations {
    pub catalog: Catalog,
    pub text: Arc<str>,
    pub functions: FunctionRegistry,
    pub date_format: Arc<ScalarUDF>,
    pub default_skip: MatchSkip,
}

impl RelationPlanner for FlinkRelations {
    fn plan_relation(&self, relation: TableFactor, ctx: &mut dyn RelationPlannerContext) -> Result<RelationPlanning> {
        let script = ScriptText::new(&self.text);
        match relation {
            TableFactor::Table { name, args: Some(args), alias, .. } => {
                let function = Function {
                    name,
                    uses_odbc_syntax: false,
                    parameters: FunctionArguments::None,
                    args: FunctionArguments::List(FunctionArgumentList {
                        duplicate_treatment: None,
                        args: args.args,
                        clauses: vec![],
                    }),
                    filter: None,
                    null_treatment: None,
                    over: None,
                    within_group: vec![],
                };
                self.plan_function(&function, alias, &script, ctx)
            }
            TableFactor::TableFunction { expr: SqlExpr::Function(function), alias } => {
                self.plan_function(&function, alias, &script, ctx)
            }
            TableFactor::Table { name, alias, with_hints, version, .. }
                if version.is_some() || !with_hints.is_empty() =>
            {
                if version.is_some() {
                    return refuse(
                        &script,
                        script.span_of(&name),
                        "temporal joins (FOR SYSTEM_TIME AS OF) are not supported yet",
                    );
                }
                self.plan_hinted(&name, &with_hints, alias, &script, ctx)
            }
            TableFactor::Table { ref sample, ref index_hints, ref partitions, with_ordinality, .. }
                if sample.is_some() || !index_hints.is_empty() || !partitions.is_empty() || with_ordinality =>
            {
                refuse(
                    &script,
                    script.span(relation.span()),
                    "TABLESAMPLE, index hints, partitions and WITH ORDINALITY are not supported on a table",
                )
            }
            factor @ TableFactor::MatchRecognize { .. } => {
                let session = MatchContext {
                    functions: &self.functions,
                    date_format: &self.date_format,
                    default_skip: self.default_skip.clone(),
                };
                let planned = plan_match_recognize(&factor, &script, &session, ctx)?;
                Ok(RelationPlanning::Planned(Box::new(planned)))
            }
            TableFactor::UNNEST { .. } => refuse(&script, script.span(relation.span()), "UNNEST is not supported yet"),
            TableFactor::Function { .. } => {
                refuse(&script, script.span(relation.span()), "LATERAL table functions are not supported yet")
            }
            TableFactor::Derived { lateral: true, .. } => {
                refuse(&script, script.span(relation.span()), "LATERAL subqueries are not supported yet")
            }
            other => Ok(RelationPlanning::Original(Box::new(other))),
        }
    }
}

fn refuse(_script: &ScriptText, span: Option<Span>, message: &str) -> Result<RelationPlanning> {
    Err(Finding(Diagnostic::error(UNSUPPORTED, message).at(span)).into())
}

impl FlinkRelations {
    fn plan_function(
        &self,
        function: &Function,
        alias: Option<sqlparser::ast::TableAlias>,
        script: &ScriptText,
        ctx: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let name = function.name.to_string();
        if is_window_function(&name) {
            return Ok(RelationPlanning::Planned(Box::new(plan_window_tvf(function, alias, script, ctx)?)));
        }
        let mut d = Diagnostic::error(UNKNOWN_NAME, format!("there is no table function {name}"))
            .at(script.span_of(&function.name));
        d.help = Some("table functions: TUMBLE, HOP, CUMULATE, SESSION".into());
        Err(Finding(d).into())
    }

    fn plan_hinted(
        &self,
        name: &ObjectName,
        hints: &[SqlExpr],
        alias: Option<sqlparser::ast::TableAlias>,
        script: &ScriptText,
        ctx: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let mut entries = vec![];
        for hint in hints {
            entries.extend(option_entries(hint, script)?);
        }
        let reference = ctx.object_name_to_table_reference(name.clone())?;
        // Planned once without hints: a CTE or view of that name takes precedence, and cannot take hints.
        let plain = ctx.plan(table_factor(name.clone()))?;
        let source = ctx.context_provider().get_table_source(reference.clone()).ok();
        let table = source.as_ref().and_then(|s| s.downcast_ref::<CatalogTable>());
        let (Some(table), datafusion_expr::LogicalPlan::TableScan(_)) = (table, &plain) else {
            let d = Diagnostic::error(
                BAD_QUERY,
                format!("OPTIONS hints go with tables, and `{name}` is a view or a subquery"),
            );
            return Err(Finding(d.at(script.span_of(name))).into());
        };
        // The first finding is enough here: DataFusion's planner carries one error.
        let merged = merge_hint(&self.catalog, &table.def, &entries)
            .map_err(|mut findings| datafusion_common::DataFusionError::from(Finding(findings.swap_remove(0))))?;
        let plan = LogicalPlanBuilder::scan(reference, Arc::new(CatalogTable::new(Arc::new(merged))), None)?.build()?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

/// `OPTIONS('k' = 'v', …)` as entries; any other hint is refused.
fn option_entries(hint: &SqlExpr, script: &ScriptText) -> Result<Vec<OptionEntry>> {
    let bad = |message: String| -> datafusion_common::DataFusionError {
        Finding(
            Diagnostic::error(BAD_QUERY, message)
                .at(script.span_of(hint))
                .help("write /*+ OPTIONS('key' = 'value') */"),
        )
        .into()
    };
    let SqlExpr::Function(function) = hint else { return Err(bad(format!("`{hint}` is not a hint"))) };
    let name = function.name.to_string().to_ascii_uppercase();
    if name != "OPTIONS" {
        return Err(bad(format!("the hint {name} is not supported")));
    }
    let FunctionArguments::List(list) = &function.args else {
        return Err(bad("OPTIONS needs key = value pairs".into()));
    };
    list.args
        .iter()
        .map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(SqlExpr::BinaryOp { left, op: BinaryOperator::Eq, right })) => {
                match (text_of(left, script), text_of(right, script)) {
                    (Some(key), Some(value)) => Ok(OptionEntry { key, value }),
                    _ => Err(bad(format!("`{argument}` is not a pair of quoted key and value"))),
                }
            }
            other => Err(bad(format!("`{other}` is not a pair of quoted key and value"))),
        })
        .collect()
}

fn text_of(expr: &SqlExpr, script: &ScriptText) -> Option<Name> {
    let SqlExpr::Value(value) = expr else { return None };
    let Value::SingleQuotedString(text) = &value.value else { return None };
    Some(Name { value: text.clone(), span: script.span(value.span).unwrap_or_default() })
}
