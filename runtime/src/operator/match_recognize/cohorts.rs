//! The begun matches of one key, for patterns whose conditions do not depend on the rows matched so far.
//!
//! Matches that begin at different rows and are in the same state have the same future: they form a cohort that takes
//! one step a row. So the work of a row depends on the number of states, not on how many matches are open.
//!
//! **Invariant:** a start's best match is the cohort's when that came after the start joined it, else its own.

use std::collections::VecDeque;

use super::automaton::{Automaton, DEAD, StateId};
use super::program::Program;

/// No match yet.
pub const NONE: u64 = u64::MAX;
const CLOSED: u32 = u32::MAX;

/// The starts that are not decided, in the order of their rows.
#[derive(Debug, Default)]
pub struct Cohorts {
    starts: VecDeque<Start>,
    /// By number; those in `free` are nobody's.
    cohorts: Vec<Cohort>,
    active: Vec<u32>,
    free: Vec<u32>,
    /// The number of the first of `starts`: starts are numbered for ever.
    first: u64,
    /// Has some start a match that waits?
    holds_match: bool,
}

#[derive(Debug)]
struct Start {
    /// Its first row.
    row: u64,
    /// Its cohort, or [`CLOSED`].
    cohort: u32,
    /// The cohort's matches that end at or before this row are not its own.
    joined: u64,
    /// Behind the last row of its best match before it joined, or [`NONE`].
    best: u64,
}

#[derive(Debug, Default)]
struct Cohort {
    state: StateId,
    best: u64,
    /// Numbers of starts; some of them may have left.
    members: Vec<u64>,
    /// How many have not left.
    size: usize,
}

/// A decided start: its first row, and the row behind its match if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The first row.
    pub start: u64,
    /// The row behind the last, [`NONE`] without a match; the first row for an empty match.
    pub end: u64,
}

impl Cohorts {
    /// Is no match begun?
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The first row of the oldest start that is not decided.
    pub fn oldest(&self) -> Option<u64> {
        self.starts.front().map(|start| start.row)
    }

    /// The first and the last end of matches that wait, if any does.
    pub fn earliest_held(&self) -> Option<Decided> {
        if !self.holds_match {
            return None;
        }
        let ends = self.starts.iter().map(|start| Decided { start: start.row, end: self.best_of(start) });
        ends.filter(|decided| decided.end != NONE).min_by_key(|decided| decided.end)
    }

    /// Begins a match at `row` before that row is taken.
    pub fn begin(&mut self, program: &Program, automaton: &mut Automaton, row: u64) {
        let first = automaton.begin(program, row == 0);
        let best = if first.is_match { row } else { NONE };
        self.holds_match |= first.is_match;
        let number = self.first + self.starts.len() as u64;
        let cohort = match first.state {
            DEAD => CLOSED,
            state => self.found(state, number),
        };
        self.starts.push_back(Start { row, cohort, joined: row, best });
    }

