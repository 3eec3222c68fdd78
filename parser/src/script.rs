//! A script: several statements, each of which may be wrong without harm to the others.

#[cfg(test)]
mod corpus;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use split::block_end;

use crate::ast::ParsedStatement;
use crate::code;
use crate::cursor::Cursor;
use crate::diagnostic::Diagnostic;
use crate::hint::Hints;
use crate::lex::{Source, lex};
use crate::lexical_check::{check_limits, check_tokens};
use crate::match_recognize::Matches;
use crate::span::Span;
use crate::statement::{starts_here, statement};
use split::split;
use sqlparser::tokenizer::TokenWithSpan;

/// A parsed script.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The statements that could be parsed, in order.
    pub statements: Vec<ParsedStatement>,
    /// What is wrong with the others, in the order of the text. When one is an error, the script must not be run:
    /// `statements` lacks those that could not be parsed, and holds some that were mended to find further errors.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses statements separated by semicolons; the last one may lack it, empty ones are left out.
///
/// All places, those inside `sqlparser`'s trees included, are places in `text`; a [`LineIndex`](crate::LineIndex) over
/// `text` translates `sqlparser`'s.
pub fn parse_script(text: &str) -> Script {
    let source = Source::new(text);
    let lexed = lex(&source);
    let mut script = Script::default();
    for segment in split(&lexed.tokens) {
        // The statement that the text broke off in: the break says it all.
        if lexed.failure.is_none() || segment.is_terminated {
            parse_segment(&source, lexed.tokens[segment.tokens].to_vec(), &mut script);
        }
    }
    script.diagnostics.extend(lexed.failure);
    script.diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    script
}

/// Can `text` be run as it is, or is the user still typing? True when it is blank or when its last statement ends in a
/// semicolon that is not in a string, a comment or an open `BEGIN … END`.
pub fn is_complete(text: &str) -> bool {
    let lexed = lex(&Source::new(text));
    lexed.failure.is_none() && split(&lexed.tokens).last().is_none_or(|last| last.is_terminated)
}

/// Parses the tokens between two semicolons: one statement, or more when semicolons are missing.
fn parse_segment(source: &Source, tokens: Vec<TokenWithSpan>, script: &mut Script) {
    if let Some(excess) = check_limits(source, &tokens) {
        script.diagnostics.push(excess);
        return;
    }
    let (tokens, mut findings) = check_tokens(source, tokens);
    let (tokens, hints, hint_findings) = Hints::extract(source, tokens);
    findings.extend(hint_findings);
    let (tokens, matches, match_findings) = Matches::extract(source, tokens);
    findings.extend(match_findings);
    let mut cursor = Cursor::new(source, tokens, hints);
    cursor.matches = matches;
    let errors = parse_statements(&mut cursor, &mut script.statements);
    if errors.is_empty() {
        findings.extend(cursor.hints.left_over(source));
        findings.extend(cursor.matches.left_over(source));
    }
    // A parse error behind something that was found on the tokens is most likely its consequence.
    let first_finding = findings.iter().filter_map(|finding| finding.span).map(|span| span.start).min();
    let is_consequence =
        |error: &Diagnostic| error.span.zip(first_finding).is_some_and(|(span, first)| span.end > first);
    script.diagnostics.extend(errors.into_iter().filter(|error| !is_consequence(error)));
    script.diagnostics.append(&mut findings);
    script.diagnostics.append(&mut cursor.findings);
}

fn parse_statements(cursor: &mut Cursor, statements: &mut Vec<ParsedStatement>) -> Vec<Diagnostic> {
    let mut errors = vec![];
    while !cursor.is_at_end() {
        let start = cursor.mark();
        match statement(cursor) {
            Ok(statement) => {
                let span = cursor.span_since(start);
                if !cursor.is_at_end() && !starts_here(cursor) {
                    errors.push(*cursor.unexpected("the end of the statement"));
                    break;
                }
                statements.push(ParsedStatement { statement, span });
                if !cursor.is_at_end() {
                    errors.push(missing_semicolon(cursor));
                }
            }
            Err(error) => {
                errors.push(*error);
                break;
            }
        }
    }
    errors
}

/// Two statements follow each other: points behind the first one.
pub(crate) fn missing_semicolon(cursor: &Cursor) -> Diagnostic {
    let before = cursor.span_at(cursor.mark().saturating_sub(1)).end;
    Diagnostic::error(code::MISSING_SEMICOLON, "a semicolon is missing between two statements")
        .at(Span::new(before, before))
        .labelled("`;` is missing here")
        .label(cursor.span_here(), "the next statement starts here")
}
