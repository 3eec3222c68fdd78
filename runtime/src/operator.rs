//! The operator's contract.

pub mod calc;
pub mod factory;
pub mod group_aggregate;
pub mod join;
pub mod limit;
pub mod match_recognize;
pub mod pass_through;
pub mod session;
pub mod sort;
pub(crate) mod state;
pub mod values;
pub mod watermark_assigner;
pub mod window_aggregate;
pub mod window_tvf;

use std::ops::Range;
use std::sync::Arc;

use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::metrics::OperatorMetrics;

/// A synchronous, single-threaded, deterministic piece of a dataflow.
///
/// The contract:
/// - calls run to completion; no blocking, no clock of its own, no randomness;
/// - rows emitted for watermark *w* are put out before `on_watermark` returns;
/// - the returned watermark is at most *w* and never goes back;
/// - emission order depends on input order and key order, never on hash order;
/// - `finish` comes once, after the watermark [`Watermark::MAX`], when all inputs have ended;
/// - after `snapshot`, state alone suffices to continue: an operator that is opened and given what `snapshot` gave
///   does what this one does from here on. Calling `snapshot` changes nothing of that;
/// - state of a key stands in an entry of its key group, which is that of the exchange
///   ([`tidemark_state::key_group`]); the entries are sorted by key group, and one is left out when it has no rows.
///   What belongs to no key has none, and comes back to subtask 0 only. What every subtask must know whatever the
///   parallelism, such as how far event time has come, is written for each of the subtask's key groups.
///
/// Barriers, alignment, the minimum of the inputs' watermarks, idleness, chaining and metrics of rows in and out
/// belong to the task.
pub trait Operator: Send {
    /// Takes the handles it may use. Called once, before anything else.
    fn open(&mut self, _ctx: &OperatorContext) -> Result<(), OperatorError> {
        Ok(())
    }

    /// What its state tables look like; none when it has no state. Depends on the plan alone, and never changes.
    fn state_tables(&self) -> Vec<StateTableSchema>;

    /// What it must keep at a barrier: all rows and watermarks before the barrier have been taken, none behind it.
    /// The tables are those of [`Operator::state_tables`], in that order.
    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError>;

    /// Takes up what subtasks kept, be it of another parallelism. Called after `open` and before all else, if at all.
    ///
    /// `snapshot` has the entries of exactly this subtask's key groups, and in subtask 0 those that belong to no key.
    /// Entries of one key group stand in the order written, those of one old subtask after those of another. The
    /// watermarks that follow may first repeat what the operator knows.
    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError>;

    /// Takes rows of input `input`. `now_ms` is the task's processing time.
    fn process(&mut self, input: usize, batch: ChangeBatch, now_ms: i64, out: &mut Output)
    -> Result<(), OperatorError>;

    /// Event time has reached `watermark` on all inputs. Returns the watermark for the consumers.
    fn on_watermark(&mut self, watermark: Watermark, _out: &mut Output) -> Result<Watermark, OperatorError> {
        Ok(watermark)
    }

    /// Processing time has reached `now_ms`. Called only when [`Operator::next_timer_ms`] asked for it.
    fn on_processing_time(&mut self, _now_ms: i64, _out: &mut Output) -> Result<(), OperatorError> {
        Ok(())
    }

    /// The processing time at which it wants to be called next.
    fn next_timer_ms(&self) -> Option<i64> {
        None
    }

    /// All inputs have ended; emit what is left.
    fn finish(&mut self, _out: &mut Output) -> Result<(), OperatorError> {
        Ok(())
    }

    /// Does it need no more input (a LIMIT that is full)? The task then ends its sources early.
    fn is_satisfied(&self) -> bool {
        false
    }
}

/// What an operator may use.
#[derive(Clone, Debug)]
pub struct OperatorContext {
    /// Rows to aim for in an emitted batch.
    pub batch_size: usize,
    /// Where it reports late rows, fired windows and the like.
    pub metrics: Arc<OperatorMetrics>,
    /// Number of key groups of the job.
    pub max_parallelism: u32,
    /// The key groups of this subtask.
    pub key_groups: Range<u32>,
}

#[cfg(test)]
impl OperatorContext {
    /// That of an operator which is the only subtask.
    pub fn single(batch_size: usize, metrics: Arc<OperatorMetrics>) -> Self {
        let max_parallelism = tidemark_state::key_group::MAX_PARALLELISM_DEFAULT;
        Self { batch_size, metrics, max_parallelism, key_groups: 0..max_parallelism }
    }
}

/// Where an operator puts its rows. The chain or the task passes them on in order.
#[derive(Debug, Default)]
pub struct Output {
    batches: Vec<ChangeBatch>,
    watermark: Option<Watermark>,
}

impl Output {
    /// Emits a batch; an empty one is ignored.
    pub fn emit(&mut self, batch: ChangeBatch) {
        if batch.num_rows() > 0 {
            self.batches.push(batch);
        }
    }

    /// Says, from `process`, that event time has reached `watermark` once the emitted rows have passed.
    /// For operators that derive the watermark from rows; all others answer in `on_watermark`.
    pub fn advance_watermark(&mut self, watermark: Watermark) {
        self.watermark = Some(watermark);
    }

    /// Takes out the watermark that follows the emitted rows.
    pub fn take_watermark(&mut self) -> Option<Watermark> {
        self.watermark.take()
    }

    /// Takes out what was emitted, in order.
    pub fn drain(&mut self) -> std::vec::Drain<'_, ChangeBatch> {
        self.batches.drain(..)
    }

    /// Was nothing emitted?
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }
}

#[cfg(test)]
mod restore_tests;
