//! What happens when event time advances: rows go to their keys, keys are searched, and what nobody needs is dropped.

use super::MatchRecognize;
use super::partition::Row;
use super::release::Waiting;
use super::rows::{RowId, RowStore};
use super::search::Now;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::operator::Output;

impl MatchRecognize {
    /// Gives the released rows to their keys, and searches the keys that got some, or whose deadline has come.
    pub(super) fn advance(&mut self, watermark: Watermark, ended: bool, out: &mut Output) -> Result<(), OperatorError> {
        let released = self.release(if ended { i64::MAX } else { watermark.0 })?;
        // The end of time closes nothing that the end of the input does not: `$` is decided there.
        let known = (watermark != Watermark::MAX && watermark != Watermark::MIN).then_some(watermark.0);
        let now = Now { watermark: known, ended };
        let mut touched = self.deliver(&released)?;
        if self.ahead > 0 || self.conditions.reach.0 > 0 {
            self.classify_in_place(&touched, ended)?;
        }
        if ended {
            touched = self.keys.occupied();
        } else if let (Some(watermark), Some(within)) = (known, self.searcher.within_ms) {
            let is_due = |first: i64| watermark.saturating_add(1).saturating_sub(first) >= within;
            self.schedule.due(is_due, &mut self.keys, &mut touched);
        }
        for slot in &touched {
            let Some(partition) = self.keys.get_mut(*slot) else { continue };
            self.searcher.advance(partition, &self.store, now)?;
        }
        let batch_size = self.context.as_ref().map_or(usize::MAX, |context| context.batch_size.max(1));
        self.output.emit(&self.searcher.found, &self.store, batch_size, out)?;
        self.searcher.found.clear();
        self.forget(&touched);
        self.tidy()
    }

    /// Appends rows to their keys; the keys are returned in the order in which they got their first row.
    fn deliver(&mut self, released: &[Waiting]) -> Result<Vec<u32>, OperatorError> {
        let by_neighbours = self.ahead > 0 || self.conditions.reach.0 > 0;
        let masks = match by_neighbours || released.is_empty() {
            true => vec![],
            false => {
                let rows: Vec<RowId> = released.iter().map(|waiting| waiting.row).collect();
                self.conditions.masks(&self.store, &rows, |row, _| rows[row])?
            }
        };
        let (by_cohorts, mut touched) = (self.searcher.program.is_path_independent(), vec![]);
        for (idx, waiting) in released.iter().enumerate() {
            let Waiting { slot, row: id, time, arrival } = *waiting;
            self.keys.row_came(slot);
            let mask = masks.get(idx).copied();
            if let Some(mask) = mask
                && self.is_of_no_use(slot, mask)
            {
                self.store.release(id);
                continue;
            }
            let class = mask.map_or(0, |mask| self.searcher.automaton.class(mask));
            let (partition, is_first) = self.keys.touch(slot, by_cohorts);
            if is_first {
                touched.push(slot);
            }
            partition.push(Row { id, time, arrival, class });
            if mask.is_some() {
                partition.classed += 1;
            }
        }
        self.keys.end_touch(&touched);
        Ok(touched)
    }

    /// Can a row of a key without state be dropped at once?
    fn is_of_no_use(&self, slot: u32, mask: u64) -> bool {
        let is_new = self.keys.get(slot).is_none();
        let searcher = &self.searcher;
        is_new && !self.keeps_keys && self.keep == 0 && !searcher.emits_unmatched() && !searcher.can_begin(mask, false)
    }

    /// Decides what rows can be whose neighbours have come.
    fn classify_in_place(&mut self, touched: &[u32], ended: bool) -> Result<(), OperatorError> {
        let all: Vec<u32>;
        let slots = match ended {
            true => {
                all = self.keys.occupied();
                &all
            }
            false => touched,
        };
        let (mut rows, mut places) = (vec![], vec![]);
        for slot in slots {
            let Some(partition) = self.keys.get(*slot) else { continue };
            let ready = if ended { partition.end() } else { partition.end().saturating_sub(self.ahead) };
            for number in partition.classed..ready {
                rows.push(partition.id(number as i64));
                places.push((*slot, number));
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let keys = &self.keys;
        let masks = self.conditions.masks(&self.store, &rows, |row, physical| {
            let (slot, number) = places[row];
            keys.get(slot).map_or(RowId::NONE, |partition| partition.id(number as i64 + physical))
        })?;
        for ((slot, _), mask) in places.into_iter().zip(masks) {
            let class = self.searcher.automaton.class(mask);
            if let Some(partition) = self.keys.get_mut(slot) {
                partition.classify(class);
            }
        }
        Ok(())
    }

    /// Drops what the keys that were searched do not need any more, and notes what they wait for.
    pub(super) fn forget(&mut self, touched: &[u32]) {
        let mut forgotten = vec![];
        for slot in touched {
            let Some(partition) = self.keys.get_mut(*slot) else { continue };
            partition.forget(self.keep, &mut forgotten);
            let hold = self.searcher.hold(partition);
            self.schedule.hold(*slot, partition, hold);
            if self.searcher.within_ms.is_some() {
                self.schedule.wait_for(*slot, partition);
            }
            let has_begun = partition.end() > 0 && self.keeps_keys;
            if partition.is_idle() && !has_begun {
                self.keys.drop_partition(*slot);
            }
        }
        forgotten.into_iter().for_each(|row| self.store.release(row));
    }

    /// Gives back memory when much of it is of no use.
    fn tidy(&mut self) -> Result<(), OperatorError> {
        if self.store.is_sparse() {
            let mut needed = Vec::with_capacity(self.store.needed());
            self.waiting.update(|waiting| needed.push(waiting.row));
            self.keys.for_each_row(|row| needed.push(row.id));
            let chunk = self.store.compact(&needed)?;
            let mut next = 0;
            let mut renew = |id: &mut RowId| {
                *id = RowStore::id(chunk, next);
                next += 1;
            };
            self.waiting.update(|waiting| renew(&mut waiting.row));
            self.keys.for_each_row(|row| renew(&mut row.id));
        }
        if self.keys.is_sparse() {
            let numbers = self.keys.compact()?;
            self.waiting.update(|waiting| waiting.slot = numbers[waiting.slot as usize]);
            self.schedule.renumber(&numbers);
        }
        if self.searcher.automaton.is_full() {
            self.keys.renew_states(&self.searcher.program, &mut self.searcher.automaton);
        }
        Ok(())
    }
}
