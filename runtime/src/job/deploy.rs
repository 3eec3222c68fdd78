//! Puts a job graph into tasks.
//!
//! **Invariant:** tasks are numbered vertex by vertex, subtask by subtask; the channels were wired to the threads by
//! the same numbers.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use tidemark_planner::job_graph::{JobGraph, Vertex};
use tidemark_planner::stream_plan::{NodeId, NodeKind, SinkNode, SourceNode, StreamNode};
use tidemark_state::key_group::key_group_range;
use tidemark_state::rescale::StateShare;

use super::JobOptions;
use super::metrics::JobMetrics;
use super::persistence::Persistence;
use super::results::ResultReceiver;
use super::wiring::Wiring;
use crate::checkpoint::wishes::Wishes;
use crate::connector::{Connector, SinkRequest, SinkWriter, Source, SourceRequest, Waker};
use crate::element::Watermark;
use crate::error::{RestoreError, RuntimeError};
use crate::exchange::input_gate::InputGate;
use crate::metrics::OperatorMetrics;
use crate::operator::values::ValuesSource;
use crate::operator::{OperatorContext, factory};
use crate::scheduler::Control;
use crate::task::Task;
use crate::task::chain::Chain;
use crate::task::finished_task::FinishedTask;
use crate::task::lane::{Lane, SplitOpener};
use crate::task::operator_task::OperatorTask;
use crate::task::outlet::Outlet;
use crate::task::report::{Reporter, SubtaskSnapshot};
use crate::task::source_task::SourceTask;
use crate::task::splits::{LanePlan, ReadingPlan, plan_reading};

/// A job that is ready to run.
pub struct Deployment {
    /// The subtasks, in order of their numbers; none when the job had ended with its checkpoint.
    pub tasks: Vec<Box<dyn Task>>,
    /// The task that takes checkpoints, if any are taken.
    pub coordinator: Option<Box<dyn Task>>,
    /// How to wish for one.
    pub wishes: Option<Arc<Wishes>>,
    /// The caller's end of a query.
    pub results: Option<ResultReceiver>,
    /// The counters.
    pub metrics: JobMetrics,
}

/// Opens the tables of `graph` and builds its tasks for the threads of `control`.
pub fn deploy(
    graph: &JobGraph,
    connectors: &[Arc<dyn Connector>],
    options: &JobOptions,
    control: &Arc<Control>,
) -> Result<Deployment, RuntimeError> {
    let open = |checkpoints| Persistence::open(graph, connectors, checkpoints);
    let persistence = options.checkpoints.as_ref().map(open).transpose()?;
    let wiring = Wiring::new(graph, options, control);
    let mut metrics = JobMetrics::new(graph);
    metrics.recovery = persistence.as_ref().and_then(Persistence::summary);
    if persistence.as_ref().is_some_and(Persistence::is_complete) {
        return Ok(Deployment { tasks: vec![], coordinator: None, wishes: None, results: wiring.results, metrics });
    }
    let mut deployer = Deployer { graph, connectors, options, control, persistence, wiring, metrics, tasks: vec![] };
    for vertex in &graph.vertices {
        deployer.add_vertex(vertex)?;
    }
    let Deployer { persistence, wiring, metrics, tasks, .. } = deployer;
    let wishes = persistence.as_ref().map(|persistence| Arc::clone(&persistence.wishes));
    let coordinator = persistence.zip(options.checkpoints.as_ref()).map(|(persistence, checkpoints)| {
        persistence.into_coordinator(graph, checkpoints, Arc::clone(&options.clock), control)
    });
    Ok(Deployment { tasks, coordinator, wishes, results: wiring.results, metrics })
}

struct Deployer<'a> {
    graph: &'a JobGraph,
    connectors: &'a [Arc<dyn Connector>],
    options: &'a JobOptions,
    control: &'a Arc<Control>,
    persistence: Option<Persistence>,
    wiring: Wiring,
    metrics: JobMetrics,
    tasks: Vec<Box<dyn Task>>,
}

/// A subtask of a vertex.
#[derive(Clone, Copy)]
struct Subtask<'a> {
    vertex: &'a Vertex,
    index: usize,
}

impl Subtask<'_> {
    fn name(&self) -> String {
        format!("{} ({}/{})", self.vertex.name, self.index + 1, self.vertex.parallelism)
    }
}

impl<'a> Deployer<'a> {
    fn add_vertex(&mut self, vertex: &'a Vertex) -> Result<(), RuntimeError> {
        let first = vertex.chain.first().map(|n| self.graph.plan.node(*n));
        if self.had_ended(&vertex.chain) {
            (0..vertex.parallelism).for_each(|index| self.add_finished_task(Subtask { vertex, index }, first));
            return Ok(());
        }
        let source = match first {
            Some(node) => self.open_source(node)?.map(|source| (node, Arc::new(Mutex::new(source)))),
            None => None,
        };
        for index in 0..vertex.parallelism {
            let subtask = Subtask { vertex, index };
            let task = match &source {
                Some((node, source)) => self.source_task(subtask, node, Arc::clone(source))?,
                None => self.operator_task(subtask)?,
            };
            self.tasks.push(task);
        }
        Ok(())
    }

