//! What flows along an edge.

use tidemark_state::manifest::CheckpointId;

use crate::change_batch::ChangeBatch;

/// An event time (ms since 1970) up to which an input is complete: no row at or before it is still expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Watermark(pub i64);

impl Watermark {
    /// Nothing is known yet.
    pub const MIN: Watermark = Watermark(i64::MIN);
    /// The end of time: everything is complete.
    pub const MAX: Watermark = Watermark(i64::MAX);
}

/// A stream element.
#[derive(Clone, Debug)]
pub enum StreamElement {
    /// Rows.
    Batch(ChangeBatch),
    /// Event time has reached this point; it never goes back.
    Watermark(Watermark),
    /// What came before belongs to this checkpoint, what follows does not.
    Barrier(CheckpointId),
    /// The producer has gone quiet: it does not hold the watermark back until its next batch or watermark.
    Idle,
    /// The producer is done; nothing follows.
    End,
}
