//! The heart of every join: two sides of rows by key, and what a batch of one side changes in the result.
//!
//! ```text
//! LEFT JOIN    left +I (k=1, a)    ->  +I (1, a, NULL)
//!              right +I (k=1, x)   ->  -D (1, a, NULL), +I (1, a, x)
//!              right -D (k=1, x)   ->  -D (1, a, x), +I (1, a, NULL)
//! ```
//!
//! A join that is bounded in time is *deferred*: a row without a match is put out when nothing can match it any more,
//! and nothing is ever taken back.
//!
//! **Invariant:** a row's count of matches is the number of rows of the other side that are there, have its key and
//! fulfil the condition with it; it is kept where the join type asks for it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute;
use tidemark_state::key_table::KeyTable;

use super::chunks::NONE;
use super::output_rows::OutputRows;
use super::pairs::{BatchRows, Pairs};
use super::plan::{Emits, JoinPlan};
use super::row_index::RowMatcher;
use super::row_store::{RowStore, RowTimes};
use crate::change_batch::{ChangeBatch, RowKind};
use crate::error::OperatorError;
use crate::operator::Output;

/// Keys without rows are forgotten when there are at least so many keys.
const MIN_FORGOTTEN_KEYS: usize = 1024;

/// Two sides of rows.
#[derive(Debug)]
pub(super) struct KeyedJoin {
    plan: Arc<JoinPlan>,
    keys: KeyTable,
    /// Left, right.
    pub(super) sides: [RowStore; 2],
    /// Is it bounded in time?
    is_deferred: bool,
    /// With so many keys it is time to look for keys without rows.
    next_key_check: usize,
    pairs: Pairs,
    rows: OutputRows,
}

/// A batch of one side.
pub(super) struct Arrival<'a> {
    pub(super) input: usize,
    pub(super) batch: &'a ChangeBatch,
    /// Event times, when the join is bounded in time; none for a row that nothing can match.
    pub(super) times: Option<&'a [Option<RowTimes>]>,
    /// How far event time has come.
    pub(super) watermark_ms: i64,
    pub(super) batch_size: usize,
}

impl KeyedJoin {
    /// A join without rows.
    pub(super) fn new(plan: Arc<JoinPlan>, is_deferred: bool) -> Result<Self, OperatorError> {
        Ok(Self {
            keys: KeyTable::new(&plan.sides[0].key_types())?,
            sides: [0, 1].map(|side| RowStore::new(plan.sides[side].types(), plan.sides[side].side.updating)),
            plan,
            is_deferred,
            next_key_check: MIN_FORGOTTEN_KEYS,
            pairs: Pairs::default(),
            rows: OutputRows::default(),
        })
    }

    /// What it does.
    pub(super) fn plan(&self) -> &JoinPlan {
        &self.plan
    }