    /// Had these nodes ended with the checkpoint that the job goes on from?
    fn had_ended(&self, nodes: &[NodeId]) -> bool {
        let mut uids = nodes.iter().map(|n| self.graph.plan.node(*n).uid.as_str());
        self.persistence.as_ref().is_some_and(|persistence| persistence.had_ended(&mut uids))
    }

    fn add_finished_task(&mut self, subtask: Subtask, first: Option<&StreamNode>) {
        let kept = first.zip(self.persistence.as_ref()).map(|(node, persistence)| persistence.splits(&node.uid));
        let mut snapshot = SubtaskSnapshot::finished(None);
        if subtask.index == 0 {
            snapshot.splits = kept.unwrap_or_default().to_vec();
        }
        let outlet = Outlet::exchange(self.wiring.take_outputs(subtask.vertex.id, subtask.index));
        self.metrics.watermark(subtask.vertex.id).store(Watermark::MAX.0, Ordering::Relaxed);
        let (name, reporter) = (subtask.name(), self.reporter());
        self.tasks.push(Box::new(FinishedTask { name, outlet, snapshot, reporter }));
    }

    /// That of the next task.
    fn reporter(&self) -> Reporter {
        let board = self.persistence.as_ref().map(|persistence| Arc::clone(&persistence.board));
        let wake_up = Arc::clone(self.control.background_wake_up());
        Reporter::new(board, Arc::new(move || wake_up.bump()), self.tasks.len())
    }

    fn operator_task(&mut self, subtask: Subtask) -> Result<Box<dyn Task>, RuntimeError> {
        let gate = InputGate::new(self.wiring.take_inputs(subtask.vertex.id, subtask.index));
        let chain = self.chain(&subtask.vertex.chain, subtask)?;
        let outlet = self.outlet(subtask)?;
        let watermark = self.metrics.watermark(subtask.vertex.id);
        let clock = Arc::clone(&self.options.clock);
        Ok(Box::new(OperatorTask::new(subtask.name(), gate, chain, outlet, clock, watermark, self.reporter())))
    }

    fn source_task(
        &mut self,
        subtask: Subtask,
        node: &StreamNode,
        source: Arc<Mutex<Box<dyn Source>>>,
    ) -> Result<Box<dyn Task>, RuntimeError> {
        let operators = &subtask.vertex.chain[1..];
        let assigner = operators.iter().position(|n| matches!(self.kind(*n), NodeKind::WatermarkAssigner(_)));
        let (of_lane, of_subtask) = operators.split_at(assigner.map_or(0, |i| i + 1));
        let idle_timeout_ms = of_lane.last().and_then(|n| match self.kind(*n) {
            NodeKind::WatermarkAssigner(watermark) => watermark.idle_timeout_ms,
            _ => None,
        });
        let plan = self.plan_reading(subtask, node, &source)?;
        let wake_up = Arc::clone(self.control.wake_up_of(self.tasks.len()));
        let metrics = match &node.kind {
            NodeKind::Source(source) => self.metrics.source(node.id, &source.table.name),
            _ => Arc::default(),
        };
        Ok(Box::new(SourceTask {
            name: subtask.name(),
            opener: SplitOpener { source, metrics, waker: Waker::new(move || wake_up.bump()) },
            waiting: self.lanes(of_lane, plan.lanes, subtask)?,
            open: vec![],
            ended: plan.done.iter().filter_map(|split| split.watermark).max().map_or(Watermark::MIN, Watermark),
            done: plan.done,
            chain: self.chain(of_subtask, subtask)?,
            outlet: self.outlet(subtask)?,
            clock: Arc::clone(&self.options.clock),
            idle_timeout_ms,
            watermark: self.metrics.watermark(subtask.vertex.id),
            next: 0,
            reporter: self.reporter(),
        }))
    }

    /// Which splits the subtask reads. A source that had ended reads nothing: what is behind it has been told so.
    fn plan_reading(
        &self,
        subtask: Subtask,
        node: &StreamNode,
        source: &Mutex<Box<dyn Source>>,
    ) -> Result<ReadingPlan, RuntimeError> {
        let source = source.lock().unwrap_or_else(PoisonError::into_inner);
        let table = match &node.kind {
            NodeKind::Source(source) => source.table.name.as_str(),
            _ => node.uid.as_str(),
        };
        let Some(persistence) = &self.persistence else {
            let parallelism = subtask.vertex.parallelism;
            return Ok(plan_reading(table, &source.splits(), &[], subtask.index, parallelism)?);
        };
        if let Some(reason) = source.not_resumable_because() {
            return Err(RestoreError::NotResumable { table: table.into(), reason }.into());
        }
        let kept = persistence.splits(&node.uid);
        let splits = source.splits();
        let mut plan = plan_reading(table, &splits, kept, subtask.index, subtask.vertex.parallelism)?;
        if self.had_ended(&[node.id]) {
            plan.lanes.clear();
        }
        Ok(plan)
    }

