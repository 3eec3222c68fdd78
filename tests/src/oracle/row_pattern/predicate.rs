//! Conditions of variables: as SQL, and by what they mean.

use super::Row;
use super::pattern::name;
use crate::oracle::chance::Chance;

/// A condition of variable `own`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// None is written: every row fits.
    Undefined,
    /// `value < n`
    Below(i32),
    /// `own.value >= n`
    AtLeast(i32),
    /// `value IS NULL OR value = n`
    NullOr(i32),
    /// `value > PREV(value)`
    Rising,
    /// `own.value < NEXT(own.value)`
    BelowNext,
    /// `value <> PREV(value, 2)`
    NotTwoBack,
    /// `own.value > LAST(own.value, 1) OR LAST(own.value, 1) IS NULL`
    AboveOwnLast,
    /// `value >= FIRST(v.value)`
    FromFirstOf(usize),
    /// `own.value > v.value`
    AboveLastOf(usize),
    /// `SUM(v.value) < n`
    SumBelow(usize, i32),
    /// `COUNT(v.*) <= n`
    CountAtMost(usize, i64),
    /// `LAST(CLASSIFIER(), 1) = 'v'`
    After(usize),
    /// `value < n AND COUNT(*) > m`
    BelowBehind(i32, i64),
}

/// A partition, where a match began, what its rows are so far, the one at hand the last.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The partition.
    pub rows: &'v [Row],
    /// The first row of the match.
    pub start: usize,
    /// What its rows are.
    pub labels: &'v [usize],
}

impl View<'_> {
    fn value(&self, row: Option<usize>) -> Option<i32> {
        row.and_then(|row| self.rows.get(row)).and_then(|row| row.value)
    }

    /// The rows of a variable.
    fn rows_of(&self, variable: usize) -> Vec<usize> {
        (0..self.labels.len()).filter(|at| self.labels[*at] == variable).map(|at| self.start + at).collect()
    }

    fn last(&self, variable: usize, offset: usize) -> Option<usize> {
        self.rows_of(variable).into_iter().rev().nth(offset)
    }
}

/// SQL's comparison: unknown is not true.
fn is(left: Option<i32>, right: Option<i32>, holds: impl Fn(i32, i32) -> bool) -> bool {
    left.zip(right).is_some_and(|(left, right)| holds(left, right))
}

impl Predicate {
    /// A condition of a variable; others are among `variables`. Some depend on the match only if `of_match`.
    pub fn random(chance: &mut Chance, variables: &[usize], of_match: bool) -> Predicate {
        let value = chance.between(0, 4) as i32;
        let other = chance.pick(variables);
        match chance.between(0, if of_match { 17 } else { 9 }) {
            0..=1 => Predicate::Undefined,
            2..=3 => Predicate::Below(value),
            4 => Predicate::AtLeast(value),
            5 => Predicate::NullOr(value),
            6..=7 => Predicate::Rising,
            8 => Predicate::BelowNext,
            9 => Predicate::NotTwoBack,
            10 => Predicate::AboveOwnLast,
            11 => Predicate::FromFirstOf(other),
            12 => Predicate::AboveLastOf(other),
            13 => Predicate::SumBelow(other, value + 3),
            14..=15 => Predicate::CountAtMost(other, i64::from(value % 3) + 1),
            16 => Predicate::After(other),
            _ => Predicate::BelowBehind(value, 1),
        }
    }

    /// As SQL; `None` when none is to be written.
    pub fn sql(&self, own: usize) -> Option<String> {
        let own = name(own);
        Some(match self {
            Predicate::Undefined => return None,
            Predicate::Below(n) => format!("v < {n}"),
            Predicate::AtLeast(n) => format!("{own}.v >= {n}"),
            Predicate::NullOr(n) => format!("v IS NULL OR v = {n}"),
            Predicate::Rising => "v > PREV(v)".into(),
            Predicate::BelowNext => format!("{own}.v < NEXT({own}.v)"),
            Predicate::NotTwoBack => "v <> PREV(v, 2)".into(),
            Predicate::AboveOwnLast => format!("{own}.v > LAST({own}.v, 1) OR LAST({own}.v, 1) IS NULL"),
            Predicate::FromFirstOf(other) => format!("v >= FIRST({}.v)", name(*other)),
            Predicate::AboveLastOf(other) => format!("{own}.v > {}.v", name(*other)),
            Predicate::SumBelow(other, n) => format!("SUM({}.v) < {n}", name(*other)),
            Predicate::CountAtMost(other, n) => format!("COUNT({}.*) <= {n}", name(*other)),
            Predicate::After(other) => format!("LAST(CLASSIFIER(), 1) = '{}'", name(*other)),
            Predicate::BelowBehind(n, m) => format!("v < {n} AND COUNT(*) > {m}"),
        })
    }

    /// Is it true of the row at hand, which is `own`?
    pub fn holds(&self, own: usize, view: View) -> bool {
        let here = view.start + view.labels.len() - 1;
        let value = view.value(Some(here));
        match self {
            Predicate::Undefined => true,
            Predicate::Below(n) => is(value, Some(*n), |a, b| a < b),
            Predicate::AtLeast(n) => is(value, Some(*n), |a, b| a >= b),
            Predicate::NullOr(n) => value.is_none_or(|value| value == *n),
            Predicate::Rising => is(value, view.value(here.checked_sub(1)), |a, b| a > b),
            Predicate::BelowNext => is(value, view.value(Some(here + 1)), |a, b| a < b),
            Predicate::NotTwoBack => is(value, view.value(here.checked_sub(2)), |a, b| a != b),
            Predicate::AboveOwnLast => {
                let last = view.value(view.last(own, 1));
                last.is_none() || is(value, last, |a, b| a > b)
            }
            Predicate::FromFirstOf(other) => {
                is(value, view.value(view.rows_of(*other).first().copied()), |a, b| a >= b)
            }
            Predicate::AboveLastOf(other) => is(value, view.value(view.last(*other, 0)), |a, b| a > b),
            Predicate::SumBelow(other, n) => {
                let rows = view.rows_of(*other).into_iter();
                let values: Vec<i32> = rows.filter_map(|row| view.value(Some(row))).collect();
                !values.is_empty() && values.iter().sum::<i32>() < *n
            }
            Predicate::CountAtMost(other, n) => view.rows_of(*other).len() as i64 <= *n,
            Predicate::After(other) => view.labels.len().checked_sub(2).is_some_and(|at| view.labels[at] == *other),
            Predicate::BelowBehind(n, m) => is(value, Some(*n), |a, b| a < b) && view.labels.len() as i64 > *m,
        }
    }
}
