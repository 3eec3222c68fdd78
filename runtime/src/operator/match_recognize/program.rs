//! A pattern as a program: steps that consume a row or branch. Immutable, shared by all keys.
//!
//! ```text
//! A B* C     0: A -> 1    1: split(2, 3)    2: B -> 1    3: C -> 4    4: match
//! ```
//!
//! **Invariant:** the paths from the entry, first branches first, are the pattern's ways to match in the order in which
//! SQL prefers them. An iteration beyond the fewest that consumes no row ends its loop: [`Step::Enter`] and
//! [`Step::Leave`] around the body of a loop that can be empty see to it.

use tidemark_planner::stream_plan::match_recognize::{RowPattern, VariableSet};

/// Index of a step.
pub type StepId = u32;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Consumes a row that is variable `variable`.
    Row {
        /// Its number.
        variable: u8,
        /// Is it left out of the output?
        excluded: bool,
        /// The step behind it.
        next: StepId,
    },
    /// Two ways, the preferred one first.
    Split(StepId, StepId),
    /// An iteration of loop `of` begins.
    Enter {
        /// The loop.
        of: u32,
        /// Its body.
        next: StepId,
    },
    /// An iteration of loop `of` ends.
    Leave {
        /// The loop.
        of: u32,
        /// Where to go on when the iteration consumed a row.
        again: StepId,
        /// Where to go on when it did not.
        exit: StepId,
    },
    /// `^`
    Start(StepId),
    /// `$`
    End(StepId),
    /// The pattern has matched.
    Accept,
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Program {
    /// The steps.
    pub steps: Vec<Step>,
    /// Where a match begins.
    pub entry: StepId,
    /// By step: does no condition of a row that can still come depend on the rows matched so far?
    pub is_free: Vec<bool>,
    /// By step: the loops around it that can be empty, the outermost first.
    pub loops: Vec<Box<[u32]>>,
    /// Is there a `^`?
    pub has_start: bool,
}

impl Program {
    /// Compiles `pattern`; `of_path` are the variables whose condition depends on the rows matched so far.
    pub fn compile(pattern: &RowPattern, of_path: VariableSet) -> Self {
        let mut compiler =
            Compiler { steps: vec![Step::Accept], loops: vec![Box::default()], around: vec![], count: 0 };
        let entry = compiler.compile(pattern, 0, false);
        let Compiler { steps, loops, .. } = compiler;
        let has_start = steps.iter().any(|step| matches!(step, Step::Start(_)));
        Self { is_free: free_steps(&steps, of_path), steps, entry, loops, has_start }
    }

    /// Does no condition depend on the rows matched so far?
    pub fn is_path_independent(&self) -> bool {
        self.is_free[self.entry as usize]
    }
}

/// Steps from which no step is reached that consumes a row of `of_path`.
fn free_steps(steps: &[Step], of_path: VariableSet) -> Vec<bool> {
    let mut free: Vec<bool> = steps
        .iter()
        .map(|step| !matches!(step, Step::Row { variable, .. } if of_path.contains(usize::from(*variable))))
        .collect();
    loop {
        let mut changed = false;
        for idx in 0..steps.len() {
            let is_bound = |next: StepId| !free[next as usize];
            let bound = match steps[idx] {
                Step::Row { next, .. } | Step::Enter { next, .. } | Step::Start(next) | Step::End(next) => {
                    is_bound(next)
                }
                Step::Split(first, second) => is_bound(first) || is_bound(second),
                Step::Leave { again, exit, .. } => is_bound(again) || is_bound(exit),
                Step::Accept => false,
            };
            if bound && free[idx] {
                free[idx] = false;
                changed = true;
            }
        }
        if !changed {
            return free;
        }
    }
}

struct Compiler {
    steps: Vec<Step>,
    loops: Vec<Box<[u32]>>,
    /// The loops around what is being compiled.
    around: Vec<u32>,
    /// Loops so far.
    count: u32,
}

impl Compiler {
    fn push(&mut self, step: Step) -> StepId {
        self.steps.push(step);
        self.loops.push(self.around.clone().into());
        (self.steps.len() - 1) as StepId
    }

