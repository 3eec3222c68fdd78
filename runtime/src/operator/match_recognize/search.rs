//! The search of one key: takes the rows that are ready, decides what can be decided, in the order of starts.
//!
//! A start is decided when no later row can change what it matches: nothing is open that is preferred to its best
//! match. Starts are decided in order, because a match takes its rows away from those behind it.

mod by_attempts;
mod by_cohorts;

use tidemark_planner::stream_plan::match_recognize::{MatchRows, MatchSkip};

use super::attempt::{Attempt, Scratch};
use super::automaton::Automaton;
use super::cohorts::{Cohorts, Decided};
use super::found::{Found, Head, Kind};
use super::partition::{Partition, Search};
use super::path_conditions::PathConditions;
use super::program::{Program, Step};
use super::rows::RowStore;
use super::skip::{SkipError, skip_target};
use crate::error::OperatorError;

/// What all keys share.
pub struct Searcher {
    /// The pattern.
    pub program: Program,
    /// Its states, where conditions do not depend on the match.
    pub automaton: Automaton,
    /// The conditions that do.
    pub conditions: PathConditions,
    /// Span of a match, exclusive (ms).
    pub within_ms: Option<i64>,
    /// Where the search goes on behind a match.
    pub skip: MatchSkip,
    /// What to do when it cannot.
    pub skip_leniently: bool,
    /// Which rows come out.
    pub rows: MatchRows,
    /// How many rows measures look back from a match, and ahead.
    pub reach: (u32, u32),
    /// The input column that is the time.
    pub time_column: Option<usize>,
    /// What was decided.
    pub found: Found,
    /// Skips that could not be done and were done otherwise.
    pub failed_skips: u64,
    /// Attempts so far.
    attempts: u64,
    scratch: Scratch,
    labelling: Attempt,
    /// Variables with which a match can begin: elsewhere, and at the partition's start.
    first: [First; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct First {
    variables: u64,
    /// May it match without a row, or wait for the end?
    always: bool,
}

/// What is known of time and end when a key is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// No row at or before this time (ms) is still expected; `None` when there is no need to look.
    pub watermark: Option<i64>,
    /// Is the partition complete?
    pub ended: bool,
}

/// Everything about a pattern that does not change.
pub struct SearchSettings {
    /// See [`Searcher`].
    pub within_ms: Option<i64>,
    /// See [`Searcher`].
    pub skip: MatchSkip,
    /// See [`Searcher`].
    pub skip_leniently: bool,
    /// See [`Searcher`].
    pub rows: MatchRows,
    /// See [`Searcher`].
    pub reach: (u32, u32),
    /// See [`Searcher`].
    pub time_column: Option<usize>,
}

impl Searcher {
    /// A searcher that has found nothing yet.
    pub fn new(program: Program, conditions: PathConditions, settings: SearchSettings) -> Self {
        let mut automaton = Automaton::default();
        let mut first = |at_start| {
            let begin = automaton.begin(&program, at_start);
            let mut first = First { variables: 0, always: begin.is_match };
            for step in automaton.steps_of(begin.state) {
                match program.steps[step as usize] {
                    Step::Row { variable, .. } => first.variables |= 1 << variable,
                    _ => first.always = true,
                }
            }
            first
        };
        let first = [first(false), first(true)];
        let SearchSettings { within_ms, skip, skip_leniently, rows, reach, time_column } = settings;
        Self {
            program,
            automaton,
            conditions,
            within_ms,
            skip,
            skip_leniently,
            rows,
            reach,
            time_column,
            found: Found::default(),
            failed_skips: 0,
            attempts: 0,
            scratch: Scratch::default(),
            labelling: Attempt::default(),
            first,
        }
    }

    /// Can a match begin with a row of these variables?
    pub fn can_begin(&self, mask: u64, at_start: bool) -> bool {
        let first = self.first[usize::from(at_start)];
        first.always || first.variables & mask != 0
    }

    /// Are rows of interest with which no match begins?
    pub fn emits_unmatched(&self) -> bool {
        matches!(self.rows, MatchRows::All { with_unmatched: true, .. })
    }

    /// Takes the rows that have a class, and decides what can be decided.
    pub fn advance(&mut self, partition: &mut Partition, store: &RowStore, now: Now) -> Result<(), OperatorError> {
        let mut search = std::mem::replace(&mut partition.search, Search::Cohorts(Cohorts::default()));
        let result = match &mut search {
            Search::Cohorts(cohorts) => self.advance_cohorts(partition, cohorts, store, now),
            Search::Attempts(attempts) => self.advance_attempts(partition, attempts, store, now),
        };
        partition.search = search;
        result
    }

