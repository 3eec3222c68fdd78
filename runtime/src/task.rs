//! A subtask of a vertex, cut into steps.
//!
//! **Invariant:** a step never waits. It takes one element, drives it through the chain and puts what comes out
//! into the outputs; and it takes nothing unless every output has room.

pub mod chain;
pub mod finished_task;
pub mod lane;
pub mod operator_task;
pub mod outlet;
pub mod report;
pub mod source_task;
pub mod splits;

use crate::error::RuntimeError;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something; there may be more.
    Progressed,
    /// Nothing: it waits for input or for room.
    Idle {
        /// Time after which to look again even if nothing wakes the thread.
        retry_after_ms: Option<u64>,
    },
    /// It has nothing left to do; drop it.
    Finished,
}

/// A piece of work that can be stepped.
pub trait Task: Send {
    /// The vertex and the subtask, for messages.
    fn name(&self) -> &str;

    /// Does a little, without blocking.
    fn step(&mut self) -> Result<Step, RuntimeError>;
}

/// How long until the next of two times.
pub(crate) fn sooner(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Time from `now_ms` until `at_ms`.
pub(crate) fn ms_until(at_ms: i64, now_ms: i64) -> u64 {
    u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or(0)
}
