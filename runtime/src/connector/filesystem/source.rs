//! Reads files, each a split.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;

use super::super::{Source, SourcePoll, SourceRequest, SplitReader, text_context};
use super::metadata::FileColumns;
use crate::error::{IoError, OperatorError, RuntimeError};
use crate::format::Format;
use crate::format::feed::Feed;
use crate::format::parquet::ParquetReader;
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

impl Source for FileSource {
    fn splits(&self) -> Vec<String> {
        self.files.iter().map(|f| f.display().to_string()).collect()
    }

    fn open_split(&self, index: usize, metrics: Arc<SourceMetrics>) -> Result<Box<dyn SplitReader>, RuntimeError> {
        let path = self.files[index].clone();
        let table = self.request.table.name.clone();
        let failed = |source| IoError { table: table.clone(), action: "read", path: path.clone(), source };
        let file = File::open(&path).map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        let request = &self.request;
        let columns = FileColumns::new(&request.metadata, &request.projection, &path, &facts, request.batch_size);
        let place = path.display().to_string();
        let ctx = text_context(request, place, self.format.unreadable(), metrics.clone())?;
        let rows = match self.format.text_decoder(ctx.clone()) {
            Some(decoder) => Rows::Text { file, feed: Feed::new(decoder) },
            None => {
                metrics.bytes.fetch_add(facts.len(), Ordering::Relaxed);
                Rows::Parquet(Box::new(ParquetReader::open(file, ctx)?))
            }
        };
        Ok(Box::new(FileReader { table, path, rows, columns, metrics }))
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
    Text { file: File, feed: Feed },
    Parquet(Box<ParquetReader>),
}

impl FileReader {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, RuntimeError> {
        let (file, feed) = match &mut self.rows {
            Rows::Parquet(reader) => return reader.next_batch(),
            Rows::Text { file, feed } => (file, feed),
        };
        loop {
            if let Some(batch) = feed.next_batch(false)? {
                return Ok(Some(batch));
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
}
