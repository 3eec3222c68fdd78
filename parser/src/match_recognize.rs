//! `MATCH_RECOGNIZE (…)` behind a table in FROM: row pattern recognition as in SQL:2016, with Flink's `WITHIN`.
//!
//! `sqlparser` knows a part of the clause only: no `SUBSET`, `WITHIN`, reluctant quantifiers, exclusion or `PERMUTE` of
//! more than a variable, empty pattern. So the clause is read here ([`clause`], [`pattern`]) from the statement's tokens
//! before `sqlparser` sees them, and its place is taken by an alias that no user writes:
//!
//! ```text
//! FROM t MATCH_RECOGNIZE (…) AS m      ->      FROM t AS `$match0`
//! ```
//!
//! When the tree is built, the table with that alias becomes a [`TableFactor::MatchRecognize`], which carries what was
//! read ([`carry`]): a view keeps its query as a tree, so the clause has to travel in it. [`MatchRecognize::of`] takes it
//! out again.

mod carry;
mod clause;
mod display;
mod pattern;
#[cfg(test)]
mod tests;

use crate::code;
use crate::cursor::Cursor;
use crate::diagnostic::Diagnostic;
use crate::hint::Hints;
use crate::lex::Source;
use sqlparser::ast::{
    AfterMatchSkip, Expr, Ident, Measure, OrderByExpr, Query, RowsPerMatch, SymbolDefinition, TableAlias, TableFactor,
    VisitMut, VisitorMut,
};
use sqlparser::tokenizer::{Span as TokenSpan, Token, TokenWithSpan, Word};
use std::ops::ControlFlow;

const MARKER: &str = "$match";

/// The clause, names and expressions as written.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchRecognize {
    /// `PARTITION BY`
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`
    pub order_by: Vec<OrderByExpr>,
    /// `MEASURES`
    pub measures: Vec<Measure>,
    /// `ONE ROW PER MATCH` when none is written.
    pub rows_per_match: RowsPerMatch,
    /// `AFTER MATCH SKIP …`; `SKIP TO v` is `SKIP TO LAST v`.
    pub after_match_skip: Option<AfterMatchSkip>,
    /// `PATTERN (…)`
    pub pattern: Pattern,
    /// `WITHIN INTERVAL …`
    pub within: Option<Expr>,
    /// `SUBSET`
    pub subsets: Vec<Subset>,
    /// `DEFINE`
    pub define: Vec<SymbolDefinition>,
}

/// `SUBSET name = (member, …)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subset {
    /// The union variable.
    pub name: Ident,
    /// Pattern variables.
    pub members: Vec<Ident>,
}

/// A row pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A variable: one row.
    Variable(Ident),
    /// `^`: the partition starts here.
    Start,
    /// `$`: the partition ends here.
    End,
    /// `()`: no row.
    Empty,
    /// One after the other; at least two.
    Concat(Vec<Pattern>),
    /// The first that fits, in this order; at least two.
    Alternation(Vec<Pattern>),
    /// `? * + {n} {n,} {n,m} {,m}` and their reluctant forms.
    Repeat {
        /// What is repeated.
        pattern: Box<Pattern>,
        /// At least so often.
        min: u32,
        /// At most so often.
        max: Option<u32>,
        /// Fewer before more.
        reluctant: bool,
    },
    /// `{- … -}`: its rows are left out of the output.
    Exclude(Box<Pattern>),
    /// `PERMUTE(…)`: in any order, the written one preferred.
    Permute(Vec<Pattern>),
}

/// The clauses of one statement, while `sqlparser` parses around them.
#[derive(Debug, Default)]
pub(crate) struct Matches(Vec<Found>);

#[derive(Debug)]
struct Found {
    /// `None` when it could not be read, or is already in the tree.
    clause: Option<(MatchRecognize, Option<TableAlias>)>,
    place: TokenSpan,
    is_honoured: bool,
}