    /// The key columns of these group ids.
    pub(super) fn key_columns(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, OperatorError> {
        Ok(self.keys.keys(groups)?)
    }

    /// Number of keys that are known.
    #[cfg(test)]
    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// Takes rows of one side.
    pub(super) fn process(&mut self, arrival: &Arrival<'_>, out: &mut Output) -> Result<(), OperatorError> {
        let plan = Arc::clone(&self.plan);
        let (input, batch) = (arrival.input, arrival.batch);
        let groups = self.groups_of(&plan, arrival)?;
        let columns = plan.sides[input].kept_columns(&batch.batch);
        let hashes = self.sides[input].hash_rows(&columns, batch.num_rows());
        let ids = self.store_additions(input, batch, &columns, &groups)?;
        let times: Option<Vec<RowTimes>> =
            arrival.times.map(|times| times.iter().map(|t| t.unwrap_or(UNTIMED)).collect());
        let rows = BatchRows { input, columns: &columns, groups: &groups, times: times.as_deref() };
        let mut matcher = RowMatcher::new(&columns);
        let mut start = 0;
        while start < batch.num_rows() {
            let end = self.pairs.find(&plan, &rows, start, &self.sides[1 - input])?;
            for row in start..end {
                let hash = hashes.get(row).copied();
                match (batch.kind(row).is_addition(), groups[row]) {
                    (_, NONE) => self.pass_unmatched(input, batch.kind(row).is_addition(), row),
                    (true, group) => {
                        let times = rows.times.map(|times| times[row]);
                        let is_kept = times.is_none_or(|t| t.expires_ms > arrival.watermark_ms);
                        self.add(input, row, ids[row], group, hash, times, is_kept);
                    }
                    (false, group) => self.take_back(input, row, group, hash.unwrap_or(0), &mut matcher),
                }
                let is_half = is_first_half(batch, row);
                if self.rows.len() >= arrival.batch_size && !is_half {
                    self.flush(input, Some(&columns), arrival.batch_size, out)?;
                }
            }
            start = end;
        }
        self.flush(input, Some(&columns), arrival.batch_size, out)?;
        self.tidy()
    }

    /// Takes away what no further row can match once event time is at `watermark_ms`, and puts out what had no match.
    pub(super) fn expire(
        &mut self,
        watermark_ms: i64,
        batch_size: usize,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        for side in 0..2 {
            let unmatched = self.sides[side].expire(watermark_ms);
            if self.plan.sides[side].emits == Emits::Unmatched {
                for rows in unmatched.chunks(batch_size) {
                    rows.iter().for_each(|row| self.rows.push(RowKind::Insert, NONE, *row));
                    self.flush(1 - side, None, batch_size, out)?;
                }
            }
        }
        self.tidy()
    }

    /// Adds rows as they were kept, in order: their keys, columns, numbers of matches and event times.
    pub(super) fn restore(
        &mut self,
        side: usize,
        keys: &[ArrayRef],
        columns: Vec<ArrayRef>,
        matches: &[u32],
        times: Option<&[RowTimes]>,
    ) -> Result<(), OperatorError> {
        let mut groups = Vec::new();
        self.keys.intern(keys, matches.len(), &mut groups)?;
        let store = &mut self.sides[side];
        let hashes = store.hash_rows(&columns, matches.len());
        let first = store.store(columns, matches.len())?;
        for (row, id) in (0..matches.len()).zip(first..) {
            match times {
                Some(times) => store.add_until(id, groups[row], matches[row], times[row]),
                None => store.add(id, groups[row], matches[row], hashes.get(row).copied()),
            }
        }
        self.tidy()
    }

    /// The key's group id of each row; [`NONE`] where nothing can match.
    fn groups_of(&mut self, plan: &JoinPlan, arrival: &Arrival<'_>) -> Result<Vec<u32>, OperatorError> {
        let keys = plan.sides[arrival.input].key_columns(&arrival.batch.batch);
        let mut groups = Vec::new();
        self.keys.intern(&keys, arrival.batch.num_rows(), &mut groups)?;
        for (key, _) in keys.iter().zip(&plan.null_safe).filter(|(_, null_safe)| !**null_safe) {
            if let Some(nulls) = key.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
                groups.iter_mut().zip(&nulls).filter(|(_, valid)| !valid).for_each(|(group, _)| *group = NONE);
            }
        }
        if let Some(times) = arrival.times {
            groups.iter_mut().zip(times).filter(|(_, times)| times.is_none()).for_each(|(group, _)| *group = NONE);
        }
        Ok(groups)
    }

    /// Stores the columns of the rows that are to be added; returns their ids, by row of the batch.
    fn store_additions(
        &mut self,
        input: usize,
        batch: &ChangeBatch,
        columns: &[ArrayRef],
        groups: &[u32],
    ) -> Result<Vec<u32>, OperatorError> {
        let store = &mut self.sides[input];
        let is_added = |row: &usize| groups[*row] != NONE && batch.kind(*row).is_addition();
        let added: Vec<u32> = (0..batch.num_rows()).filter(is_added).map(|row| row as u32).collect();
        if added.len() == batch.num_rows() {
            let first = store.store(columns.to_vec(), added.len())?;
            return Ok((first..).take(added.len()).collect());
        }
        let rows = UInt32Array::from(added);
        let columns = columns.iter().map(|c| compute::take(c, &rows, None)).collect::<Result<Vec<_>, _>>()?;
        let first = store.store(columns, rows.len())?;
        let mut ids = vec![NONE; batch.num_rows()];
        rows.values().iter().zip(first..).for_each(|(row, id)| ids[*row as usize] = id);
        Ok(ids)
    }

