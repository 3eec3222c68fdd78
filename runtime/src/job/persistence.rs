//! What is done about checkpoints when a job is put into tasks: it goes on from one, and takes others.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidemark_planner::job_graph::{JobGraph, Vertex};
use tidemark_planner::stream_plan::{NodeKind, StreamNode};
use tidemark_state::checksum::Xxh3;
use tidemark_state::job_fingerprint::JobFingerprint;
use tidemark_state::key_group::key_group_range;
use tidemark_state::manifest::{Manifest, SplitState};
use tidemark_state::rescale::StateShare;
use tidemark_state::snapshot::OperatorSnapshot;

use crate::checkpoint::CheckpointOptions;
use crate::checkpoint::coordinator::{Coordinator, Progress};
use crate::checkpoint::fingerprint::fingerprint;
use crate::checkpoint::manifest::{JobFacts, SubtaskFacts};
use crate::checkpoint::recovery::{Recovery, recover};
use crate::checkpoint::wishes::Wishes;
use crate::clock::Clock;
use crate::connector::{Connector, SinkCommitter, SinkOwner, SinkToken};
use crate::error::{RestoreError, RuntimeError};
use crate::scheduler::Control;
use crate::summary::RecoverySummary;
use crate::task::Task;
use crate::task::report::Board;

/// A job's checkpoints: the one it goes on from, and what it takes others with.
pub struct Persistence {
    /// Where tasks and coordinator meet.
    pub board: Arc<Board>,
    /// What is wanted from outside.
    pub wishes: Arc<Wishes>,
    /// Marks pending output as this job's.
    pub owner: SinkOwner,
    fingerprint: JobFingerprint,
    recovery: Recovery,
    committers: BTreeMap<String, Box<dyn SinkCommitter>>,
}

impl Persistence {
    /// Finds the checkpoint that the job goes on from, commits what it names, and removes what crashed runs have left.
    ///
    /// # Errors
    /// See [`recover`].
    pub fn open(
        graph: &JobGraph,
        connectors: &[Arc<dyn Connector>],
        options: &CheckpointOptions,
    ) -> Result<Self, RuntimeError> {
        let mut fingerprint = fingerprint(graph, &options.job_name)?;
        let recovery = recover(options, &fingerprint, graph.max_parallelism)?;
        if let Some(checkpoint) = &recovery.checkpoint {
            fingerprint.name.clone_from(&checkpoint.manifest().job.name);
        }
        // However the directory is spelled, what the job has left pending is its own.
        let dir = std::path::absolute(&options.dir).unwrap_or_else(|_| options.dir.clone());
        let place = format!("{}\n{}", dir.display(), fingerprint.name);
        let owner = SinkOwner(Xxh3::of(place.as_bytes()).to_string());
        let mut persistence = Self {
            board: Arc::default(),
            wishes: Arc::default(),
            committers: committers(graph, connectors, &owner),
            owner,
            fingerprint,
            recovery,
        };
        persistence.settle_output()?;
        Ok(persistence)
    }

    /// Brings the tables that are written to where the checkpoint left them.
    fn settle_output(&mut self) -> Result<(), RuntimeError> {
        if let Some(checkpoint) = &self.recovery.checkpoint {
            for state in &checkpoint.manifest().sinks {
                let committer = self.committers.get_mut(&state.uid).ok_or_else(|| RestoreError::OtherState {
                    path: checkpoint.path().to_owned(),
                    differences: format!("sink '{}' is gone, and what it wrote is not committed yet", state.uid),
                })?;
                committer.commit(&SinkToken(state.token.clone()))?;
            }
        }
        self.committers.values_mut().try_for_each(|committer| committer.discard_leftovers())
    }

    /// Where the job goes on from.
    pub fn summary(&self) -> Option<RecoverySummary> {
        let checkpoint = self.recovery.checkpoint.as_ref()?;
        Some(RecoverySummary {
            checkpoint: checkpoint.path().display().to_string(),
            is_complete: checkpoint.manifest().is_complete,
        })
    }

    /// Had the job ended with its checkpoint?
    pub fn is_complete(&self) -> bool {
        self.manifest().is_some_and(|manifest| manifest.is_complete)
    }