impl Matches {
    /// Takes the clauses out of a statement's tokens and leaves markers in their place.
    pub fn extract(source: &Source, tokens: Vec<TokenWithSpan>) -> (Vec<TokenWithSpan>, Matches, Vec<Diagnostic>) {
        let (mut matches, mut findings) = (Matches::default(), vec![]);
        let first = (0..tokens.len()).find(|idx| starts_clause(&tokens[*idx..]));
        let Some(first) = first else { return (tokens, matches, findings) };
        let mut kept = tokens[..first].to_vec();
        let mut cursor = Cursor::new(source, tokens, Hints::default());
        cursor.advance_to(first);
        while let Some(token) = cursor.token(cursor.mark()).cloned() {
            let next = cursor.token(cursor.mark() + 1);
            if !is_clause_word(&token) || next.is_none_or(|next| next.token != Token::LParen) {
                kept.push(token);
                cursor.advance_to(cursor.mark() + 1);
                continue;
            }
            let end = cursor.mark() + 2 + group_length(&cursor, cursor.mark() + 2);
            let clause = match clause::clause(&mut cursor) {
                Ok(clause) => Some(clause),
                Err(finding) => {
                    findings.push(*finding);
                    cursor.advance_to(end);
                    // What follows may be the alias; without it nothing is wrong there.
                    let _ = cursor.parser().maybe_parse_table_alias();
                    None
                }
            };
            kept.extend(marker(matches.0.len(), token.span));
            matches.0.push(Found { clause, place: token.span, is_honoured: false });
        }
        (kept, matches, findings)
    }

    /// Moves the clauses from their markers into a query's tree.
    pub fn place_in(&mut self, query: &mut Query) {
        if !self.0.is_empty() {
            // The visitor never breaks off.
            let _ = query.visit(self);
        }
    }

    /// Clauses that stand where nothing honours them.
    pub fn left_over(&self, source: &Source) -> Vec<Diagnostic> {
        let misplaced = |found: &Found| {
            Diagnostic::error(code::SYNTAX, "MATCH_RECOGNIZE stands behind a table or subquery in FROM")
                .at(source.span(found.place))
        };
        self.0.iter().filter(|found| !found.is_honoured).map(misplaced).collect()
    }

    fn take(&mut self, alias: &Ident) -> Option<Option<(MatchRecognize, Option<TableAlias>)>> {
        let idx: usize = alias.value.strip_prefix(MARKER)?.parse().ok()?;
        let found = self.0.get_mut(idx)?;
        found.is_honoured = true;
        Some(found.clause.take())
    }
}

impl VisitorMut for Matches {
    type Break = ();

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let alias = match factor {
            TableFactor::Table { alias, .. }
            | TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::NestedJoin { alias, .. } => alias,
            _ => return ControlFlow::Continue(()),
        };
        let Some(clause) = alias.as_ref().and_then(|alias| self.take(&alias.name)) else {
            return ControlFlow::Continue(());
        };
        *alias = None;
        if let Some((clause, alias)) = clause {
            *factor = clause.into_factor(factor.clone(), alias);
        }
        ControlFlow::Continue(())
    }
}

fn is_clause_word(token: &TokenWithSpan) -> bool {
    matches!(&token.token, Token::Word(Word { quote_style: None, value, .. }) if value.eq_ignore_ascii_case("MATCH_RECOGNIZE"))
}

fn starts_clause(tokens: &[TokenWithSpan]) -> bool {
    matches!(tokens, [word, paren, ..] if is_clause_word(word) && paren.token == Token::LParen)
}

/// How many tokens from `start`, which stands behind an open parenthesis, up to and with the one that closes it.
fn group_length(cursor: &Cursor, start: usize) -> usize {
    let mut depth = 1usize;
    for idx in start..cursor.count() {
        match cursor.token(idx).map(|token| &token.token) {
            Some(Token::LParen) => depth += 1,
            Some(Token::RParen) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return idx + 1 - start;
        }
    }
    cursor.count().saturating_sub(start)
}

fn marker(idx: usize, place: TokenSpan) -> [TokenWithSpan; 2] {
    let name = Token::make_word(&format!("{MARKER}{idx}"), Some('`'));
    [Token::make_keyword("AS"), name].map(|token| TokenWithSpan::new(token, place))
}
