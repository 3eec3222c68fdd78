//! `stdin`: the rows that come in by the standard input, each as soon as its line is there.
//!
//! A thread of its own reads, for nothing else may wait; a bounded queue holds it back when the rows are not taken.

use std::io::{self, Read};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use serde_json::Value;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::OptionSpec;
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;

use super::{
    Connector, SinkCommitter, SinkOwner, SinkRequest, SinkWriter, Source, SourcePoll, SourceRequest, SplitPosition,
    SplitReader, Waker, only_read, text_context,
};
use crate::error::{IoError, RuntimeError};
use crate::format::Format;
use crate::format::feed::Feed;
use crate::metrics::SourceMetrics;

/// Pieces of the input that may wait to be taken.
const QUEUED_PIECES: usize = 16;

/// Bytes of a piece.
const PIECE_BYTES: usize = 64 * 1024;

/// How messages call the place.
const PLACE: &str = "standard input";

type Input = Box<dyn Read + Send>;

/// The connector. One query reads the input, once: what it has read is gone.
pub struct StdinConnector {
    input: Arc<Mutex<Option<Input>>>,
}

impl StdinConnector {
    /// Reads the standard input of the process.
    pub fn new() -> Self {
        Self::reading(io::stdin())
    }

    /// Reads `input` in its place.
    pub fn reading(input: impl Read + Send + 'static) -> Self {
        Self { input: Arc::new(Mutex::new(Some(Box::new(input)))) }
    }
}

impl Default for StdinConnector {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for StdinConnector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StdinConnector")
    }
}

impl ConnectorFactory for StdinConnector {
    fn name(&self) -> &'static str {
        "stdin"
    }

    fn options(&self) -> Vec<OptionSpec> {
        Format::specs(&["csv", "json"])
    }

    fn check_table(&self, table: &TableDef) -> Result<(), OptionError> {
        Format::of(table).map(|_| ())
    }

    fn source(&self, _table: &TableDef) -> Result<SourceInfo, OptionError> {
        Ok(SourceInfo { bounded: true, changelog: ChangelogMode::Append })
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Err(only_read(self.name()))
    }
}

impl Connector for StdinConnector {
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        let format = Format::of(&request.table).map_err(|e| RuntimeError::Unsupported(e.message))?;
        Ok(Box::new(StdinSource { input: self.input.clone(), format, request }))
    }

    fn open_sink(&self, _request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        Err(RuntimeError::Unsupported(only_read(self.name()).message))
    }

    fn open_committer(&self, _table: &TableDef, _owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

struct StdinSource {
    input: Arc<Mutex<Option<Input>>>,
    format: Format,
    request: SourceRequest,
}

impl Source for StdinSource {
    fn splits(&self) -> Vec<String> {
        vec![PLACE.into()]
    }

    fn not_resumable_because(&self) -> Option<&'static str> {
        Some("the standard input cannot be read a second time")
    }

    fn open_split(
        &self,
        _index: usize,
        _position: Option<&SplitPosition>,
        metrics: Arc<SourceMetrics>,
    ) -> Result<Box<dyn SplitReader>, RuntimeError> {
        let table = self.request.table.name.clone();
        let ctx = text_context(&self.request, PLACE.into(), self.format.unreadable(), metrics.clone())?;
        let Some(decoder) = self.format.text_decoder(ctx) else {
            return Err(RuntimeError::Unsupported("the standard input is read as text".into()));
        };
        let Some(input) = self.input.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            let reason = format!("table `{table}`: the standard input can be read only once");
            return Err(RuntimeError::Unsupported(reason));
        };
        let (sender, pieces) = bounded(QUEUED_PIECES);
        let waker = Arc::new(Mutex::new(None));
        let thread_waker = waker.clone();
        let started = thread::Builder::new().name("stdin".into()).spawn(move || pump(input, &sender, &thread_waker));
        started.map_err(|source| IoError { table: table.clone(), action: "read", path: PLACE.into(), source })?;
        Ok(Box::new(StdinReader { table, pieces, waker, feed: Feed::new(decoder), metrics }))
    }
}

/// Reads until the end, an error, or until nobody takes the pieces any more.
fn pump(mut input: Input, sender: &Sender<io::Result<Vec<u8>>>, waker: &Mutex<Option<Waker>>) {
    loop {
        let mut piece = vec![0; PIECE_BYTES];
        let read = match input.read(&mut piece) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        // An empty piece is the end.
        let is_last = !matches!(read, Ok(1..));
        let piece = read.map(|length| {
            piece.truncate(length);
            piece
        });
        let is_wanted = sender.send(piece).is_ok();
        if let Some(waker) = &*waker.lock().unwrap_or_else(PoisonError::into_inner) {
            waker.wake();
        }
        if is_last || !is_wanted {
            return;
        }
    }
}

struct StdinReader {
    table: String,
    pieces: Receiver<io::Result<Vec<u8>>>,
    waker: Arc<Mutex<Option<Waker>>>,
    feed: Feed,
    metrics: Arc<SourceMetrics>,
}

impl SplitReader for StdinReader {
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError> {
        loop {
            if let Some(batch) = self.feed.next_batch(true)? {
                return Ok(SourcePoll::Batch(batch));
            }
            if self.feed.is_finished() {
                return Ok(SourcePoll::Finished);
            }
            match self.pieces.try_recv() {
                Ok(Ok(piece)) if piece.is_empty() => self.feed.complete(),
                Ok(Ok(piece)) => {
                    self.metrics.bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
                    self.feed.push(&piece);
                }
                Ok(Err(source)) => {
                    return Err(
                        IoError { table: self.table.clone(), action: "read", path: PLACE.into(), source }.into()
                    );
                }
                Err(TryRecvError::Empty) => return Ok(SourcePoll::Pending { retry_after_ms: None }),
                // The thread says that the end has come before it goes.
                Err(TryRecvError::Disconnected) => self.feed.complete(),
            }
        }
    }

    /// Never asked for: no checkpoint is taken of a source that cannot be resumed.
    fn position(&self) -> SplitPosition {
        SplitPosition(Value::Null)
    }

    fn set_waker(&mut self, waker: Waker) {
        // What came in before has woken nobody.
        if !self.pieces.is_empty() {
            waker.wake();
        }
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }
}

#[cfg(test)]
mod tests;