    /// The entry of `pattern`, behind which `next` follows.
    fn compile(&mut self, pattern: &RowPattern, next: StepId, excluded: bool) -> StepId {
        match pattern {
            RowPattern::Variable(variable) => self.push(Step::Row { variable: *variable as u8, excluded, next }),
            RowPattern::Start => self.push(Step::Start(next)),
            RowPattern::End => self.push(Step::End(next)),
            RowPattern::Empty => next,
            RowPattern::Concat(parts) => parts.iter().rev().fold(next, |next, part| self.compile(part, next, excluded)),
            RowPattern::Exclude(inner) => self.compile(inner, next, true),
            RowPattern::Alternation(parts) => {
                let entries: Vec<StepId> = parts.iter().map(|part| self.compile(part, next, excluded)).collect();
                self.choose(&entries)
            }
            RowPattern::Permute(parts) => self.permute(parts, next, excluded),
            RowPattern::Repeat { pattern, min, max, reluctant } => {
                let behind = match max {
                    None => self.repeat_for_ever(pattern, next, excluded, *reluctant),
                    Some(max) => self.repeat_up_to(pattern, max - min, next, excluded, *reluctant),
                };
                (0..*min).fold(behind, |next, _| self.compile(pattern, next, excluded))
            }
        }
    }

    /// The first of `entries` that leads to a match.
    fn choose(&mut self, entries: &[StepId]) -> StepId {
        let mut rest = entries.iter().rev().copied();
        let last = rest.next().unwrap_or(0);
        rest.fold(last, |later, entry| self.push(Step::Split(entry, later)))
    }

    fn split(&mut self, into: StepId, past: StepId, reluctant: bool) -> Step {
        if reluctant { Step::Split(past, into) } else { Step::Split(into, past) }
    }

    fn repeat_for_ever(&mut self, body: &RowPattern, exit: StepId, excluded: bool, reluctant: bool) -> StepId {
        // The body leads back to the split, which leads to the body: its place is kept free.
        let split = self.push(Step::Accept);
        let into = self.iteration(body, split, exit, excluded);
        self.steps[split as usize] = self.split(into, exit, reluctant);
        split
    }

    fn repeat_up_to(&mut self, body: &RowPattern, times: u32, exit: StepId, excluded: bool, reluctant: bool) -> StepId {
        (0..times).fold(exit, |again, _| {
            let into = self.iteration(body, again, exit, excluded);
            let split = self.split(into, exit, reluctant);
            self.push(split)
        })
    }

    /// One iteration that is not required.
    fn iteration(&mut self, body: &RowPattern, again: StepId, exit: StepId, excluded: bool) -> StepId {
        if body.length().0 > 0 {
            return self.compile(body, again, excluded);
        }
        let of = self.count;
        self.count += 1;
        self.around.push(of);
        let leave = self.push(Step::Leave { of, again, exit });
        let next = self.compile(body, leave, excluded);
        self.around.pop();
        self.push(Step::Enter { of, next })
    }

    /// Any order, the written one preferred. When each part has one way to match, which parts are still to come says
    /// all: orders that have the same parts behind them share what follows. Otherwise they cannot: all ways of the
    /// first order come before the second, also those in which an early part takes its less preferred ways.
    fn permute(&mut self, parts: &[RowPattern], next: StepId, excluded: bool) -> StepId {
        if !parts.iter().all(RowPattern::has_one_way) {
            let entries: Vec<StepId> = orders(parts.len())
                .into_iter()
                .map(|order| {
                    order.into_iter().rev().fold(next, |next, place| self.compile(&parts[place], next, excluded))
                })
                .collect();
            return self.choose(&entries);
        }
        let mut entry_of = vec![next; 1 << parts.len()];
        for rest in 1..entry_of.len() {
            let part_of = |idx: &usize| rest >> idx & 1 == 1;
            let entries: Vec<StepId> = (0..parts.len())
                .filter(part_of)
                .map(|idx| self.compile(&parts[idx], entry_of[rest & !(1 << idx)], excluded))
                .collect();
            entry_of[rest] = self.choose(&entries);
        }
        entry_of[entry_of.len() - 1]
    }
}

/// All orders of `n` things, in the order of a dictionary.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![vec![]];
    for _ in 0..n {
        let longer = |order: Vec<usize>| {
            let rest: Vec<usize> = (0..n).filter(|place| !order.contains(place)).collect();
            rest.into_iter().map(move |place| order.iter().copied().chain([place]).collect::<Vec<_>>())
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    orders
}
