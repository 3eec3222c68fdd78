//! Result rows on their way to the caller.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::change_batch::ChangeBatch;
use crate::element::StreamElement;
use crate::exchange::channel::Receiver;
use crate::exchange::wake_up::WakeUp;

/// What a look at the results gives.
#[derive(Debug)]
pub enum Received {
    /// Rows.
    Batch(ChangeBatch),
    /// Nothing yet.
    Empty,
    /// Nothing any more: the job has ended, failed or been cancelled; its handle knows which.
    Finished,
}

/// The reading end of a query. A job whose results nobody reads waits.
#[derive(Debug)]
pub struct ResultReceiver {
    /// One a subtask of the collecting vertex.
    channels: Vec<Receiver>,
    wake_up: Arc<WakeUp>,
}

impl ResultReceiver {
    /// Reads `channels`, whose consumer sleeps on `wake_up`.
    pub(super) fn new(channels: Vec<Receiver>, wake_up: Arc<WakeUp>) -> Self {
        Self { channels, wake_up }
    }

    /// The next element, be it rows or not.
    pub(crate) fn pop(&self) -> Option<StreamElement> {
        self.channels.iter().find_map(Receiver::pop)
    }

    /// The next rows, without waiting.
    pub fn try_recv(&self) -> Received {
        while let Some(element) = self.pop() {
            if let StreamElement::Batch(batch) = element {
                return Received::Batch(batch);
            }
        }
        match self.channels.iter().all(Receiver::is_exhausted) {
            true => Received::Finished,
            false => Received::Empty,
        }
    }

    /// The next rows; [`Received::Empty`] when none have come within `timeout`.
    pub fn recv_timeout(&self, timeout: Duration) -> Received {
        let deadline = Instant::now().checked_add(timeout);
        self.recv_until(deadline)
    }

    /// The next rows, waiting for as long as the job runs; `None` when there are no more.
    pub fn recv(&self) -> Option<ChangeBatch> {
        match self.recv_until(None) {
            Received::Batch(batch) => Some(batch),
            Received::Empty | Received::Finished => None,
        }
    }

    /// All rows until the job ends.
    pub fn iter(&self) -> impl Iterator<Item = ChangeBatch> {
        std::iter::from_fn(|| self.recv())
    }

    fn recv_until(&self, deadline: Option<Instant>) -> Received {
        loop {
            let seen = self.wake_up.epoch();
            match self.try_recv() {
                Received::Empty => {}
                other => return other,
            }
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Received::Empty;
            }
            self.wake_up.park(seen, left);
        }
    }
}
