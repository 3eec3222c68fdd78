//! A subtask that takes its rows from other tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tidemark_state::manifest::CheckpointId;

use super::chain::Chain;
use super::outlet::Outlet;
use super::report::{Reporter, SubtaskSnapshot};
use super::{Step, Task, ms_until};
use crate::clock::Clock;
use crate::connector::SinkToken;
use crate::element::Watermark;
use crate::error::RuntimeError;
use crate::exchange::channel::Room;
use crate::exchange::input_gate::{GateEvent, InputGate};

/// Gate, chain, outlet.
pub struct OperatorTask {
    name: String,
    gate: InputGate,
    chain: Chain,
    outlet: Outlet,
    clock: Arc<dyn Clock>,
    /// The watermark of its input (ms), for whoever watches.
    watermark: Arc<AtomicI64>,
    /// Takes what is to be kept.
    reporter: Reporter,
}

impl OperatorTask {
    /// A task that reports its input's watermark to `watermark`.
    pub fn new(
        name: String,
        gate: InputGate,
        chain: Chain,
        outlet: Outlet,
        clock: Arc<dyn Clock>,
        watermark: Arc<AtomicI64>,
        reporter: Reporter,
    ) -> Self {
        Self { name, gate, chain, outlet, clock, watermark, reporter }
    }

    fn take(&mut self, event: GateEvent, now_ms: i64) -> Result<Step, RuntimeError> {
        match event {
            GateEvent::Batch { input, batch } => {
                self.outlet.activate();
                self.chain.process(input, batch, now_ms, &mut self.outlet)?;
            }
            GateEvent::Watermark(watermark) => {
                self.outlet.activate();
                self.watermark.store(watermark.0, Ordering::Relaxed);
                self.chain.advance(watermark, now_ms, &mut self.outlet)?;
            }
            GateEvent::Barrier(checkpoint) => self.barrier(checkpoint)?,
            GateEvent::Idle => {
                self.outlet.idle();
            }
            GateEvent::End => {
                self.watermark.store(Watermark::MAX.0, Ordering::Relaxed);
                return self.finish(0, now_ms);
            }
        }
        Ok(Step::Progressed)
    }

    fn barrier(&mut self, checkpoint: CheckpointId) -> Result<(), RuntimeError> {
        let snapshot = SubtaskSnapshot {
            operators: self.chain.snapshot()?,
            splits: vec![],
            watermark_ms: self.watermark.load(Ordering::Relaxed),
            token: self.outlet.barrier(checkpoint)?,
        };
        self.reporter.report(checkpoint, snapshot);
        Ok(())
    }

    fn finish(&mut self, first: usize, now_ms: i64) -> Result<Step, RuntimeError> {
        let token = finish(&mut self.chain, first, now_ms, &mut self.outlet)?;
        self.reporter.finished(SubtaskSnapshot::finished(token));
        Ok(Step::Finished)
    }
}

impl Task for OperatorTask {
    fn name(&self) -> &str {
        &self.name
    }

    fn step(&mut self) -> Result<Step, RuntimeError> {
        match self.outlet.room() {
            Room::Free => {}
            Room::Full => return Ok(Step::Idle { retry_after_ms: None }),
            Room::Closed => {
                self.reporter.finished(SubtaskSnapshot::finished(None));
                return Ok(Step::Finished);
            }
        }
        let now_ms = self.clock.now_ms();
        if let Some(operator) = self.chain.satisfied() {
            return self.finish(operator, now_ms);
        }
        if self.chain.fire_timers(now_ms, &mut self.outlet)? {
            return Ok(Step::Progressed);
        }
        if let Some(event) = self.gate.poll() {
            return self.take(event, now_ms);
        }
        self.outlet.pause()?;
        Ok(Step::Idle { retry_after_ms: self.chain.next_timer_ms().map(|at| ms_until(at, now_ms)) })
    }
}

/// Ends the operators from `first` on, then the outlet. Gives what a writer has to commit.
pub(super) fn finish(
    chain: &mut Chain,
    first: usize,
    now_ms: i64,
    outlet: &mut Outlet,
) -> Result<Option<SinkToken>, RuntimeError> {
    chain.finish_from(first, now_ms, outlet)?;
    outlet.finish()
}
