//! A pattern as SQL.

use super::Pattern;
use std::fmt;

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Variable(name) => write!(f, "{name}"),
            Pattern::Start => write!(f, "^"),
            Pattern::End => write!(f, "$"),
            Pattern::Empty => write!(f, "()"),
            Pattern::Concat(parts) => separated(f, parts, " ", |part| matches!(part, Pattern::Alternation(_))),
            Pattern::Alternation(branches) => separated(f, branches, " | ", |_| false),
            Pattern::Repeat { pattern, min, max, reluctant } => {
                let is_compound =
                    matches!(**pattern, Pattern::Concat(_) | Pattern::Alternation(_) | Pattern::Repeat { .. });
                parenthesised(f, pattern, is_compound)?;
                write_quantifier(f, *min, *max)?;
                f.write_str(if *reluctant { "?" } else { "" })
            }
            Pattern::Exclude(inner) => write!(f, "{{- {inner} -}}"),
            Pattern::Permute(parts) => {
                write!(f, "PERMUTE(")?;
                separated(f, parts, ", ", |_| false)?;
                write!(f, ")")
            }
        }
    }
}

fn write_quantifier(f: &mut fmt::Formatter<'_>, min: u32, max: Option<u32>) -> fmt::Result {
    match (min, max) {
        (0, None) => write!(f, "*"),
        (1, None) => write!(f, "+"),
        (0, Some(1)) => write!(f, "?"),
        (min, None) => write!(f, "{{{min},}}"),
        (min, Some(max)) if min == max => write!(f, "{{{min}}}"),
        (0, Some(max)) => write!(f, "{{,{max}}}"),
        (min, Some(max)) => write!(f, "{{{min},{max}}}"),
    }
}

fn separated(
    f: &mut fmt::Formatter<'_>,
    parts: &[Pattern],
    separator: &str,
    needs_parentheses: impl Fn(&Pattern) -> bool,
) -> fmt::Result {
    for (idx, part) in parts.iter().enumerate() {
        f.write_str(if idx == 0 { "" } else { separator })?;
        parenthesised(f, part, needs_parentheses(part))?;
    }
    Ok(())
}

fn parenthesised(f: &mut fmt::Formatter<'_>, pattern: &Pattern, needs_parentheses: bool) -> fmt::Result {
    if needs_parentheses { write!(f, "({pattern})") } else { write!(f, "{pattern}") }
}
