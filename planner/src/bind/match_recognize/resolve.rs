//! The pattern with variables as numbers, and what makes one impossible.

use datafusion_common::Result;
use tidemark_parser::Span;
use tidemark_parser::match_recognize::Pattern;

use super::variables::{Variables, variables_in};
use super::{place, refuse};
use crate::bind::text::ScriptText;
use crate::stream_plan::match_recognize::{MAX_PATTERN_STEPS, MatchRows, RowPattern};

/// Resolves names; refuses patterns that are too large or match no row ever.
pub(super) fn resolve_pattern(pattern: &Pattern, variables: &Variables, script: &ScriptText) -> Result<RowPattern> {
    let resolved = resolve(pattern, variables, script)?;
    if resolved.length().1 == Some(0) {
        return refuse(
            None,
            "this pattern has no variable: it matches no row",
            "name at least one variable in PATTERN",
        );
    }
    if resolved.steps() > MAX_PATTERN_STEPS {
        return too_large(span_of_pattern(pattern, script));
    }
    Ok(resolved)
}

fn too_large<T>(span: Option<Span>) -> Result<T> {
    let message = format!("this pattern unrolls to more than {MAX_PATTERN_STEPS} steps");
    refuse(span, &message, "lower the bounds of its quantifiers, or use `+` or `*` with a condition on COUNT")
}

fn resolve(pattern: &Pattern, variables: &Variables, script: &ScriptText) -> Result<RowPattern> {
    let all = |parts: &[Pattern]| parts.iter().map(|part| resolve(part, variables, script)).collect::<Result<Vec<_>>>();
    Ok(match pattern {
        Pattern::Variable(name) => match variables.index_of(name) {
            Some(variable) => RowPattern::Variable(variable),
            None => return Err(variables.unknown(name, script)),
        },
        Pattern::Start => RowPattern::Start,
        Pattern::End => RowPattern::End,
        Pattern::Empty => RowPattern::Empty,
        Pattern::Concat(parts) => RowPattern::Concat(all(parts)?),
        Pattern::Alternation(parts) => RowPattern::Alternation(all(parts)?),
        Pattern::Permute(parts) => {
            let permuted = RowPattern::Permute(all(parts)?);
            if permuted.steps() > MAX_PATTERN_STEPS {
                return too_large(span_of_pattern(pattern, script));
            }
            permuted
        }
        Pattern::Exclude(inner) => RowPattern::Exclude(Box::new(resolve(inner, variables, script)?)),
        Pattern::Repeat { pattern: inner, min, max, reluctant } => {
            let repeated = RowPattern::Repeat {
                pattern: Box::new(resolve(inner, variables, script)?),
                min: *min,
                max: *max,
                reluctant: *reluctant,
            };
            if repeated.steps() > MAX_PATTERN_STEPS {
                return too_large(span_of_pattern(pattern, script));
            }
            repeated
        }
    })
}

/// From the first variable to the last.
pub(super) fn span_of_pattern(pattern: &Pattern, script: &ScriptText) -> Option<Span> {
    let mut idents = vec![];
    variables_in(pattern, &mut idents);
    let spans = idents.iter().filter_map(|ident| place(script, ident.span));
    spans.reduce(|all, span| all.to(span))
}

/// Rows that are left out of the output cannot be told from those that are unmatched.
pub(super) fn check_exclusion(pattern: &Pattern, rows: MatchRows, script: &ScriptText) -> Result<()> {
    let MatchRows::All { with_unmatched: true, .. } = rows else { return Ok(()) };
    match exclusion_in(pattern) {
        Some(excluded) => refuse(
            span_of_pattern(excluded, script),
            "an exclusion {- -} cannot stand in a pattern WITH UNMATCHED ROWS",
            "leave out one of them",
        ),
        None => Ok(()),
    }
}

fn exclusion_in(pattern: &Pattern) -> Option<&Pattern> {
    match pattern {
        Pattern::Exclude(inner) => Some(inner),
        Pattern::Concat(parts) | Pattern::Alternation(parts) | Pattern::Permute(parts) => {
            parts.iter().find_map(exclusion_in)
        }
        Pattern::Repeat { pattern, .. } => exclusion_in(pattern),
        Pattern::Variable(_) | Pattern::Start | Pattern::End | Pattern::Empty => None,
    }
}
