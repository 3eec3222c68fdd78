//! What is kept of one key: its last rows, in order, and the matches that are open.
//!
//! **Invariant:** rows are numbered from 0 for as long as the key is kept; `rows` holds those from `base` on, without a
//! gap. What is forgotten is only what no open match, no later start and no `PREV` can read.

use std::collections::VecDeque;

use super::attempt::Attempt;
use super::cohorts::Cohorts;
use super::rows::RowId;

/// A row of a partition.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Where it is.
    pub id: RowId,
    /// Its event time (ms).
    pub time: i64,
    /// When it arrived.
    pub arrival: u64,
    /// The class of the variables that it can be; means something only before `Partition::classed`.
    pub class: u32,
}

/// How matches are searched.
#[derive(Debug)]
pub enum Search {
    /// All starts at once.
    Cohorts(Cohorts),
    /// One start after the other.
    Attempts(Box<Attempts>),
}

/// The start that is being tried, and those before it done.
#[derive(Debug, Default)]
pub struct Attempts {
    /// The threads.
    pub attempt: Attempt,
    /// Its first row, while it is open.
    pub start: Option<u64>,
    /// The row where the next attempt begins, at the earliest.
    pub next: u64,
}

/// The state of one key.
#[derive(Debug)]
pub struct Partition {
    rows: VecDeque<Row>,
    base: u64,
    /// Rows before this one have a class.
    pub classed: u64,
    /// Cohorts: rows before this one were taken.
    pub taken: u64,
    /// No match begins before this row any more.
    pub resume: u64,
    /// Rows before this one are in matches or were jumped over.
    pub matched: u64,
    /// Matches so far.
    pub number: i64,
    /// The open matches.
    pub search: Search,
    /// Will a deadline call?
    pub has_deadline: bool,
    /// No match that is emitted later has an earlier time, if it has one that is now known.
    pub hold: Option<i64>,
}

impl Partition {
    /// A key without rows.
    pub fn new(by_cohorts: bool) -> Self {
        let search = match by_cohorts {
            true => Search::Cohorts(Cohorts::default()),
            false => Search::Attempts(Box::default()),
        };
        Self {
            rows: VecDeque::new(),
            base: 0,
            classed: 0,
            taken: 0,
            resume: 0,
            matched: 0,
            number: 0,
            search,
            has_deadline: false,
            hold: None,
        }
    }

    /// A key whose first row to come is row `base`.
    pub fn from(by_cohorts: bool, base: u64) -> Self {
        Self { base, ..Self::new(by_cohorts) }
    }

    /// When the first row that is kept came: its time, then its arrival.
    pub fn first_row(&self) -> Option<(i64, u64)> {
        self.rows.front().map(|row| (row.time, row.arrival))
    }

    /// The row where an open match begins, or where the next one may.
    pub fn open_from(&self) -> u64 {
        match &self.search {
            Search::Cohorts(cohorts) => cohorts.oldest().unwrap_or(self.taken),
            Search::Attempts(attempts) => attempts.start.unwrap_or(attempts.next.max(self.resume)),
        }
    }

    /// Goes back to a row: what was open there is searched anew.
    pub fn go_back_to(&mut self, row: u64) {
        self.taken = row;
        if let Search::Attempts(attempts) = &mut self.search {
            (attempts.start, attempts.next) = (None, row);
        }
    }

    /// Adds the next row.
    pub fn push(&mut self, row: Row) {
        self.rows.push_back(row);
    }

    /// The number that the next row will have.
    pub fn end(&self) -> u64 {
        self.base + self.rows.len() as u64
    }

    /// Row `number`, if it is kept.
    pub fn row(&self, number: u64) -> Option<&Row> {
        self.rows.get(number.checked_sub(self.base)? as usize)
    }

    /// The time of row `number`, which is kept.
    pub fn time(&self, number: u64) -> i64 {
        self.row(number).map_or(i64::MAX, |row| row.time)
    }

    /// Where row `number` is; nowhere outside the partition, or when it was forgotten.
    pub fn id(&self, number: i64) -> RowId {
        u64::try_from(number).ok().and_then(|number| self.row(number)).map_or(RowId::NONE, |row| row.id)
    }

    /// Sets the class of the next row that has none.
    pub fn classify(&mut self, class: u32) {
        let at = (self.classed - self.base) as usize;
        self.rows[at].class = class;
        self.classed += 1;
    }

    /// The oldest row that an open match, or a later start, needs.
    fn oldest_needed(&self) -> u64 {
        match &self.search {
            Search::Cohorts(_) => self.open_from().min(self.taken),
            Search::Attempts(_) => self.open_from(),
        }
    }

    /// Forgets rows, all but `keep` in front of those needed; they are added to `forgotten`.
    pub fn forget(&mut self, keep: u64, forgotten: &mut Vec<RowId>) {
        let first = self.oldest_needed().saturating_sub(keep).min(self.end());
        while self.base < first
            && let Some(row) = self.rows.pop_front()
        {
            forgotten.push(row.id);
            self.base += 1;
        }
        // Memory of a burst is given back.
        if self.rows.capacity() > 64 && self.rows.len() * 4 < self.rows.capacity() {
            self.rows.shrink_to(self.rows.len() * 2);
        }
    }

    /// The first row of the oldest open match.
    pub fn oldest_open(&self) -> Option<u64> {
        match &self.search {
            Search::Cohorts(cohorts) => cohorts.oldest(),
            Search::Attempts(attempts) => attempts.start,
        }
    }

    /// Is nothing kept?
    pub fn is_idle(&self) -> bool {
        self.rows.is_empty() && self.oldest_open().is_none()
    }

    /// The rows that are kept.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.rows.iter_mut()
    }

    /// The rows that are kept, with their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &Row)> {
        self.rows.iter().enumerate().map(|(at, row)| (self.base + at as u64, row))
    }

    /// The number of the first row that is kept.
    pub fn base(&self) -> u64 {
        self.base
    }
}
