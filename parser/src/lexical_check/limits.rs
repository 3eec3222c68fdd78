//! Limits on nesting and on chains of operators.
//!
//! `a OR b OR c …` becomes a tree as deep as the chain is long. `sqlparser` builds it in a loop, so its own limit on
//! nesting never sees it, but whoever walks or drops the tree recurses: the stack would overflow. The same holds for
//! the parentheses of a row pattern.

use crate::code;
use crate::diagnostic::Diagnostic;
use crate::lex::Source;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// How deep parentheses, expressions and subqueries may nest.
pub(crate) const MAX_DEPTH: usize = 100;

/// How deep the tree of an expression may be: chains in parentheses lie below each other. Each operator of a chain and
/// each pair of parentheses is a level.
pub(crate) const MAX_LEVELS: usize = MAX_OPERATORS + MAX_DEPTH;

/// Most operators in one chain, and most set operations in one query.
///
/// All three are bounded by the 2 MiB stack of a thread in a debug build, where copying `sqlparser`'s tree takes 5 KiB
/// an operator and 14 KiB a set operation (measured).
pub(crate) const MAX_OPERATORS: usize = 300;
pub(crate) const MAX_SET_OPERATIONS: usize = 100;

/// What has been seen since the last thing that ends an expression, on one level of parentheses.
#[derive(Clone, Copy, Default)]
struct Level {
    /// AND and OR.
    logical: usize,
    /// Other operators since the last AND or OR: they lie below it in the tree, not beside each other.
    operators: usize,
    set_operations: usize,
    /// NOTs since the last AND or OR. The parser goes a level down for each, and where it meets its own limit, it tries
    /// each of them again as a function.
    nots: usize,
    /// Levels of the deepest parentheses that have closed in this expression.
    closed: usize,
    /// Levels of the deepest expression that has ended.
    deepest: usize,
}

impl Level {
    fn end_expression(&mut self) {
        self.deepest = self.levels();
        (self.logical, self.operators, self.nots, self.closed) = (0, 0, 0, 0);
    }

    fn levels(&self) -> usize {
        self.deepest.max(self.logical + self.operators + self.closed)
    }

    fn close(&mut self, inner: &Level) {
        self.closed = self.closed.max(inner.levels() + 1);
    }
}

/// The first place where a limit is passed, if one is.
pub(crate) fn check_limits(source: &Source, tokens: &[TokenWithSpan]) -> Option<Diagnostic> {
    let mut outer: Vec<Level> = vec![];
    let mut level = Level::default();
    // Of all levels around the current one: a pair of parentheses and their NOTs each.
    let mut nested = 0;
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket => {
                nested += 1 + level.nots;
                outer.push(std::mem::take(&mut level));
            }
            Token::RParen | Token::RBracket => {
                let inner = std::mem::replace(&mut level, outer.pop().unwrap_or_default());
                nested = nested.saturating_sub(1 + level.nots);
                level.close(&inner);
            }
            Token::SemiColon => level = Level::default(),
            Token::Comma => level.end_expression(),
            Token::Word(Word { quote_style: None, keyword, .. }) => count_word(&mut level, *keyword),
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Period
            | Token::Whitespace(_) => {}
            _ => level.operators += 1,
        }
        if let Some((message, help)) = excess(&level, nested) {
            return Some(Diagnostic::error(code::TOO_DEEP, message).at(source.span(token.span)).help(help));
        }
    }
    None
}

/// What is too much, and the way out.
fn excess(level: &Level, depth: usize) -> Option<(String, &'static str)> {
    if depth > MAX_DEPTH {
        let message = format!("parentheses are nested more than {MAX_DEPTH} deep");
        Some((message, "split the query into views or WITH clauses"))
    } else if level.levels() > MAX_LEVELS {
        let message = format!("an expression is more than {MAX_LEVELS} levels deep");
        Some((message, "split it into columns of views or WITH clauses"))
    } else if level.logical + level.operators > MAX_OPERATORS {
        let message = format!("more than {MAX_OPERATORS} operators in one chain");
        Some((message, "use IN (…) or a join with a table of values, or group parts of the chain in parentheses"))
    } else if level.set_operations > MAX_SET_OPERATIONS {
        let message = format!("more than {MAX_SET_OPERATIONS} set operations in one query");
        Some((message, "use VALUES, or group parts of the query in parentheses"))
    } else {
        None
    }
}

fn count_word(level: &mut Level, keyword: Keyword) {
    match keyword {
        Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS => level.set_operations += 1,
        Keyword::SELECT | Keyword::FROM | Keyword::WHERE | Keyword::ON | Keyword::HAVING => level.end_expression(),
        Keyword::WHEN | Keyword::THEN | Keyword::ELSE => level.end_expression(),
        Keyword::AND | Keyword::OR => {
            level.logical += 1;
            level.operators = 0;
            level.nots = 0;
        }
        Keyword::NOT => {
            level.operators += 1;
            level.nots += 1;
        }
        Keyword::XOR | Keyword::IS | Keyword::IN => level.operators += 1,
        Keyword::BETWEEN | Keyword::LIKE | Keyword::ILIKE | Keyword::RLIKE | Keyword::REGEXP | Keyword::SIMILAR => {
            level.operators += 1;
        }
        Keyword::AT | Keyword::COLLATE | Keyword::DIV | Keyword::MEMBER | Keyword::OPERATOR | Keyword::OVERLAPS => {
            level.operators += 1;
        }
        // Each wraps the table in front of it.
        Keyword::PIVOT | Keyword::UNPIVOT | Keyword::MATCH_RECOGNIZE => level.operators += 1,
        _ => {}
    }
}
