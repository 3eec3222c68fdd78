//! Where a task's rows leave it: exchanges to other tasks or to the caller, or a table's writer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tidemark_state::manifest::CheckpointId;

use super::chain::{Downstream, panic_message};
use crate::change_batch::ChangeBatch;
use crate::connector::{SinkToken, SinkWriter};
use crate::element::{StreamElement, Watermark};
use crate::error::{OperatorError, RuntimeError};
use crate::exchange::channel::{Room, Sender};
use crate::exchange::partition::Partitioner;
use crate::metrics::OperatorMetrics;

/// The end of a task's chain.
pub struct Outlet {
    end: End,
    /// The last watermark sent.
    watermark: Watermark,
    is_idle: bool,
}

enum End {
    Exchange(Vec<OutputEdge>),
    Sink(SinkEnd),
}

/// One consumer vertex.
pub struct OutputEdge {
    /// How rows are spread; `None` sends all to the only channel.
    pub partitioner: Option<Partitioner>,
    /// One channel a subtask of the consumer.
    pub channels: Vec<Sender>,
}

struct SinkEnd {
    writer: Box<dyn SinkWriter>,
    metrics: Arc<OperatorMetrics>,
    is_dirty: bool,
    /// Is what it writes committed with checkpoints, instead of at its end?
    commits_with_checkpoints: bool,
}

impl Outlet {
    /// Rows go to every edge.
    pub fn exchange(edges: Vec<OutputEdge>) -> Self {
        Self { end: End::Exchange(edges), watermark: Watermark::MIN, is_idle: false }
    }

    /// Rows go to a writer. With checkpoints, they are committed with those and not when the writer ends.
    pub fn sink(writer: Box<dyn SinkWriter>, metrics: Arc<OperatorMetrics>, commits_with_checkpoints: bool) -> Self {
        let end = End::Sink(SinkEnd { writer, metrics, is_dirty: false, commits_with_checkpoints });
        Self { end, watermark: Watermark::MIN, is_idle: false }
    }

    /// May the task take another element? Closed when no consumer is left.
    pub fn room(&self) -> Room {
        let End::Exchange(edges) = &self.end else { return Room::Free };
        let mut all = Room::Closed;
        for room in edges.iter().flat_map(|e| &e.channels).map(Sender::room) {
            match room {
                Room::Full => return Room::Full,
                Room::Free => all = Room::Free,
                Room::Closed => {}
            }
        }
        all
    }

    /// The input has gone quiet: consumers do not wait for this task's watermark. Is that news?
    pub fn idle(&mut self) -> bool {
        let was_idle = std::mem::replace(&mut self.is_idle, true);
        if !was_idle {
            self.broadcast(&StreamElement::Idle);
        }
        !was_idle
    }

    /// The input is back: consumers wait for this task's watermark again, those that get no rows too.
    pub fn activate(&mut self) {
        if std::mem::replace(&mut self.is_idle, false) {
            self.broadcast(&StreamElement::Watermark(self.watermark));
        }
    }

    /// The input pauses: what is buffered becomes visible.
    pub fn pause(&mut self) -> Result<(), RuntimeError> {
        match &mut self.end {
            End::Sink(sink) if sink.is_dirty => {
                sink.is_dirty = false;
                sink.call(|writer| writer.flush())
            }
            _ => Ok(()),
        }
    }

    /// What came before belongs to the checkpoint, what follows does not. Gives what a writer has to commit once the
    /// checkpoint is there.
    pub fn barrier(&mut self, checkpoint: CheckpointId) -> Result<Option<SinkToken>, RuntimeError> {
        match &mut self.end {
            End::Sink(sink) => sink.call(|writer| writer.prepare()),
            End::Exchange(_) => {
                self.broadcast(&StreamElement::Barrier(checkpoint));
                Ok(None)
            }
        }
    }

    /// Nothing follows. Gives what a writer has to commit once the next checkpoint is there.
    pub fn finish(&mut self) -> Result<Option<SinkToken>, RuntimeError> {
        match &mut self.end {
            End::Sink(sink) if sink.commits_with_checkpoints => sink.call(|writer| writer.prepare()),
            End::Sink(sink) => sink.call(|writer| writer.finish()).map(|()| None),
            End::Exchange(_) => {
                self.broadcast(&StreamElement::End);
                Ok(None)
            }
        }
    }

    fn broadcast(&self, element: &StreamElement) {
        if let End::Exchange(edges) = &self.end {
            edges.iter().flat_map(|e| &e.channels).for_each(|channel| channel.push(element.clone()));
        }
    }
}

impl Downstream for Outlet {
    fn batch(&mut self, batch: ChangeBatch) -> Result<(), RuntimeError> {
        self.activate();
        match &mut self.end {
            End::Sink(sink) => sink.write(&batch),
            End::Exchange(edges) => {
                let Some((last, others)) = edges.split_last_mut() else { return Ok(()) };
                for edge in others {
                    edge.send(batch.clone())?;
                }
                last.send(batch)
            }
        }
    }

    fn watermark(&mut self, watermark: Watermark) -> Result<(), RuntimeError> {
        // The end of time is said by `End` alone: as a watermark it could push a consumer past an idle input.
        if watermark > self.watermark && watermark != Watermark::MAX {
            self.watermark = watermark;
            self.is_idle = false;
            self.broadcast(&StreamElement::Watermark(watermark));
        }
        Ok(())
    }
}

impl OutputEdge {
    fn send(&mut self, batch: ChangeBatch) -> Result<(), RuntimeError> {
        let channels = &self.channels;
        let push = |consumer: usize, rows| channels[consumer].push(StreamElement::Batch(rows));
        match &mut self.partitioner {
            Some(partitioner) => partitioner.split(batch, push).map_err(OperatorError::Arrow)?,
            None => push(0, batch),
        }
        Ok(())
    }
}

impl SinkEnd {
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError> {
        self.metrics.rows_in.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        self.is_dirty = true;
        self.call(|writer| writer.write(batch))
    }

    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut dyn SinkWriter) -> Result<T, RuntimeError>,
    ) -> Result<T, RuntimeError> {
        let writer = self.writer.as_mut();
        // After a panic the job ends and nothing looks at the writer again.
        catch_unwind(AssertUnwindSafe(|| call(writer))).unwrap_or_else(|payload| {
            let message = panic_message(payload.as_ref());
            Err(RuntimeError::Panic(format!("{}: {message}", self.metrics.uid)))
        })
    }
}
