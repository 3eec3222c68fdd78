//! What the one who started a job holds in hand.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::metrics::JobMetrics;
use super::results::ResultReceiver;
use crate::error::RuntimeError;
use crate::scheduler::Control;
use crate::summary::{JobProgress, JobSummary};

/// A running job. Dropping it cancels the job and waits for its threads.
pub struct JobHandle {
    control: Arc<Control>,
    threads: Vec<JoinHandle<()>>,
    results: Option<ResultReceiver>,
    metrics: JobMetrics,
}

impl JobHandle {
    pub(crate) fn new(
        control: Arc<Control>,
        threads: Vec<JoinHandle<()>>,
        results: Option<ResultReceiver>,
        metrics: JobMetrics,
    ) -> Self {
        Self { control, threads, results, metrics }
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

    /// A way to cancel the job from elsewhere, such as a signal handler's thread.
    pub fn canceller(&self) -> impl Fn() + Send + Sync + 'static {
        let control = Arc::clone(&self.control);
        move || control.cancel()
    }

    /// Has every thread of the job stopped?
    pub fn is_finished(&self) -> bool {
        self.control.is_finished()
    }

    /// How far it is.
    pub fn progress(&self) -> JobProgress {
        self.metrics.progress()
    }

    /// Waits for the end; unread results are read and dropped.
    ///
    /// # Errors
    /// The first error of the job, or [`RuntimeError::Cancelled`].
    pub fn wait(mut self) -> Result<JobSummary, RuntimeError> {
        if let Some(results) = &self.results {
            results.iter().for_each(drop);
        }
        self.join();
        self.control.outcome()?;
        Ok(self.metrics.summary())
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
