//! A subtask that had ended before the checkpoint from which its job was restored.

use super::outlet::Outlet;
use super::report::{Reporter, SubtaskSnapshot};
use super::{Step, Task};
use crate::error::RuntimeError;

/// Tells its consumers that nothing follows, for they may not have heard.
pub struct FinishedTask {
    /// The vertex and the subtask.
    pub name: String,
    /// The exchange to its consumers; of no edges where it wrote a table.
    pub outlet: Outlet,
    /// What must still be kept: that it has ended, and which splits it has read.
    pub snapshot: SubtaskSnapshot,
    /// Takes it.
    pub reporter: Reporter,
}

impl Task for FinishedTask {
    fn name(&self) -> &str {
        &self.name
    }

    fn step(&mut self) -> Result<Step, RuntimeError> {
        self.outlet.finish()?;
        self.reporter.finished(std::mem::take(&mut self.snapshot));
        Ok(Step::Finished)
    }
}
