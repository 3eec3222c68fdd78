//! Steps tasks in a random order that a seed fixes, on the calling thread, with a clock that jumps.
//!
//! An interleaving that breaks something is found again by its seed.

use std::ops::ControlFlow;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::step;
use crate::clock::ManualClock;
use crate::error::RuntimeError;
use crate::task::{Step, Task, sooner};

/// One in so many steps lets the caller read its results.
const CONSUME_ONE_IN: u64 = 4;

/// Who looks on.
pub trait Onlooker {
    /// Takes results, if there are any, and says whether it took some.
    fn consume(&mut self) -> bool;

    /// Is called before each step. Breaking off drops the tasks where they are, as a crash would.
    fn before_step(&mut self) -> ControlFlow<()>;
}

/// Runs `tasks` to their end, or until it is broken off.
///
/// When every task is idle the clock moves on to the next time one of them asked for.
pub fn run_simulated(
    mut tasks: Vec<Box<dyn Task>>,
    seed: u64,
    clock: &ManualClock,
    onlooker: &mut impl Onlooker,
) -> Result<ControlFlow<()>, RuntimeError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Per task since the last progress: not asked, or idle with that retry time.
    let mut idle: Vec<Option<Option<u64>>> = vec![None; tasks.len()];
    while !tasks.is_empty() {
        if onlooker.before_step().is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let index = (random.next_u64() % tasks.len() as u64) as usize;
        match step(tasks[index].as_mut())? {
            Step::Idle { retry_after_ms } => idle[index] = Some(retry_after_ms),
            Step::Progressed => idle.fill(None),
            Step::Finished => {
                drop(tasks.remove(index));
                idle.remove(index);
                idle.fill(None);
            }
        }
        let all_idle = !idle.is_empty() && idle.iter().all(Option::is_some);
        if (all_idle || random.next_u64().is_multiple_of(CONSUME_ONE_IN)) && onlooker.consume() {
            idle.fill(None);
        } else if all_idle {
            let retry = idle.iter().flatten().fold(None, |a, b| sooner(a, *b));
            let retry = retry.ok_or_else(|| RuntimeError::Panic("the tasks wait for each other".into()))?;
            clock.advance(i64::try_from(retry.max(1)).unwrap_or(i64::MAX));
            idle.fill(None);
        }
    }
    while onlooker.consume() {}
    Ok(ControlFlow::Continue(()))
}
