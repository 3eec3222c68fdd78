//! The search of one start after the other, where conditions depend on the match.

use super::super::attempt::Best;
use super::super::partition::{Attempts, Partition};
use super::super::path_conditions::PathAsked;
use super::super::rows::RowStore;
use super::{Now, Searcher};
use crate::error::OperatorError;

impl Searcher {
    pub(super) fn advance_attempts(
        &mut self,
        partition: &mut Partition,
        attempts: &mut Attempts,
        store: &RowStore,
        now: Now,
    ) -> Result<(), OperatorError> {
        loop {
            let start = match attempts.start {
                Some(start) => start,
                None => {
                    let start = attempts.next.max(partition.resume);
                    let Some(row) = partition.row(start).filter(|_| start < partition.classed) else {
                        attempts.next = start;
                        return Ok(());
                    };
                    if !self.can_begin(self.automaton.mask(row.class), start == 0) {
                        self.unmatched(partition, start);
                        attempts.next = start + 1;
                        continue;
                    }
                    let sets = &self.conditions.sets;
                    attempts.attempt.begin(&self.program, &mut self.scratch, start == 0, sets);
                    self.attempts += 1;
                    attempts.attempt.id = self.attempts;
                    attempts.start = Some(start);
                    start
                }
            };
            self.try_rows(partition, attempts, store, start)?;
            let taken = start + attempts.attempt.rows;
            if !attempts.attempt.is_closed() {
                let next = self.next_time(partition, taken, now);
                if now.ended {
                    attempts.attempt.finish(&self.program, &mut self.scratch);
                } else if let (Some(within), Some(next)) = (self.within_ms, next)
                    && next.saturating_sub(partition.time(start)) >= within
                {
                    match partition.row(taken) {
                        Some(_) => attempts.attempt.close(),
                        None => attempts.attempt.expire(&self.program),
                    }
                    if !attempts.attempt.is_closed() {
                        return Ok(());
                    }
                } else {
                    return Ok(());
                }
            }
            match attempts.attempt.best {
                None => self.unmatched(partition, start),
                Some(Best { rows, path }) => {
                    if !self.sees_ahead(partition, start, start + rows, now) {
                        return Ok(());
                    }
                    attempts.attempt.paths.labels(path, &mut self.found.labels);
                    self.matched(partition, store, start, start + rows)?;
                }
            }
            attempts.start = None;
            attempts.next = start + 1;
        }
    }

    /// Lets an attempt take the rows that are ready.
    fn try_rows(
        &mut self,
        partition: &Partition,
        attempts: &mut Attempts,
        store: &RowStore,
        start: u64,
    ) -> Result<(), OperatorError> {
        let Self { program, automaton, scratch, conditions, within_ms, time_column, .. } = self;
        let attempt = &mut attempts.attempt;
        while !attempt.is_closed() && start + attempt.rows < partition.classed {
            let number = start + attempt.rows;
            let Some(row) = partition.row(number) else { break };
            if within_ms.is_some_and(|within| row.time.saturating_sub(partition.time(start)) >= within) {
                attempt.close();
                break;
            }
            let place = |depth: i64| partition.id(start as i64 + depth);
            let id = attempt.id;
            attempt.take(program, scratch, automaton.mask(row.class), |variable: u8, paths, node| {
                let asked = PathAsked {
                    attempt: id,
                    paths,
                    node,
                    row: &place,
                    time_column: *time_column,
                    number: partition.number + 1,
                };
                conditions.hold(variable, store, &asked)
            })?;
        }
        Ok(())
    }
}
