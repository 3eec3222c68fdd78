//! The seam between the engine and the outside world.

pub mod blackhole;
pub mod datagen;
pub mod filesystem;
pub mod memory;
pub mod nexmark;
pub mod print;
mod random;
pub mod registry;
pub mod stdin;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError};
use tidemark_planner::catalog::table::TableDef;

use crate::change_batch::ChangeBatch;
use crate::error::RuntimeError;
use crate::format::zone::Zone;
use crate::format::{TextContext, UnreadableRows};
use crate::metrics::SourceMetrics;

/// A connector that can run, not just be planned.
pub trait Connector: ConnectorFactory {
    /// Opens `request.table` for reading and lists its splits. Must not read rows yet.
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError>;

    /// Opens a writer of one subtask.
    fn open_sink(&self, request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError>;
}

/// What is to be read.
#[derive(Clone, Debug)]
pub struct SourceRequest {
    /// The table, hints merged in.
    pub table: Arc<TableDef>,
    /// The physical columns wanted, in this order: exactly the leading columns of emitted batches.
    pub projection: SchemaRef,
    /// Metadata keys wanted, one column each behind the physical ones.
    pub metadata: Vec<String>,
    /// Rows to aim for in a batch; also the most a batch may have.
    pub batch_size: usize,
    /// The session's time zone (IANA name): how a text without offset is read as `TIMESTAMP_LTZ`.
    pub time_zone: String,
}

/// A table opened for reading.
pub trait Source: Send {
    /// The splits, in the order in which a single reader reads them (files of a directory: by name).
    /// A split is what has an order of its own: a file, a partition, a generator.
    fn splits(&self) -> Vec<String>;

    /// A reader of split `index`. May be called from, and the reader used in, any thread.
    fn open_split(&self, index: usize, metrics: Arc<SourceMetrics>) -> Result<Box<dyn SplitReader>, RuntimeError>;
}

/// Reads one split in order.
pub trait SplitReader: Send {
    /// The next rows, without waiting for more than what is at hand locally (a file may block on the disk,
    /// a pipe or a paced generator must not: it answers [`SourcePoll::Pending`]).
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError>;

    /// Gives the reader a way to say that rows have arrived while it was pending.
    fn set_waker(&mut self, _waker: Waker) {}
}

/// What a split reader has to offer.
#[derive(Debug)]
pub enum SourcePoll {
    /// Rows: at least one, at most the batch size. Columns as requested.
    Batch(RecordBatch),
    /// Nothing now. Ask again after that many milliseconds, or when the waker is called.
    Pending {
        /// Time after which it is worth asking again; `None` when only the waker knows.
        retry_after_ms: Option<u64>,
    },
    /// The split is read to its end.
    Finished,
}

/// Wakes the engine's threads from anywhere, for readers whose rows arrive on a thread of their own.
#[derive(Clone)]
pub struct Waker(Arc<dyn Fn() + Send + Sync>);

impl Waker {
    /// A waker that calls `wake`.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }

    /// Rows have arrived, or the end has.
    pub fn wake(&self) {
        (self.0)()
    }
}

/// What is to be written.
#[derive(Clone, Debug)]
pub struct SinkRequest {
    /// The table, hints merged in.
    pub table: Arc<TableDef>,
    /// Columns of the batches to come: the table's physical columns.
    pub schema: SchemaRef,
    /// Which subtask writes.
    pub subtask: usize,
    /// Of how many.
    pub parallelism: usize,
    /// The session's time zone (IANA name): how `TIMESTAMP_LTZ` is printed.
    pub time_zone: String,
}

/// Writes one subtask's rows.
pub trait SinkWriter: Send {
    /// Takes rows.
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError>;

    /// Pushes out what is buffered, so that a reader on the other side sees it. Called when the input pauses.
    fn flush(&mut self) -> Result<(), RuntimeError>;

    /// The input has ended: makes the output complete and visible.
    fn finish(&mut self) -> Result<(), RuntimeError>;
}

/// The session's time zone, which was checked when it was set.
fn parse_zone(name: &str) -> Result<Zone, RuntimeError> {
    Zone::parse(name).map_err(RuntimeError::Unsupported)
}

/// What a decoder must know to read `request` from `place`.
fn text_context(
    request: &SourceRequest,
    place: String,
    unreadable: UnreadableRows,
    metrics: Arc<SourceMetrics>,
) -> Result<TextContext, RuntimeError> {
    Ok(TextContext {
        table: request.table.name.clone(),
        place,
        declared: request.table.physical_schema().fields().iter().map(|f| f.name().clone()).collect(),
        projection: request.projection.clone(),
        batch_size: request.batch_size,
        zone: parse_zone(&request.time_zone)?,
        unreadable,
        metrics,
    })
}

/// Reading from what can only be written.
fn only_written(connector: &str) -> OptionError {
    OptionError::new("connector", format!("a table of connector '{connector}' can be written but not read"))
}

/// Writing to what can only be read.
fn only_read(connector: &str) -> OptionError {
    OptionError::new("connector", format!("a table of connector '{connector}' can be read but not written"))
}
