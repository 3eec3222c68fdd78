//! What somebody outside wants of a job's checkpoints.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tidemark_state::manifest::CheckpointId;

/// Shared by a job's handle and its coordinator.
#[derive(Debug, Default)]
pub struct Wishes {
    wants_checkpoint: AtomicBool,
    wants_stop: AtomicBool,
    completed: AtomicU64,
    stopped_at: Mutex<Option<PathBuf>>,
}

impl Wishes {
    /// A checkpoint, as soon as may be.
    pub fn want_checkpoint(&self) {
        self.wants_checkpoint.store(true, Ordering::SeqCst);
    }

    /// A last checkpoint, and then the end.
    pub fn want_stop(&self) {
        self.wants_stop.store(true, Ordering::SeqCst);
    }

    /// The last checkpoint that was taken since the job started.
    pub fn completed(&self) -> Option<CheckpointId> {
        Some(self.completed.load(Ordering::SeqCst)).filter(|id| *id > 0).map(CheckpointId)
    }

    /// The checkpoint with which the job has stopped because that was wanted.
    pub fn stopped_at(&self) -> Option<PathBuf> {
        self.stopped_at.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Is a checkpoint wanted? Asked once, the wish is granted.
    pub(super) fn take_checkpoint(&self) -> bool {
        self.wants_checkpoint.swap(false, Ordering::SeqCst)
    }

    /// Is the end wanted?
    pub(super) fn is_stop_wanted(&self) -> bool {
        self.wants_stop.load(Ordering::SeqCst)
    }

    pub(super) fn complete(&self, checkpoint: CheckpointId) {
        self.completed.store(checkpoint.0, Ordering::SeqCst);
    }

    pub(super) fn stop_at(&self, checkpoint: PathBuf) {
        *self.stopped_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint);
    }
}
