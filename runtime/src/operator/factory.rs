//! Plan nodes to operators.

use tidemark_planner::changelog::ChangelogMode;
use tidemark_planner::stream_plan::{
    JoinBound, JoinNode, NodeKind, SortNode, StreamNode, StreamPlan, WindowAssignment,
};

use super::Operator;
use super::calc::Calc;
use super::group_aggregate::GroupAggregate;
use super::join::interval::IntervalJoin;
use super::join::regular::RegularJoin;
use super::join::window::{WindowColumns, WindowJoin};
use super::limit::Limit;
use super::match_recognize::MatchRecognize;
use super::pass_through::PassThrough;
use super::session::aggregate::SessionAggregate;
use super::session::window::SessionWindow;
use super::sort::{FoldInput, SortAtEnd, SortByWatermark};
use super::watermark_assigner::WatermarkAssigner;
use super::window_aggregate::WindowAggregate;
use super::window_tvf::WindowTvf;
use crate::error::{OperatorError, RuntimeError};

/// The operator of `node`. Sources and sinks are none: the task reads and writes them.
pub fn create(plan: &StreamPlan, node: &StreamNode) -> Result<Box<dyn Operator>, RuntimeError> {
    let input = node.inputs.first().map_or(node, |id| plan.node(*id));
    Ok(match &node.kind {
        NodeKind::WatermarkAssigner(watermark) => Box::new(WatermarkAssigner::new(watermark)),
        NodeKind::Calc(calc) => Box::new(Calc::new(calc, &input.schema, &node.schema)),
        NodeKind::WindowTvf(tvf) if tvf.window.kind.is_session() => {
            Box::new(SessionWindow::of_node(tvf, &input.schema, &node.schema)?)
        }
        NodeKind::WindowTvf(tvf) => Box::new(WindowTvf::new(tvf, &node.schema)?),
        NodeKind::WindowAggregate(aggregate) => match &aggregate.window {
            WindowAssignment::Time(window) if window.kind.is_session() => {
                Box::new(SessionAggregate::of_node(aggregate, window, &input.schema, &node.schema)?)
            }
            _ => Box::new(WindowAggregate::new(aggregate, &input.schema, &node.schema)?),
        },
        NodeKind::GroupAggregate(aggregate) => Box::new(GroupAggregate::new(aggregate, &input.schema, &node.schema)?),
        NodeKind::MatchRecognize(clause) => Box::new(MatchRecognize::new(clause, &input.schema, &node.schema)?),
        NodeKind::Join(join) => create_join(join, plan, node)?,
        NodeKind::Union | NodeKind::Collect => Box::new(PassThrough),
        NodeKind::Sort(sort) => create_sort(sort, input)?,
        NodeKind::Limit { offset, fetch } => Box::new(Limit::new(*offset, *fetch)),
        NodeKind::Source(_) | NodeKind::Values { .. } | NodeKind::Sink(_) => {
            unreachable!("a source begins a chain and a sink ends it: `{}` is neither", node.uid)
        }
    })
}

fn create_join(join: &JoinNode, plan: &StreamPlan, node: &StreamNode) -> Result<Box<dyn Operator>, OperatorError> {
    let inputs = [0, 1].map(|side: usize| &plan.node(node.inputs[side]).schema);
    Ok(match &join.bound {
        JoinBound::None => Box::new(RegularJoin::new(join, inputs, &node.schema)?),
        JoinBound::Interval { times, lower_ms, upper_ms } => {
            Box::new(IntervalJoin::new(join, *times, (*lower_ms, *upper_ms), inputs, &node.schema)?)
        }
        JoinBound::Window { starts, ends, zone } => {
            let windows = WindowColumns { starts: *starts, ends: *ends, zone: zone.clone() };
            Box::new(WindowJoin::new(join, &windows, inputs, &node.schema)?)
        }
    })
}

fn create_sort(sort: &SortNode, input: &StreamNode) -> Result<Box<dyn Operator>, OperatorError> {
    if sort.by_watermark {
        return Ok(Box::new(SortByWatermark::new(sort, &input.schema)?));
    }
    let fold = match input.changelog {
        ChangelogMode::Append => FoldInput::Append,
        ChangelogMode::Retract => FoldInput::Retract,
        ChangelogMode::Upsert => FoldInput::Upsert(input.upsert_key.clone()),
    };
    Ok(Box::new(SortAtEnd::new(sort, fold, &input.schema)?))
}
