//! What can be judged, and often mended, on the tokens of one statement before it is parsed.
//!
//! `sqlparser` accepts some of these in silence (`x::INT`, a string as a table's name) and complains about others far
//! from the cause (a trailing comma). A finding is mended where possible, so that parsing goes on behind it.

mod limits;
#[cfg(test)]
mod tests;

pub(crate) use limits::{MAX_DEPTH, check_limits};
#[cfg(test)]
pub(crate) use limits::{MAX_OPERATORS, MAX_SET_OPERATIONS};

use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::Source;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Words that start a clause behind a list: no list item can be one.
const CLAUSES: [Keyword; 10] = [
    Keyword::FROM,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::ORDER,
    Keyword::LIMIT,
    Keyword::UNION,
    Keyword::JOIN,
    Keyword::ON,
    Keyword::SELECT,
];

/// Functions whose arguments are separated by `FROM`.
const FROM_FUNCTIONS: [&str; 6] = ["EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "OVERLAY", "POSITION"];

/// What follows EMIT in the dialects that have it.
const EMIT_TAILS: [&str; 7] = ["AFTER", "CHANGES", "FINAL", "ON", "STREAM", "WITH", "WITHOUT"];

/// Checks and mends a statement's tokens.
pub(crate) fn check_tokens(source: &Source, tokens: Vec<TokenWithSpan>) -> (Vec<TokenWithSpan>, Vec<Diagnostic>) {
    let mut check = Check { source, tokens: &tokens, findings: vec![], in_query: false, callees: vec![] };
    let mended = (0..tokens.len()).filter_map(|idx| check.token(idx)).collect();
    let findings = check.findings;
    (mended, findings)
}

struct Check<'c> {
    source: &'c Source<'c>,
    tokens: &'c [TokenWithSpan],
    findings: Vec<Diagnostic>,
    /// Has a SELECT been seen? What stands before it may be DDL with rules of its own.
    in_query: bool,
    /// For each open parenthesis: is it the argument list of one of [`FROM_FUNCTIONS`]?
    callees: Vec<bool>,
}

impl Check<'_> {
    /// The token to parse in place of token `idx`, or `None` to leave it out.
    fn token(&mut self, idx: usize) -> Option<TokenWithSpan> {
        let token = &self.tokens[idx];
        match &token.token {
            Token::LParen => self.callees.push(self.is_word_of(idx.wrapping_sub(1), &FROM_FUNCTIONS)),
            Token::RParen => {
                self.callees.pop();
            }
            Token::SemiColon => self.in_query = false,
            Token::DoubleQuotedString(text) => {
                self.report_double_quotes(token, text);
                return Some(TokenWithSpan::new(Token::SingleQuotedString(text.clone()), token.span));
            }
            Token::SingleQuotedString(text) if self.is_in_place_of_name(idx) => {
                self.report(token, code::QUOTES, "a name is expected here, not a string", format!("write `{text}`"));
                return Some(TokenWithSpan::new(Token::make_word(text, Some('`')), token.span));
            }
            Token::DoubleColon => {
                let help = "write CAST(x AS INT) or TRY_CAST(x AS INT)";
                self.report(token, code::UNSUPPORTED, "`::` is not Flink SQL", help);
            }
            Token::Comma if self.is_trailing_comma(idx) => {
                self.report(token, code::SYNTAX, "trailing comma", "remove this comma, or add what should follow it");
                return None;
            }
            Token::Word(Word { quote_style: None, keyword, value }) => self.word(idx, *keyword, value),
            _ => {}
        }
        Some(token.clone())
    }

    fn word(&mut self, idx: usize, keyword: Keyword, value: &str) {
        let token = &self.tokens[idx];
        let opens_parenthesis = matches!(self.kind(idx + 1), Some(Token::LParen));
        match keyword {
            Keyword::SELECT => self.in_query = true,
            Keyword::CREATE => self.in_query = false,
            Keyword::FROM | Keyword::JOIN if self.in_query && self.lacks_table(idx) => {
                let message = format!("the table's name is missing after {}", value.to_uppercase());
                self.report(token, code::SYNTAX, message, "name a table here, or put a query in parentheses");
            }
            Keyword::WITH if self.in_query && opens_parenthesis => {
                let help = "in a query, options are a hint after the table's name: t /*+ OPTIONS('key' = 'value') */";
                self.report(token, code::UNSUPPORTED, "WITH (…) belongs to CREATE TABLE", help);
            }
            Keyword::PARTITION if self.in_query && opens_parenthesis => {
                let help = "name the partition in WHERE";
                self.report(token, code::UNSUPPORTED, "PARTITION (…) after a table is not supported", help);
            }
            _ if value.eq_ignore_ascii_case("EMIT") && self.is_word_of(idx + 1, &EMIT_TAILS) => {
                let help = "a window's result comes when the watermark passes its end, other results with each change";
                self.report(token, code::UNSUPPORTED, "EMIT is not supported", help);
            }
            _ => {}
        }
    }

    fn report(&mut self, at: &TokenWithSpan, code: &'static str, message: impl Into<String>, help: impl Into<String>) {
        self.findings.push(Diagnostic::error(code, message).at(self.source.span(at.span)).help(help));
    }

    fn report_double_quotes(&mut self, token: &TokenWithSpan, text: &str) {
        let help = format!("strings take single quotes: '{text}'; names take back quotes: `{text}`");
        self.report(token, code::QUOTES, "double quotes have no meaning in Flink SQL", help);
    }

    /// Behind AS, FROM and JOIN of a query stands a name.
    fn is_in_place_of_name(&self, idx: usize) -> bool {
        let Some(Token::Word(Word { quote_style: None, keyword, .. })) = self.kind(idx.wrapping_sub(1)) else {
            return false;
        };
        self.in_query
            && match keyword {
                Keyword::AS | Keyword::JOIN => true,
                Keyword::FROM => !self.is_operand_of_from(idx - 1),
                _ => false,
            }
    }

    /// `FROM` of `EXTRACT(x FROM y)` and of `IS DISTINCT FROM`.
    fn is_operand_of_from(&self, from: usize) -> bool {
        self.callees.last() == Some(&true) || self.is_word_of(from.wrapping_sub(1), &["DISTINCT"])
    }

    fn lacks_table(&self, idx: usize) -> bool {
        match self.kind(idx + 1) {
            None | Some(Token::RParen) => true,
            Some(Token::Word(Word { quote_style: None, keyword, .. })) => CLAUSES.contains(keyword),
            _ => false,
        }
    }

    fn is_trailing_comma(&self, idx: usize) -> bool {
        match self.kind(idx + 1) {
            None | Some(Token::RParen | Token::RBracket | Token::SemiColon) => true,
            Some(Token::Word(Word { quote_style: None, keyword, .. })) => {
                CLAUSES.contains(keyword) && !matches!(self.kind(idx + 2), Some(Token::Period))
            }
            _ => false,
        }
    }

    fn kind(&self, idx: usize) -> Option<&Token> {
        self.tokens.get(idx).map(|token| &token.token)
    }

    fn is_word_of(&self, idx: usize, words: &[&str]) -> bool {
        match self.kind(idx) {
            Some(Token::Word(Word { quote_style: None, value, .. })) => {
                words.iter().any(|word| word.eq_ignore_ascii_case(value))
            }
            _ => false,
        }
    }
}
