//! Simulated jobs that end where no job should.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use tidemark_state::manifest::CheckpointId;

use crate::change_batch::ChangeBatch;
use crate::checkpoint::wishes::Wishes;
use crate::element::StreamElement;
use crate::job::results::ResultReceiver;
use crate::scheduler::simulation::Onlooker;
use crate::summary::JobSummary;

/// Decides when a simulated job takes checkpoints and when it crashes.
pub trait CrashPlan {
    /// Is asked before each step; `completed` is the last checkpoint that the job has taken since it started.
    fn next(&mut self, completed: Option<CheckpointId>) -> CrashStep;
}

/// What happens before a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashStep {
    /// Nothing.
    GoOn,
    /// A checkpoint is asked for; while one is being taken that means the next.
    Checkpoint,
    /// The job is gone.
    Crash,
}

/// How a simulated job went.
#[derive(Debug)]
pub struct SimulatedRun {
    /// The result rows: of a job that has crashed, those in front of its last checkpoint. A job that goes on from
    /// there gives the others.
    pub rows: Vec<ChangeBatch>,
    /// Has it crashed before its end?
    pub has_crashed: bool,
    /// What it has to say.
    pub summary: JobSummary,
}

/// A job that runs to its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCrash;

impl CrashPlan for NoCrash {
    fn next(&mut self, _completed: Option<CheckpointId>) -> CrashStep {
        CrashStep::GoOn
    }
}

/// Takes the results of a simulated job.
pub(super) struct Caller<'a> {
    pub results: Option<&'a ResultReceiver>,
    pub wishes: Option<Arc<Wishes>>,
    pub crash: &'a mut dyn CrashPlan,
    pub taken: Taken,
}

/// What a caller has taken.
#[derive(Default)]
pub(super) struct Taken {
    pub rows: Vec<ChangeBatch>,
    /// How many of them came in front of the barrier of each checkpoint.
    in_front: BTreeMap<CheckpointId, usize>,
}

impl Caller<'_> {
    fn completed(&self) -> Option<CheckpointId> {
        self.wishes.as_ref().and_then(|wishes| wishes.completed())
    }

    /// What the job has put out in front of its last checkpoint, taken by now or not.
    pub fn rows_before_checkpoint(mut self) -> Vec<ChangeBatch> {
        while self.consume() {}
        let known = self.completed().and_then(|checkpoint| self.taken.in_front.get(&checkpoint));
        self.taken.rows.truncate(known.copied().unwrap_or(0));
        self.taken.rows
    }
}

impl Onlooker for Caller<'_> {
    fn consume(&mut self) -> bool {
        match self.results.and_then(ResultReceiver::pop) {
            None => return false,
            Some(StreamElement::Batch(batch)) => self.taken.rows.push(batch),
            Some(StreamElement::Barrier(checkpoint)) => {
                self.taken.in_front.insert(checkpoint, self.taken.rows.len());
            }
            Some(_) => {}
        }
        true
    }

    fn before_step(&mut self) -> ControlFlow<()> {
        match (self.crash.next(self.completed()), &self.wishes) {
            (CrashStep::Crash, _) => return ControlFlow::Break(()),
            (CrashStep::Checkpoint, Some(wishes)) => wishes.want_checkpoint(),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
