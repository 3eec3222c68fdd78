//! A subtask that reads a table.
//!
//! **Invariant:** its watermark is the minimum over its lanes that are neither idle nor ended; a lane that has not
//! been read yet holds everything back. When all are idle nothing holds back what they have said: the watermark is
//! then the largest of theirs, as at an input gate.
//!
//! **Invariant:** a barrier comes between two batches. What the lanes' positions say has been read has gone through
//! the chain and into the outlet, and nothing else has.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tidemark_state::manifest::{CheckpointId, SplitState};

use super::chain::Chain;
use super::lane::{Lane, LanePoll, SplitOpener};
use super::operator_task::finish;
use super::outlet::Outlet;
use super::report::{Reporter, SubtaskSnapshot};
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
    /// Splits that have been read to their end.
    pub done: Vec<SplitState>,
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
    /// Asks for barriers, and takes what is to be kept.
    pub reporter: Reporter,
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
                    lane.progress(&mut self.done);
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

    /// How far the splits have been read.
    fn progress(&self) -> Vec<SplitState> {
        let mut splits = self.done.clone();
        self.open.iter().chain(&self.waiting).for_each(|lane| lane.progress(&mut splits));
        splits
    }

    fn barrier(&mut self, checkpoint: CheckpointId) -> Result<Step, RuntimeError> {
        let snapshot = SubtaskSnapshot {
            operators: self.chain.snapshot()?,
            splits: self.progress(),
            watermark_ms: self.watermark.load(Ordering::Relaxed),
            token: self.outlet.barrier(checkpoint)?,
        };
        self.reporter.report(checkpoint, snapshot);
        Ok(Step::Progressed)
    }

    /// Ends the operators from `first` on; all of them when there is nothing more to read.
    fn finish(&mut self, first: usize, now_ms: i64) -> Result<Step, RuntimeError> {
        let token = finish(&mut self.chain, first, now_ms, &mut self.outlet)?;
        let mut snapshot = SubtaskSnapshot::finished(token);
        snapshot.splits = self.progress();
        self.reporter.finished(snapshot);
        Ok(Step::Finished)
    }
}

impl Task for SourceTask {
    fn name(&self) -> &str {
        &self.name
    }

    fn step(&mut self) -> Result<Step, RuntimeError> {
        let room = self.outlet.room();
        if room == Room::Closed {
            let mut snapshot = SubtaskSnapshot::finished(None);
            snapshot.splits = self.progress();
            self.reporter.finished(snapshot);
            return Ok(Step::Finished);
        }
        // A barrier takes no room, and does not wait for it.
        if let Some(checkpoint) = self.reporter.requested() {
            return self.barrier(checkpoint);
        }
        if room == Room::Full || self.reporter.is_held() {
            return Ok(Step::Idle { retry_after_ms: None });
        }
        let now_ms = self.clock.now_ms();
        if let Some(operator) = self.chain.satisfied() {
            return self.finish(operator, now_ms);
        }
        if self.chain.fire_timers(now_ms, &mut self.outlet)? {
            return Ok(Step::Progressed);
        }
        self.open_lanes();
        if self.open.is_empty() {
            self.watermark.store(Watermark::MAX.0, Ordering::Relaxed);
            return self.finish(0, now_ms);
        }
        self.poll_lanes(now_ms)
    }
}
