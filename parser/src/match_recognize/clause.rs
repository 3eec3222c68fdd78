//! The clause from `MATCH_RECOGNIZE (` to its alias.

use super::pattern::pattern;
use super::{MatchRecognize, Subset};
use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use sqlparser::ast::{
    AfterMatchSkip, EmptyMatchesMode, Expr, Ident, Measure, OrderByExpr, RowsPerMatch, SymbolDefinition, TableAlias,
};
use sqlparser::tokenizer::Token;

/// The clauses in the order in which they may stand.
const ORDER: [&str; 9] = ["PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "SUBSET", "DEFINE"];

/// Reads the clause and the alias behind it. The cursor stands at `MATCH_RECOGNIZE`.
pub(super) fn clause(cursor: &mut Cursor) -> Parsed<(MatchRecognize, Option<TableAlias>)> {
    cursor.expect("MATCH_RECOGNIZE")?;
    cursor.expect_token(&Token::LParen)?;
    let partition_by = match cursor.eat("PARTITION BY") {
        true => list(cursor, |cursor| Ok(*cursor.expr()?.0))?,
        false => vec![],
    };
    let order_by = if cursor.eat("ORDER BY") { list(cursor, order_key)? } else { vec![] };
    let measures = if cursor.eat("MEASURES") { list(cursor, measure)? } else { vec![] };
    let rows_per_match = rows_per_match(cursor)?;
    let after_match_skip = after_match_skip(cursor)?;
    if cursor.at_any(&["INITIAL", "SEEK"]) {
        let start = cursor.mark();
        cursor.advance_to(start + 1);
        return Err(cursor.unsupported(start, "INITIAL or SEEK, which belong to a window's frame,"));
    }
    expect_clause(cursor, "PATTERN")?;
    let pattern = pattern(cursor)?;
    let within = within(cursor)?;
    let subsets = if cursor.eat("SUBSET") { list(cursor, subset)? } else { vec![] };
    expect_clause(cursor, "DEFINE")?;
    let define = list(cursor, definition)?;
    if !cursor.eat_token(&Token::RParen) {
        return Err(out_of_order(cursor, "`,` or `)`"));
    }
    let alias = match cursor.parser().maybe_parse_table_alias() {
        Ok(alias) => alias,
        Err(error) => return Err(cursor.diagnose(&error)),
    };
    let clause = MatchRecognize {
        partition_by,
        order_by,
        measures,
        rows_per_match,
        after_match_skip,
        pattern,
        within,
        subsets,
        define,
    };
    Ok((clause, alias))
}

fn list<T>(cursor: &mut Cursor, mut item: impl FnMut(&mut Cursor) -> Parsed<T>) -> Parsed<Vec<T>> {
    let mut items = vec![item(cursor)?];
    while cursor.eat_token(&Token::Comma) {
        items.push(item(cursor)?);
    }
    Ok(items)
}

fn expect_clause(cursor: &mut Cursor, word: &str) -> Parsed<()> {
    if cursor.eat(word) {
        return Ok(());
    }
    Err(out_of_order(cursor, &format!("`{word}`")))
}

/// Something else is expected; a known clause at this place is out of order.
fn out_of_order(cursor: &Cursor, expected: &str) -> Box<Diagnostic> {
    let diagnostic = cursor.unexpected(expected);
    if !cursor.at_any(&ORDER) {
        return diagnostic;
    }
    let order = "PARTITION BY, ORDER BY, MEASURES, ONE ROW or ALL ROWS PER MATCH, AFTER MATCH SKIP, PATTERN, WITHIN, SUBSET, DEFINE";
    Box::new(diagnostic.help(format!("the order of the clauses is {order}")))
}

fn identifier(cursor: &mut Cursor, what: &str) -> Parsed<Ident> {
    if !matches!(cursor.peek(0), Some(Token::Word(_))) {
        return Err(cursor.unexpected(what));
    }
    match cursor.parser().parse_identifier() {
        Ok(identifier) => Ok(identifier),
        Err(error) => Err(cursor.diagnose(&error)),
    }
}

fn order_key(cursor: &mut Cursor) -> Parsed<OrderByExpr> {
    match cursor.parser().parse_order_by_expr() {
        Ok(key) => Ok(key),
        Err(error) => Err(cursor.diagnose(&error)),
    }
}

fn measure(cursor: &mut Cursor) -> Parsed<Measure> {
    let expr = *cursor.expr()?.0;
    if !cursor.eat("AS") {
        return Err(Box::new(cursor.unexpected("`AS` and the measure's name").help("every measure needs a name")));
    }
    Ok(Measure { expr, alias: identifier(cursor, "a measure's name")? })
}

fn rows_per_match(cursor: &mut Cursor) -> Parsed<RowsPerMatch> {
    if cursor.at("ONE") {
        cursor.expect("ONE ROW PER MATCH")?;
    } else if cursor.at("ALL") {
        cursor.expect("ALL ROWS PER MATCH")?;
        return Ok(RowsPerMatch::AllRows(if cursor.at("SHOW") {
            cursor.expect("SHOW EMPTY MATCHES")?;
            Some(EmptyMatchesMode::Show)
        } else if cursor.at("OMIT") {
            cursor.expect("OMIT EMPTY MATCHES")?;
            Some(EmptyMatchesMode::Omit)
        } else if cursor.at("WITH") {
            cursor.expect("WITH UNMATCHED ROWS")?;
            Some(EmptyMatchesMode::WithUnmatched)
        } else {
            None
        }));
    }
    Ok(RowsPerMatch::OneRow)
}

fn after_match_skip(cursor: &mut Cursor) -> Parsed<Option<AfterMatchSkip>> {
    if !cursor.at("AFTER") {
        return Ok(None);
    }
    cursor.expect("AFTER MATCH SKIP")?;
    if cursor.eat("PAST LAST ROW") {
        return Ok(Some(AfterMatchSkip::PastLastRow));
    }
    if !cursor.eat("TO") {
        return Err(cursor.unexpected("`PAST LAST ROW`, `TO NEXT ROW`, `TO FIRST v`, `TO LAST v` or `TO v`"));
    }
    if cursor.eat("NEXT ROW") {
        return Ok(Some(AfterMatchSkip::ToNextRow));
    }
    // A variable may be called FIRST or LAST: then the next clause follows.
    let names_variable =
        |cursor: &Cursor| !matches!(cursor.word(1), Some(word) if word.eq_ignore_ascii_case("PATTERN"));
    if cursor.at("FIRST") && names_variable(cursor) {
        cursor.expect("FIRST")?;
        return Ok(Some(AfterMatchSkip::ToFirst(identifier(cursor, "a pattern variable")?)));
    }
    if cursor.at("LAST") && names_variable(cursor) {
        cursor.expect("LAST")?;
    }
    Ok(Some(AfterMatchSkip::ToLast(identifier(cursor, "a pattern variable")?)))
}

fn within(cursor: &mut Cursor) -> Parsed<Option<Expr>> {
    if !cursor.eat("WITHIN") {
        return Ok(None);
    }
    let (bound, span) = cursor.expr()?;
    if !matches!(*bound, Expr::Interval(_)) {
        let help = "for example WITHIN INTERVAL '1' HOUR";
        let diagnostic = Diagnostic::error(code::SYNTAX, "WITHIN takes an interval").at(span).help(help);
        return Err(Box::new(diagnostic));
    }
    Ok(Some(*bound))
}

fn subset(cursor: &mut Cursor) -> Parsed<Subset> {
    let name = identifier(cursor, "the name of a union variable")?;
    cursor.expect_token(&Token::Eq)?;
    let members = cursor.parenthesised(|cursor| identifier(cursor, "a pattern variable"))?;
    Ok(Subset { name, members })
}

fn definition(cursor: &mut Cursor) -> Parsed<SymbolDefinition> {
    let symbol = identifier(cursor, "a pattern variable")?;
    cursor.expect("AS")?;
    Ok(SymbolDefinition { symbol, definition: *cursor.expr()?.0 })
}
