//! The front door: job graphs in, running jobs out.

use std::sync::Arc;

use tidemark_planner::job_graph::JobGraph;

use crate::change_batch::ChangeBatch;
use crate::clock::ManualClock;
use crate::connector::Connector;
use crate::error::RuntimeError;
use crate::job::JobOptions;
use crate::job::deploy::deploy;
use crate::job::handle::JobHandle;
use crate::job::results::Received;
use crate::scheduler::{Control, simulation::run_simulated, spawn};
use crate::summary::JobSummary;

/// Runs job graphs over its connectors.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    connectors: Vec<Arc<dyn Connector>>,
}

impl Engine {
    /// An engine that can reach the outside through `connectors`.
    pub fn new(connectors: Vec<Arc<dyn Connector>>) -> Self {
        Self { connectors }
    }

    /// Starts a job on threads of its own. The job stops when the handle is dropped.
    ///
    /// # Errors
    /// A table that cannot be opened, or an operator that this engine does not have.
    pub fn start(&self, graph: &JobGraph, options: JobOptions) -> Result<JobHandle, RuntimeError> {
        let tasks = graph.vertices.iter().map(|v| v.parallelism).sum::<usize>();
        let control = Arc::new(Control::new(tasks.min(options.threads).max(1)));
        let deployment = deploy(graph, &self.connectors, &options, &control)?;
        let threads = spawn(deployment.tasks, &control)
            .map_err(|e| RuntimeError::Unsupported(format!("cannot start a thread: {e}")))?;
        Ok(JobHandle::new(control, threads, deployment.results, deployment.metrics))
    }

    /// Runs a job to its end on the calling thread, stepping its tasks in an order that `seed` fixes. `clock` stands
    /// still while there is something to do, and takes the place of the one in `options`. Gives the result rows and
    /// the summary.
    ///
    /// # Errors
    /// As [`Engine::start`], and whatever fails while the job runs.
    pub fn simulate(
        &self,
        graph: &JobGraph,
        options: JobOptions,
        clock: Arc<ManualClock>,
        seed: u64,
    ) -> Result<(Vec<ChangeBatch>, JobSummary), RuntimeError> {
        let options = JobOptions { clock: clock.clone(), ..options };
        let deployment = deploy(graph, &self.connectors, &options, &Control::new(1))?;
        let mut rows = Vec::new();
        run_simulated(deployment.tasks, seed, &clock, || match deployment.results.as_ref().map(|r| r.try_recv()) {
            Some(Received::Batch(batch)) => {
                rows.push(batch);
                true
            }
            _ => false,
        })?;
        Ok((rows, deployment.metrics.summary()))
    }
}

#[cfg(test)]
mod tests;
