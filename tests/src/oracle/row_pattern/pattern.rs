//! Random patterns, and their text.

use std::fmt;

use crate::oracle::chance::Chance;

/// A pattern over variables A, B, C, …
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Pattern {
    Variable(usize),
    Start,
    End,
    Empty,
    Concat(Vec<Pattern>),
    Alternation(Vec<Pattern>),
    Repeat { inner: Box<Pattern>, min: usize, max: Option<usize>, reluctant: bool },
    Exclude(Box<Pattern>),
    Permute(Vec<Pattern>),
}

/// Bounds of repetitions.
const BOUNDS: [(usize, Option<usize>); 9] =
    [(0, Some(1)), (0, None), (1, None), (2, Some(2)), (2, None), (0, Some(2)), (1, Some(3)), (0, None), (1, None)];

/// The name of a variable.
pub fn name(variable: usize) -> char {
    char::from(b'A' + u8::try_from(variable).expect("few variables"))
}

impl Pattern {
    /// A pattern over `variables` variables that names at least one.
    pub fn random(chance: &mut Chance, variables: usize) -> Pattern {
        loop {
            let pattern = Self::part(chance, variables, 3);
            if !pattern.variables().is_empty() {
                return pattern;
            }
        }
    }

    fn part(chance: &mut Chance, variables: usize, depth: usize) -> Pattern {
        let some = |chance: &mut Chance| {
            (0..chance.between(2, 3)).map(|_| Self::part(chance, variables, depth - 1)).collect::<Vec<_>>()
        };
        match chance.between(0, if depth == 0 { 40 } else { 100 }) {
            0..=1 => Pattern::Empty,
            2 => Pattern::Start,
            3 => Pattern::End,
            4..=40 => Pattern::Variable(chance.between(0, variables as i64 - 1) as usize),
            41..=62 => Pattern::Concat(some(chance)),
            63..=72 => Pattern::Alternation(some(chance)),
            73..=93 => {
                let (min, max) = chance.pick(&BOUNDS);
                let inner = Box::new(Self::part(chance, variables, depth - 1));
                Pattern::Repeat { inner, min, max, reluctant: chance.percent(35) }
            }
            94..=96 => Pattern::Exclude(Box::new(Self::part(chance, variables, depth - 1))),
            _ => Pattern::Permute(some(chance)),
        }
    }

    /// The variables that it names.
    pub fn variables(&self) -> Vec<usize> {
        let mut found = match self {
            Pattern::Variable(variable) => vec![*variable],
            Pattern::Start | Pattern::End | Pattern::Empty => vec![],
            Pattern::Concat(parts) | Pattern::Alternation(parts) | Pattern::Permute(parts) => {
                parts.iter().flat_map(Self::variables).collect()
            }
            Pattern::Repeat { inner, .. } | Pattern::Exclude(inner) => inner.variables(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |parts: &[Pattern], by: &str| parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(by);
        match self {
            Pattern::Variable(variable) => write!(f, "{}", name(*variable)),
            Pattern::Start => write!(f, "^"),
            Pattern::End => write!(f, "$"),
            Pattern::Empty => write!(f, "()"),
            Pattern::Concat(parts) => write!(f, "({})", join(parts, " ")),
            Pattern::Alternation(parts) => write!(f, "({})", join(parts, " | ")),
            Pattern::Exclude(inner) => write!(f, "{{- {inner} -}}"),
            Pattern::Permute(parts) => write!(f, "PERMUTE({})", join(parts, ", ")),
            Pattern::Repeat { inner, min, max, reluctant } => {
                let times = match (min, max) {
                    (0, None) => "*".to_string(),
                    (1, None) => "+".to_string(),
                    (0, Some(1)) => "?".to_string(),
                    (min, None) => format!("{{{min},}}"),
                    (min, Some(max)) if min == max => format!("{{{min}}}"),
                    (0, Some(max)) => format!("{{,{max}}}"),
                    (min, Some(max)) => format!("{{{min},{max}}}"),
                };
                write!(f, "({inner}){times}{}", if *reluctant { "?" } else { "" })
            }
        }
    }
}
