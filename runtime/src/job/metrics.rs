//! The counters of a job's subtasks, and their sums.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tidemark_planner::job_graph::{JobGraph, VertexId};
use tidemark_planner::stream_plan::{JoinBound, NodeId, NodeKind, StreamPlan};

use crate::element::Watermark;
use crate::metrics::{MAX_UNREADABLE_EXAMPLES, OperatorMetrics, SourceMetrics};
use crate::summary::{
    JobProgress, JobSummary, RecoverySummary, SourceProgress, SourceSummary, VertexWatermark, WindowSummary,
};

/// Every counter of a job.
pub struct JobMetrics {
    started: Instant,
    /// Where it went on from.
    pub recovery: Option<RecoverySummary>,
    /// By node; one entry a subtask.
    operators: BTreeMap<NodeId, Vec<Arc<OperatorMetrics>>>,
    sources: BTreeMap<NodeId, Vec<Arc<SourceMetrics>>>,
    vertices: Vec<VertexGauges>,
    /// Nodes whose rows leave the job.
    ends: BTreeSet<NodeId>,
    /// Nodes that fire windows.
    fire_windows: BTreeSet<NodeId>,
    /// For each node, the nodes above it that derive its watermark.
    assigners: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

struct VertexGauges {
    name: String,
    /// The watermark of each subtask (ms).
    watermarks: Vec<Arc<AtomicI64>>,
}

impl JobMetrics {
    /// No subtasks yet.
    pub(super) fn new(graph: &JobGraph) -> Self {
        let of_kind = |is: fn(&NodeKind) -> bool| {
            graph.plan.nodes.iter().filter(|n| is(&n.kind)).map(|n| n.id).collect::<BTreeSet<_>>()
        };
        let gauges =
            |v: &tidemark_planner::job_graph::Vertex| VertexGauges { name: v.name.clone(), watermarks: vec![] };
        Self {
            started: Instant::now(),
            recovery: None,
            operators: BTreeMap::new(),
            sources: BTreeMap::new(),
            vertices: graph.vertices.iter().map(gauges).collect(),
            ends: of_kind(|k| matches!(k, NodeKind::Sink(_) | NodeKind::Collect)),
            fire_windows: of_kind(|k| match k {
                NodeKind::WindowAggregate(_) => true,
                NodeKind::Join(join) => matches!(join.bound, JoinBound::Window { .. }),
                _ => false,
            }),
            assigners: assigners_above(&graph.plan),
        }
    }

    /// The counters of one more subtask of `node`.
    pub(super) fn operator(&mut self, plan: &StreamPlan, node: NodeId) -> Arc<OperatorMetrics> {
        let subtasks = self.operators.entry(node).or_default();
        let metrics = Arc::new(match subtasks.first() {
            Some(first) => first.of_next_subtask(),
            None => OperatorMetrics::new(&plan.node(node).uid),
        });
        subtasks.push(Arc::clone(&metrics));
        metrics
    }

    /// The counters of one more subtask that reads `table`.
    pub(super) fn source(&mut self, node: NodeId, table: &str) -> Arc<SourceMetrics> {
        let metrics = Arc::new(SourceMetrics { table: table.into(), ..SourceMetrics::default() });
        self.sources.entry(node).or_default().push(Arc::clone(&metrics));
        metrics
    }

    /// The watermark of one more subtask of `vertex`.
    pub(super) fn watermark(&mut self, vertex: VertexId) -> Arc<AtomicI64> {
        let gauge = Arc::new(AtomicI64::new(Watermark::MIN.0));
        self.vertices[vertex.0].watermarks.push(Arc::clone(&gauge));
        gauge
    }

    /// The job at this moment.
    pub fn progress(&self) -> JobProgress {
        let source = |subtasks: &Vec<Arc<SourceMetrics>>| SourceProgress {
            table: subtasks.first().map_or(String::new(), |s| s.table.clone()),
            rows: sum(subtasks, |s| &s.rows),
            bytes: sum(subtasks, |s| &s.bytes),
        };
        let watermark = |vertex: &VertexGauges| {
            let lowest = vertex.watermarks.iter().map(|w| w.load(Ordering::Relaxed)).min();
            let watermark_ms = lowest.filter(|w| *w != Watermark::MIN.0);
            VertexWatermark { vertex: vertex.name.clone(), watermark_ms }
        };
        JobProgress {
            sources: self.sources.values().map(source).collect(),
            watermarks: self.vertices.iter().map(watermark).collect(),
            rows_out: self.rows_out(),
        }
    }

