//! What the one who started a job holds in hand.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::metrics::JobMetrics;
use super::results::ResultReceiver;
use crate::checkpoint::wishes::Wishes;
use crate::error::RuntimeError;
use crate::scheduler::Control;
use crate::summary::{JobProgress, JobSummary};

/// A running job. Dropping it cancels the job and waits for its threads.
pub struct JobHandle {
    control: Arc<Control>,
    threads: Vec<JoinHandle<()>>,
    results: Option<ResultReceiver>,
    metrics: JobMetrics,
    /// `None` when it takes no checkpoints.
    wishes: Option<Arc<Wishes>>,
}

impl JobHandle {
    pub(crate) fn new(
        control: Arc<Control>,
        threads: Vec<JoinHandle<()>>,
        results: Option<ResultReceiver>,
        metrics: JobMetrics,
        wishes: Option<Arc<Wishes>>,
    ) -> Self {
        Self { control, threads, results, metrics, wishes }
    }

    /// The rows of a query; `None` for a job that only writes tables.
    pub fn results(&self) -> Option<&ResultReceiver> {
        self.results.as_ref()
    }

    /// Stops the job. It ends within one step of each thread; [`JobHandle::wait`] then gives
    /// [`RuntimeError::Cancelled`] unless the job had ended before.
    pub fn cancel(&self) {
        self.control.cancel();
    }

    /// Stops the job with a last checkpoint, if it takes any: [`JobHandle::wait`] then gives
    /// [`RuntimeError::Stopped`], unless the job ends before. Returns at once; `false` when the job takes none.
    pub fn stop(&self) -> bool {
        let Some(wishes) = &self.wishes else { return false };
        wishes.want_stop();
        self.control.background_wake_up().bump();
        true
    }

    /// A way to cancel the job from elsewhere, such as a signal handler's thread.
    pub fn canceller(&self) -> impl Fn() + Send + Sync + 'static {
        let control = Arc::clone(&self.control);
        move || control.cancel()
    }

    /// Has every thread of the job stopped?
    pub fn is_finished(&self) -> bool {
        self.control.is_finished()
    }

    /// As [`JobHandle::wait`]; and whether it has taken a checkpoint since it started.
    pub fn wait_for_outcome(self) -> (Result<JobSummary, RuntimeError>, bool) {
        let wishes = self.wishes.clone();
        let outcome = self.wait();
        (outcome, wishes.is_some_and(|wishes| wishes.completed().is_some()))
    }

    /// How far it is.
    pub fn progress(&self) -> JobProgress {
        self.metrics.progress()
    }

    /// Waits for the end; unread results are read and dropped.
    ///
    /// # Errors
    /// The first error of the job, [`RuntimeError::Stopped`], or [`RuntimeError::Cancelled`].
    pub fn wait(mut self) -> Result<JobSummary, RuntimeError> {
        if let Some(results) = &self.results {
            results.iter().for_each(drop);
        }
        self.join();
        match self.control.outcome() {
            Err(RuntimeError::Cancelled) => return Err(self.why_cancelled()),
            outcome => outcome?,
        }
        Ok(self.metrics.summary())
    }

    fn why_cancelled(&self) -> RuntimeError {
        let stopped_at = self.wishes.as_ref().and_then(|wishes| wishes.stopped_at());
        stopped_at.map_or(RuntimeError::Cancelled, RuntimeError::Stopped)
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            // Tasks' panics are caught at their edge; a thread that dies all the same has nothing left to say.
            let _ = thread.join();
        }
    }
}

impl Drop for JobHandle {
    fn drop(&mut self) {
        self.control.cancel();
        self.join();
    }
}
