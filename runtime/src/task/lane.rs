//! One order of rows within a source subtask: a split, or all splits one after the other.
//!
//! **Invariant:** a lane has one running watermark. Where splits are read in parallel each is a lane of its own, so
//! that a split is never late because of another; where one reader reads them all in turn they share a lane.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use tidemark_state::manifest::SplitState;

use super::chain::{Chain, Downstream};
use super::outlet::Outlet;
use super::splits::{LanePlan, LaneSplit, Progress};
use super::{ms_until, sooner};
use crate::change_batch::ChangeBatch;
use crate::connector::{Source, SourcePoll, SplitPosition, SplitReader, Waker};
use crate::element::Watermark;
use crate::error::RuntimeError;
use crate::metrics::SourceMetrics;

/// What a lane needs to open its splits.
#[derive(Clone)]
pub struct SplitOpener {
    /// Shared by the subtasks: all see the same splits.
    pub source: Arc<Mutex<Box<dyn Source>>>,
    /// Where readers count bytes and what they cannot read; rows are counted here.
    pub metrics: Arc<SourceMetrics>,
    /// Wakes the thread that steps the subtask.
    pub waker: Waker,
}

impl SplitOpener {
    fn open(&self, split: usize, position: Option<&SplitPosition>) -> Result<Box<dyn SplitReader>, RuntimeError> {
        let source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reader = source.open_split(split, position, Arc::clone(&self.metrics))?;
        reader.set_waker(self.waker.clone());
        Ok(reader)
    }
}

/// Splits that are read in turn, with the operators that must see them apart from others.
pub struct Lane {
    /// Splits to come.
    splits: VecDeque<LaneSplit>,
    reading: Option<Reading>,
    /// The names of splits that have been read.
    done: Vec<String>,
    /// The operators up to the one that derives the watermark.
    chain: Chain,
    watermark: Watermark,
    pending_since_ms: Option<i64>,
    is_idle: bool,
}

struct Reading {
    split: String,
    reader: Box<dyn SplitReader>,
}

/// What a lane has to offer.
pub enum LanePoll {
    /// Rows.
    Rows(RecordBatch),
    /// Nothing now; look again after so many milliseconds or when woken.
    Pending(Option<u64>),
    /// All its splits are read.
    Ended,
}

impl Lane {
    /// A lane through `chain`, which has taken nothing yet.
    pub fn new(plan: LanePlan, mut chain: Chain) -> Result<Self, RuntimeError> {
        let watermark = plan.watermark;
        if watermark > Watermark::MIN {
            chain.resume_at(watermark)?;
        }
        let (splits, done) = (plan.splits, vec![]);
        Ok(Self { splits, reading: None, done, chain, watermark, pending_since_ms: None, is_idle: false })
    }

    /// Its watermark.
    pub fn watermark(&self) -> Watermark {
        self.watermark
    }

    /// Has it been without rows for the idle timeout?
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// How far its splits have been read, as far as that is worth keeping: a split that neither has been begun nor
    /// comes next in a lane that has is as good as one that is not known.
    pub fn progress(&self, out: &mut Vec<SplitState>) {
        out.extend(self.done.iter().map(|split| Progress::Done.of_split(split, self.watermark)));
        if let Some(reading) = &self.reading {
            let (position, leads) = (reading.reader.position(), !self.splits.is_empty());
            return out.push(Progress::At { position, leads }.of_split(&reading.split, self.watermark));
        }
        let Some(next) = self.splits.front() else { return };
        match &next.position {
            Some(position) => {
                let (position, leads) = (position.clone(), self.splits.len() > 1);
                out.push(Progress::At { position, leads }.of_split(&next.name, self.watermark));
            }
            None if self.watermark > Watermark::MIN => {
                out.push(Progress::Next.of_split(&next.name, self.watermark));
            }
            None => {}
        }
    }

    /// Asks the current split for rows, and goes on to the next where it ends.
    pub fn poll(
        &mut self,
        opener: &SplitOpener,
        now_ms: i64,
        idle_timeout_ms: Option<u64>,
    ) -> Result<LanePoll, RuntimeError> {
        loop {
            let Some(reading) = &mut self.reading else {
                let Some(split) = self.splits.pop_front() else { return Ok(LanePoll::Ended) };
                let reader = opener.open(split.index, split.position.as_ref())?;
                self.reading = Some(Reading { split: split.name, reader });
                continue;
            };
            match reading.reader.poll()? {
                SourcePoll::Batch(rows) => {
                    self.pending_since_ms = None;
                    self.is_idle = false;
                    opener.metrics.rows.fetch_add(rows.num_rows() as u64, Ordering::Relaxed);
                    return Ok(LanePoll::Rows(rows));
                }
                SourcePoll::Pending { retry_after_ms } => {
                    let timeout_ms = self.wait(now_ms, idle_timeout_ms);
                    return Ok(LanePoll::Pending(sooner(retry_after_ms, timeout_ms)));
                }
                SourcePoll::Finished => self.done.extend(self.reading.take().map(|reading| reading.split)),
            }
        }
    }

    /// Notes that there are no rows; becomes idle after the timeout, and says how long that is until then.
    fn wait(&mut self, now_ms: i64, idle_timeout_ms: Option<u64>) -> Option<u64> {
        let since = *self.pending_since_ms.get_or_insert(now_ms);
        let timeout = i64::try_from(idle_timeout_ms?).unwrap_or(i64::MAX);
        let left = ms_until(since.saturating_add(timeout), now_ms);
        self.is_idle = left == 0;
        (!self.is_idle).then_some(left)
    }

    /// Drives rows through the lane's operators and the subtask's behind them.
    pub fn process(
        &mut self,
        rows: RecordBatch,
        now_ms: i64,
        chain: &mut Chain,
        outlet: &mut Outlet,
    ) -> Result<(), RuntimeError> {
        let mut down = LaneEnd { watermark: &mut self.watermark, now_ms, chain, outlet };
        self.chain.process(0, ChangeBatch::insert_only(rows), now_ms, &mut down)
    }

    /// Ends the lane's operators.
    pub fn finish(&mut self, now_ms: i64, chain: &mut Chain, outlet: &mut Outlet) -> Result<(), RuntimeError> {
        let mut down = LaneEnd { watermark: &mut self.watermark, now_ms, chain, outlet };
        self.chain.finish_from(0, now_ms, &mut down)
    }
}

/// Rows go on into the subtask's chain; the watermark stays, for the subtask to combine.
struct LaneEnd<'a> {
    watermark: &'a mut Watermark,
    now_ms: i64,
    chain: &'a mut Chain,
    outlet: &'a mut Outlet,
}

impl Downstream for LaneEnd<'_> {
    fn batch(&mut self, batch: ChangeBatch) -> Result<(), RuntimeError> {
        self.chain.process(0, batch, self.now_ms, self.outlet)
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<(), RuntimeError> {
        *self.watermark = watermark;
        Ok(())
    }
}
