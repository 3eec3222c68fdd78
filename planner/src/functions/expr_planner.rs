//! Hooks by which DataFusion's SQL planner asks for functions behind syntax.

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion_expr::expr_rewriter::NamePreserver;
use datafusion_expr::planner::{ExprPlanner, PlannerResult, RawAggregateExpr, RawWindowExpr};
use datafusion_expr::utils::COUNT_STAR_EXPANSION;
use datafusion_expr::{Expr, WindowFunctionDefinition};
use datafusion_functions_nested::planner::{FieldAccessPlanner, NestedFunctionPlanner};

/// The hooks, for `ContextProvider::get_expr_planners`.
pub fn expr_planners() -> Vec<Arc<dyn ExprPlanner>> {
    vec![
        Arc::new(CountStarPlanner),
        Arc::new(NestedFunctionPlanner),
        Arc::new(FieldAccessPlanner),
        Arc::new(datafusion_functions::core::planner::CoreFunctionPlanner::default()),
    ]
}

/// `COUNT(*)` and `COUNT()` become a count of a constant that keeps its name.
#[derive(Debug)]
struct CountStarPlanner;

impl ExprPlanner for CountStarPlanner {
    fn plan_aggregate(&self, expr: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        if expr.func.name() != "count" || !counts_rows(&expr.args) {
            return Ok(PlannerResult::Original(expr));
        }
        let call = |args| {
            Expr::AggregateFunction(AggregateFunction {
                func: Arc::clone(&expr.func),
                params: AggregateFunctionParams {
                    args,
                    distinct: expr.distinct,
                    filter: expr.filter.clone(),
                    order_by: expr.order_by.clone(),
                    null_treatment: expr.null_treatment,
                },
            })
        };
        let saved_name = NamePreserver::new_for_projection().save(&call(expr.args.clone()));
        let counted = call(vec![Expr::Literal(COUNT_STAR_EXPANSION, None)]);
        Ok(PlannerResult::Planned(saved_name.restore(counted)))
    }

    fn plan_window(&self, expr: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        let is_count = matches!(&expr.func_def, WindowFunctionDefinition::AggregateUDF(f) if f.name() == "count");
        if !is_count || !counts_rows(&expr.args) {
            return Ok(PlannerResult::Original(expr));
        }
        let args = vec![Expr::Literal(COUNT_STAR_EXPANSION, None)];
        Ok(PlannerResult::Original(RawWindowExpr { args, ..expr }))
    }
}

#[expect(deprecated, reason = "the SQL planner still writes the star as Expr::Wildcard")]
fn counts_rows(args: &[Expr]) -> bool {
    args.is_empty() || matches!(args, [Expr::Wildcard { .. }])
}
