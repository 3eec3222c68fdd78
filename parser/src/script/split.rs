//! Tokens to statements: a cut at every semicolon, except inside a statement set.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use std::ops::Range;

/// The tokens of one statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Which ones, without the semicolon; never empty.
    pub tokens: Range<usize>,
    /// Is there a semicolon behind it?
    pub is_terminated: bool,
}

pub(super) fn split(tokens: &[TokenWithSpan]) -> Vec<Segment> {
    let mut segments = vec![];
    let mut start = 0;
    while start < tokens.len() {
        let from = start + block_length(&tokens[start..]);
        let semicolon = tokens[from..].iter().position(|token| token.token == Token::SemiColon);
        let end = semicolon.map_or(tokens.len(), |idx| from + idx);
        if start < end {
            segments.push(Segment { tokens: start..end, is_terminated: semicolon.is_some() });
        }
        start = end + 1;
    }
    segments
}

/// How many of the tokens belong to a statement set, up to its END; all when it does not end, 0 when they start with
/// another statement.
fn block_length(tokens: &[TokenWithSpan]) -> usize {
    let Some(body) = block_start(tokens) else { return 0 };
    block_end(tokens[body..].iter()).map_or(tokens.len(), |end| body + end + 1)
}

/// Index behind `[EXPLAIN …] [EXECUTE] STATEMENT SET BEGIN` or `[EXPLAIN …] BEGIN STATEMENT SET ;`.
fn block_start(tokens: &[TokenWithSpan]) -> Option<usize> {
    let is_opening = |at: usize, words: &[&str]| {
        words.iter().enumerate().all(|(n, word)| tokens.get(at + n).is_some_and(|token| is_word(&token.token, word)))
    };
    // Between EXPLAIN and the set stand its details: words and commas.
    let is_detail = |token: &TokenWithSpan| matches!(token.token, Token::Word(_) | Token::Comma);
    let last = match is_opening(0, &["EXPLAIN"]) {
        true => tokens.iter().position(|token| !is_detail(token)).unwrap_or(tokens.len()),
        false => 0,
    };
    (0..=last).find_map(|at| {
        if is_opening(at, &["EXECUTE", "STATEMENT", "SET", "BEGIN"]) {
            return Some(at + 4);
        }
        // `EXPLAIN STATEMENT SET BEGIN … END` needs no EXECUTE.
        if at > 0 && is_opening(at, &["STATEMENT", "SET", "BEGIN"]) {
            return Some(at + 3);
        }
        let is_older_form = is_opening(at, &["BEGIN", "STATEMENT", "SET"]);
        let semicolon = tokens.get(at + 3).is_some_and(|token| token.token == Token::SemiColon);
        (is_older_form && semicolon).then_some(at + 4)
    })
}

/// Index of the END that closes a statement set, among the tokens behind its opening. An END that closes a CASE is not
/// it; a CASE never reaches over a semicolon.
pub(crate) fn block_end<'t>(tokens: impl Iterator<Item = &'t TokenWithSpan>) -> Option<usize> {
    let mut open_cases = 0usize;
    for (idx, token) in tokens.enumerate() {
        match &token.token {
            Token::SemiColon => open_cases = 0,
            Token::Word(Word { quote_style: None, keyword: Keyword::CASE, .. }) => open_cases += 1,
            Token::Word(Word { quote_style: None, keyword: Keyword::END, .. }) => match open_cases.checked_sub(1) {
                Some(rest) => open_cases = rest,
                None => return Some(idx),
            },
            _ => {}
        }
    }
    None
}

fn is_word(token: &Token, expected: &str) -> bool {
    matches!(token, Token::Word(Word { quote_style: None, value, .. }) if value.eq_ignore_ascii_case(expected))
}
