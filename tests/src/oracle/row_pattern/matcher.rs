//! The matches of a partition, by trying.

use super::Row;
use super::pattern::Pattern;
use super::predicate::{Predicate, View};

/// Where the search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Skip {
    PastLastRow,
    ToNextRow,
    ToFirst(usize),
    ToLast(usize),
}

/// What was decided about a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A match: its first row, what its rows are, and which of them are left out.
    #[allow(missing_docs)]
    Match { start: usize, labels: Vec<usize>, excluded: Vec<bool> },
    /// None begins there, and no match reaches there.
    Unmatched(usize),
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// `AFTER MATCH SKIP` cannot be done: the statement fails.
    Skip,
    /// There are too many ways to try: the case is no use.
    TooManyWays,
}

/// A partition and what is asked of it.
pub struct Matcher<'m> {
    /// The rows, in order.
    pub rows: &'m [Row],
    /// The pattern.
    pub pattern: &'m Pattern,
    /// By variable.
    pub predicates: &'m [Predicate],
    /// A match spans less (ms).
    pub within_ms: Option<i64>,
}

/// The way that is being tried.
#[derive(Clone, Default)]
struct Path {
    start: usize,
    labels: Vec<usize>,
    excluded: Vec<bool>,
    steps: usize,
}

/// Steps that may be tried from one start.
const MOST_STEPS: usize = 40_000;

/// What follows: true ends the search.
type Next<'n> = &'n mut dyn FnMut(&mut Path) -> bool;

impl Matcher<'_> {
    /// All outcomes, in order of their starts.
    pub fn all(&self, skip: Skip) -> Result<Vec<Outcome>, Failure> {
        let (mut found, mut at, mut matched) = (vec![], 0, 0);
        while at < self.rows.len() {
            let Some(path) = self.first(at)? else {
                if at >= matched {
                    found.push(Outcome::Unmatched(at));
                }
                at += 1;
                continue;
            };
            let end = at + path.labels.len();
            let next = match skip {
                _ if path.labels.is_empty() => at + 1,
                Skip::PastLastRow => end,
                Skip::ToNextRow => at + 1,
                Skip::ToFirst(variable) | Skip::ToLast(variable) => {
                    let mut places = (0..path.labels.len()).filter(|place| path.labels[*place] == variable);
                    let place = if matches!(skip, Skip::ToFirst(_)) { places.next() } else { places.next_back() };
                    at + place.filter(|place| *place > 0).ok_or(Failure::Skip)?
                }
            };
            matched = matched.max(end);
            found.push(Outcome::Match { start: at, labels: path.labels, excluded: path.excluded });
            at = next;
        }
        Ok(found)
    }

    /// The match that begins at `start`.
    fn first(&self, start: usize) -> Result<Option<Path>, Failure> {
        let (mut path, mut best) = (Path { start, ..Path::default() }, None);
        self.ways(self.pattern, false, &mut path, &mut |path| {
            best = Some(path.clone());
            true
        });
        if path.steps > MOST_STEPS { Err(Failure::TooManyWays) } else { Ok(best) }
    }

    /// Calls `next` for each way in which `pattern` matches behind `path`, preferred ones first, until it says true.
    fn ways(&self, pattern: &Pattern, out: bool, path: &mut Path, next: Next) -> bool {
        path.steps += 1;
        if path.steps > MOST_STEPS {
            return true;
        }
        let here = path.start + path.labels.len();
        match pattern {
            Pattern::Empty => next(path),
            Pattern::Start => here == 0 && next(path),
            Pattern::End => here == self.rows.len() && next(path),
            Pattern::Variable(variable) => self.take_row(*variable, here, out, path, next),
            Pattern::Concat(parts) => self.sequence(parts, out, path, next),
            Pattern::Alternation(parts) => parts.iter().any(|part| self.ways(part, out, path, next)),
            Pattern::Exclude(inner) => self.ways(inner, true, path, next),
            Pattern::Permute(parts) => orders(parts.len()).into_iter().any(|order| {
                let ordered: Vec<Pattern> = order.into_iter().map(|place| parts[place].clone()).collect();
                self.sequence(&ordered, out, path, next)
            }),
            Pattern::Repeat { .. } => self.iterate(pattern, 0, out, path, next),
        }
    }

    fn take_row(&self, variable: usize, here: usize, out: bool, path: &mut Path, next: Next) -> bool {
        let Some(row) = self.rows.get(here) else { return false };
        if self.within_ms.is_some_and(|within| row.time - self.rows[path.start].time >= within) {
            return false;
        }
        path.labels.push(variable);
        path.excluded.push(out);
        let view = View { rows: self.rows, start: path.start, labels: &path.labels };
        let ends = self.predicates[variable].holds(variable, view) && next(path);
        path.labels.pop();
        path.excluded.pop();
        ends
    }

    fn sequence(&self, parts: &[Pattern], out: bool, path: &mut Path, next: Next) -> bool {
        match parts {
            [] => next(path),
            [first, rest @ ..] => self.ways(first, out, path, &mut |path| self.sequence(rest, out, path, next)),
        }
    }

    /// `done` iterations are behind.
    fn iterate(&self, pattern: &Pattern, done: usize, out: bool, path: &mut Path, next: Next) -> bool {
        let Pattern::Repeat { inner, min, max, reluctant } = pattern else { unreachable!("it iterates repetitions") };
        if done < *min {
            return self.ways(inner, out, path, &mut |path| self.iterate(pattern, done + 1, out, path, next));
        }
        if max.is_some_and(|max| done >= max) {
            return next(path);
        }
        if *reluctant && next(path) {
            return true;
        }
        let before = path.labels.len();
        let went_on = self.ways(inner, out, path, &mut |path| {
            // An iteration that took no row ends the loop.
            if path.labels.len() == before { next(path) } else { self.iterate(pattern, done + 1, out, path, next) }
        });
        went_on || (!*reluctant && next(path))
    }
}

/// All orders of `n` things, in the order of a dictionary.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let others = orders(n - 1);
    let beginning_with = |first: usize| {
        others.iter().map(move |order| {
            let rest = order.iter().map(|place| place + usize::from(*place >= first));
            std::iter::once(first).chain(rest).collect()
        })
    };
    (0..n).flat_map(beginning_with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_those_of_a_dictionary() {
        assert_eq!(orders(2), [[0, 1], [1, 0]]);
        assert_eq!(orders(3), [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
    }
}
