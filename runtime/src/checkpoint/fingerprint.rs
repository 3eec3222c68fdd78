//! What of a job its checkpoints must fit.

use tidemark_planner::job_graph::JobGraph;
use tidemark_planner::stream_plan::{JoinBound, NodeKind};
use tidemark_state::job_fingerprint::{JobFingerprint, OperatorFingerprint};

use crate::error::RuntimeError;
use crate::operator::factory;

/// The operators that have state. A watermark assigner's belongs to the splits, and is kept with their positions.
pub fn fingerprint(graph: &JobGraph, job_name: &str) -> Result<JobFingerprint, RuntimeError> {
    let mut operators = vec![];
    for node in graph.plan.nodes.iter().filter(|node| !is_kept_otherwise(&node.kind)) {
        let tables = factory::create(&graph.plan, node)?.state_tables();
        if !tables.is_empty() {
            operators.push(OperatorFingerprint::of_tables(&node.uid, kind_in_words(&node.kind), &tables));
        }
    }
    Ok(JobFingerprint::new(job_name, operators))
}

fn is_kept_otherwise(kind: &NodeKind) -> bool {
    let is_end = matches!(kind, NodeKind::Source(_) | NodeKind::Values { .. } | NodeKind::Sink(_));
    is_end || matches!(kind, NodeKind::WatermarkAssigner(_))
}

fn kind_in_words(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Source(_) | NodeKind::Values { .. } => "source",
        NodeKind::WatermarkAssigner(_) => "watermark assigner",
        NodeKind::Calc(_) => "calc",
        NodeKind::WindowTvf(_) => "window function",
        NodeKind::WindowAggregate(_) => "window aggregate",
        NodeKind::GroupAggregate(_) => "group aggregate",
        NodeKind::MatchRecognize(_) => "row pattern",
        NodeKind::Join(join) => match join.bound {
            JoinBound::None => "join",
            JoinBound::Interval { .. } => "interval join",
            JoinBound::Window { .. } => "window join",
        },
        NodeKind::Union => "union",
        NodeKind::Sort(_) => "sort",
        NodeKind::Limit { .. } => "limit",
        NodeKind::Sink(_) => "sink",
        NodeKind::Collect => "result",
    }
}
