//! Job graphs put together by hand, over a connector whose tables are scripts.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use arrow::datatypes::SchemaRef;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::{OptionSpec, Options};
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;
use tidemark_planner::job_graph::{Edge, JobGraph, Vertex, VertexId};
use tidemark_planner::stream_plan::{
    Distribution, NodeId, NodeKind, NullRowtime, SinkNode, SortKey, SortNode, SourceNode, StreamNode, StreamPlan,
    WatermarkNode,
};

use crate::change_batch::ChangeBatch;
use crate::clock::{Clock, ManualClock};
use crate::connector::{
    Connector, SinkCommitter, SinkOwner, SinkRequest, SinkToken, SinkWriter, Source, SourcePoll, SourceRequest,
    SplitPosition, SplitReader,
};
use crate::engine::Engine;
use crate::error::RuntimeError;
use crate::job::JobOptions;
use crate::metrics::SourceMetrics;
use crate::summary::JobSummary;
use crate::test_exprs::minus_ms;
use crate::test_rows::{event_schema, events, values_of};

/// What a split does at a poll.
#[derive(Clone, Debug)]
pub enum Act {
    /// Gives rows (ts, n).
    Rows(Vec<(Option<i64>, i64)>),
    /// Has nothing for so many ms of simulated time.
    Pause(i64),
    /// Has nothing for ever.
    Silence,
    /// Gives the row (n, n) for n = 0, 1, 2 … for ever.
    Endless,
    /// Panics.
    Panic,
}

/// Rows (ts, n).
pub fn rows(rows: &[(i64, i64)]) -> Act {
    Act::Rows(rows.iter().map(|&(t, n)| (Some(t), n)).collect())
}

/// Each row of a list as a batch of its own size.
pub fn in_batches(all: &[(i64, i64)], batch_size: usize) -> Vec<Act> {
    all.chunks(batch_size).map(rows).collect()
}

/// What sinks have been told, in order.
pub type Written = Arc<Mutex<Vec<String>>>;

/// Tables by name: for each, its splits.
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    tables: HashMap<String, Vec<Vec<Act>>>,
    pub written: Written,
    pub polls: Arc<Mutex<usize>>,
    clock: Arc<ManualClock>,
}

impl Scripts {
    pub fn table(mut self, name: &str, splits: Vec<Vec<Act>>) -> Self {
        self.tables.insert(name.into(), splits);
        self
    }

    pub fn engine(&self) -> Engine {
        Engine::new(vec![Arc::new(self.clone())])
    }

    pub fn simulate(
        &self,
        graph: &JobGraph,
        options: JobOptions,
        seed: u64,
    ) -> Result<(Vec<ChangeBatch>, JobSummary), RuntimeError> {
        self.engine().simulate(graph, options, Arc::clone(&self.clock), seed)
    }
}

impl ConnectorFactory for Scripts {
    fn name(&self) -> &'static str {
        "script"
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![]
    }

    fn check_table(&self, _: &TableDef) -> Result<(), OptionError> {
        Ok(())
    }

    fn source(&self, _: &TableDef) -> Result<SourceInfo, OptionError> {
        Ok(SourceInfo { bounded: true, changelog: ChangelogMode::Append })
    }

    fn sink(&self, _: &TableDef) -> Result<SinkInfo, OptionError> {
        Ok(SinkInfo { accepts: ChangelogMode::Retract })
    }
}

impl Connector for Scripts {
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        let splits = self.tables[&request.table.name].clone();
        Ok(Box::new(ScriptSource { splits, polls: Arc::clone(&self.polls), clock: Arc::clone(&self.clock) }))
    }

    fn open_sink(&self, _: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        Ok(Box::new(NotingSink(Arc::clone(&self.written))))
    }

    fn open_committer(&self, _: &TableDef, _: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

struct ScriptSource {
    splits: Vec<Vec<Act>>,
    polls: Arc<Mutex<usize>>,
    clock: Arc<ManualClock>,
}

impl Source for ScriptSource {
    fn splits(&self) -> Vec<String> {
        (0..self.splits.len()).map(|i| format!("split {i}")).collect()
    }

    fn not_resumable_because(&self) -> Option<&'static str> {
        None
    }

    fn open_split(
        &self,
        index: usize,
        position: Option<&SplitPosition>,
        _: Arc<SourceMetrics>,
    ) -> Result<Box<dyn SplitReader>, RuntimeError> {
        let (acts_left, next) = match position {
            Some(position) => position.read("script", "split")?,
            None => (self.splits[index].len(), 0),
        };
        let done = self.splits[index].len() - acts_left;
        let acts = self.splits[index].iter().skip(done).cloned().collect();
        let (polls, clock) = (Arc::clone(&self.polls), Arc::clone(&self.clock));
        Ok(Box::new(ScriptReader { acts, next, polls, clock, resumes_at: None }))
    }
}

struct ScriptReader {
    acts: VecDeque<Act>,
    next: i64,
    polls: Arc<Mutex<usize>>,
    clock: Arc<ManualClock>,
    resumes_at: Option<i64>,
}

