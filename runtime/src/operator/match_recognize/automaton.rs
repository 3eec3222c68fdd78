//! The states of a pattern whose conditions do not depend on the rows matched so far, made as they are met.
//!
//! A state is the ordered list of steps that wait for a row, cut off where the pattern has matched: what is preferred
//! less than a match that exists will never be chosen. Two begun matches in one state have the same future.

use std::collections::HashMap;

use super::closure::{Closure, Place};
use super::program::{Program, Step, StepId};

/// Index of a state.
pub type StateId = u32;

/// The state without steps: nothing can follow.
pub const DEAD: StateId = 0;

/// States whose transitions are remembered; more are forgotten, all but those in use.
pub const MAX_STATES: usize = 16_384;

/// Where a state leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state behind the row.
    pub state: StateId,
    /// Does a match end with the row?
    pub is_match: bool,
}

const UNKNOWN: u32 = u32::MAX;

/// States and what is known of their transitions, shared by all keys.
#[derive(Debug, Default)]
pub struct Automaton {
    states: Vec<State>,
    by_steps: HashMap<Box<[StepId]>, StateId>,
    /// Which variables a row can be, by the number that rows carry instead.
    classes: Vec<u64>,
    class_of: HashMap<u64, u32>,
    last_class: (u64, u32),
    /// The first states: not at the partition's start, at its start.
    first: [Option<Transition>; 2],
    closure: Closure,
}

#[derive(Debug)]
struct State {
    steps: Box<[StepId]>,
    /// By class: state and match bit, or [`UNKNOWN`].
    next: Vec<u32>,
}

impl Automaton {
    /// The number that stands for rows which can be these variables.
    pub fn class(&mut self, mask: u64) -> u32 {
        if self.last_class.0 == mask && !self.classes.is_empty() {
            return self.last_class.1;
        }
        let class = *self.class_of.entry(mask).or_insert_with(|| {
            self.classes.push(mask);
            (self.classes.len() - 1) as u32
        });
        self.last_class = (mask, class);
        class
    }

    /// The variables that a row of this class can be.
    pub fn mask(&self, class: u32) -> u64 {
        self.classes[class as usize]
    }

    /// The state of a match that is about to begin; [`Transition::is_match`] says that it may be empty.
    pub fn begin(&mut self, program: &Program, at_start: bool) -> Transition {
        if let Some(known) = self.first[usize::from(at_start)] {
            return known;
        }
        let mut waiting = vec![];
        self.closure.begin(program);
        let place = Place { at_start, at_end: false };
        let is_match = self.closure.follow(program, program.entry, place, &mut waiting);
        let transition = Transition { state: self.state(waiting), is_match };
        self.first[usize::from(at_start)] = Some(transition);
        transition
    }

    /// Where `state` leads by a row of `class`.
    #[inline]
    pub fn step(&mut self, program: &Program, state: StateId, class: u32) -> Transition {
        match self.states[state as usize].next.get(class as usize) {
            Some(&known) if known != UNKNOWN => Transition { state: known >> 1, is_match: known & 1 == 1 },
            _ => self.make(program, state, class),
        }
    }

    fn make(&mut self, program: &Program, state: StateId, class: u32) -> Transition {
        let mask = self.mask(class);
        let mut waiting = vec![];
        self.closure.begin(program);
        let mut is_match = false;
        for &step in &self.states[state as usize].steps {
            if let Step::Row { variable, next, .. } = program.steps[step as usize]
                && mask >> variable & 1 == 1
                && self.closure.follow(program, next, Place::INSIDE, &mut waiting)
            {
                is_match = true;
                break;
            }
        }
        let transition = Transition { state: self.state(waiting), is_match };
        let next = &mut self.states[state as usize].next;
        if next.len() <= class as usize {
            next.resize(class as usize + 1, UNKNOWN);
        }
        next[class as usize] = transition.state << 1 | u32::from(is_match);
        transition
    }

    fn state(&mut self, steps: Vec<StepId>) -> StateId {
        if self.states.is_empty() {
            self.states.push(State { steps: Box::default(), next: vec![] });
            self.by_steps.insert(Box::default(), DEAD);
        }
        if let Some(known) = self.by_steps.get(steps.as_slice()) {
            return *known;
        }
        let id = self.states.len() as StateId;
        let steps: Box<[StepId]> = steps.into();
        self.by_steps.insert(steps.clone(), id);
        self.states.push(State { steps, next: vec![] });
        id
    }

    /// Does a match in `state` end where the partition ends?
    pub fn accepts_at_end(&mut self, program: &Program, state: StateId, at_start: bool) -> bool {
        let Automaton { states, closure, .. } = self;
        let waits_for_end = |step: &&StepId| matches!(program.steps[**step as usize], Step::End(_));
        let mut ends = states[state as usize].steps.iter().filter(waits_for_end);
        ends.any(|step| closure.accepts_at_end(program, *step, at_start))
    }

    /// The state in which only what waits for the end of the partition is left.
    pub fn ends_of(&mut self, program: &Program, state: StateId) -> StateId {
        let waits_for_end = |step: &StepId| matches!(program.steps[*step as usize], Step::End(_));
        let ends = self.states[state as usize].steps.iter().copied().filter(waits_for_end).collect();
        self.state(ends)
    }

    /// Are there so many states that those which are not in use should go?
    pub fn is_full(&self) -> bool {
        self.states.len() > MAX_STATES
    }

    /// Forgets all states; the caller has taken out the steps of those in use ([`Automaton::steps_of`]) and asks for
    /// their new numbers ([`Automaton::state_of`]).
    pub fn clear(&mut self) {
        self.states.clear();
        self.by_steps.clear();
        self.first = [None; 2];
    }

    /// The steps of a state.
    pub fn steps_of(&self, state: StateId) -> Box<[StepId]> {
        self.states[state as usize].steps.clone()
    }

    /// The state of these steps.
    pub fn state_of(&mut self, steps: &[StepId]) -> StateId {
        self.state(steps.to_vec())
    }
}
