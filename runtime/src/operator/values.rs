//! Constant rows, read like a table of one split.

use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::connector::{Source, SourcePoll, SplitReader};
use crate::error::RuntimeError;
use crate::metrics::SourceMetrics;

/// The rows of `VALUES` or of a `SELECT` without `FROM`.
#[derive(Debug)]
pub struct ValuesSource {
    rows: RecordBatch,
    batch_size: usize,
}

impl ValuesSource {
    /// Emits `rows`, at most `batch_size` at a time.
    pub fn new(rows: RecordBatch, batch_size: usize) -> Self {
        Self { rows, batch_size }
    }
}

impl Source for ValuesSource {
    fn splits(&self) -> Vec<String> {
        vec!["values".into()]
    }

    fn open_split(&self, _index: usize, _metrics: Arc<SourceMetrics>) -> Result<Box<dyn SplitReader>, RuntimeError> {
        Ok(Box::new(ValuesReader { rows: self.rows.clone(), next: 0, batch_size: self.batch_size }))
    }
}

struct ValuesReader {
    rows: RecordBatch,
    next: usize,
    batch_size: usize,
}

impl SplitReader for ValuesReader {
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError> {
        let length = self.batch_size.min(self.rows.num_rows() - self.next);
        if length == 0 {
            return Ok(SourcePoll::Finished);
        }
        let batch = self.rows.slice(self.next, length);
        self.next += length;
        Ok(SourcePoll::Batch(batch))
    }
}
