//! A row pattern over variables that are numbers, and what can be said of it without rows.

use std::fmt;

use serde::Serialize;

use super::match_recognize::PatternVariable;

/// A pattern over variables' numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RowPattern {
    Variable(usize),
    /// `^`
    Start,
    /// `$`
    End,
    Empty,
    Concat(Vec<RowPattern>),
    Alternation(Vec<RowPattern>),
    Repeat {
        pattern: Box<RowPattern>,
        min: u32,
        max: Option<u32>,
        reluctant: bool,
    },
    Exclude(Box<RowPattern>),
    Permute(Vec<RowPattern>),
}

/// A set of pattern variables: bit `i` is variable `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct VariableSet(pub u64);

impl VariableSet {
    /// Every variable: what a column without a variable before it speaks of.
    pub const ALL: VariableSet = VariableSet(u64::MAX);

    /// One variable.
    pub fn of(variable: usize) -> Self {
        VariableSet(1 << variable)
    }

    /// Is variable `variable` one of them?
    pub fn contains(self, variable: usize) -> bool {
        self.0 >> variable & 1 == 1
    }
}

impl RowPattern {
    /// Steps that the pattern unrolls to, saturating.
    pub fn steps(&self) -> u64 {
        let sum = |parts: &[RowPattern]| parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.steps()));
        match self {
            RowPattern::Variable(_) | RowPattern::Start | RowPattern::End => 1,
            RowPattern::Empty => 0,
            RowPattern::Concat(parts) => sum(parts),
            RowPattern::Alternation(parts) => sum(parts).saturating_add(parts.len() as u64),
            RowPattern::Repeat { pattern, min, max, .. } => {
                let one = pattern.steps().saturating_add(4);
                one.saturating_mul(u64::from(max.unwrap_or(min.saturating_add(1)).max(1)))
            }
            RowPattern::Exclude(inner) => inner.steps(),
            RowPattern::Permute(parts) => {
                let orders = match parts.iter().all(RowPattern::has_one_way) {
                    true => 1u64.checked_shl(parts.len() as u32).unwrap_or(u64::MAX),
                    false => (1..=parts.len() as u64).fold(1u64, u64::saturating_mul),
                };
                sum(parts).saturating_add(2).saturating_mul(orders)
            }
        }
    }

    /// Is there at most one way to match given rows?
    pub fn has_one_way(&self) -> bool {
        match self {
            RowPattern::Variable(_) | RowPattern::Start | RowPattern::End | RowPattern::Empty => true,
            RowPattern::Concat(parts) => parts.iter().all(RowPattern::has_one_way),
            RowPattern::Exclude(inner) => inner.has_one_way(),
            RowPattern::Repeat { pattern, min, max, .. } => Some(*min) == *max && pattern.has_one_way(),
            RowPattern::Alternation(_) | RowPattern::Permute(_) => false,
        }
    }

    /// Fewest and most rows of a match; `None` for no limit.
    pub fn length(&self) -> (u64, Option<u64>) {
        let sum = |parts: &[RowPattern]| {
            parts.iter().map(RowPattern::length).fold((0u64, Some(0u64)), |(min, max), (least, most)| {
                (min.saturating_add(least), max.zip(most).map(|(a, b)| a.saturating_add(b)))
            })
        };
        match self {
            RowPattern::Variable(_) => (1, Some(1)),
            RowPattern::Start | RowPattern::End | RowPattern::Empty => (0, Some(0)),
            RowPattern::Concat(parts) | RowPattern::Permute(parts) => sum(parts),
            RowPattern::Alternation(parts) => {
                let lengths: Vec<_> = parts.iter().map(RowPattern::length).collect();
                let least = lengths.iter().map(|(least, _)| *least).min().unwrap_or(0);
                let most = lengths.iter().map(|(_, most)| *most).collect::<Option<Vec<_>>>();
                (least, most.map(|most| most.into_iter().max().unwrap_or(0)))
            }
            RowPattern::Exclude(inner) => inner.length(),
            RowPattern::Repeat { pattern, min, max, .. } => {
                let (least, most) = pattern.length();
                let most = if most == Some(0) { Some(0) } else { most.zip(*max).map(|(l, n)| l * u64::from(n)) };
                (least.saturating_mul(u64::from(*min)), most)
            }
        }
    }

    /// Does every match have a row of one of these variables?
    pub fn always_matches(&self, variables: VariableSet) -> bool {
        match self {
            RowPattern::Variable(variable) => variables.contains(*variable),
            RowPattern::Start | RowPattern::End | RowPattern::Empty => false,
            RowPattern::Concat(parts) | RowPattern::Permute(parts) => {
                parts.iter().any(|part| part.always_matches(variables))
            }
            RowPattern::Alternation(parts) => parts.iter().all(|part| part.always_matches(variables)),
            RowPattern::Exclude(inner) => inner.always_matches(variables),
            RowPattern::Repeat { pattern, min, .. } => *min > 0 && pattern.always_matches(variables),
        }
    }

    /// May rows that come behind a match make it longer, or another one? Then it is held until they have come.
    pub fn may_grow(&self) -> bool {
        match self {
            RowPattern::Variable(_) | RowPattern::Start | RowPattern::Empty => false,
            RowPattern::End => true,
            RowPattern::Concat(parts) => {
                let mut ends_here = true;
                parts.iter().rev().any(|part| {
                    let is_last = ends_here;
                    ends_here &= part.length().0 == 0;
                    is_last && part.may_grow()
                })
            }
            RowPattern::Alternation(parts) | RowPattern::Permute(parts) => {
                let same_length = self.length().1 == Some(self.length().0);
                !same_length || parts.iter().any(RowPattern::may_grow)
            }
            RowPattern::Exclude(inner) => inner.may_grow(),
            RowPattern::Repeat { pattern, min, max, reluctant } => {
                (!reluctant && Some(*min) != *max) || pattern.may_grow()
            }
        }
    }

    /// The pattern as SQL, with these names.
    pub fn display<'p>(&'p self, variables: &'p [PatternVariable]) -> impl fmt::Display + 'p {
        PatternText { pattern: self, variables }
    }
}

