//! Constant rows, read like a table of one split.

use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::connector::{RowPosition, Source, SourcePoll, SplitPosition, SplitReader};
use crate::error::RuntimeError;
use crate::metrics::SourceMetrics;

/// The only split.
const SPLIT: &str = "values";

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
        vec![SPLIT.into()]
    }

    fn not_resumable_because(&self) -> Option<&'static str> {
        None
    }

    fn open_split(
        &self,
        _index: usize,
        position: Option<&SplitPosition>,
        _metrics: Arc<SourceMetrics>,
    ) -> Result<Box<dyn SplitReader>, RuntimeError> {
        let next = RowPosition::read(position, SPLIT, SPLIT)?.min(self.rows.num_rows() as u64) as usize;
        Ok(Box::new(ValuesReader { rows: self.rows.clone(), next, batch_size: self.batch_size }))
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

    fn position(&self) -> SplitPosition {
        SplitPosition::of(&RowPosition { row: self.next as u64 })
    }
}
