//! A place in the tokens of one statement, and the words, names and strings that our own grammar is made of.
//!
//! It wraps a `sqlparser` [`Parser`], which takes over for queries and expressions ([`query`](crate::query)).

use crate::ast::{Name, TableName, Text};
use crate::code;
use crate::diagnostic::Diagnostic;
use crate::dialect::FlinkDialect;
use crate::hint::{Hints, MARKER_TOKENS};
use crate::lex::Source;
use crate::lexical_check::MAX_DEPTH;
use crate::match_recognize::Matches;
use crate::span::Span;
use sqlparser::ast::Expr;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Span as TokenSpan, Token, TokenWithSpan, Word};
use std::ops::Range;

/// The result of parsing: errors are rare and large, so they are boxed.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Words that are never a name without back quotes: taking one for a name would hide the name that is missing.
/// Those of the last lines are functions without parentheses: a column of such a name could not be read.
const RESERVED: [&str; 29] = [
    "AND",
    "AS",
    "CREATE",
    "DROP",
    "FROM",
    "GROUP",
    "HAVING",
    "INSERT",
    "INTO",
    "JOIN",
    "LIKE",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "SELECT",
    "UNION",
    "VALUES",
    "WHERE",
    "WITH",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "SESSION_USER",
    "USER",
];

pub(crate) struct Cursor<'t> {
    source: &'t Source<'t>,
    parser: Parser<'static>,
    count: usize,
    pub hints: Hints,
    /// The `MATCH_RECOGNIZE` clauses that markers among the tokens stand for.
    pub matches: Matches,
    /// What is wrong although parsing can go on.
    pub findings: Vec<Diagnostic>,
}

impl<'t> Cursor<'t> {
    pub fn new(source: &'t Source<'t>, tokens: Vec<TokenWithSpan>, hints: Hints) -> Self {
        let (count, parser) = (tokens.len(), parser_over(tokens));
        Self { source, count, parser, hints, matches: Matches::default(), findings: vec![] }
    }

    pub fn source(&self) -> &'t Source<'t> {
        self.source
    }

