//! Reads files, each a split.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Source, SourcePoll, SourceRequest, SplitPosition, SplitReader, text_context};
use super::metadata::FileColumns;
use crate::error::{IoError, OperatorError, RestoreError, RuntimeError};
use crate::format::feed::{Feed, FeedPlace};
use crate::format::parquet::{ParquetPosition, ParquetReader};
use crate::format::{Decoder, Format};
use crate::metrics::SourceMetrics;

/// The files of a table.
pub(super) struct FileSource {
    files: Vec<PathBuf>,
    format: Format,
    request: SourceRequest,
}

impl FileSource {
    /// Reads nothing yet.
    pub fn new(files: Vec<PathBuf>, format: Format, request: SourceRequest) -> Self {
        Self { files, format, request }
    }
}

impl FileSource {
    fn text_rows(&self, index: usize, mut file: File, decoder: Box<dyn Decoder>, at: TextPosition) -> Opened<Rows> {
        let path = &self.files[index];
        let length = file.metadata().map_err(|source| self.failed(path, source))?.len();
        if length < at.place.byte {
            let reason = format!("the file has {length} bytes, but {} had been read", at.place.byte);
            return Err(self.unrestorable(path, reason));
        }
        file.seek(SeekFrom::Start(at.place.byte)).map_err(|source| self.failed(path, source))?;
        let feed = Feed::resumed(decoder, &at.place).map_err(|reason| self.unrestorable(path, reason))?;
        Ok(Rows::Text { file, feed, at })
    }

    fn position<P: Default + DeserializeOwned>(&self, index: usize, position: Option<&SplitPosition>) -> Opened<P> {
        let split = self.files[index].display().to_string();
        Ok(position.map(|p| p.read(&self.request.table.name, &split)).transpose()?.unwrap_or_default())
    }

    fn failed(&self, path: &Path, source: io::Error) -> RuntimeError {
        let (table, path) = (self.request.table.name.clone(), path.to_path_buf());
        IoError { table, action: "read", path, source }.into()
    }

    fn unrestorable(&self, path: &Path, reason: String) -> RuntimeError {
        let (table, split) = (self.request.table.name.clone(), path.display().to_string());
        RestoreError::Position { table, split, reason }.into()
    }
}

type Opened<T> = Result<T, RuntimeError>;

impl Source for FileSource {
    fn splits(&self) -> Vec<String> {
        self.files.iter().map(|f| f.display().to_string()).collect()
    }

    fn not_resumable_because(&self) -> Option<&'static str> {
        None
    }

    fn open_split(
        &self,
        index: usize,
        position: Option<&SplitPosition>,
        metrics: Arc<SourceMetrics>,
    ) -> Opened<Box<dyn SplitReader>> {
        let path = self.files[index].clone();
        let file = File::open(&path).map_err(|source| self.failed(&path, source))?;
        let facts = file.metadata().map_err(|source| self.failed(&path, source))?;
        let request = &self.request;
        let columns = FileColumns::new(&request.metadata, &request.projection, &path, &facts, request.batch_size);
        let place = path.display().to_string();
        let ctx = text_context(request, place, self.format.unreadable(), metrics.clone())?;
        let rows = match self.format.text_decoder(ctx.clone()) {
            Some(decoder) => self.text_rows(index, file, decoder, self.position(index, position)?)?,
            None => {
                metrics.bytes.fetch_add(facts.len(), Ordering::Relaxed);
                let at: ParquetPosition = self.position(index, position)?;
                let reader = ParquetReader::open(file, ctx, at)?;
                Rows::Parquet(Box::new(reader.map_err(|reason| self.unrestorable(&path, reason))?))
            }
        };
        Ok(Box::new(FileReader { table: request.table.name.clone(), path, rows, columns, metrics }))
    }
}

struct FileReader {
    table: String,
    path: PathBuf,
    rows: Rows,
    columns: FileColumns,
    metrics: Arc<SourceMetrics>,
}

enum Rows {
    Text {
        file: File,
        feed: Feed,
        /// Behind the rows that have been given.
        at: TextPosition,
    },
    Parquet(Box<ParquetReader>),
}

/// A place in a text file. What cannot be read ends the reading only when the rows before it have been given; until
/// then the place is the one before those rows, with their number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct TextPosition {
    #[serde(flatten)]
    place: FeedPlace,
    /// Rows behind the place that have been given.
    #[serde(default, skip_serializing_if = "is_zero")]
    skip: u64,
}

fn is_zero(skip: &u64) -> bool {
    *skip == 0
}

impl FileReader {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, RuntimeError> {
        let (file, feed, at) = match &mut self.rows {
            Rows::Parquet(reader) => return reader.next_batch(),
            Rows::Text { file, feed, at } => (file, feed, at),
        };
        loop {
            if let Some(batch) = feed.next_batch(false)? {
                let rows = batch.num_rows() as u64;
                let given_before = at.skip.min(rows);
                *at = match feed.has_failed() {
                    true => TextPosition { place: at.place.clone(), skip: rows.max(at.skip) },
                    false => TextPosition { place: feed.place(), skip: at.skip - given_before },
                };
                if given_before < rows {
                    return Ok(Some(batch.slice(given_before as usize, (rows - given_before) as usize)));
                }
                continue;
            }
            if feed.is_finished() {
                return Ok(None);
            }
            let failed = |source: io::Error| {
                let (table, path) = (self.table.clone(), self.path.clone());
                IoError { table, action: "read", path, source }
            };
            let length = feed.fill(file).map_err(failed)?;
            self.metrics.bytes.fetch_add(length as u64, Ordering::Relaxed);
        }
    }
}

impl SplitReader for FileReader {
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError> {
        match self.next_batch()? {
            Some(batch) => Ok(SourcePoll::Batch(self.columns.append_to(batch).map_err(OperatorError::from)?)),
            None => Ok(SourcePoll::Finished),
        }
    }

    fn position(&self) -> SplitPosition {
        match &self.rows {
            Rows::Text { at, .. } => SplitPosition::of(at),
            Rows::Parquet(reader) => SplitPosition::of(&reader.position()),
        }
    }
}
