//! Rows in columns, in the order in which they came: the store behind one side of a join.
//!
//! Rows have dense ids. They lie in chunks; small ones are put together as more come, so that rows that come one by
//! one cost no more than a few copies each and a chunk is never tiny among large ones.

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::compute;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use crate::error::OperatorError;

/// No row.
pub(super) const NONE: u32 = u32::MAX;

/// Chunks are put together up to so many rows.
const MAX_MERGED_ROWS: usize = 16 * 1024;

/// Columns of rows, by row id.
#[derive(Debug)]
pub(super) struct Chunks {
    types: Vec<DataType>,
    chunks: Vec<Chunk>,
    rows: usize,
}

#[derive(Debug)]
struct Chunk {
    /// Id of its first row.
    first: usize,
    rows: usize,
    columns: Vec<ArrayRef>,
}

impl Chunks {
    /// No rows, with columns of these types.
    pub(super) fn new(types: Vec<DataType>) -> Self {
        Self { types, chunks: Vec::new(), rows: 0 }
    }

    /// Number of rows, gone ones included: the next id.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Appends rows; returns the id of the first. Ids are `u32`, the last of which means none.
    pub(super) fn append(&mut self, columns: Vec<ArrayRef>, rows: usize) -> Result<u32, OperatorError> {
        debug_assert_eq!(columns.len(), self.types.len(), "one array a column");
        let first = self.rows;
        if first + rows >= NONE as usize {
            return Err(OperatorError::Limit(format!("a join keeps at most {NONE} rows of one input in one subtask")));
        }
        if rows > 0 {
            self.chunks.push(Chunk { first, rows, columns });
            self.rows += rows;
        }
        Ok(first as u32)
    }

    /// Puts small chunks at the end together. Ids stay.
    pub(super) fn merge_small(&mut self) -> Result<(), ArrowError> {
        while let [.., before, last] = self.chunks.as_slice() {
            if before.rows > last.rows.saturating_mul(2) || before.rows + last.rows > MAX_MERGED_ROWS {
                break;
            }
            let columns = before.columns.iter().zip(&last.columns);
            let columns = columns.map(|(a, b)| compute::concat(&[a.as_ref(), b.as_ref()]));
            let (first, rows) = (before.first, before.rows + last.rows);
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            self.chunks.truncate(self.chunks.len() - 2);
            self.chunks.push(Chunk { first, rows, columns });
        }
        Ok(())
    }

    /// In which chunk a row is, and where.
    pub(super) fn place(&self, row: u32) -> (usize, usize) {
        let row = row as usize;
        debug_assert!(row < self.rows, "there is such a row");
        let chunk = self.chunks.partition_point(|c| c.first <= row) - 1;
        (chunk, row - self.chunks[chunk].first)
    }

    /// The columns of a chunk.
    pub(super) fn chunk(&self, chunk: usize) -> &[ArrayRef] {
        &self.chunks[chunk].columns
    }

    /// Number of chunks.
    pub(super) fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// These columns of these rows; where the row is [`NONE`], NULL.
    pub(super) fn gather(
        &self,
        columns: impl Iterator<Item = usize>,
        rows: &[u32],
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let padding = self.chunks.len();
        let place = |row: &u32| if *row == NONE { (padding, 0) } else { self.place(*row) };
        let places: Vec<(usize, usize)> = rows.iter().map(place).collect();
        let gather = |column: usize| {
            let null = new_null_array(&self.types[column], 1);
            let chunks = self.chunks.iter().map(|chunk| chunk.columns[column].as_ref());
            let arrays: Vec<&dyn Array> = chunks.chain([null.as_ref()]).collect();
            compute::interleave(&arrays, &places)
        };
        columns.map(gather).collect()
    }

    /// Keeps these rows only, whose ids ascend; the first of them becomes row 0, and so on.
    pub(super) fn retain(&mut self, rows: &[u32]) -> Result<(), ArrowError> {
        let mut kept = Vec::with_capacity(rows.len().div_ceil(MAX_MERGED_ROWS));
        for (index, rows) in rows.chunks(MAX_MERGED_ROWS).enumerate() {
            let columns = self.gather(0..self.types.len(), rows)?;
            kept.push(Chunk { first: index * MAX_MERGED_ROWS, rows: rows.len(), columns });
        }
        self.chunks = kept;
        self.rows = rows.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;

    fn numbers(values: std::ops::Range<i64>) -> Vec<ArrayRef> {
        vec![Arc::new(Int64Array::from_iter_values(values))]
    }

    fn gathered(chunks: &Chunks, rows: &[u32]) -> Vec<Option<i64>> {
        chunks.gather(0..1, rows).unwrap()[0].as_primitive::<Int64Type>().iter().collect()
    }

    #[test]
    fn rows_keep_their_ids_while_chunks_are_put_together() {
        let mut chunks = Chunks::new(vec![DataType::Int64]);
        for n in 0..100 {
            assert_eq!(chunks.append(numbers(n..n + 1), 1).unwrap(), n as u32);
            chunks.merge_small().unwrap();
        }
        assert!(chunks.chunk_count() <= 7, "{} chunks for a hundred rows", chunks.chunk_count());
        assert_eq!(gathered(&chunks, &[99, NONE, 0, 50, 50]), [Some(99), None, Some(0), Some(50), Some(50)]);
    }

    #[test]
    fn what_is_not_retained_is_gone() {
        let mut chunks = Chunks::new(vec![DataType::Int64]);
        chunks.append(numbers(0..20_000), 20_000).unwrap();
        chunks.append(numbers(20_000..40_000), 20_000).unwrap();
        let odd: Vec<u32> = (0..40_000).filter(|n| n % 2 == 1).collect();
        chunks.retain(&odd).unwrap();
        assert_eq!((chunks.len(), chunks.chunk_count()), (20_000, 2));
        assert_eq!(gathered(&chunks, &[0, 16_384, 19_999]), [Some(1), Some(32_769), Some(39_999)]);
        chunks.retain(&[]).unwrap();
        assert_eq!((chunks.len(), chunks.chunk_count()), (0, 0));
    }
}
