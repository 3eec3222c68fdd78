//! The front door: job graphs in, running jobs out.

use std::sync::Arc;

use tidemark_planner::job_graph::JobGraph;

use crate::change_batch::ChangeBatch;
use crate::clock::ManualClock;
use crate::connector::Connector;
use crate::error::RuntimeError;
use crate::job::JobOptions;
use crate::job::deploy::{Deployment, deploy};
use crate::job::handle::JobHandle;
use crate::scheduler::{Control, simulation::run_simulated, spawn};
use crate::summary::JobSummary;

mod crash;

use self::crash::{Caller, Taken};
pub use self::crash::{CrashPlan, CrashStep, NoCrash, SimulatedRun};

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
        let Deployment { tasks, coordinator, wishes, results, metrics } = deployment;
        let threads = spawn(tasks, coordinator, &control)
            .map_err(|e| RuntimeError::Unsupported(format!("cannot start a thread: {e}")))?;
        Ok(JobHandle::new(control, threads, results, metrics, wishes))
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
        let run = self.simulate_crash(graph, options, clock, seed, &mut NoCrash)?;
        Ok((run.rows, run.summary))
    }

    /// As [`Engine::simulate`], but `crash` may take checkpoints and end the job at any step, as a crash would.
    ///
    /// # Errors
    /// As [`Engine::simulate`].
    pub fn simulate_crash(
        &self,
        graph: &JobGraph,
        options: JobOptions,
        clock: Arc<ManualClock>,
        seed: u64,
        crash: &mut dyn CrashPlan,
    ) -> Result<SimulatedRun, RuntimeError> {
        let options = JobOptions { clock: clock.clone(), ..options };
        let deployment = deploy(graph, &self.connectors, &options, &Arc::new(Control::new(1)))?;
        let Deployment { mut tasks, coordinator, wishes, results, metrics } = deployment;
        tasks.extend(coordinator);
        let mut caller = Caller { results: results.as_ref(), wishes, crash, taken: Taken::default() };
        let has_crashed = run_simulated(tasks, seed, &clock, &mut caller)?.is_break();
        let rows = if has_crashed { caller.rows_before_checkpoint() } else { caller.taken.rows };
        Ok(SimulatedRun { rows, has_crashed, summary: metrics.summary() })
    }
}

#[cfg(test)]
mod tests;
