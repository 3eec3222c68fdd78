//! The rules of DataFusion's optimiser that are safe on streams.
//!
//! Left out on purpose: rules that reason about the end of the input (limits pushed into scans, empty relations),
//! that turn one aggregate into two whose second would need retractions (single distinct), and that mangle names or
//! split projections before lowering (common subexpressions).

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::LogicalPlan;
use datafusion_optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion_optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion_optimizer::eliminate_duplicated_expr::EliminateDuplicatedExpr;
use datafusion_optimizer::eliminate_filter::EliminateFilter;
use datafusion_optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion_optimizer::optimize_projections::OptimizeProjections;
use datafusion_optimizer::optimize_unions::OptimizeUnions;
use datafusion_optimizer::push_down_filter::PushDownFilter;
use datafusion_optimizer::rewrite_set_comparison::RewriteSetComparison;
use datafusion_optimizer::simplify_expressions::SimplifyExpressions;
use datafusion_optimizer::{Optimizer, OptimizerContext, OptimizerRule};

use crate::overflow::CheckConstants;

/// Simplifies, pushes filters down and prunes columns. The clock is never read: `NOW()` stays a call.
pub fn optimize(plan: LogicalPlan) -> Result<LogicalPlan> {
    let rules: Vec<Arc<dyn OptimizerRule + Send + Sync>> = vec![
        Arc::new(RewriteSetComparison::new()),
        Arc::new(OptimizeUnions::new()),
        Arc::new(CheckConstants),
        Arc::new(SimplifyExpressions::new()),
        Arc::new(EliminateDuplicatedExpr::new()),
        Arc::new(EliminateFilter::new()),
        Arc::new(EliminateCrossJoin::new()),
        Arc::new(DecorrelatePredicateSubquery::new()),
        Arc::new(ExtractEquijoinPredicate::new()),
        Arc::new(PushDownFilter::new()),
        Arc::new(OptimizeProjections::new()),
    ];
    let context = OptimizerContext::new().without_query_execution_start_time().with_skip_failing_rules(false);
    Optimizer::with_rules(rules).optimize(plan, &context, |_, _| {})
}