    /// Had all nodes with these uids ended?
    pub fn had_ended<'u>(&self, mut uids: impl Iterator<Item = &'u str>) -> bool {
        self.manifest().is_some_and(|manifest| uids.all(|uid| manifest.finished.iter().any(|ended| ended == uid)))
    }

    /// How far the splits of source `uid` had been read.
    pub fn splits(&self, uid: &str) -> &[SplitState] {
        let source = self.manifest().and_then(|manifest| manifest.sources.iter().find(|source| source.uid == uid));
        source.map_or(&[], |source| source.splits.as_slice())
    }

    /// What of the state of operator `uid` is in `share`; `None` when it begins without.
    pub fn state(&self, uid: &str, share: &StateShare) -> Result<Option<OperatorSnapshot>, RuntimeError> {
        match &self.recovery.checkpoint {
            Some(checkpoint) => Ok(checkpoint.read_operator(uid, share)?),
            None => Ok(None),
        }
    }

    fn manifest(&self) -> Option<&Manifest> {
        self.recovery.checkpoint.as_ref().map(|checkpoint| checkpoint.manifest())
    }

    /// The task that takes the job's checkpoints.
    pub fn into_coordinator(
        self,
        graph: &JobGraph,
        options: &CheckpointOptions,
        clock: Arc<dyn Clock>,
        control: &Arc<Control>,
    ) -> Box<dyn Task> {
        let (waking, cancelling) = (Arc::clone(control), Arc::clone(control));
        Box::new(Coordinator {
            job: JobFacts {
                fingerprint: self.fingerprint,
                max_parallelism: graph.max_parallelism,
                subtasks: graph.vertices.iter().flat_map(|vertex| subtask_facts(graph, vertex)).collect(),
            },
            dir: self.recovery.dir,
            lock: self.recovery.lock,
            next_id: self.recovery.next_id,
            committers: self.committers,
            interval_ms: options.interval.map(|interval| i64::try_from(interval.as_millis()).unwrap_or(i64::MAX)),
            retained: options.retained.max(1),
            clock,
            board: self.board,
            wishes: self.wishes,
            wake_tasks: Arc::new(move || waking.wake_all()),
            cancel: Arc::new(move || cancelling.cancel()),
            progress: Progress::default(),
        })
    }
}

fn committers(
    graph: &JobGraph,
    connectors: &[Arc<dyn Connector>],
    owner: &SinkOwner,
) -> BTreeMap<String, Box<dyn SinkCommitter>> {
    let committer = |node: &StreamNode| {
        let NodeKind::Sink(sink) = &node.kind else { return None };
        let connector = connectors.iter().find(|connector| connector.name() == sink.table.connector())?;
        Some((node.uid.clone(), connector.open_committer(&sink.table, owner)?))
    };
    graph.plan.nodes.iter().filter_map(committer).collect()
}

fn subtask_facts(graph: &JobGraph, vertex: &Vertex) -> impl Iterator<Item = SubtaskFacts> {
    let nodes: Vec<&StreamNode> = vertex.chain.iter().map(|id| graph.plan.node(*id)).collect();
    let uid_of = |node: Option<&&StreamNode>, is: fn(&NodeKind) -> bool| {
        node.filter(|node| is(&node.kind)).map(|node| node.uid.clone())
    };
    let is_source = |kind: &NodeKind| matches!(kind, NodeKind::Source(_) | NodeKind::Values { .. });
    let source = uid_of(nodes.first(), is_source);
    let sink = uid_of(nodes.last(), |kind| matches!(kind, NodeKind::Sink(_)));
    let uids: Vec<String> = nodes.iter().map(|node| node.uid.clone()).collect();
    let (id, parallelism, max_parallelism) = (vertex.id.0, vertex.parallelism, graph.max_parallelism);
    (0..parallelism).map(move |subtask| {
        let key_groups = key_group_range(subtask, parallelism, max_parallelism);
        SubtaskFacts {
            vertex: id,
            subtask,
            parallelism,
            uids: uids.clone(),
            source: source.clone(),
            sink: sink.clone(),
            key_groups: (key_groups.start, key_groups.end),
        }
    })
}
