//! The search of all starts at once, where conditions do not depend on the match.

use super::super::cohorts::{Cohorts, Decided, NONE};
use super::super::partition::Partition;
use super::super::rows::RowStore;
use super::{Now, Searcher};
use crate::error::OperatorError;

impl Searcher {
    pub(super) fn advance_cohorts(
        &mut self,
        partition: &mut Partition,
        cohorts: &mut Cohorts,
        store: &RowStore,
        now: Now,
    ) -> Result<(), OperatorError> {
        let ready = partition.classed;
        while partition.taken < ready {
            let number = partition.taken;
            let Some(row) = partition.row(number).copied() else { break };
            if let Some(within) = self.within_ms {
                cohorts.close_while(|start| row.time.saturating_sub(partition.time(start)) >= within);
                self.settle(partition, cohorts, store, now)?;
            }
            let mask = self.automaton.mask(row.class);
            if number >= partition.resume && (self.can_begin(mask, number == 0) || self.emits_unmatched()) {
                cohorts.begin(&self.program, &mut self.automaton, number);
            }
            if !cohorts.is_empty() {
                cohorts.take(&self.program, &mut self.automaton, number, row.class);
            }
            partition.taken += 1;
            self.settle(partition, cohorts, store, now)?;
        }
        if now.ended {
            cohorts.close_all(&self.program, &mut self.automaton, partition.end());
        } else if let (Some(within), Some(next)) = (self.within_ms, self.next_time(partition, partition.taken, now)) {
            let is_over = |start| next.saturating_sub(partition.time(start)) >= within;
            match partition.row(partition.taken) {
                Some(_) => cohorts.close_while(is_over),
                None => cohorts.expire_while(&self.program, &mut self.automaton, partition.taken, is_over),
            }
        }
        self.settle(partition, cohorts, store, now)
    }

    /// Emits what is decided.
    fn settle(
        &mut self,
        partition: &mut Partition,
        cohorts: &mut Cohorts,
        store: &RowStore,
        now: Now,
    ) -> Result<(), OperatorError> {
        loop {
            while cohorts.oldest().is_some_and(|oldest| oldest < partition.resume) {
                cohorts.drop_oldest();
            }
            let Some(Decided { start, end }) = cohorts.decided() else { return Ok(()) };
            if end == NONE {
                self.unmatched(partition, start);
            } else {
                if !self.sees_ahead(partition, start, end, now) {
                    return Ok(());
                }
                self.label(partition, start, end, now)?;
                self.matched(partition, store, start, end)?;
            }
            cohorts.drop_oldest();
        }
    }
}