    /// No later row is of an earlier time; `None` when that is not known.
    fn next_time(&self, partition: &Partition, taken: u64, now: Now) -> Option<i64> {
        match partition.row(taken) {
            Some(row) => Some(row.time),
            None => now.watermark.map(|watermark| watermark.saturating_add(1)),
        }
    }

    /// Have the rows come that measures read behind the match?
    fn sees_ahead(&self, partition: &Partition, start: u64, end: u64, now: Now) -> bool {
        now.ended || start == end || end + u64::from(self.reach.1) <= partition.end()
    }

    /// Recovers what the rows of a match are, behind the labels found so far.
    fn label(&mut self, partition: &Partition, start: u64, end: u64, now: Now) -> Result<(), OperatorError> {
        let Self { program, automaton, scratch, labelling, found, .. } = self;
        labelling.begin(program, scratch, start == 0, &[]);
        for number in start..end {
            let mask = partition.row(number).map_or(0, |row| automaton.mask(row.class));
            labelling.take(program, scratch, mask, |_, _, _| Ok(true))?;
        }
        if now.ended && end == partition.end() {
            labelling.finish(program, scratch);
        }
        let best = labelling.best.filter(|best| best.rows == end - start);
        debug_assert!(best.is_some(), "a match that the automaton has found is found again");
        labelling.paths.labels(best.and_then(|best| best.path), &mut found.labels);
        Ok(())
    }

    /// Adds a match whose labels are the last that were found, and says where the search goes on.
    fn matched(
        &mut self,
        partition: &mut Partition,
        store: &RowStore,
        start: u64,
        end: u64,
    ) -> Result<(), OperatorError> {
        partition.number += 1;
        let len = (end - start) as usize;
        let labels = self.found.labels.len() - len;
        if len == 0 {
            partition.resume = start + 1;
            if !matches!(self.rows, MatchRows::All { show_empty: false, .. }) {
                self.add(partition, Kind::Empty, start, 0, labels);
            }
            return Ok(());
        }
        partition.matched = partition.matched.max(end);
        self.add(partition, Kind::Match, start, len, labels);
        let next = match skip_target(&self.skip, &self.found.labels[labels..]) {
            Ok(next) => next,
            Err(error) if self.skip_leniently => {
                self.failed_skips += 1;
                if error == SkipError::FirstRow { 1 } else { len as u64 }
            }
            Err(error) => {
                let first = partition.row(start).map(|row| row.id);
                return Err(error.of_match(&self.skip, first, self.time_column, store));
            }
        };
        partition.resume = start + next;
        Ok(())
    }

    fn unmatched(&mut self, partition: &Partition, start: u64) {
        if self.emits_unmatched() && start >= partition.matched {
            let labels = self.found.labels.len();
            self.add(partition, Kind::Unmatched, start, 0, labels);
        }
    }

    fn add(&mut self, partition: &Partition, kind: Kind, start: u64, len: usize, labels: usize) {
        let rows = len.max(1) as u64;
        let around = match kind {
            Kind::Match => {
                let before = u64::from(self.reach.0).min(start - partition.base());
                let after = u64::from(self.reach.1).min(partition.end() - (start + rows));
                (before as usize, after as usize)
            }
            Kind::Empty | Kind::Unmatched => (0, 0),
        };
        let first = self.found.rows.len() + around.0;
        let numbers = start - around.0 as u64..start + rows + around.1 as u64;
        self.found.rows.extend(numbers.map(|number| partition.id(number as i64)));
        self.found.heads.push(Head { kind, number: partition.number, first, len, around, labels });
    }

    /// The earliest time that a match may have which is emitted later and known by now.
    pub fn hold(&self, partition: &Partition) -> Option<i64> {
        let time = |number: u64| partition.row(number).map(|row| row.time);
        let of_all_rows = self.rows != MatchRows::One;
        match &partition.search {
            Search::Cohorts(cohorts) => {
                let open = match cohorts.earliest_held() {
                    _ if of_all_rows => cohorts.oldest().and_then(time),
                    Some(Decided { start, end }) => time(if end > start { end - 1 } else { start }),
                    None => None,
                };
                // Rows that wait for the rows that NEXT reads.
                open.into_iter().chain(time(partition.taken)).min()
            }
            Search::Attempts(attempts) => {
                let start = attempts.start.unwrap_or(attempts.next);
                let waits_alone = !of_all_rows && attempts.start.is_some() && attempts.attempt.best.is_none();
                time(if waits_alone { start + 1 } else { start })
            }
        }
    }
}
