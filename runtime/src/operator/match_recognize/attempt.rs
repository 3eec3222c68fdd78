//! One attempt to match from one row on: the threads of the pattern's program, the preferred first.
//!
//! A thread is a step that waits for a row, and the path of rows and variables that led there. Paths share what they
//! have in common. Threads at the same step are one where nothing that can follow depends on the path; where it does,
//! each lives on, and [`MAX_PARTIAL_MATCHES`] bounds them.
//!
//! Patterns whose conditions read the match are searched by attempts; for the others an attempt over a match that was
//! found recovers which row is which variable.

use super::closure::{Closure, Place};
use super::path::{NodeId, Paths};
use super::program::{Program, Step, StepId};
use crate::error::OperatorError;

/// The most threads of one attempt: ways to match that differ in the rows matched so far.
pub const MAX_PARTIAL_MATCHES: usize = 10_000;

/// A match that was found: the rows behind the first, and the path that says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// Number of rows.
    pub rows: u64,
    /// The path; none for an empty match.
    pub path: Option<NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    step: StepId,
    path: Option<NodeId>,
}

/// The threads from one start.
#[derive(Debug, Default)]
pub struct Attempt {
    threads: Vec<Thread>,
    next: Vec<Thread>,
    /// The best match so far; threads are preferred to it.
    pub best: Option<Best>,
    /// The paths of the threads.
    pub paths: Paths,
    /// Rows taken.
    pub rows: u64,
    /// Tells it from all others of the operator.
    pub id: u64,
    at_start: bool,
}

/// Scratch space of attempts.
#[derive(Debug, Default)]
pub struct Scratch {
    closure: Closure,
    own: Closure,
    waiting: Vec<StepId>,
}

impl Attempt {
    /// Begins at a row, before it is taken; `at_start` says that it is the partition's first. Paths are told apart by
    /// `sets` sets of variables.
    pub fn begin(&mut self, program: &Program, scratch: &mut Scratch, at_start: bool, sets: &[u64]) {
        self.threads.clear();
        self.paths.clear(sets);
        (self.best, self.rows, self.at_start) = (None, 0, at_start);
        scratch.waiting.clear();
        scratch.closure.begin(program);
        let place = Place { at_start, at_end: false };
        if scratch.closure.follow(program, program.entry, place, &mut scratch.waiting) {
            self.best = Some(Best { rows: 0, path: None });
        }
        self.threads.extend(scratch.waiting.drain(..).map(|step| Thread { step, path: None }));
    }

    /// Can nothing follow?
    pub fn is_closed(&self) -> bool {
        self.threads.is_empty()
    }

    /// Gives up what waits for rows, but not what waits for the end of the partition.
    pub fn expire(&mut self, program: &Program) {
        self.threads.retain(|thread| matches!(program.steps[thread.step as usize], Step::End(_)));
    }

    /// Gives up what has not matched yet.
    pub fn close(&mut self) {
        self.threads.clear();
    }

    /// Takes the next row, which can be the variables of `mask` if `fits` agrees: it is asked for each variable whose
    /// condition reads the path, with the paths and the node that the row would be.
    pub fn take(
        &mut self,
        program: &Program,
        scratch: &mut Scratch,
        mask: u64,
        mut fits: impl FnMut(u8, &Paths, NodeId) -> Result<bool, OperatorError>,
    ) -> Result<(), OperatorError> {
        scratch.closure.begin(program);
        self.next.clear();
        self.rows += 1;
        for idx in 0..self.threads.len() {
            let Thread { step, path } = self.threads[idx];
            let Step::Row { variable, excluded, next } = program.steps[step as usize] else { continue };
            if mask >> variable & 1 == 0 {
                continue;
            }
            let node = self.paths.push(path, variable, excluded);
            if !fits(variable, &self.paths, node)? {
                self.paths.pop(node);
                continue;
            }
            if self.follow(program, scratch, next, node) {
                self.best = Some(Best { rows: self.rows, path: Some(node) });
                break;
            }
        }
        std::mem::swap(&mut self.threads, &mut self.next);
        if self.threads.len() > MAX_PARTIAL_MATCHES {
            return Err(OperatorError::Limit(format!(
                "MATCH_RECOGNIZE: more than {MAX_PARTIAL_MATCHES} partial matches from one row: the conditions in \
                 DEFINE leave too many ways to match; make them exclude each other, or bound the pattern by WITHIN"
            )));
        }
        Ok(())
    }

    /// Adds the threads behind `next`; true when the match is reached.
    fn follow(&mut self, program: &Program, scratch: &mut Scratch, next: StepId, node: NodeId) -> bool {
        let Scratch { closure, own, waiting } = scratch;
        waiting.clear();
        // Paths differ: only steps from which that no longer matters can be left out when another thread has been there.
        let is_match = if program.is_free[next as usize] {
            closure.follow(program, next, Place::INSIDE, waiting)
        } else {
            own.begin(program);
            own.follow(program, next, Place::INSIDE, waiting)
        };
        self.next.extend(waiting.drain(..).map(|step| Thread { step, path: Some(node) }));
        is_match
    }

    /// The partition ends here.
    pub fn finish(&mut self, program: &Program, scratch: &mut Scratch) {
        let at_start = self.at_start && self.rows == 0;
        let waits_for_end = |thread: &&Thread| matches!(program.steps[thread.step as usize], Step::End(_));
        let mut ends = self.threads.iter().filter(waits_for_end);
        if let Some(thread) = ends.find(|t| scratch.closure.accepts_at_end(program, t.step, at_start)) {
            self.best = Some(Best { rows: self.rows, path: thread.path });
        }
        self.threads.clear();
    }
}
