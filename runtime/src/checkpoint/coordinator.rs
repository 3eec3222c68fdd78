//! Takes a job's checkpoints, one after the other.
//!
//! It is a task like others, but its steps write files: it has a thread of its own, so that no row waits for a disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tidemark_state::checkpoint_dir::{Checkpoint, CheckpointDir};
use tidemark_state::fs::FileLock;
use tidemark_state::manifest::CheckpointId;

use super::manifest::{Cut, JobFacts};
use super::wishes::Wishes;
use crate::clock::Clock;
use crate::connector::{SinkCommitter, SinkToken};
use crate::error::RuntimeError;
use crate::task::report::{Board, SubtaskSnapshot};
use crate::task::{Step, Task, ms_until};

/// What a coordinator is made of.
pub struct Coordinator {
    /// The job.
    pub job: JobFacts,
    /// Where its checkpoints go.
    pub dir: CheckpointDir,
    /// Held for as long as the job may write there.
    #[expect(dead_code, reason = "it is held, not looked at")]
    pub lock: FileLock,
    /// The number of the next one.
    pub next_id: CheckpointId,
    /// Commits what sinks have prepared, by uid of the sink.
    pub committers: BTreeMap<String, Box<dyn SinkCommitter>>,
    /// Time from one checkpoint to the next (ms).
    pub interval_ms: Option<i64>,
    /// How many are kept.
    pub retained: usize,
    /// Processing time.
    pub clock: Arc<dyn Clock>,
    /// Where the tasks are met.
    pub board: Arc<Board>,
    /// What is wanted from outside.
    pub wishes: Arc<Wishes>,
    /// Wakes the threads of the tasks.
    pub wake_tasks: Arc<dyn Fn() + Send + Sync>,
    /// Ends the job where it is.
    pub cancel: Arc<dyn Fn() + Send + Sync>,
    /// How far it is.
    pub progress: Progress,
}

/// How far a coordinator is.
#[derive(Default)]
pub struct Progress {
    /// When the last checkpoint was begun; before the first, when the job was.
    last_begun_ms: Option<i64>,
    pending: Option<Pending>,
    /// Snapshots of subtasks that have ended.
    finished: BTreeMap<usize, SubtaskSnapshot>,
}

/// A checkpoint that waits for reports.
struct Pending {
    id: CheckpointId,
    begun_ms: i64,
    /// Ends the job.
    is_stop: bool,
    snapshots: BTreeMap<usize, SubtaskSnapshot>,
}

impl Coordinator {
    fn take_reports(&mut self) -> bool {
        let reports = self.board.take_reports();
        let are_any = !reports.is_empty();
        for report in reports {
            match (report.checkpoint, &mut self.progress.pending) {
                (None, _) => drop(self.progress.finished.insert(report.task, report.snapshot)),
                (Some(id), Some(pending)) if pending.id == id => {
                    pending.snapshots.insert(report.task, report.snapshot);
                }
                (Some(id), _) => unreachable!("nobody asked for a snapshot of checkpoint {id} any more"),
            }
        }
        are_any
    }

    fn all_finished(&self) -> bool {
        self.progress.finished.len() == self.job.subtasks.len()
    }

    /// The checkpoint that is complete now, with what each subtask keeps.
    fn take_complete(&mut self) -> Option<Pending> {
        let finished = &self.progress.finished;
        let is_in =
            |pending: &Pending, task: &usize| pending.snapshots.contains_key(task) || finished.contains_key(task);
        let subtasks = self.job.subtasks.len();
        self.progress.pending.take_if(|pending| (0..subtasks).all(|task| is_in(pending, &task)))
    }

    fn begin(&mut self, now_ms: i64, is_stop: bool) {
        let id = self.next_id;
        self.next_id = id.next();
        self.progress.last_begun_ms = Some(now_ms);
        self.progress.pending = Some(Pending { id, begun_ms: now_ms, is_stop, snapshots: BTreeMap::new() });
        self.board.request(id, is_stop);
        (self.wake_tasks)();
    }

    /// Writes the checkpoint; from the moment it is there, commits what it names.
    fn complete(&mut self, pending: Pending) -> Result<Checkpoint, RuntimeError> {
        let cut = Cut {
            id: pending.id,
            begun_ms: pending.begun_ms,
            snapshots: &pending.snapshots,
            finished: &self.progress.finished,
        };
        let checkpoint = self.job.write(&self.dir, &cut)?;
        let tokens = checkpoint.manifest().sinks.clone();
        for state in tokens {
            let committer = self.committers.get_mut(&state.uid).expect("a sink that gives tokens has a committer");
            committer.commit(&SinkToken(state.token))?;
        }
        // Committed: the next checkpoint need not name them.
        let committed = self.progress.finished.iter_mut().filter(|(task, _)| !pending.snapshots.contains_key(task));
        committed.for_each(|(_, snapshot)| snapshot.token = None);
        self.wishes.complete(pending.id);
        self.dir.retain(&self.job.fingerprint.name, self.retained)?;
        Ok(checkpoint)
    }

    /// How long until the next checkpoint is due; `None` when only a wish brings it about.
    fn due_in_ms(&mut self, now_ms: i64) -> Option<u64> {
        let last_begun_ms = *self.progress.last_begun_ms.get_or_insert(now_ms);
        Some(ms_until(last_begun_ms.saturating_add(self.interval_ms?), now_ms))
    }

    fn stop_at(&self, checkpoint: PathBuf) -> Step {
        self.wishes.stop_at(checkpoint);
        (self.cancel)();
        Step::Finished
    }
}

impl Task for Coordinator {
    fn name(&self) -> &str {
        "checkpoint coordinator"
    }

    fn step(&mut self) -> Result<Step, RuntimeError> {
        let has_news = self.take_reports();
        if let Some(pending) = self.take_complete() {
            let is_stop = pending.is_stop;
            let is_last = self.all_finished() && pending.snapshots.is_empty();
            let checkpoint = self.complete(pending)?;
            return Ok(match (is_last, is_stop) {
                (true, _) => Step::Finished,
                (false, true) => self.stop_at(checkpoint.path().to_owned()),
                (false, false) => Step::Progressed,
            });
        }
        if self.progress.pending.is_some() {
            return Ok(if has_news { Step::Progressed } else { Step::Idle { retry_after_ms: None } });
        }
        let now_ms = self.clock.now_ms();
        let due_in_ms = self.due_in_ms(now_ms);
        let is_stop = self.wishes.is_stop_wanted();
        if self.all_finished() || is_stop || due_in_ms == Some(0) || self.wishes.take_checkpoint() {
            self.begin(now_ms, is_stop);
            return Ok(Step::Progressed);
        }
        Ok(if has_news { Step::Progressed } else { Step::Idle { retry_after_ms: due_in_ms } })
    }
}