    pub fn text(&self) -> &'t str {
        self.source.text
    }

    pub fn parser(&mut self) -> &mut Parser<'static> {
        &mut self.parser
    }

    /// A parser over some of the tokens, apart from this cursor.
    pub fn parser_over(&self, range: Range<usize>) -> Parser<'static> {
        parser_over(range.map(|idx| self.parser.token_at(idx).clone()).collect())
    }

    /// Runs `parse` as if only the tokens of `range` existed. The cursor itself does not move.
    pub fn within<T>(&mut self, range: Range<usize>, parse: impl FnOnce(&mut Self) -> T) -> T {
        let (outer, outer_count) = (self.parser_over(range.clone()), self.count);
        let outer = std::mem::replace(&mut self.parser, outer);
        self.count = range.len();
        let result = parse(self);
        self.parser = outer;
        self.count = outer_count;
        result
    }

    /// How many tokens there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Index of the next token.
    pub fn mark(&self) -> usize {
        self.parser.index().min(self.count)
    }

    pub fn is_at_end(&self) -> bool {
        self.mark() >= self.count
    }

    /// Moves on to token `idx`, which must not lie behind.
    pub fn advance_to(&mut self, idx: usize) {
        while self.mark() < idx.min(self.count) {
            self.parser.advance_token();
        }
    }

    pub fn token(&self, idx: usize) -> Option<&TokenWithSpan> {
        (idx < self.count).then(|| self.parser.token_at(idx))
    }

    /// The token `n` places behind the next one.
    pub fn peek(&self, n: usize) -> Option<&Token> {
        self.token(self.mark() + n).map(|token| &token.token)
    }

    /// Index of the first token that starts at `location` or behind.
    pub fn index_at(&self, location: Location) -> usize {
        (0..self.count).find(|idx| self.parser.token_at(*idx).span.start >= location).unwrap_or(self.count)
    }

    /// Where token `idx` stands; at the end of the last token when there is no such token.
    pub fn span_at(&self, idx: usize) -> Span {
        if let Some(token) = self.token(idx) {
            return self.source.span(token.span);
        }
        let end = self.token(self.count.wrapping_sub(1)).map_or(0, |last| self.source.offset(last.span.end));
        Span::new(end, end)
    }

    pub fn span_here(&self) -> Span {
        self.span_at(self.mark())
    }

    /// From token `start` to the last token read.
    pub fn span_since(&self, start: usize) -> Span {
        let last = self.mark().saturating_sub(1);
        match (self.token(start), self.token(last)) {
            (Some(first), Some(last)) => self.source.span_between(first.span, last.span),
            _ => self.span_at(start),
        }
    }

    /// The unquoted word `n` places behind the next token.
    pub fn word(&self, n: usize) -> Option<&str> {
        match self.peek(n) {
            Some(Token::Word(Word { quote_style: None, value, .. })) => Some(value),
            _ => None,
        }
    }

    /// Do these words come next? `words` is separated by spaces.
    pub fn at(&self, words: &str) -> bool {
        words.split(' ').enumerate().all(|(n, word)| self.word(n).is_some_and(|next| next.eq_ignore_ascii_case(word)))
    }

    /// Is the next token one of these words?
    pub fn at_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.at(word))
    }

    /// Reads these words if they come next.
    pub fn eat(&mut self, words: &str) -> bool {
        let are_next = self.at(words);
        if are_next {
            self.advance_to(self.mark() + words.split(' ').count());
        }
        are_next
    }

    pub fn expect(&mut self, words: &str) -> Parsed<()> {
        for word in words.split(' ') {
            if !self.eat(word) {
                return Err(self.unexpected_word(&[word]));
            }
        }
        Ok(())
    }

    pub fn at_token(&self, token: &Token) -> bool {
        self.peek(0) == Some(token)
    }

    pub fn eat_token(&mut self, token: &Token) -> bool {
        let is_next = self.at_token(token);
        if is_next {
            self.parser.advance_token();
        }
        is_next
    }

    pub fn expect_token(&mut self, token: &Token) -> Parsed<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.unexpected(&format!("`{token}`"))) }
    }

    pub fn expect_end(&self) -> Parsed<()> {
        if self.is_at_end() { Ok(()) } else { Err(self.unexpected("the end of the statement")) }
    }

    /// `(item, …)`
    pub fn parenthesised<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.eat_token(&Token::Comma) {
            items.push(item(self)?);
        }
        if !self.eat_token(&Token::RParen) {
            return Err(self.unexpected("`,` or `)`"));
        }
        Ok(items)
    }

    /// `(name, …)`
    pub fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        self.parenthesised(|cursor| cursor.name(what))
    }

    /// A name, back quotes removed. `what` says what it names: `a column's name`.
    pub fn name(&mut self, what: &str) -> Parsed<Name> {
        let is_reserved = self.word(0).is_some_and(|word| RESERVED.iter().any(|r| r.eq_ignore_ascii_case(word)));
        let Some(Token::Word(word)) = self.peek(0) else { return Err(self.unexpected(what)) };
        if is_reserved {
            let help = format!("a reserved word takes back quotes as a name: `{}`", word.value);
            return Err(Box::new(self.unexpected(what).help(help)));
        }
        let name = Name { value: word.value.clone(), span: self.span_here() };
        self.parser.advance_token();
        Ok(name)
    }

    /// `t`, `db.t` or `catalog.db.t`
    pub fn table_name(&mut self) -> Parsed<TableName> {
        let start = self.mark();
        let mut parts = vec![self.name("a table's name")?.value];
        while self.eat_token(&Token::Period) {
            parts.push(self.name("a table's name")?.value);
        }
        Ok(TableName { parts, span: self.span_since(start) })
    }

    /// A string in single quotes. `what` says what it is: `an option's value`.
    pub fn string(&mut self, what: &str) -> Parsed<Text> {
        let Some(Token::SingleQuotedString(value)) = self.peek(0) else {
            return Err(self.unexpected(&format!("{what} in single quotes")));
        };
        let text = Text { value: value.clone(), span: self.span_here() };
        self.parser.advance_token();
        Ok(text)
    }

    /// `COMMENT '…'` if it comes next.
    pub fn comment(&mut self) -> Parsed<Option<String>> {
        if !self.eat("COMMENT") {
            return Ok(None);
        }
        Ok(Some(self.string("a comment")?.value))
    }

    /// The calls of the hint that stands here, if one does.
    pub fn hint(&mut self) -> Option<Vec<Expr>> {
        if !self.at("PARTITION") {
            return None;
        }
        let Some(Token::Word(marker)) = self.peek(2) else { return None };
        let marker = marker.to_ident(TokenSpan::empty());
        let calls = self.hints.take(&marker)?;
        self.advance_to(self.mark() + MARKER_TOKENS);
        Some(calls)
    }

    /// Says that the hint at this place has no effect, if a hint is there.
    pub fn misplaced_hint(&self, place: TokenSpan) -> Option<Diagnostic> {
        self.hints.misplaced_at(self.source, place)
    }

    /// `what` is known but cannot be used; points at the tokens from `start` to the last one read.
    pub fn unsupported(&self, start: usize, what: &str) -> Box<Diagnostic> {
        let message = format!("{what} is not supported yet");
        Box::new(Diagnostic::error(code::UNSUPPORTED, message).at(self.span_since(start)))
    }
}

fn parser_over(tokens: Vec<TokenWithSpan>) -> Parser<'static> {
    Parser::new(&FlinkDialect).with_recursion_limit(MAX_DEPTH).with_tokens_with_locations(tokens)
}
