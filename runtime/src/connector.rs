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
use crate::error::{RestoreError, RuntimeError};
use crate::format::zone::Zone;
use crate::format::{TextContext, UnreadableRows};
use crate::metrics::SourceMetrics;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A connector that can run, not just be planned.
pub trait Connector: ConnectorFactory {
    /// Opens `request.table` for reading and lists its splits. Must not read rows yet.
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError>;

    /// Opens a writer of one subtask.
    fn open_sink(&self, request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError>;

    /// What commits the tokens of the writers of `table`, whichever subtask or run of the job made them; `None` when
    /// what is written cannot be taken back and so needs no commit.
    fn open_committer(&self, table: &TableDef, owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>>;
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
    /// A split is what has an order of its own: a file, a partition, a generator. Its name is what a checkpoint knows
    /// it by: the same rows must have the same name in the next run.
    fn splits(&self) -> Vec<String>;

    /// Why no position of it can be gone back to, as the end of a sentence about the table; `None` when one can.
    fn not_resumable_because(&self) -> Option<&'static str>;

    /// A reader of split `index`, from its beginning or from a position that a reader of it has given.
    /// May be called from, and the reader used in, any thread.
    ///
    /// # Errors
    /// The split cannot be read, or what it holds does not reach to `position` any more.
    fn open_split(
        &self,
        index: usize,
        position: Option<&SplitPosition>,
        metrics: Arc<SourceMetrics>,
    ) -> Result<Box<dyn SplitReader>, RuntimeError>;
}

/// Where to go on reading in a split, in its connector's own form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SplitPosition(pub Value);

impl SplitPosition {
    /// The position as a checkpoint keeps it.
    pub fn of(place: &impl Serialize) -> Self {
        Self(serde_json::to_value(place).expect("positions are made of numbers, texts and lists"))
    }

    /// The position of a split of `table`, as its connector knows it.
    ///
    /// # Errors
    /// It was made by another connector.
    pub fn read<T: DeserializeOwned>(&self, table: &str, split: &str) -> Result<T, RestoreError> {
        T::deserialize(&self.0).map_err(|_| RestoreError::Position {
            table: table.into(),
            split: split.into(),
            reason: format!("{} is no position of this kind of table", self.0),
        })
    }
}

/// A position that is the number of the next row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RowPosition {
    /// Its number, from 0.
    pub row: u64,
}

impl RowPosition {
    /// The row to go on with: the first, unless `position` says otherwise.
    pub fn read(position: Option<&SplitPosition>, table: &str, split: &str) -> Result<u64, RestoreError> {
        position.map_or(Ok(0), |position| position.read::<RowPosition>(table, split).map(|p| p.row))
    }
}

/// Reads one split in order.
pub trait SplitReader: Send {
    /// The next rows, without waiting for more than what is at hand locally (a file may block on the disk,
    /// a pipe or a paced generator must not: it answers [`SourcePoll::Pending`]).
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError>;

    /// Where a reader must begin to give exactly the rows that this one has not given yet.
    fn position(&self) -> SplitPosition;

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
    /// The job that writes, when what it writes is committed with its checkpoints.
    pub owner: Option<SinkOwner>,
}

/// Tells the pending output of one job from that of others; a short text that can be part of a file's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkOwner(pub String);

/// What commits a piece of output, in its connector's own form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SinkToken(pub Value);

/// Writes one subtask's rows.
pub trait SinkWriter: Send {
    /// Takes rows.
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError>;

    /// Pushes out what is buffered, so that a reader on the other side sees it. Called when the input pauses.
    fn flush(&mut self) -> Result<(), RuntimeError>;

    /// Ends the piece of output that belongs to the next checkpoint: when this returns, the token alone suffices to
    /// make it visible, after any crash. Nobody sees it before, if the sink can help it. `None` when there is nothing
    /// to commit. With checkpoints, this takes the place of `finish` when the input ends.
    fn prepare(&mut self) -> Result<Option<SinkToken>, RuntimeError>;

    /// The input has ended: makes the output complete and visible.
    fn finish(&mut self) -> Result<(), RuntimeError>;
}

/// Makes visible what the writers of a table have prepared.
pub trait SinkCommitter: Send {
    /// Makes it visible. What has been committed before is left as it is: after a crash nobody knows.
    fn commit(&mut self, token: &SinkToken) -> Result<(), RuntimeError>;

    /// Removes what runs of the same job have left behind and nobody will commit. To be called before writers are
    /// opened, when everything that is to be committed has been.
    fn discard_leftovers(&mut self) -> Result<(), RuntimeError>;
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
