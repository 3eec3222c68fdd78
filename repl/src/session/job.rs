//! Jobs that a statement has started.

use tidemark_planner::QueryOutput;
use tidemark_runtime::change_batch::ChangeBatch;
use tidemark_runtime::error::RuntimeError;
use tidemark_runtime::job::handle::JobHandle;
use tidemark_runtime::summary::JobSummary;

/// A running query, `INSERT` or statement set. Dropping it cancels it.
pub struct Job {
    /// Rows, cancelling and waiting.
    pub handle: JobHandle,
    /// What a query yields; `None` for a job that only writes.
    pub output: Option<QueryOutput>,
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
