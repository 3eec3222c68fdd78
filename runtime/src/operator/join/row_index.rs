//! Finds a row that equals another: what a retraction takes back.
//!
//! Rows are found by a hash of their values and compared by value: two rows that hash alike are still two.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use arrow::array::{Array, ArrayRef, DynComparator, make_comparator};
use arrow::compute::SortOptions;

use super::chunks::{Chunks, NONE};

/// Row ids by the hash of the row.
#[derive(Debug, Default)]
pub(super) struct RowIndex {
    latest: HashMap<u64, u32, BuildHasherDefault<AsItIs>>,
    /// By row id: the row before it with the same hash.
    older: Vec<u32>,
    hashes: Vec<u64>,
}

/// The keys are hashes already.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only whole words are hashed");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl RowIndex {
    /// Adds a row whose values hash to `hash`.
    pub(super) fn insert(&mut self, row: u32, hash: u64) {
        let rows = row as usize + 1;
        if self.older.len() < rows {
            self.older.resize(rows, NONE);
            self.hashes.resize(rows, 0);
        }
        self.hashes[row as usize] = hash;
        self.older[row as usize] = self.latest.insert(hash, row).unwrap_or(NONE);
    }

    /// The last row to have come of those with that hash for which `is_equal` holds.
    pub(super) fn find(&self, hash: u64, mut is_equal: impl FnMut(u32) -> bool) -> Option<u32> {
        let mut row = self.latest.get(&hash).copied().unwrap_or(NONE);
        while row != NONE && !is_equal(row) {
            row = self.older[row as usize];
        }
        (row != NONE).then_some(row)
    }

    /// Forgets a row.
    pub(super) fn remove(&mut self, row: u32) {
        let hash = self.hashes[row as usize];
        let older = self.older[row as usize];
        let latest = self.latest.get_mut(&hash).expect("a row that was inserted has an entry");
        if *latest == row {
            if older == NONE {
                self.latest.remove(&hash);
            } else {
                *latest = older;
            }
            return;
        }
        let mut newer = *latest;
        while self.older[newer as usize] != row {
            newer = self.older[newer as usize];
        }
        self.older[newer as usize] = older;
    }

    /// The hash with which a row was inserted.
    pub(super) fn hash_of(&self, row: u32) -> u64 {
        self.hashes[row as usize]
    }
}

/// Compares rows of a batch with stored rows, by all columns.
pub(super) struct RowMatcher<'a> {
    batch: &'a [ArrayRef],
    by_chunk: Vec<Option<Vec<ColumnMatcher>>>,
}

enum ColumnMatcher {
    Values(DynComparator),
    /// For types without an order.
    Data(ArrayRef, ArrayRef),
}

impl<'a> RowMatcher<'a> {
    /// A matcher of the rows of `batch`.
    pub(super) fn new(batch: &'a [ArrayRef]) -> Self {
        Self { batch, by_chunk: Vec::new() }
    }

    /// Has the stored row the values of row `row` of the batch?
    pub(super) fn is_equal(&mut self, chunks: &Chunks, stored: u32, row: usize) -> bool {
        let (chunk, place) = chunks.place(stored);
        if self.by_chunk.len() < chunks.chunk_count() {
            self.by_chunk.resize_with(chunks.chunk_count(), || None);
        }
        let columns = self.by_chunk[chunk].get_or_insert_with(|| {
            chunks.chunk(chunk).iter().zip(self.batch).map(|(a, b)| ColumnMatcher::new(a, b)).collect()
        });
        columns.iter().all(|column| column.is_equal(place, row))
    }
}

impl ColumnMatcher {
    fn new(stored: &ArrayRef, batch: &ArrayRef) -> Self {
        match make_comparator(stored.as_ref(), batch.as_ref(), SortOptions::default()) {
            Ok(comparator) => ColumnMatcher::Values(comparator),
            Err(_) => ColumnMatcher::Data(ArrayRef::clone(stored), ArrayRef::clone(batch)),
        }
    }

    fn is_equal(&self, stored: usize, row: usize) -> bool {
        match self {
            ColumnMatcher::Values(compare) => compare(stored, row) == Ordering::Equal,
            ColumnMatcher::Data(a, b) => a.slice(stored, 1).to_data() == b.slice(row, 1).to_data(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_rows_is_found_and_any_can_be_removed() {
        let mut index = RowIndex::default();
        // Rows 0 and 2 are equal; row 1 only hashes alike.
        (0..3).for_each(|row| index.insert(row, 7));
        let is_even = |row: u32| row.is_multiple_of(2);
        assert_eq!(index.find(7, is_even), Some(2));
        index.remove(1);
        assert_eq!(index.find(7, |row| row == 1), None);
        index.remove(2);
        assert_eq!(index.find(7, is_even), Some(0));
        index.remove(0);
        assert_eq!(index.find(7, |_| true), None);
        assert!(index.latest.is_empty());
    }
}