    /// The job at its end.
    pub fn summary(&self) -> JobSummary {
        JobSummary {
            sources: self.sources.values().map(|subtasks| summarise_source(subtasks)).collect(),
            windows: self.operators.keys().filter_map(|node| self.summarise_window(*node)).collect(),
            null_rowtime_rows: self.operators.values().map(|o| sum(o, |m| &m.null_rowtime_rows)).sum(),
            rows_out: self.rows_out(),
            elapsed: self.started.elapsed(),
            recovery: self.recovery.clone(),
        }
    }

    fn rows_out(&self) -> u64 {
        self.ends.iter().map(|node| sum(self.subtasks(*node), |m| &m.rows_in)).sum()
    }

    fn subtasks(&self, node: NodeId) -> &[Arc<OperatorMetrics>] {
        self.operators.get(&node).map_or(&[], Vec::as_slice)
    }

    /// An operator that fires windows, or another that has dropped late rows.
    fn summarise_window(&self, node: NodeId) -> Option<WindowSummary> {
        let subtasks = self.subtasks(node);
        let late_rows = sum(subtasks, |m| &m.late_rows);
        if late_rows == 0 && !self.fire_windows.contains(&node) {
            return None;
        }
        let assigners = self.assigners.get(&node).into_iter().flatten();
        let delay = assigners.filter_map(|a| largest(self.subtasks(*a), |m| &m.watermark_delay_ms)).max();
        let with_delay = |behind: Option<i64>| Some(behind?.saturating_add(delay.unwrap_or(0)));
        Some(WindowSummary {
            uid: subtasks.first().map_or(String::new(), |m| m.uid.clone()),
            windows_fired: subtasks.first().map_or(0, |m| m.windows_fired.count()),
            late_rows,
            sufficient_delay_ms: with_delay(largest(subtasks, |m| &m.max_behind_ms)),
            sufficient_window_delay_ms: with_delay(largest(subtasks, |m| &m.max_window_behind_ms)),
        })
    }
}

fn summarise_source(subtasks: &[Arc<SourceMetrics>]) -> SourceSummary {
    let examples = subtasks.iter().flat_map(|s| {
        let examples = s.unreadable_examples.lock().unwrap_or_else(PoisonError::into_inner);
        examples.clone()
    });
    SourceSummary {
        table: subtasks.first().map_or(String::new(), |s| s.table.clone()),
        rows: sum(subtasks, |s| &s.rows),
        bytes: sum(subtasks, |s| &s.bytes),
        unreadable_rows: sum(subtasks, |s| &s.unreadable_rows),
        examples: examples.take(MAX_UNREADABLE_EXAMPLES).collect(),
    }
}

fn sum<M>(subtasks: &[Arc<M>], counter: impl Fn(&M) -> &AtomicU64) -> u64 {
    subtasks.iter().map(|m| counter(m).load(Ordering::Relaxed)).sum()
}

/// The largest value of a gauge that is [`i64::MIN`] where it was never set.
fn largest<M>(subtasks: &[Arc<M>], gauge: impl Fn(&M) -> &AtomicI64) -> Option<i64> {
    subtasks.iter().map(|m| gauge(m).load(Ordering::Relaxed)).max().filter(|v| *v != i64::MIN)
}

/// For each node, the watermark assigners in the plan above it.
fn assigners_above(plan: &StreamPlan) -> BTreeMap<NodeId, BTreeSet<NodeId>> {
    let mut above: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for node in &plan.nodes {
        let mut assigners: BTreeSet<NodeId> = node.inputs.iter().flat_map(|i| above[i].iter().copied()).collect();
        if matches!(node.kind, NodeKind::WatermarkAssigner(_)) {
            assigners.insert(node.id);
        }
        above.insert(node.id, assigners);
    }
    above
}
