//! Where a finding stands that brought no place of its own, found by what its message quotes.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, LimitClause, OrderByKind, Query, SetExpr, Value, ValueWithSpan, Visit, Visitor, visit_expressions,
};
use tidemark_parser::{Diagnostic, Span};

use super::conditions::filter_place;
use super::text::ScriptText;

/// The condition that `finding` refuses, the call of the function that it names, the expression or the literal that
/// it quotes; else the query's first word.
pub(crate) fn place_of(finding: &Diagnostic, query: &Query, script: &ScriptText) -> Option<Span> {
    let message = &finding.message;
    filter_place(message, query, script)
        .or_else(|| clause_place(message, query, script))
        .or_else(|| call_place(message, query, script))
        .or_else(|| expression_place(message.split_once(" is out of range for ")?.0, query, script))
        .or_else(|| quoted(message, '`').find_map(|text| expression_place(text, query, script)))
        .or_else(|| quoted(message, '\'').find_map(|text| literal_place(text, query, script)))
        .or_else(|| first_word(query, script))
}

/// ORDER BY, LIMIT and VALUES, which speak of themselves.
fn clause_place(message: &str, query: &Query, script: &ScriptText) -> Option<Span> {
    if let Some(position) = message.strip_prefix("ORDER BY ").and_then(|rest| rest.split(':').next()) {
        let OrderByKind::Expressions(keys) = &query.order_by.as_ref()?.kind else { return None };
        let key = keys.iter().find(|key| key.expr.to_string() == position)?;
        return script.span_of(&key.expr);
    }
    if message.starts_with("LIMIT ") || message.starts_with("OFFSET ") {
        return match query.limit_clause.as_ref()? {
            LimitClause::LimitOffset { offset: Some(offset), .. } if message.starts_with("OFFSET ") => {
                script.span_of(&offset.value)
            }
            LimitClause::LimitOffset { limit: Some(limit), .. } => script.span_of(limit),
            _ => None,
        };
    }
    let number = message.strip_prefix("row ")?.split_once(" of VALUES")?.0.parse::<usize>().ok()?;
    let mut rows = ValuesRow { index: number.checked_sub(1)?, found: None };
    let _ = query.visit(&mut rows);
    rows.found.and_then(|expr| script.span_of(&expr))
}

/// The first value of a row of VALUES.
struct ValuesRow {
    index: usize,
    found: Option<Expr>,
}

impl Visitor for ValuesRow {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if let SetExpr::Values(values) = query.body.as_ref()
            && let Some(row) = values.rows.get(self.index)
        {
            self.found = row.iter().next().cloned();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// The call of the function whose name begins the message.
fn call_place(message: &str, query: &Query, script: &ScriptText) -> Option<Span> {
    let names = |name: &str| message.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '(']));
    first_match(query, |expr| match expr {
        Expr::Function(f) if names(&f.name.to_string().to_uppercase()) => script.span_of(&f.name),
        Expr::Floor { expr, .. } if names("FLOOR") => script.span_of(expr.as_ref()),
        Expr::Ceil { expr, .. } if names("CEIL") => script.span_of(expr.as_ref()),
        _ => None,
    })
}

/// The expression that reads like `text`, apart from casts, qualifiers, parentheses and spaces.
fn expression_place(text: &str, query: &Query, script: &ScriptText) -> Option<Span> {
    let wanted = bare(text);
    first_match(query, |expr| if bare(&expr.to_string()) == wanted { script.span_of(expr) } else { None })
}

/// The text literal `text`.
fn literal_place(text: &str, query: &Query, script: &ScriptText) -> Option<Span> {
    let is_it = |value: &ValueWithSpan| matches!(&value.value, Value::SingleQuotedString(own) if own == text);
    first_match(query, |expr| match expr {
        Expr::Value(value) if is_it(value) => script.span(value.span),
        Expr::TypedString(typed) if is_it(&typed.value) => script.span(typed.value.span),
        Expr::Interval(interval) => match interval.value.as_ref() {
            Expr::Value(value) if is_it(value) => script.span(value.span),
            _ => None,
        },
        _ => None,
    })
}

fn first_match(query: &Query, place: impl Fn(&Expr) -> Option<Span>) -> Option<Span> {
    let mut found = None;
    let _ = visit_expressions(query, |expr| {
        found = place(expr);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

fn first_word(query: &Query, script: &ScriptText) -> Option<Span> {
    let whole = script.span_of(query)?;
    // `sqlparser` has a place for the rows of VALUES, but none for the word.
    let start = match query.body.as_ref() {
        SetExpr::Values(_) => script.text[..whole.start].to_ascii_uppercase().rfind("VALUES").unwrap_or(whole.start),
        _ => whole.start,
    };
    let word = script.text.get(start..)?.find(|c: char| !c.is_alphanumeric()).unwrap_or(0);
    Some(Span::new(start, start + word))
}

/// What stands between pairs of `mark` in `message`.
fn quoted(message: &str, mark: char) -> impl Iterator<Item = &str> {
    message.split(mark).skip(1).step_by(2)
}

/// An expression's text without what the planner adds or leaves out.
fn bare(text: &str) -> String {
    let mut text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '`').collect::<String>().to_lowercase();
    while let Some(start) = text.find("cast(") {
        let (before, inside) = (&text[..start], &text[start + 5..]);
        let Some(end) = closing_parenthesis(inside) else { break };
        let value = inside[..end].rfind("as").unwrap_or(end);
        text = format!("{before}{}{}", &inside[..value], &inside[end + 1..]);
    }
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive('.') {
        // `t.` of `t.x`, but not `1.` of `1.5`.
        let word = part.trim_end_matches('.').rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let is_qualifier = part.ends_with('.') && part[word..].starts_with(|c: char| c.is_alphabetic() || c == '_');
        out.push_str(if is_qualifier { &part[..word] } else { part });
    }
    out.retain(|c| !matches!(c, '(' | ')'));
    out
}

/// The `)` that closes a parenthesis opened before `text`.
fn closing_parenthesis(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn casts_qualifiers_and_parentheses_do_not_count() {
        let check = |planned: &str, written: &str| assert_eq!(bare(planned), bare(written), "{written}");
        check("9223372036854775807 + CAST(1 AS BIGINT)", "9223372036854775807+1");
        check("CAST('9' AS DECIMAL(38,0)) + CAST(1 AS DECIMAL(10,0))", "CAST('9' AS DECIMAL(38, 0)) + 1");
        check("(bids.v - 1) * 1.5", "(v - 1) * 1.5");
        assert_ne!(bare("1.5"), bare("5"));
    }
}