    /// A row that nothing can match is not kept: only its own kind of row is put out.
    fn pass_unmatched(&mut self, input: usize, is_addition: bool, row: usize) {
        if self.plan.sides[input].emits == Emits::Unmatched {
            let kind = if is_addition { RowKind::Insert } else { RowKind::Delete };
            self.rows.push(kind, row as u32, NONE);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what is known of one row")]
    fn add(
        &mut self,
        input: usize,
        row: usize,
        id: u32,
        group: u32,
        hash: Option<u64>,
        times: Option<RowTimes>,
        is_kept: bool,
    ) {
        let (own_emits, other_emits) = (self.plan.sides[input].emits, self.plan.sides[1 - input].emits);
        let matched = self.pairs.of(row);
        for &other in matched {
            if other_emits != Emits::Never {
                let matches = self.sides[1 - input].matches_mut(other);
                *matches += 1;
                match other_emits {
                    Emits::Unmatched if *matches == 1 && !self.is_deferred => {
                        self.rows.push(RowKind::Delete, NONE, other);
                    }
                    Emits::Matched if *matches == 1 => self.rows.push(RowKind::Insert, NONE, other),
                    _ => {}
                }
            }
            if self.plan.emits_pairs {
                self.rows.push(RowKind::Insert, row as u32, other);
            }
        }
        let is_emitted = match own_emits {
            Emits::Never => false,
            Emits::Unmatched => matched.is_empty() && !(self.is_deferred && is_kept),
            Emits::Matched => !matched.is_empty(),
        };
        if is_emitted {
            self.rows.push(RowKind::Insert, row as u32, NONE);
        }
        let matches = matched.len() as u32;
        match times {
            _ if !is_kept => {}
            Some(times) => self.sides[input].add_until(id, group, matches, times),
            None => self.sides[input].add(id, group, matches, hash),
        }
    }

    /// Takes back a row that equals row `row` of the batch. One that is not there changes nothing.
    fn take_back(&mut self, input: usize, row: usize, group: u32, hash: u64, matcher: &mut RowMatcher<'_>) {
        let Some(id) = self.sides[input].find(matcher, row, group, hash) else { return };
        let (own_emits, other_emits) = (self.plan.sides[input].emits, self.plan.sides[1 - input].emits);
        let matched = self.pairs.of(row);
        for &other in matched {
            if self.plan.emits_pairs {
                self.rows.push(RowKind::Delete, row as u32, other);
            }
            if other_emits != Emits::Never {
                let matches = self.sides[1 - input].matches_mut(other);
                *matches -= 1;
                match other_emits {
                    Emits::Unmatched if *matches == 0 => self.rows.push(RowKind::Insert, NONE, other),
                    Emits::Matched if *matches == 0 => self.rows.push(RowKind::Delete, NONE, other),
                    _ => {}
                }
            }
        }
        let is_emitted = match own_emits {
            Emits::Never => false,
            Emits::Unmatched => matched.is_empty(),
            Emits::Matched => !matched.is_empty(),
        };
        if is_emitted {
            self.rows.push(RowKind::Delete, row as u32, NONE);
        }
        self.sides[input].remove(id);
    }

    fn flush(
        &mut self,
        input: usize,
        columns: Option<&[ArrayRef]>,
        batch_size: usize,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        self.rows.flush(&self.plan, input, columns, self.sides[1 - input].chunks(), batch_size, out)
    }

    /// Gives back the memory of what is gone, once it is enough.
    fn tidy(&mut self) -> Result<(), OperatorError> {
        let [left, right] = &mut self.sides;
        let moved = left.tidy()? | right.tidy()?;
        if moved || self.keys.len() >= self.next_key_check {
            self.forget_keys()?;
            self.next_key_check = (self.keys.len() * 2).max(MIN_FORGOTTEN_KEYS);
        }
        Ok(())
    }

    /// Forgets the keys that have no rows, when they are the most.
    fn forget_keys(&mut self) -> Result<(), OperatorError> {
        let known = self.keys.len();
        let used: Vec<u32> = (0..known as u32).filter(|g| self.sides.iter().any(|side| side.has_rows(*g))).collect();
        if known < MIN_FORGOTTEN_KEYS || used.len() * 2 > known {
            return Ok(());
        }
        let mut keys = KeyTable::new(self.keys.types())?;
        let mut ids = Vec::with_capacity(used.len());
        keys.intern(&self.keys.keys(&used)?, used.len(), &mut ids)?;
        let mut new_id = vec![NONE; known];
        used.iter().zip(&ids).for_each(|(old, new)| new_id[*old as usize] = *new);
        self.sides.iter_mut().for_each(|side| side.renumber_groups(&new_id, ids.len()));
        self.keys = keys;
        Ok(())
    }
}

/// Stands for the times of a row that nothing can match.
const UNTIMED: RowTimes = RowTimes { time_ms: i64::MIN, met_ms: i64::MIN, expires_ms: i64::MIN };

/// Is it a `-U` whose `+U` comes next?
fn is_first_half(batch: &ChangeBatch, row: usize) -> bool {
    batch.kind(row) == RowKind::UpdateBefore
        && row + 1 < batch.num_rows()
        && batch.kind(row + 1) == RowKind::UpdateAfter
}