    /// A cohort of one.
    fn found(&mut self, state: StateId, member: u64) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.cohorts.push(Cohort::default());
            (self.cohorts.len() - 1) as u32
        });
        let cohort = &mut self.cohorts[id as usize];
        (cohort.state, cohort.best, cohort.size) = (state, NONE, 1);
        cohort.members.push(member);
        self.active.push(id);
        id
    }

    /// Takes `row`, of `class`, for all open starts.
    pub fn take(&mut self, program: &Program, automaton: &mut Automaton, row: u64, class: u32) {
        for id in &self.active {
            let cohort = &mut self.cohorts[*id as usize];
            let step = automaton.step(program, cohort.state, class);
            cohort.state = step.state;
            if step.is_match {
                cohort.best = row + 1;
                self.holds_match = true;
            }
        }
        self.merge(row + 1);
    }

    /// Brings together cohorts that are in one state, and closes those that nothing can follow.
    fn merge(&mut self, now: u64) {
        let mut idx = 0;
        while idx < self.active.len() {
            let id = self.active[idx];
            let state = self.cohorts[id as usize].state;
            if state == DEAD {
                self.move_members(id, CLOSED, now);
                self.dissolve(idx);
                continue;
            }
            let same = self.active[..idx].iter().position(|earlier| self.cohorts[*earlier as usize].state == state);
            let Some(earlier) = same else {
                idx += 1;
                continue;
            };
            // The smaller joins the larger: all merges together cost n log n.
            if self.cohorts[self.active[earlier] as usize].size < self.cohorts[id as usize].size {
                self.active.swap(earlier, idx);
            }
            self.move_members(self.active[idx], self.active[earlier], now);
            self.dissolve(idx);
        }
    }

    /// Each member of cohort `from` keeps its best match and moves to `to`.
    fn move_members(&mut self, from: u32, to: u32, now: u64) {
        let members = std::mem::take(&mut self.cohorts[from as usize].members);
        for member in &members {
            let Some(place) = self.place_of(*member, from) else { continue };
            let best = self.best_of(&self.starts[place]);
            let start = &mut self.starts[place];
            (start.best, start.joined, start.cohort) = (best, now, to);
            if to != CLOSED {
                let cohort = &mut self.cohorts[to as usize];
                cohort.members.push(*member);
                cohort.size += 1;
            }
        }
        if to != CLOSED {
            self.forget_left(to);
        }
    }

    /// Where a member of cohort `of` stands among the starts, unless it has left.
    fn place_of(&self, member: u64, of: u32) -> Option<usize> {
        let place = member.checked_sub(self.first)? as usize;
        self.starts.get(place).filter(|start| start.cohort == of).map(|_| place)
    }

    /// Drops the numbers of members that have left, once they are the most.
    fn forget_left(&mut self, id: u32) {
        let cohort = &self.cohorts[id as usize];
        if cohort.members.len() <= 2 * cohort.size + 16 {
            return;
        }
        let members = std::mem::take(&mut self.cohorts[id as usize].members);
        let kept = members.into_iter().filter(|member| self.place_of(*member, id).is_some()).collect();
        self.cohorts[id as usize].members = kept;
    }

    /// Gives back the cohort at `idx` of the active ones.
    fn dissolve(&mut self, idx: usize) {
        let id = self.active.swap_remove(idx);
        self.cohorts[id as usize].members.clear();
        self.free.push(id);
    }

    fn best_of(&self, start: &Start) -> u64 {
        match self.cohorts.get(start.cohort as usize) {
            Some(cohort) if cohort.best != NONE && cohort.best > start.joined => cohort.best,
            _ => start.best,
        }
    }

    /// Closes the starts, oldest first, for as long as `is_over` says so of their first row.
    pub fn close_while(&mut self, mut is_over: impl FnMut(u64) -> bool) {
        for place in 0..self.starts.len() {
            if !is_over(self.starts[place].row) {
                break;
            }
            self.close(place);
        }
    }

    /// As [`Cohorts::close_while`], when no row has come yet: what waits for the end of the partition stays open.
    pub fn expire_while(
        &mut self,
        program: &Program,
        automaton: &mut Automaton,
        now: u64,
        mut is_over: impl FnMut(u64) -> bool,
    ) {
        for place in 0..self.starts.len() {
            if !is_over(self.starts[place].row) {
                break;
            }
            let id = self.starts[place].cohort;
            if id == CLOSED {
                continue;
            }
            let state = self.cohorts[id as usize].state;
            let ends = automaton.ends_of(program, state);
            if ends == DEAD {
                self.close(place);
            } else if ends != state {
                self.close(place);
                let cohort = self.found(ends, self.first + place as u64);
                let start = &mut self.starts[place];
                (start.cohort, start.joined) = (cohort, now);
            }
        }
    }

    /// The partition ends behind row `end`: what waits for that matches, and nothing stays open.
    pub fn close_all(&mut self, program: &Program, automaton: &mut Automaton, end: u64) {
        let active = self.active.iter().copied();
        let state = |id: u32| self.cohorts[id as usize].state;
        let matches: Vec<u32> = active.filter(|id| automaton.accepts_at_end(program, state(*id), end == 0)).collect();
        for place in 0..self.starts.len() {
            let is_match = matches.contains(&self.starts[place].cohort);
            self.close(place);
            if is_match {
                self.starts[place].best = end;
                self.holds_match = true;
            }
        }
    }

    fn close(&mut self, place: usize) {
        let best = self.best_of(&self.starts[place]);
        let start = &mut self.starts[place];
        let cohort = std::mem::replace(&mut start.cohort, CLOSED);
        start.best = best;
        self.leave(cohort);
    }

    /// A start has left its cohort.
    fn leave(&mut self, id: u32) {
        if id == CLOSED {
            return;
        }
        let cohort = &mut self.cohorts[id as usize];
        cohort.size -= 1;
        if cohort.size == 0
            && let Some(idx) = self.active.iter().position(|active| *active == id)
        {
            self.dissolve(idx);
        }
    }

    /// The oldest start, when it is decided.
    pub fn decided(&self) -> Option<Decided> {
        let start = self.starts.front().filter(|start| start.cohort == CLOSED)?;
        Some(Decided { start: start.row, end: start.best })
    }

    /// Drops the oldest start.
    pub fn drop_oldest(&mut self) {
        let Some(start) = self.starts.pop_front() else { return };
        self.first += 1;
        self.leave(start.cohort);
        if self.starts.is_empty() {
            self.holds_match = false;
        }
    }

    /// The states in use.
    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut StateId> {
        let Cohorts { cohorts, free, .. } = self;
        let in_use = cohorts.iter_mut().enumerate().filter(|(id, _)| !free.contains(&(*id as u32)));
        in_use.map(|(_, cohort)| &mut cohort.state)
    }
}
