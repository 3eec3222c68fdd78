//! Where a pattern can be without consuming a row: the steps that wait for one, the preferred first.

use std::collections::HashSet;

use super::program::{Program, Step, StepId};

/// What is known of the place between two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Is it in front of the partition's first row?
    pub at_start: bool,
    /// Is it behind the last, and the partition complete?
    pub at_end: bool,
}

impl Place {
    /// Between two rows, as far as is known.
    pub const INSIDE: Place = Place { at_start: false, at_end: false };
}

/// Follows the steps that consume nothing. Scratch space: keeps nothing from one use to the next.
#[derive(Debug, Default)]
pub struct Closure {
    visited: Vec<u32>,
    /// Steps within loops that can be empty, with the loops around them that were entered here: whether such an
    /// iteration has taken a row decides how it goes on, so the step alone does not say what follows.
    visited_in_loops: HashSet<(StepId, u128)>,
    round: u32,
    entered: Vec<u32>,
    open: Vec<Task>,
}

#[derive(Debug, Clone, Copy)]
enum Task {
    Visit(StepId),
    /// All that lies behind an [`Step::Enter`] has been followed.
    Forget,
}

impl Closure {
    /// Forgets which steps were visited: another place begins.
    pub fn begin(&mut self, program: &Program) {
        self.visited.resize(program.steps.len(), 0);
        self.visited_in_loops.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.visited.fill(0);
            self.round = 1;
        }
    }

    /// Appends to `waiting` the steps that are reached from `from` and wait for a row or for the end; a step that was
    /// reached before since [`Closure::begin`] is left out. Returns whether the match is reached, with which it stops:
    /// what comes behind is preferred less.
    pub fn follow(&mut self, program: &Program, from: StepId, place: Place, waiting: &mut Vec<StepId>) -> bool {
        self.open.clear();
        self.entered.clear();
        self.open.push(Task::Visit(from));
        while let Some(task) = self.open.pop() {
            let Task::Visit(step) = task else {
                self.entered.pop();
                continue;
            };
            if self.is_visited(program, step) {
                continue;
            }
            match program.steps[step as usize] {
                Step::Accept => return true,
                Step::Row { .. } => waiting.push(step),
                Step::Split(first, second) => {
                    self.open.push(Task::Visit(second));
                    self.open.push(Task::Visit(first));
                }
                Step::Enter { of, next } => {
                    self.entered.push(of);
                    self.open.push(Task::Forget);
                    self.open.push(Task::Visit(next));
                }
                Step::Leave { of, again, exit } => {
                    let is_empty = self.entered.contains(&of);
                    self.open.push(Task::Visit(if is_empty { exit } else { again }));
                }
                Step::Start(next) if place.at_start => self.open.push(Task::Visit(next)),
                Step::Start(_) => {}
                Step::End(next) if place.at_end => self.open.push(Task::Visit(next)),
                Step::End(_) => waiting.push(step),
            }
        }
        false
    }

    /// Has the step been reached before, with the same future? It has now.
    fn is_visited(&mut self, program: &Program, step: StepId) -> bool {
        let loops = &program.loops[step as usize];
        let waits = matches!(program.steps[step as usize], Step::Row { .. } | Step::End(_) | Step::Accept);
        if loops.is_empty() || waits {
            return std::mem::replace(&mut self.visited[step as usize], self.round) == self.round;
        }
        let entered = |(bit, of): (usize, &u32)| u128::from(self.entered.contains(of)) << bit;
        let marks = loops.iter().enumerate().map(entered).fold(0, |all, bit| all | bit);
        !self.visited_in_loops.insert((step, marks))
    }

    /// Is the match reached from `step` when the partition ends here?
    pub fn accepts_at_end(&mut self, program: &Program, step: StepId, at_start: bool) -> bool {
        self.begin(program);
        self.follow(program, step, Place { at_start, at_end: true }, &mut Vec::new())
    }
}
