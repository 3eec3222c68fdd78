//! Limits on the size of a plan, the views in it counted: what a script's text cannot show.

use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion_common::{DataFusionError, Result};
use datafusion_expr::{Expr, LogicalPlan};
use tidemark_parser::{Diagnostic, code};

use super::errors::Finding;

/// How many views may select from one another.
pub(super) const MAX_VIEW_DEPTH: usize = 100;
/// Most set operations in one query and its views.
const MAX_SET_OPERATIONS: usize = 100;
/// How often an expression may double while it is planned, as its size: an expression that stays below is planned
/// in well under a second.
const MAX_GROWN_SIZE: u64 = 20_000;
/// Growth that a large expression may have.
const MAX_GROWTH: u64 = 8;

/// Refuses a plan that would take too long to plan.
pub(super) fn check_size(plan: &LogicalPlan) -> Result<()> {
    let mut set_operations = 0;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Union(union) = node {
            set_operations += union.inputs.len() - 1;
        }
        if set_operations > MAX_SET_OPERATIONS {
            let message = format!("more than {MAX_SET_OPERATIONS} set operations in one query and its views");
            return Err(too_large(message, "write what a view gives to a table, or union fewer queries"));
        }
        node.apply_expressions(|expr| check_growth(expr).map(|()| TreeNodeRecursion::Continue))
    })?;
    Ok(())
}

/// Refuses views that are nested too deeply.
pub(super) fn too_many_views() -> DataFusionError {
    let message = format!("more than {MAX_VIEW_DEPTH} views select from one another");
    too_large(message, "put some of their queries together, or write what one gives to a table")
}

fn too_large(message: String, help: &str) -> DataFusionError {
    Finding(Diagnostic::error(code::TOO_DEEP, message).help(help)).into()
}

fn check_growth(expr: &Expr) -> Result<()> {
    let size = size_of(expr)?;
    if size.grown <= MAX_GROWN_SIZE || size.grown / MAX_GROWTH <= size.written {
        return Ok(());
    }
    let message = "COALESCE, BETWEEN or ROW is nested too deeply: each level doubles what is planned".to_string();
    Err(too_large(message, "compute the inner levels in a view or a WITH clause"))
}

/// Nodes of an expression.
struct Size {
    written: u64,
    /// When the planner has written twice what it does write twice.
    grown: u64,
}

fn size_of(expr: &Expr) -> Result<Size> {
    let mut size = Size { written: 1, grown: 1 };
    expr.apply_children(|child| {
        let child = size_of(child)?;
        size.written = size.written.saturating_add(child.written);
        size.grown = size.grown.saturating_add(child.grown);
        Ok(TreeNodeRecursion::Continue)
    })?;
    let doubles = match expr {
        Expr::Between(_) => true,
        Expr::ScalarFunction(call) => matches!(call.func.name(), "coalesce" | "struct" | "named_struct"),
        _ => false,
    };
    if doubles {
        size.grown = size.grown.saturating_mul(2);
    }
    Ok(size)
}
