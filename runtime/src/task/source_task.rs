//! A subtask that reads a table.
//!
//! **Invariant:** its watermark is the minimum over its lanes that are neither idle nor ended; a lane that has not
//! been read yet holds everything back. When all are idle nothing holds back what they have said: the watermark is
//! then the largest of theirs, as at an input gate.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::chain::Chain;
use super::lane::{Lane, LanePoll, SplitOpener};
use super::operator_task::finish;
use super::outlet::Outlet;
use super::{Step, Task, ms_until, sooner};
use crate::clock::Clock;
use crate::element::Watermark;
use crate::error::RuntimeError;
use crate::exchange::channel::Room;

/// Splits that one subtask holds open at a time.
pub const MAX_OPEN_SPLITS: usize = 64;

/// What a source subtask is made of.
pub struct SourceTask {
    /// The vertex and the subtask.
    pub name: String,
    /// Opens the lanes' splits.
    pub opener: SplitOpener,
    /// Lanes that are not open yet, in order.
    pub waiting: VecDeque<Lane>,
    /// Lanes that are being read, in turns.
    pub open: Vec<Lane>,
    /// The operators behind the lanes'.
    pub chain: Chain,
    /// Where rows go.
    pub outlet: Outlet,
    /// Processing time.
    pub clock: Arc<dyn Clock>,
    /// A lane without rows for so long is idle.
    pub idle_timeout_ms: Option<u64>,
    /// The watermark of the lanes (ms), for whoever watches.
    pub watermark: Arc<AtomicI64>,
    /// The largest watermark of the lanes that have ended.
    pub ended: Watermark,
    /// The lane to ask first.
    pub next: usize,
}

impl SourceTask {
    fn open_lanes(&mut self) {
        while self.open.len() < MAX_OPEN_SPLITS {
            let Some(lane) = self.waiting.pop_front() else { return };
            self.open.push(lane);
        }
    }

    /// Asks the lanes in turn until one has rows.
    fn poll_lanes(&mut self, now_ms: i64) -> Result<Step, RuntimeError> {
        let mut retry_after_ms = None;
        for turn in 0..self.open.len() {
            let index = (self.next + turn) % self.open.len();
            match self.open[index].poll(&self.opener, now_ms, self.idle_timeout_ms)? {
                LanePoll::Rows(rows) => {
                    self.next = index + 1;
                    self.outlet.activate();
                    self.open[index].process(rows, now_ms, &mut self.chain, &mut self.outlet)?;
                    self.combine(now_ms)?;
                    return Ok(Step::Progressed);
                }
                LanePoll::Pending(again) => retry_after_ms = sooner(retry_after_ms, again),
                LanePoll::Ended => {
                    self.next = index;
                    let mut lane = self.open.remove(index);
                    lane.finish(now_ms, &mut self.chain, &mut self.outlet)?;
                    self.ended = self.ended.max(lane.watermark());
                    self.open_lanes();
                    self.combine(now_ms)?;
                    return Ok(Step::Progressed);
                }
            }
        }
        if self.combine(now_ms)? {
            return Ok(Step::Progressed);
        }
        self.outlet.pause()?;
        let timer = self.chain.next_timer_ms().map(|at| ms_until(at, now_ms));
        Ok(Step::Idle { retry_after_ms: sooner(retry_after_ms, timer) })
    }

    /// Brings watermark and idleness up to what the lanes allow. Did that change anything?
    fn combine(&mut self, now_ms: i64) -> Result<bool, RuntimeError> {
        if self.open.is_empty() || !self.waiting.is_empty() {
            return Ok(false);
        }
        let lowest = self.open.iter().filter(|lane| !lane.is_idle()).map(Lane::watermark).min();
        let largest = || self.open.iter().map(Lane::watermark).fold(self.ended, Watermark::max);
        let allowed = lowest.unwrap_or_else(largest);
        let advances = allowed.0 > self.watermark.load(Ordering::Relaxed);
        if advances {
            self.watermark.store(allowed.0, Ordering::Relaxed);
            self.chain.advance(allowed, now_ms, &mut self.outlet)?;
        }
        let falls_idle = lowest.is_none() && self.outlet.idle();
        Ok(advances || falls_idle)
    }
}

impl Task for SourceTask {
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
        self.open_lanes();
        if self.open.is_empty() {
            self.watermark.store(Watermark::MAX.0, Ordering::Relaxed);
            return finish(&mut self.chain, 0, now_ms, &mut self.outlet);
        }
        self.poll_lanes(now_ms)
    }
}
