//! What a checkpoint says of a job.

use std::collections::{BTreeMap, BTreeSet};

use tidemark_state::checkpoint_dir::{Checkpoint, CheckpointDir};
use tidemark_state::checkpoint_error::CheckpointError;
use tidemark_state::job_fingerprint::JobFingerprint;
use tidemark_state::manifest::{
    CheckpointId, MANIFEST_VERSION, Manifest, OperatorState, SinkState, SourceState, StateFile, SubtaskWatermark,
};

use crate::element::Watermark;
use crate::task::report::SubtaskSnapshot;

/// What does not change while a job runs.
#[derive(Clone, Debug)]
pub struct JobFacts {
    /// Its name and its operators' state.
    pub fingerprint: JobFingerprint,
    /// The number of its key groups.
    pub max_parallelism: u32,
    /// Its subtasks, by the numbers of their tasks.
    pub subtasks: Vec<SubtaskFacts>,
}

/// A subtask.
#[derive(Clone, Debug)]
pub struct SubtaskFacts {
    /// The number of its vertex.
    pub vertex: usize,
    /// Which subtask of it.
    pub subtask: usize,
    /// Of how many.
    pub parallelism: usize,
    /// The uids of the nodes in its chain, source and sink included.
    pub uids: Vec<String>,
    /// The uid of the table it reads.
    pub source: Option<String>,
    /// The uid of the table it writes.
    pub sink: Option<String>,
    /// Its key groups, from the first up to but not including the second.
    pub key_groups: (u32, u32),
}

/// What each subtask keeps: what it handed in with the barrier, or else at its end.
pub struct Cut<'a> {
    /// The checkpoint.
    pub id: CheckpointId,
    /// When it was begun.
    pub begun_ms: i64,
    /// Of subtasks that the barrier has passed.
    pub snapshots: &'a BTreeMap<usize, SubtaskSnapshot>,
    /// Of subtasks that have ended.
    pub finished: &'a BTreeMap<usize, SubtaskSnapshot>,
}

impl Cut<'_> {
    fn has_ended(&self, task: usize) -> bool {
        !self.snapshots.contains_key(&task)
    }

    fn of(&self, task: usize) -> &SubtaskSnapshot {
        let snapshot = self.snapshots.get(&task).or_else(|| self.finished.get(&task));
        snapshot.expect("a checkpoint is written when every subtask has handed in")
    }
}

impl JobFacts {
    /// Writes the checkpoint and commits it.
    ///
    /// # Errors
    /// After an error it may be there or not.
    pub fn write(&self, dir: &CheckpointDir, cut: &Cut) -> Result<Checkpoint, CheckpointError> {
        let writer = dir.begin(cut.id)?;
        let mut files: BTreeMap<&str, Vec<StateFile>> = BTreeMap::new();
        for (task, facts) in self.subtasks.iter().enumerate() {
            let operators = &cut.of(task).operators;
            if operators.is_empty() {
                continue;
            }
            let name = format!("vertex-{}-subtask-{}", facts.vertex + 1, facts.subtask + 1);
            let file = writer.add_state(&name, operators, Some(facts.key_groups))?;
            operators.iter().for_each(|(uid, _)| files.entry(uid).or_default().push(file.clone()));
        }
        writer.commit(Manifest {
            format_version: MANIFEST_VERSION,
            checkpoint_id: cut.id,
            created_at_ms: cut.begun_ms,
            is_savepoint: false,
            job: self.fingerprint.clone(),
            max_parallelism: self.max_parallelism,
            operators: self.operators(&files),
            sources: self.sources(cut),
            sinks: self.sinks(cut),
            watermarks: self.watermarks(cut),
            finished: self.finished(cut),
            is_complete: (0..self.subtasks.len()).all(|task| cut.has_ended(task)),
        })
    }

    fn operators(&self, files: &BTreeMap<&str, Vec<StateFile>>) -> Vec<OperatorState> {
        let parallelism = |uid: &String| {
            let subtask = self.subtasks.iter().find(|facts| facts.uids.contains(uid));
            subtask.map_or(1, |facts| facts.parallelism as u32)
        };
        let state = self.fingerprint.operators.iter().map(|operator| OperatorState {
            uid: operator.uid.clone(),
            kind: operator.kind.clone(),
            tables: operator.tables.clone(),
            parallelism: parallelism(&operator.uid),
            files: files.get(operator.uid.as_str()).cloned().unwrap_or_default(),
        });
        state.collect()
    }

    fn sources(&self, cut: &Cut) -> Vec<SourceState> {
        let mut splits: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for (task, facts) in self.subtasks.iter().enumerate() {
            if let Some(uid) = &facts.source {
                splits.entry(uid).or_default().extend(cut.of(task).splits.iter().cloned());
            }
        }
        let state = splits.into_iter().map(|(uid, mut splits)| {
            splits.sort_by(|a, b| a.split.cmp(&b.split));
            SourceState { uid: uid.to_owned(), splits }
        });
        state.collect()
    }

    fn sinks(&self, cut: &Cut) -> Vec<SinkState> {
        let prepared = self.subtasks.iter().enumerate().filter_map(|(task, facts)| {
            let token = cut.of(task).token.as_ref()?.0.clone();
            Some(SinkState { uid: facts.sink.clone()?, subtask: facts.subtask as u32, token })
        });
        prepared.collect()
    }

    fn watermarks(&self, cut: &Cut) -> Vec<SubtaskWatermark> {
        let watermark = |(task, facts): (usize, &SubtaskFacts)| {
            let reached = Some(cut.of(task).watermark_ms).filter(|ms| *ms > Watermark::MIN.0);
            let uid = facts.uids.first()?.clone();
            Some(SubtaskWatermark { uid, subtask: facts.subtask as u32, watermark: reached })
        };
        self.subtasks.iter().enumerate().filter_map(watermark).collect()
    }

    /// The uids of nodes of which every subtask has ended.
    fn finished(&self, cut: &Cut) -> Vec<String> {
        let mut ended: BTreeSet<&String> = self.subtasks.iter().flat_map(|facts| &facts.uids).collect();
        for (_, facts) in self.subtasks.iter().enumerate().filter(|(task, _)| !cut.has_ended(*task)) {
            ended.retain(|uid| !facts.uids.contains(uid));
        }
        ended.into_iter().cloned().collect()
    }
}
