//! Splits a batch by key over the subtasks of a consumer.
//!
//! **Invariant:** rows of one key all go to the subtask that owns the key's group, and rows for one subtask keep
//! their order.

use arrow::array::UInt32Array;
use arrow::error::ArrowError;
use tidemark_state::key_group::{hash_keys, key_group, subtask_of};

use crate::change_batch::ChangeBatch;

/// Sends rows where their key lives.
#[derive(Debug)]
pub struct Partitioner {
    keys: Vec<usize>,
    max_parallelism: u32,
    hashes: Vec<u64>,
    rows: Vec<Vec<u32>>,
}

impl Partitioner {
    /// Splits by the columns `keys` over `consumers` subtasks.
    pub fn new(keys: Vec<usize>, consumers: usize, max_parallelism: u32) -> Self {
        Self { keys, max_parallelism, hashes: Vec::new(), rows: vec![Vec::new(); consumers] }
    }

    /// Hands each consumer its rows; one without rows gets nothing.
    pub fn split(&mut self, batch: ChangeBatch, mut send: impl FnMut(usize, ChangeBatch)) -> Result<(), ArrowError> {
        if self.rows.len() == 1 {
            send(0, batch);
            return Ok(());
        }
        self.assign_rows(&batch);
        let total = batch.num_rows();
        if let Some(only) = self.rows.iter().position(|rows| rows.len() == total) {
            send(only, batch);
            return Ok(());
        }
        for (consumer, rows) in self.rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let indices = UInt32Array::from_iter_values(rows.iter().copied());
            send(consumer, batch.take(&indices)?);
        }
        Ok(())
    }

    fn assign_rows(&mut self, batch: &ChangeBatch) {
        let columns: Vec<_> = self.keys.iter().map(|&k| batch.batch.column(k).clone()).collect();
        self.hashes.clear();
        hash_keys(&columns, &mut self.hashes);
        self.rows.iter_mut().for_each(Vec::clear);
        let consumers = self.rows.len();
        for (row, &hash) in (0u32..).zip(&self.hashes) {
            let group = key_group(hash, self.max_parallelism);
            self.rows[subtask_of(group, consumers, self.max_parallelism)].push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    use super::*;
    use crate::test_rows::numbers;

    fn split(values: impl IntoIterator<Item = i64>, consumers: usize) -> Vec<(usize, Vec<i64>)> {
        let mut parts = Vec::new();
        let batch = ChangeBatch::insert_only(numbers(values));
        Partitioner::new(vec![0], consumers, 128)
            .split(batch, |to, part| {
                parts.push((to, part.batch.column(0).as_primitive::<Int64Type>().values().to_vec()));
            })
            .unwrap();
        parts
    }

    #[test]
    fn a_key_always_goes_to_the_same_consumer_and_order_is_kept() {
        let parts = split((0..100).chain(0..100), 3);
        assert_eq!(parts.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 200);
        let mut home = HashMap::new();
        for (to, rows) in &parts {
            for row in rows {
                assert_eq!(home.entry(*row).or_insert(*to), to);
            }
            let half = rows.len() / 2;
            assert!(rows[..half].is_sorted() && rows[half..].is_sorted());
        }
        assert_eq!(parts.len(), 3, "a hundred keys reach every consumer");
    }

    #[test]
    fn one_key_is_passed_on_whole() {
        let parts = split([7; 10], 3);
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].1, [7; 10]);
    }

    #[test]
    fn one_consumer_gets_everything() {
        assert_eq!(split(0..3, 1), [(0, vec![0, 1, 2])]);
    }
}
