//! Jobs that a statement has started.

use std::time::Duration;

use tidemark_planner::job_graph::JobGraph;
use tidemark_planner::{Planned, QueryOutput};
use tidemark_runtime::change_batch::ChangeBatch;
use tidemark_runtime::checkpoint::RestoreFrom;
use tidemark_runtime::engine::Engine;
use tidemark_runtime::error::RuntimeError;
use tidemark_runtime::job::JobOptions;
use tidemark_runtime::job::handle::JobHandle;
use tidemark_runtime::job::restart::Restarts;
use tidemark_runtime::summary::JobSummary;

/// A running query, `INSERT` or statement set. Dropping it cancels it.
pub struct Job {
    /// Rows, cancelling and waiting.
    pub handle: JobHandle,
    /// What a query yields; `None` for a job that only writes.
    pub output: Option<QueryOutput>,
    again: Box<Again>,
}

/// What it takes to begin again.
struct Again {
    engine: Engine,
    graph: JobGraph,
    options: JobOptions,
    restarts: Restarts,
}

/// A job that has failed and is to begin again.
pub struct FailedJob {
    /// Why it failed.
    pub error: RuntimeError,
    /// How long to wait before it begins again.
    pub delay: Duration,
    again: Box<Again>,
}

impl Job {
    pub(super) fn start(
        engine: Engine,
        planned: &Planned,
        options: JobOptions,
        restarts: Restarts,
    ) -> Result<Self, RuntimeError> {
        let (graph, output) = (planned.graph.clone(), planned.output.clone());
        let handle = engine.start(&graph, options.clone())?;
        Ok(Self { handle, output, again: Box::new(Again { engine, graph, options, restarts }) })
    }

    /// Waits for the end, and begins again as often as `restart-strategy.type` says; of a query, whose rows have been
    /// handed out, never. Unread results are read and dropped.
    ///
    /// # Errors
    /// As [`JobHandle::wait`].
    pub fn wait(mut self) -> Result<JobSummary, RuntimeError> {
        loop {
            match self.outcome()? {
                Ok(summary) => return Ok(summary),
                Err(failed) => self = failed.begin_again(&mut |delay| std::thread::sleep(delay))?,
            }
        }
    }

    /// Waits for the end of this attempt.
    ///
    /// # Errors
    /// The job has failed for good, or was stopped.
    pub fn outcome(self) -> Result<Result<JobSummary, FailedJob>, RuntimeError> {
        let Self { handle, output, mut again } = self;
        let (summary, has_progressed) = handle.wait_for_outcome();
        match summary {
            Ok(summary) => Ok(Ok(summary)),
            Err(error) => match output.is_none().then(|| again.restarts.next_delay(&error, has_progressed)).flatten() {
                Some(delay) => Ok(Err(FailedJob { error, delay, again })),
                None => Err(error),
            },
        }
    }
}

impl FailedJob {
    /// Begins again after a pause, from the job's last checkpoint if it takes any. A job that cannot even start has
    /// failed once more.
    ///
    /// # Errors
    /// As [`Engine::start`], when there is no attempt left.
    pub fn begin_again(self, pause: &mut dyn FnMut(Duration)) -> Result<Job, RuntimeError> {
        let Self { mut again, mut delay, .. } = self;
        if let Some(checkpoints) = &mut again.options.checkpoints {
            checkpoints.restore = RestoreFrom::Latest;
        }
        loop {
            pause(delay);
            match again.engine.start(&again.graph, again.options.clone()) {
                Ok(handle) => return Ok(Job { handle, output: None, again }),
                Err(error) => delay = again.restarts.next_delay(&error, false).ok_or(error)?,
            }
        }
    }
}

/// The changes of a running query. Dropping it cancels the query.
pub struct QueryRows {
    handle: Option<JobHandle>,
    output: QueryOutput,
    summary: Option<JobSummary>,
}

impl QueryRows {
    /// Of a job that is a query.
    pub(super) fn of(job: Job) -> Option<Self> {
        Some(Self { output: job.output?, handle: Some(job.handle), summary: None })
    }

    /// Columns and kind of the result.
    pub fn output(&self) -> &QueryOutput {
        &self.output
    }

    /// What the run has to say, once the last change has been taken.
    pub fn summary(&self) -> Option<&JobSummary> {
        self.summary.as_ref()
    }

    /// A way to end the query from elsewhere; the iterator then gives [`RuntimeError::Cancelled`].
    pub fn canceller(&self) -> Option<impl Fn() + Send + Sync + 'static> {
        self.handle.as_ref().map(JobHandle::canceller)
    }
}

impl Iterator for QueryRows {
    type Item = Result<ChangeBatch, RuntimeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.handle.as_ref()?.results().and_then(|results| results.recv());
        if let Some(batch) = next {
            return Some(Ok(batch));
        }
        match self.handle.take()?.wait() {
            Ok(summary) => {
                self.summary = Some(summary);
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}
