//! Evaluates SQL expressions in tests: once as constants, once over columns of three rows.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion_common::config::ConfigOptions;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_common::{DFSchema, Result, ScalarValue, TableReference, plan_err};
use datafusion_expr::execution_props::ExecutionProps;
use datafusion_expr::planner::{ContextProvider, ExprPlanner};
use datafusion_expr::simplify::SimplifyContext;
use datafusion_expr::{AggregateUDF, Expr, ExprSchemable, HigherOrderUDF, ScalarUDF, TableSource, WindowUDF, col};
use datafusion_optimizer::simplify_expressions::ExprSimplifier;
use datafusion_physical_expr::create_physical_expr;
use datafusion_sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use sqlparser::ast::{self, VisitMut, VisitorMut};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::FunctionRegistry;
use crate::types::sql_name;

/// The zone of the tests' session: eight hours ahead of UTC all year.
pub(super) const ZONE: &str = "Asia/Shanghai";

struct Context {
    registry: FunctionRegistry,
    planners: Vec<Arc<dyn ExprPlanner>>,
    options: ConfigOptions,
}

impl ContextProvider for Context {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        plan_err!("no table {name}")
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.planners
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.registry.scalar(&name.to_lowercase())
    }

    fn get_higher_order_meta(&self, _: &str) -> Option<Arc<HigherOrderUDF>> {
        None
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.registry.aggregate(&name.to_lowercase())
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.registry.window(&name.to_lowercase())
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        &self.options
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

struct Rewrite;

impl VisitorMut for Rewrite {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        super::syntax::rewrite_expr(expr);
        ControlFlow::Continue(())
    }
}

/// Plans an expression without columns, types coerced.
pub(super) fn plan(sql: &str) -> Result<Expr> {
    let mut parsed = Parser::new(&GenericDialect {}).try_with_sql(sql)?.parse_expr()?;
    assert!(parsed.visit(&mut Rewrite).is_continue());
    let context = Context {
        registry: FunctionRegistry::new(ZONE),
        planners: super::expr_planner::expr_planners(),
        options: ConfigOptions::default(),
    };
    let options = ParserOptions::new()
        .with_enable_ident_normalization(false)
        .with_parse_float_as_decimal(true)
        .with_map_string_types_to_utf8view(false);
    let schema = DFSchema::empty();
    let expr =
        SqlToRel::new_with_options(&context, options).sql_to_expr(parsed, &schema, &mut PlannerContext::new())?;
    simplifier(&schema).coerce(expr, &schema)
}

fn simplifier(schema: &DFSchema) -> ExprSimplifier {
    ExprSimplifier::new(SimplifyContext::builder().with_schema(Arc::new(schema.clone())).build())
}

/// Simplifies a planned expression, which folds its constants, and evaluates it over a batch.
fn evaluate(expr: &Expr, batch: &RecordBatch) -> Result<(ArrayRef, FieldRef)> {
    let schema = DFSchema::try_from(batch.schema().as_ref().clone())?;
    let expr = &simplifier(&schema).simplify(expr.clone())?;
    let mut props = ExecutionProps::new();
    props.config_options = Some(Arc::new(ConfigOptions::default()));
    let physical = create_physical_expr(expr, &schema, &props, &Default::default())?;
    let field = physical.return_field(&batch.schema())?;
    Ok((physical.evaluate(batch)?.into_array(batch.num_rows())?, field))
}

fn shown(array: &ArrayRef, row: usize) -> String {
    let options = FormatOptions::default()
        .with_null("NULL")
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.3f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.3f"));
    ArrayFormatter::try_new(array.as_ref(), &options).unwrap().value(row).to_string()
}

/// The expression's value as text, and its SQL type.
pub(super) fn value_of(sql: &str) -> Result<(String, String)> {
    value_of_expr(plan(sql)?, sql)
}

fn value_of_expr(expr: Expr, sql: &str) -> Result<(String, String)> {
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?;
    let (array, field) = evaluate(&expr, &batch)?;
    assert_eq!(array.data_type(), field.data_type(), "planned and real type of {sql}");
    assert!(field.is_nullable() || array.null_count() == 0, "{sql} is NULL but planned as NOT NULL");
    let planned = expr.get_type(&DFSchema::empty())?;
    assert_eq!(&planned, field.data_type(), "logical and physical type of {sql}");
    Ok((shown(&array, 0), sql_name(&planned)))
}

/// The value of the expression with its literals turned into columns: the row itself, NULLs, the row again.
fn value_over_columns(sql: &str) -> Result<String> {
    let mut fields = vec![];
    let mut columns: Vec<ArrayRef> = vec![];
    let expr = plan(sql)?.transform_up(|e| {
        let Expr::Literal(value, _) = &e else { return Ok(Transformed::no(e)) };
        if value.data_type().is_null() {
            return Ok(Transformed::no(e));
        }
        let name = format!("c{}", fields.len());
        let null = ScalarValue::try_from(&value.data_type())?;
        fields.push(Field::new(&name, value.data_type(), true));
        columns.push(ScalarValue::iter_to_array([value.clone(), null, value.clone()])?);
        Ok(Transformed::yes(col(name)))
    })?;
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?;
    let (array, _) = evaluate(&expr.data, &batch)?;
    assert_eq!(shown(&array, 0), shown(&array, 2), "rows of {sql} depend on their neighbours");
    Ok(shown(&array, 0))
}

/// Value of a constant expression and of the same expression over columns.
#[track_caller]
pub(super) fn check(sql: &str, expected: &str) {
    check_constant(sql, expected);
    let over_columns = value_over_columns(sql).unwrap_or_else(|e| panic!("{sql} over columns: {e}"));
    assert_eq!(over_columns, expected, "{sql} over columns");
}

/// Value of a constant expression whose meaning or type needs its arguments to be literals.
#[track_caller]
pub(super) fn check_constant(sql: &str, expected: &str) {
    let (value, _) = value_of(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    assert_eq!(value, expected, "{sql}");
}

/// SQL type of an expression.
#[track_caller]
pub(super) fn check_type(sql: &str, expected: &str) {
    let (_, data_type) = value_of(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    assert_eq!(data_type, expected, "type of {sql}");
}

/// The expression is refused, when it is planned or when it runs, with an error that contains `message`.
#[track_caller]
pub(super) fn check_error(sql: &str, message: &str) {
    let error = match value_of(sql) {
        Ok((value, _)) => panic!("{sql} gave {value}"),
        Err(e) => e.strip_backtrace(),
    };
    assert!(error.contains(message), "{sql}: {error}");
}

/// Value and SQL type of a planned expression, types not coerced yet.
#[track_caller]
pub(super) fn check_value_of(expr: Expr, expected: &str, data_type: &str) {
    let text = expr.to_string();
    let coerced = simplifier(&DFSchema::empty()).coerce(expr, &DFSchema::empty());
    let (value, own_type) = coerced.and_then(|e| value_of_expr(e, &text)).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!((value.as_str(), own_type.as_str()), (expected, data_type), "{text}");
}

/// A planned expression fails when it runs, with an error that contains `message`.
#[track_caller]
pub(super) fn check_error_of(expr: Expr, message: &str) {
    let text = expr.to_string();
    let coerced = simplifier(&DFSchema::empty()).coerce(expr, &DFSchema::empty());
    match coerced.and_then(|e| value_of_expr(e, &text)) {
        Ok((value, _)) => panic!("{text} gave {value}"),
        Err(e) => assert!(e.strip_backtrace().contains(message), "{text}: {e}"),
    }
}
