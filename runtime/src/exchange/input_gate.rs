//! Where a task's inputs meet: one queue of rows, one watermark.
//!
//! **Invariant:** the gate's watermark is the minimum over the channels that are neither idle nor ended, and never
//! goes back. A channel that ends no longer holds the others back and never pushes past what they allow; only when
//! all have ended is the watermark [`Watermark::MAX`]. When the last active channel goes quiet nothing holds back
//! what the channels have said: the watermark is then the largest of theirs, in whichever order they went quiet.
//!
//! **Invariant:** of a channel whose barrier has come nothing is taken until the barriers of all others have come, too,
//! or those have ended. So no row from behind a barrier is seen before one that was sent in front of it.

use tidemark_state::manifest::CheckpointId;

use super::channel::Receiver;
use crate::change_batch::ChangeBatch;
use crate::element::{StreamElement, Watermark};

/// What comes out of the gate.
#[derive(Debug)]
pub enum GateEvent {
    /// Rows of input `input`.
    Batch {
        /// The operator's input.
        input: usize,
        /// The rows.
        batch: ChangeBatch,
    },
    /// The watermark has reached this point. It repeats when an idle gate wakes up.
    Watermark(Watermark),
    /// Every channel that has not ended has given its barrier of this checkpoint.
    Barrier(CheckpointId),
    /// Every channel that has not ended has gone quiet.
    Idle,
    /// Every channel has ended: the watermark is the end of time, and nothing follows.
    End,
}

/// The channels of one subtask.
#[derive(Debug)]
pub struct InputGate {
    channels: Vec<GateChannel>,
    /// Where the next look begins, so that no channel starves another.
    next: usize,
    watermark: Watermark,
    is_idle: bool,
    /// The gate has gone quiet and has yet to say so.
    idle_is_due: bool,
    /// The checkpoint of which some barriers have come.
    aligning: Option<CheckpointId>,
}

#[derive(Debug)]
struct GateChannel {
    input: usize,
    receiver: Receiver,
    watermark: Watermark,
    state: ChannelState,
    /// Has it given the barrier that others have yet to give?
    is_blocked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChannelState {
    Active,
    Idle,
    Ended,
}

impl InputGate {
    /// A gate over channels, each with the index of the operator's input that it feeds.
    pub fn new(channels: Vec<(usize, Receiver)>) -> Self {
        let gate_channel = |(input, receiver)| GateChannel {
            input,
            receiver,
            watermark: Watermark::MIN,
            state: ChannelState::Active,
            is_blocked: false,
        };
        let channels = channels.into_iter().map(gate_channel).collect();
        Self { channels, next: 0, watermark: Watermark::MIN, is_idle: false, idle_is_due: false, aligning: None }
    }

    /// The next event, if one has arrived.
    pub fn poll(&mut self) -> Option<GateEvent> {
        if self.channels.iter().all(|c| c.state == ChannelState::Ended) {
            return Some(GateEvent::End);
        }
        if std::mem::take(&mut self.idle_is_due) {
            return Some(GateEvent::Idle);
        }
        if let Some(checkpoint) = self.aligned() {
            return Some(GateEvent::Barrier(checkpoint));
        }
        let count = self.channels.len();
        let mut looked_at = 0;
        while looked_at < count {
            let index = self.next;
            self.next = (index + 1) % count;
            let channel = &self.channels[index];
            let Some(element) = (!channel.is_blocked).then(|| channel.receiver.pop()).flatten() else {
                looked_at += 1;
                continue;
            };
            looked_at = 0;
            if let Some(event) = self.take(index, element) {
                return Some(event);
            }
        }
        None
    }

    /// The checkpoint whose barriers have all come; its channels may be read again.
    fn aligned(&mut self) -> Option<CheckpointId> {
        self.aligning?;
        let is_in = |channel: &GateChannel| channel.is_blocked || channel.state == ChannelState::Ended;
        if !self.channels.iter().all(is_in) {
            return None;
        }
        self.channels.iter_mut().for_each(|channel| channel.is_blocked = false);
        self.aligning.take()
    }

    fn take_barrier(&mut self, index: usize, checkpoint: CheckpointId) -> Option<GateEvent> {
        let aligning = *self.aligning.get_or_insert(checkpoint);
        assert_eq!(aligning, checkpoint, "a checkpoint begins when the one before it has ended");
        self.channels[index].is_blocked = true;
        self.aligned().map(GateEvent::Barrier)
    }

    fn take(&mut self, index: usize, element: StreamElement) -> Option<GateEvent> {
        let channel = &mut self.channels[index];
        match element {
            StreamElement::Batch(batch) => {
                channel.state = ChannelState::Active;
                self.is_idle = false;
                return Some(GateEvent::Batch { input: channel.input, batch });
            }
            StreamElement::Watermark(watermark) => {
                channel.state = ChannelState::Active;
                channel.watermark = channel.watermark.max(watermark);
            }
            StreamElement::Barrier(checkpoint) => return self.take_barrier(index, checkpoint),
            StreamElement::Idle => channel.state = ChannelState::Idle,
            StreamElement::End => channel.state = ChannelState::Ended,
        }
        // A channel that ends may be the last that others have waited for.
        self.combine().or_else(|| self.aligned().map(GateEvent::Barrier))
    }

    /// What a change in one channel means for the gate.
    fn combine(&mut self) -> Option<GateEvent> {
        let with = |state| self.channels.iter().filter(move |c| c.state == state);
        let lowest = with(ChannelState::Active).map(|c| c.watermark).min();
        if lowest.is_none() && with(ChannelState::Idle).next().is_none() {
            return Some(GateEvent::End);
        }
        let allowed = lowest.or_else(|| self.channels.iter().map(|c| c.watermark).max()).unwrap_or(self.watermark);
        let was_idle = std::mem::replace(&mut self.is_idle, lowest.is_none());
        let advances = allowed > self.watermark;
        self.watermark = self.watermark.max(allowed);
        self.idle_is_due = self.is_idle && (!was_idle || advances);
        if advances || (was_idle && !self.is_idle) {
            return Some(GateEvent::Watermark(self.watermark));
        }
        std::mem::take(&mut self.idle_is_due).then_some(GateEvent::Idle)
    }
}

#[cfg(test)]
mod tests;
