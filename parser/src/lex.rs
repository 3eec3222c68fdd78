//! Text to tokens: the whole script at once, without white space and comments.
//!
//! Hints (`/*+ … */`) stay as comment tokens: `hint` decides about them. `>>` becomes two `>`
//! because the dialect has no shift operator but nested types (`MAP<STRING, ARRAY<INT>>`).

use crate::code;
use crate::diagnostic::Diagnostic;
use crate::dialect::FlinkDialect;
use crate::span::{LineIndex, Span};
use sqlparser::tokenizer::{Location, Span as TokenSpan, Token, TokenWithSpan, Tokenizer, Whitespace};

/// A script's text and the way from `sqlparser`'s places to byte offsets.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    pub text: &'t str,
    lines: LineIndex<'t>,
}

impl<'t> Source<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, lines: LineIndex::new(text) }
    }

    /// Byte span of a token; zero width at the start for the "empty" span.
    pub fn span(&self, span: TokenSpan) -> Span {
        self.lines.span(span).unwrap_or_default()
    }

    /// Byte span from the start of one token to the end of another.
    pub fn span_between(&self, first: TokenSpan, last: TokenSpan) -> Span {
        self.span(TokenSpan::new(first.start, last.end))
    }

    /// Byte offset of a place.
    pub fn offset(&self, location: Location) -> usize {
        self.lines.offset(location)
    }
}

/// The tokens of a script.
#[derive(Debug)]
pub(crate) struct Lexed {
    /// Tokens in order; all of them when `failure` is `None`.
    pub tokens: Vec<TokenWithSpan>,
    /// Why the text could not be cut to its end.
    pub failure: Option<Diagnostic>,
}

pub(crate) fn lex(source: &Source) -> Lexed {
    let mut raw = Vec::new();
    let result = Tokenizer::new(&FlinkDialect, source.text).tokenize_with_location_into_buf(&mut raw);
    let failure = result.err().map(|error| {
        // Tokens follow each other without a gap, so the one that failed starts where the last one ends.
        let start = raw.last().map_or(0, |last| source.offset(last.span.end));
        describe_failure(source, start, &error.message)
    });
    Lexed { tokens: significant(raw), failure }
}

fn significant(raw: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut tokens = Vec::with_capacity(raw.len() / 2 + 1);
    for token in raw {
        match &token.token {
            Token::Whitespace(Whitespace::MultiLineComment(comment)) if comment.starts_with('+') => tokens.push(token),
            Token::Whitespace(_) => {}
            Token::ShiftRight => {
                let Location { line, column } = token.span.start;
                let middle = Location::new(line, column + 1);
                tokens.push(TokenWithSpan::at(Token::Gt, token.span.start, middle));
                tokens.push(TokenWithSpan::at(Token::Gt, middle, token.span.end));
            }
            _ => tokens.push(token),
        }
    }
    tokens
}

fn describe_failure(source: &Source, start: usize, message: &str) -> Diagnostic {
    let rest = source.text.get(start..).unwrap_or("");
    let (what, width, help) = if rest.starts_with("/*") {
        ("this comment does not end", 2, "close it with `*/`")
    } else if rest.starts_with('`') {
        ("this quoted name does not end", 1, "close it with a back quote; a back quote inside a name is doubled")
    } else if let Some(quote) = rest.find('\'').filter(|quote| *quote <= 2) {
        (
            "this string does not end",
            quote + 1,
            "close it with a single quote; a single quote inside a string is doubled",
        )
    } else if rest.starts_with('"') {
        ("this string does not end", 1, "strings take single quotes: 'text'")
    } else {
        let width = rest.chars().next().map_or(0, char::len_utf8);
        let message = crate::syntax_error::lower_first(message.trim_end_matches('.'));
        return Diagnostic::error(code::SYNTAX, message).at(Span::new(start, start + width));
    };
    Diagnostic::error(code::UNTERMINATED, what).at(Span::new(start, start + width)).labelled("starts here").help(help)
}
