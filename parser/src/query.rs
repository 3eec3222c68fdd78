//! Queries and expressions: `sqlparser`'s work, with errors brought to the right place.

use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax_error::Complaint;
use sqlparser::ast::{Expr, Query, SetExpr};
use sqlparser::keywords::Keyword;
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Token, Word};
use std::ops::Range;

impl Cursor<'_> {
    /// Does a query start here?
    pub fn at_query(&self) -> bool {
        self.at_token(&Token::LParen) || self.starts_query(self.mark()) || self.at("TABLE")
    }

    /// Is token `idx` the first word of a query?
    pub fn starts_query(&self, idx: usize) -> bool {
        match self.token(idx).map(|token| &token.token) {
            Some(Token::Word(Word { quote_style: None, keyword, .. })) => {
                matches!(keyword, Keyword::SELECT | Keyword::WITH | Keyword::VALUES)
            }
            _ => false,
        }
    }

    /// A query and where it stands.
    pub fn query(&mut self) -> Parsed<(Box<Query>, Span)> {
        let start = self.mark();
        let mut query = match self.parser().parse_query() {
            Ok(query) => query,
            Err(error) => return Err(self.refine(start, &error)),
        };
        if let SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) = &*query.body {
            let message = "expected a query, found a statement that writes";
            let help = "put WITH after INSERT INTO t: INSERT INTO t WITH … SELECT …";
            return Err(Box::new(Diagnostic::error(code::SYNTAX, message).at(self.span_since(start)).help(help)));
        }
        self.hints.place_in(&mut query);
        self.matches.place_in(&mut query);
        Ok((query, self.span_since(start)))
    }

    /// An expression and where it stands.
    pub fn expr(&mut self) -> Parsed<(Box<Expr>, Span)> {
        let start = self.mark();
        match self.parser().parse_expr() {
            Ok(expr) => Ok((Box::new(expr), self.span_since(start))),
            Err(error) => Err(self.diagnose(&error)),
        }
    }

    /// The diagnostic of a query's error.
    ///
    /// `sqlparser` backtracks out of a subquery in FROM and out of a named argument, and then reports the place it
    /// came back to. So the parts it may have given up on are parsed again, each on its own, inner before outer.
    fn refine(&self, start: usize, error: &ParserError) -> Box<Diagnostic> {
        let diagnostic = self.diagnose(error);
        if *error == ParserError::RecursionLimitExceeded || diagnostic.code == code::HINT {
            return diagnostic;
        }
        let better = self.subqueries(start).into_iter().find_map(|range| self.error_of_subquery(range));
        better.or_else(|| self.error_of_named_argument(error)).unwrap_or(diagnostic)
    }

    /// Token ranges of the parenthesised queries from `start` on, in the order in which they close.
    fn subqueries(&self, start: usize) -> Vec<Range<usize>> {
        let (mut open, mut closed) = (vec![], vec![]);
        for idx in start..self.count() {
            match self.token(idx).map(|token| &token.token) {
                Some(Token::LParen) => open.push(idx + 1),
                Some(Token::RParen) => closed.extend(open.pop().map(|first| first..idx)),
                _ => {}
            }
        }
        closed.retain(|range| self.starts_query(range.start));
        closed
    }

    fn error_of_subquery(&self, range: Range<usize>) -> Option<Box<Diagnostic>> {
        let mut parser = self.parser_over(range.clone());
        match parser.parse_query() {
            Err(error) => Some(self.diagnose_within(&error, range.end)),
            Ok(_) if parser.index() < range.len() => Some(self.unexpected_at(range.start + parser.index(), "`)`")),
            Ok(_) => None,
        }
    }

    /// When the error points at `=>`, what stands behind it is at fault.
    fn error_of_named_argument(&self, error: &ParserError) -> Option<Box<Diagnostic>> {
        let arrow = self.index_of(&Complaint::of(error), self.count());
        if self.token(arrow)?.token != Token::RArrow {
            return None;
        }
        let mut parser = self.parser_over(arrow + 1..self.count());
        match parser.parse_expr() {
            Err(error) => Some(self.diagnose_within(&error, self.count())),
            Ok(_) => Some(self.unexpected_at(arrow + 1 + parser.index(), "`,` or `)`")),
        }
    }
}