impl SplitReader for ScriptReader {
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError> {
        *self.polls.lock().unwrap() += 1;
        Ok(match self.acts.pop_front() {
            None => SourcePoll::Finished,
            Some(Act::Rows(rows)) => SourcePoll::Batch(events(rows)),
            Some(Act::Pause(ms)) => {
                let now = self.clock.now_ms();
                let left = *self.resumes_at.get_or_insert(now + ms) - now;
                if left <= 0 {
                    self.resumes_at = None;
                    return self.poll();
                }
                self.acts.push_front(Act::Pause(ms));
                SourcePoll::Pending { retry_after_ms: Some(left as u64) }
            }
            Some(Act::Silence) => {
                self.acts.push_front(Act::Silence);
                SourcePoll::Pending { retry_after_ms: None }
            }
            Some(Act::Endless) => {
                self.acts.push_front(Act::Endless);
                self.next += 1;
                SourcePoll::Batch(events([(self.next, self.next)]))
            }
            Some(Act::Panic) => panic!("a bad reader"),
        })
    }

    fn position(&self) -> SplitPosition {
        SplitPosition::of(&(self.acts.len(), self.next))
    }
}

struct NotingSink(Written);

impl SinkWriter for NotingSink {
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError> {
        self.0.lock().unwrap().push(format!("{:?}", values_of([batch])));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RuntimeError> {
        self.0.lock().unwrap().push("flush".into());
        Ok(())
    }

    fn prepare(&mut self) -> Result<Option<SinkToken>, RuntimeError> {
        self.0.lock().unwrap().push("prepare".into());
        Ok(None)
    }

    fn finish(&mut self) -> Result<(), RuntimeError> {
        self.0.lock().unwrap().push("finish".into());
        Ok(())
    }
}

/// Builds a graph vertex by vertex.
pub struct GraphBuilder {
    graph: JobGraph,
}

impl GraphBuilder {
    pub fn new() -> Self {
        Self { graph: JobGraph { plan: StreamPlan::default(), vertices: vec![], max_parallelism: 128 } }
    }

    /// A chain of operators, fed by (vertex, distribution) a piece.
    pub fn vertex(
        &mut self,
        parallelism: usize,
        inputs: &[(VertexId, Distribution)],
        kinds: Vec<NodeKind>,
    ) -> VertexId {
        let id = VertexId(self.graph.vertices.len());
        let mut above: Vec<NodeId> =
            inputs.iter().filter_map(|(v, _)| self.graph.vertices[v.0].chain.last().copied()).collect();
        let mut chain = vec![];
        for kind in kinds {
            let node = NodeId(self.graph.plan.nodes.len());
            self.graph.plan.nodes.push(stream_node(node, kind, above));
            above = vec![node];
            chain.push(node);
        }
        let uids: Vec<_> = chain.iter().map(|n| self.graph.plan.node(*n).uid.clone()).collect();
        let inputs = inputs.iter().map(|(from, d)| Edge { from: *from, distribution: d.clone() }).collect();
        self.graph.vertices.push(Vertex { id, name: uids.join(" -> "), chain, parallelism, inputs });
        id
    }

    /// Says that the last operator emits other columns than [`event_schema`].
    pub fn schema(&mut self, schema: SchemaRef) {
        self.graph.plan.nodes.last_mut().unwrap().schema = schema;
    }

    pub fn build(self) -> JobGraph {
        self.graph
    }
}

fn stream_node(id: NodeId, kind: NodeKind, inputs: Vec<NodeId>) -> StreamNode {
    let name = match &kind {
        NodeKind::Source(_) | NodeKind::Values { .. } => "source",
        NodeKind::WatermarkAssigner(_) => "watermark",
        NodeKind::Union => "union",
        NodeKind::Sort(_) => "sort",
        NodeKind::WindowAggregate(_) => "window-aggregate",
        NodeKind::Limit { .. } => "limit",
        NodeKind::Sink(_) => "sink",
        _ => "collect",
    };
    StreamNode {
        id,
        uid: format!("{name}-{}", id.0),
        distribution: vec![Distribution::Forward; inputs.len()],
        kind,
        inputs,
        schema: event_schema(),
        changelog: ChangelogMode::Append,
        upsert_key: vec![],
        singleton: false,
    }
}

pub fn table(name: &str) -> Arc<TableDef> {
    Arc::new(TableDef {
        name: name.into(),
        columns: vec![],
        watermark: None,
        primary_key: vec![],
        partitioned_by: vec![],
        comment: None,
        options: Options::from_iter([("connector", "script")]),
        temporary: false,
        sql: String::new(),
    })
}

pub fn source(name: &str) -> NodeKind {
    let physical: SchemaRef = event_schema();
    NodeKind::Source(SourceNode { table: table(name), physical, metadata: vec![], bounded: true })
}

/// `WATERMARK FOR ts AS ts - delay`
pub fn watermark(delay_ms: i64, idle_timeout_ms: Option<u64>) -> NodeKind {
    NodeKind::WatermarkAssigner(WatermarkNode {
        rowtime: 0,
        rowtime_name: "ts".into(),
        table: "t".into(),
        expr: minus_ms(0, delay_ms, &event_schema()),
        idle_timeout_ms,
        always_attach: false,
        null_rowtime: NullRowtime::Fail,
    })
}

/// `ORDER BY ts, n` as the watermark advances: the operator that shows what the watermark was.
pub fn sort_by_time() -> NodeKind {
    let key = |column| SortKey { column, descending: false, nulls_first: false };
    NodeKind::Sort(SortNode { keys: vec![key(0), key(1)], by_watermark: true, offset: 0, fetch: None })
}

pub fn sink(name: &str) -> NodeKind {
    NodeKind::Sink(SinkNode { table: table(name) })
}

pub fn options() -> JobOptions {
    JobOptions { batch_size: 8, threads: 2, ..JobOptions::default() }
}

/// Seeds of a simulated test.
pub fn seeds() -> impl Iterator<Item = u64> {
    0..50
}