    /// Lanes through operators of their own.
    fn lanes(
        &mut self,
        operators: &[NodeId],
        plans: Vec<LanePlan>,
        subtask: Subtask,
    ) -> Result<VecDeque<Lane>, RuntimeError> {
        let metrics: Vec<_> = operators.iter().map(|n| self.metrics.operator(&self.graph.plan, *n)).collect();
        let lane = |plan| {
            let mut chain = Chain::default();
            for (node, metrics) in operators.iter().zip(&metrics) {
                self.push_operator(&mut chain, *node, subtask, Arc::clone(metrics))?;
            }
            Lane::new(plan, chain)
        };
        plans.into_iter().map(lane).collect()
    }

    /// The operators among `nodes`: not sources and sinks.
    fn chain(&mut self, nodes: &[NodeId], subtask: Subtask) -> Result<Chain, RuntimeError> {
        let mut chain = Chain::default();
        for node in nodes.iter().filter(|n| !matches!(self.graph.plan.node(**n).kind, NodeKind::Sink(_))) {
            let metrics = self.metrics.operator(&self.graph.plan, *node);
            self.push_operator(&mut chain, *node, subtask, metrics)?;
            self.restore_operator(&mut chain, *node, subtask)?;
        }
        Ok(chain)
    }

    fn restore_operator(&self, chain: &mut Chain, node: NodeId, subtask: Subtask) -> Result<(), RuntimeError> {
        let Some(persistence) = &self.persistence else { return Ok(()) };
        let uid = &self.graph.plan.node(node).uid;
        let share = StateShare::of(subtask.index, subtask.vertex.parallelism, self.graph.max_parallelism);
        match persistence.state(uid, &share)? {
            Some(snapshot) => chain.restore(uid, &snapshot),
            None => Ok(()),
        }
    }

    fn push_operator(
        &self,
        chain: &mut Chain,
        node: NodeId,
        subtask: Subtask,
        metrics: Arc<OperatorMetrics>,
    ) -> Result<(), RuntimeError> {
        let max_parallelism = self.graph.max_parallelism;
        let key_groups = key_group_range(subtask.index, subtask.vertex.parallelism, max_parallelism);
        let ctx = OperatorContext { batch_size: self.options.batch_size, metrics, max_parallelism, key_groups };
        chain.push(factory::create(&self.graph.plan, self.graph.plan.node(node))?, ctx)
    }

    fn outlet(&mut self, subtask: Subtask) -> Result<Outlet, RuntimeError> {
        let edges = self.wiring.take_outputs(subtask.vertex.id, subtask.index);
        match subtask.vertex.chain.last().map(|n| self.graph.plan.node(*n)) {
            Some(StreamNode { id, kind: NodeKind::Sink(sink), .. }) => {
                let metrics = self.metrics.operator(&self.graph.plan, *id);
                Ok(Outlet::sink(self.open_sink(sink, subtask)?, metrics, self.persistence.is_some()))
            }
            _ => Ok(Outlet::exchange(edges)),
        }
    }

    fn kind(&self, node: NodeId) -> &'a NodeKind {
        &self.graph.plan.node(node).kind
    }

    fn open_source(&self, node: &StreamNode) -> Result<Option<Box<dyn Source>>, RuntimeError> {
        match &node.kind {
            NodeKind::Source(source) => self.open_table(source).map(Some),
            NodeKind::Values { rows } => Ok(Some(Box::new(ValuesSource::new(rows.clone(), self.options.batch_size)))),
            _ => Ok(None),
        }
    }

    fn open_table(&self, node: &SourceNode) -> Result<Box<dyn Source>, RuntimeError> {
        self.connector(node.table.connector())?.open_source(SourceRequest {
            table: Arc::clone(&node.table),
            projection: Arc::clone(&node.physical),
            metadata: node.metadata.clone(),
            batch_size: self.options.batch_size,
            time_zone: self.options.time_zone.clone(),
        })
    }

    fn open_sink(&self, node: &SinkNode, subtask: Subtask) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        self.connector(node.table.connector())?.open_sink(SinkRequest {
            table: Arc::clone(&node.table),
            schema: node.table.physical_schema(),
            subtask: subtask.index,
            parallelism: subtask.vertex.parallelism,
            time_zone: self.options.time_zone.clone(),
            owner: self.persistence.as_ref().map(|persistence| persistence.owner.clone()),
        })
    }

    fn connector(&self, name: &str) -> Result<&'a Arc<dyn Connector>, RuntimeError> {
        let found = self.connectors.iter().find(|c| c.name() == name);
        found.ok_or_else(|| RuntimeError::Unsupported(format!("this engine has no connector '{name}'")))
    }
}
