//! How tasks and whoever coordinates their checkpoints talk: sources are asked for barriers, subtasks hand in what is to
//! be kept.
//!
//! **Invariant:** a subtask hands in one snapshot a checkpoint, when the barrier has passed it, or one for all further
//! checkpoints, when it has ended.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidemark_state::manifest::{CheckpointId, SplitState};
use tidemark_state::snapshot::OperatorSnapshot;

use crate::connector::SinkToken;
use crate::element::Watermark;

/// What a subtask must keep.
#[derive(Clone, Debug, Default)]
pub struct SubtaskSnapshot {
    /// The state of its operators, by uid; nothing of those that have none.
    pub operators: Vec<(String, OperatorSnapshot)>,
    /// How far its splits have been read, if it is a source.
    pub splits: Vec<SplitState>,
    /// The watermark of its input (ms).
    pub watermark_ms: i64,
    /// What its writer has prepared.
    pub token: Option<SinkToken>,
}

impl SubtaskSnapshot {
    /// That of a subtask that has ended: its operators have put out all they had.
    pub fn finished(token: Option<SinkToken>) -> Self {
        Self { watermark_ms: Watermark::MAX.0, token, ..Self::default() }
    }
}

/// A subtask has handed in a snapshot.
#[derive(Debug)]
pub struct Report {
    /// The number of its task.
    pub task: usize,
    /// For which checkpoint; `None` when the subtask has ended.
    pub checkpoint: Option<CheckpointId>,
    /// The snapshot.
    pub snapshot: SubtaskSnapshot,
}

/// Where a job's tasks and its coordinator meet.
#[derive(Default)]
pub struct Board {
    /// The checkpoint for which sources are to give their barriers; 0 before the first.
    requested: AtomicU64,
    /// Sources give no rows behind that barrier.
    is_held: AtomicBool,
    reports: Mutex<Vec<Report>>,
}

impl Board {
    /// Asks the sources for barriers; with `hold` for no rows behind them.
    pub fn request(&self, checkpoint: CheckpointId, hold: bool) {
        self.is_held.fetch_or(hold, Ordering::SeqCst);
        self.requested.store(checkpoint.0, Ordering::SeqCst);
    }

    /// What has been handed in since the last time, in that order.
    pub fn take_reports(&self) -> Vec<Report> {
        std::mem::take(&mut self.reports())
    }

    fn reports(&self) -> MutexGuard<'_, Vec<Report>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task's side of the board; of a job without checkpoints it has none.
pub struct Reporter {
    board: Option<Arc<Board>>,
    /// Tells the coordinator that there is something on the board.
    wake: Arc<dyn Fn() + Send + Sync>,
    task: usize,
    last: CheckpointId,
}

impl Reporter {
    /// That of task number `task`.
    pub fn new(board: Option<Arc<Board>>, wake: Arc<dyn Fn() + Send + Sync>, task: usize) -> Self {
        Self { board, wake, task, last: CheckpointId(0) }
    }

    /// The checkpoint whose barrier this source has yet to give. It is told once.
    pub fn requested(&mut self) -> Option<CheckpointId> {
        let requested = CheckpointId(self.board.as_ref()?.requested.load(Ordering::SeqCst));
        (requested > self.last).then(|| {
            self.last = requested;
            requested
        })
    }

    /// Must a source that has given its barrier give no more rows?
    pub fn is_held(&self) -> bool {
        let is_held = |board: &Arc<Board>| board.is_held.load(Ordering::SeqCst);
        self.last.0 > 0 && self.board.as_ref().is_some_and(is_held)
    }

    /// The barrier of `checkpoint` has passed.
    pub fn report(&self, checkpoint: CheckpointId, snapshot: SubtaskSnapshot) {
        self.hand_in(Some(checkpoint), snapshot);
    }

    /// The subtask has ended.
    pub fn finished(&self, snapshot: SubtaskSnapshot) {
        self.hand_in(None, snapshot);
    }

    fn hand_in(&self, checkpoint: Option<CheckpointId>, snapshot: SubtaskSnapshot) {
        if let Some(board) = &self.board {
            board.reports().push(Report { task: self.task, checkpoint, snapshot });
            (self.wake)();
        }
    }
}
