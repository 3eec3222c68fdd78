//! A subtask that takes its rows from other tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::chain::Chain;
use super::outlet::Outlet;
use super::{Step, Task, ms_until};
use crate::clock::Clock;
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
    ) -> Self {
        Self { name, gate, chain, outlet, clock, watermark }
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
            GateEvent::Idle => {
                self.outlet.idle();
            }
            GateEvent::End => {
                self.watermark.store(Watermark::MAX.0, Ordering::Relaxed);
                return finish(&mut self.chain, 0, now_ms, &mut self.outlet);
            }
        }
        Ok(Step::Progressed)
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
            Room::Closed => return Ok(Step::Finished),
        }
        let now_ms = self.clock.now_ms();
        if let Some(operator) = self.chain.satisfied() {
            return finish(&mut self.chain, operator, now_ms, &mut self.outlet);
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

/// Ends the operators from `first` on, then the outlet.
pub(super) fn finish(chain: &mut Chain, first: usize, now_ms: i64, outlet: &mut Outlet) -> Result<Step, RuntimeError> {
    chain.finish_from(first, now_ms, outlet)?;
    outlet.finish()?;
    Ok(Step::Finished)
}
