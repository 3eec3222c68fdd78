//! A bounded channel from one producer subtask to one consumer subtask.
//!
//! **Invariant:** a producer that asks [`Sender::room`] before it takes its next element never queues more than the
//! limit plus what that one element gives rise to. Watermarks between two batches merge into the last, so that the
//! bound on rows bounds the elements too.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wake_up::WakeUp;
use crate::element::StreamElement;

/// Rows that a channel holds before it pushes back.
pub const MAX_CHANNEL_ROWS: usize = 16 * 1024;
/// Bytes that a channel holds before it pushes back.
pub const MAX_CHANNEL_BYTES: usize = 16 * 1024 * 1024;

/// When a channel is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelLimits {
    /// Rows.
    pub rows: usize,
    /// Bytes, approximately.
    pub bytes: usize,
}

impl Default for ChannelLimits {
    fn default() -> Self {
        Self { rows: MAX_CHANNEL_ROWS, bytes: MAX_CHANNEL_BYTES }
    }
}

/// May the producer go on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Yes.
    Free,
    /// Not before the consumer has taken something.
    Full,
    /// Nobody will ever take anything: pushed elements vanish.
    Closed,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    limits: ChannelLimits,
    producer: Arc<WakeUp>,
    consumer: Arc<WakeUp>,
}

#[derive(Debug, Default)]
struct Queue {
    /// With the bytes they were counted as.
    elements: VecDeque<(StreamElement, usize)>,
    rows: usize,
    bytes: usize,
    producer_gone: bool,
    consumer_gone: bool,
}

/// The producer's end.
#[derive(Debug)]
pub struct Sender(Arc<Shared>);

/// The consumer's end.
#[derive(Debug)]
pub struct Receiver(Arc<Shared>);

/// A channel whose producer sleeps on one wake-up and whose consumer sleeps on the other.
pub fn channel(limits: ChannelLimits, producer: Arc<WakeUp>, consumer: Arc<WakeUp>) -> (Sender, Receiver) {
    let shared = Arc::new(Shared { queue: Mutex::default(), limits, producer, consumer });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_full(&self, limits: ChannelLimits) -> bool {
        self.rows >= limits.rows || self.bytes >= limits.bytes
    }

    fn push(&mut self, element: StreamElement) {
        let last = self.elements.back().map(|(last, _)| last);
        let bytes = match (&element, last) {
            (StreamElement::Batch(batch), _) => batch.memory_size(),
            (StreamElement::Idle, Some(StreamElement::Idle)) => return,
            (StreamElement::Watermark(_), Some(StreamElement::Watermark(_) | StreamElement::Idle)) => {
                self.elements.pop_back();
                return self.push(element);
            }
            _ => 0,
        };
        self.rows += rows_of(&element);
        self.bytes += bytes;
        self.elements.push_back((element, bytes));
    }
}

fn rows_of(element: &StreamElement) -> usize {
    match element {
        StreamElement::Batch(batch) => batch.num_rows(),
        _ => 0,
    }
}

impl Sender {
    /// May another element be pushed?
    pub fn room(&self) -> Room {
        let queue = self.0.queue();
        if queue.consumer_gone {
            Room::Closed
        } else if queue.is_full(self.0.limits) {
            Room::Full
        } else {
            Room::Free
        }
    }

    /// Queues an element, whether or not there is room; drops it when the channel is closed.
    pub fn push(&self, element: StreamElement) {
        let mut queue = self.0.queue();
        if queue.consumer_gone {
            return;
        }
        let was_empty = queue.elements.is_empty();
        queue.push(element);
        drop(queue);
        if was_empty {
            self.0.consumer.bump();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.queue().producer_gone = true;
        self.0.consumer.bump();
    }
}

impl Receiver {
    /// Takes the oldest element.
    pub fn pop(&self) -> Option<StreamElement> {
        let mut queue = self.0.queue();
        let was_full = queue.is_full(self.0.limits);
        let (element, bytes) = queue.elements.pop_front()?;
        queue.rows -= rows_of(&element);
        queue.bytes -= bytes;
        let has_room = !queue.is_full(self.0.limits);
        drop(queue);
        if was_full && has_room {
            self.0.producer.bump();
        }
        Some(element)
    }

    /// Is nothing queued and nothing to come?
    pub fn is_exhausted(&self) -> bool {
        let queue = self.0.queue();
        queue.producer_gone && queue.elements.is_empty()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.consumer_gone = true;
        let unread = std::mem::take(&mut queue.elements);
        drop(queue);
        drop(unread);
        self.0.producer.bump();
    }
}

#[cfg(test)]
mod tests;