struct PatternText<'p> {
    pattern: &'p RowPattern,
    variables: &'p [PatternVariable],
}

impl PatternText<'_> {
    fn of<'p>(&'p self, pattern: &'p RowPattern) -> PatternText<'p> {
        PatternText { pattern, variables: self.variables }
    }

    fn join(&self, f: &mut fmt::Formatter<'_>, parts: &[RowPattern], separator: &str) -> fmt::Result {
        for (idx, part) in parts.iter().enumerate() {
            f.write_str(if idx == 0 { "" } else { separator })?;
            let is_loose = separator == " " && matches!(part, RowPattern::Alternation(_));
            if is_loose { write!(f, "({})", self.of(part))? } else { write!(f, "{}", self.of(part))? }
        }
        Ok(())
    }
}

impl fmt::Display for PatternText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pattern {
            RowPattern::Variable(variable) => f.write_str(&self.variables[*variable].name),
            RowPattern::Start => f.write_str("^"),
            RowPattern::End => f.write_str("$"),
            RowPattern::Empty => f.write_str("()"),
            RowPattern::Concat(parts) => self.join(f, parts, " "),
            RowPattern::Alternation(parts) => self.join(f, parts, " | "),
            RowPattern::Exclude(inner) => write!(f, "{{- {} -}}", self.of(inner)),
            RowPattern::Permute(parts) => {
                f.write_str("PERMUTE(")?;
                self.join(f, parts, ", ")?;
                f.write_str(")")
            }
            RowPattern::Repeat { pattern, min, max, reluctant } => {
                match **pattern {
                    RowPattern::Concat(_) | RowPattern::Alternation(_) | RowPattern::Repeat { .. } => {
                        write!(f, "({})", self.of(pattern))?
                    }
                    _ => write!(f, "{}", self.of(pattern))?,
                }
                match (min, max) {
                    (0, None) => f.write_str("*")?,
                    (1, None) => f.write_str("+")?,
                    (0, Some(1)) => f.write_str("?")?,
                    (min, None) => write!(f, "{{{min},}}")?,
                    (min, Some(max)) if min == max => write!(f, "{{{min}}}")?,
                    (min, Some(max)) => write!(f, "{{{min},{max}}}")?,
                }
                f.write_str(if *reluctant { "?" } else { "" })
            }
        }
    }
}
