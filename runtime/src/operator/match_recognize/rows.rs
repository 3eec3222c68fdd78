//! The rows that matches still read: batches as they came, each counted by how many of its rows are needed.
//!
//! **Invariant:** a batch goes when its last row is released. Batches of which little is needed are copied together,
//! so that a single row that waits does not keep the thousands that came with it.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::{interleave, take};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

/// A row: its batch, its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowId {
    chunk: u32,
    row: u32,
}

impl RowId {
    /// No row: its values are NULL.
    pub const NONE: RowId = RowId { chunk: u32::MAX, row: 0 };
}

/// Unneeded rows that may lie around before they are worth a copy of the others.
const SLACK_ROWS: usize = 32_768;

/// Batches with rows in use.
#[derive(Debug)]
pub struct RowStore {
    schema: SchemaRef,
    chunks: Vec<Option<Chunk>>,
    free: Vec<u32>,
    total: usize,
    needed: usize,
}

#[derive(Debug)]
struct Chunk {
    rows: RecordBatch,
    needed: usize,
}

impl RowStore {
    /// No rows of `schema`.
    pub fn new(schema: SchemaRef) -> Self {
        Self { schema, chunks: vec![], free: vec![], total: 0, needed: 0 }
    }

    /// Keeps a batch of which `needed` rows will be released later. Row `i` is `id(chunk, i)` of the number returned.
    pub fn add(&mut self, rows: RecordBatch, needed: usize) -> u32 {
        self.total += rows.num_rows();
        self.needed += needed;
        let chunk = Some(Chunk { rows, needed });
        match self.free.pop() {
            Some(free) => {
                self.chunks[free as usize] = chunk;
                free
            }
            None => {
                self.chunks.push(chunk);
                (self.chunks.len() - 1) as u32
            }
        }
    }

    /// Row `row` of batch `chunk`.
    pub fn id(chunk: u32, row: usize) -> RowId {
        RowId { chunk, row: row as u32 }
    }

    /// The row is not needed any more.
    pub fn release(&mut self, row: RowId) {
        let Some(slot) = self.chunks.get_mut(row.chunk as usize) else { return };
        let Some(chunk) = slot else { return };
        chunk.needed -= 1;
        self.needed -= 1;
        if chunk.needed == 0 {
            self.total -= chunk.rows.num_rows();
            *slot = None;
            self.free.push(row.chunk);
        }
    }

    /// Number of rows that are needed.
    pub fn needed(&self) -> usize {
        self.needed
    }

    /// Is it time to copy what is needed out of batches that are mostly not?
    pub fn is_sparse(&self) -> bool {
        self.total > 2 * self.needed + SLACK_ROWS
    }

    /// Copies the needed rows, which `needed` are, into one batch: the n-th becomes row n of the batch returned.
    pub fn compact(&mut self, needed: &[RowId]) -> Result<u32, ArrowError> {
        let columns = (0..self.schema.fields().len()).map(|column| self.gather(column, needed));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(needed.len()));
        let batch = RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options)?;
        self.chunks.clear();
        self.free.clear();
        (self.total, self.needed) = (0, 0);
        Ok(self.add(batch, needed.len()))
    }

    /// The values of a column in these rows; NULL where there is none.
    pub fn gather(&self, column: usize, rows: &[RowId]) -> Result<ArrayRef, ArrowError> {
        let data_type = self.schema.field(column).data_type();
        let column_of = |chunk: u32| match self.chunks.get(chunk as usize) {
            Some(Some(chunk)) => ArrayRef::clone(chunk.rows.column(column)),
            _ => new_null_array(data_type, 1),
        };
        let Some(first) = rows.first() else { return Ok(new_null_array(data_type, 0)) };
        if rows.iter().all(|row| row.chunk == first.chunk) {
            let source = column_of(first.chunk);
            let follows = |(at, row): (usize, &RowId)| row.row as usize == first.row as usize + at;
            if rows.iter().enumerate().all(follows) {
                return Ok(source.slice(first.row as usize, rows.len()));
            }
            return take(&source, &UInt32Array::from_iter_values(rows.iter().map(|row| row.row)), None);
        }
        let mut chunks: Vec<u32> = rows.iter().map(|row| row.chunk).collect();
        chunks.sort_unstable();
        chunks.dedup();
        let sources: Vec<ArrayRef> = chunks.iter().map(|chunk| column_of(*chunk)).collect();
        let place = |row: &RowId| (chunks.partition_point(|chunk| *chunk < row.chunk), row.row as usize);
        let places: Vec<(usize, usize)> = rows.iter().map(place).collect();
        let sources: Vec<&dyn arrow::array::Array> = sources.iter().map(|source| source.as_ref()).collect();
        interleave(&sources, &places)
    }
}
