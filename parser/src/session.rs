//! Statements about the session and its catalog: `SET`, `RESET`, `SHOW`, `DESCRIBE`, `DROP`.

#[cfg(test)]
mod tests;

use crate::ast::{Drop, Name, ObjectKind, Show, Statement, TableName, Text};
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use sqlparser::tokenizer::Token;

/// `SET`, `SET 'key' = 'value'`; both sides may go without quotes, the value then reaches to the end.
pub(crate) fn set(cursor: &mut Cursor) -> Parsed<Statement> {
    cursor.expect("SET")?;
    if cursor.is_at_end() {
        return Ok(Statement::Set(None));
    }
    let key = key(cursor)?;
    cursor.expect_token(&Token::Eq)?;
    let value = value(cursor)?;
    Ok(Statement::Set(Some((key, value))))
}

/// `RESET`, `RESET 'key'`
pub(crate) fn reset(cursor: &mut Cursor) -> Parsed<Statement> {
    cursor.expect("RESET")?;
    Ok(Statement::Reset(if cursor.is_at_end() { None } else { Some(key(cursor)?) }))
}

/// A key: a string, or words, dots and hyphens that touch (`table.local-time-zone`).
fn key(cursor: &mut Cursor) -> Parsed<Name> {
    if let Some(Token::SingleQuotedString(_)) = cursor.peek(0) {
        return cursor.string("a key");
    }
    let start = cursor.mark();
    let is_part = |token: &Token| matches!(token, Token::Word(_) | Token::Period | Token::Minus | Token::Number(..));
    let mut end = start;
    while cursor.token(end).is_some_and(|token| is_part(&token.token))
        && (end == start || cursor.span_at(end - 1).end == cursor.span_at(end).start)
    {
        end += 1;
    }
    if end == start {
        return Err(cursor.unexpected("a key such as 'table.local-time-zone'"));
    }
    cursor.advance_to(end);
    Ok(written(cursor, cursor.span_since(start)))
}

fn value(cursor: &mut Cursor) -> Parsed<Text> {
    if let Some(Token::SingleQuotedString(_)) = cursor.peek(0) {
        return cursor.string("a value");
    }
    if cursor.is_at_end() {
        return Err(cursor.unexpected("a value"));
    }
    let start = cursor.mark();
    cursor.advance_to(cursor.count());
    Ok(written(cursor, cursor.span_since(start)))
}

fn written(cursor: &Cursor, span: Span) -> Name {
    Name { value: span.slice(cursor.text()).to_owned(), span }
}

/// `SHOW …`
pub(crate) fn show(cursor: &mut Cursor) -> Parsed<Show> {
    let start = cursor.mark();
    cursor.expect("SHOW")?;
    let show = if cursor.eat("TABLES") {
        Show::Tables
    } else if cursor.eat("VIEWS") {
        Show::Views
    } else if cursor.eat("FUNCTIONS") {
        Show::Functions
    } else if cursor.eat("CREATE TABLE") {
        Show::CreateTable(cursor.table_name()?)
    } else if cursor.eat("CREATE VIEW") {
        Show::CreateView(cursor.table_name()?)
    } else if cursor.eat("COLUMNS") {
        if !cursor.eat("FROM") && !cursor.eat("IN") {
            return Err(cursor.unexpected_word(&["FROM"]));
        }
        Show::Columns(cursor.table_name()?)
    } else {
        return Err(unknown_show(cursor, start));
    };
    for clause in ["FROM", "IN", "LIKE", "ILIKE", "NOT LIKE"] {
        if cursor.eat(clause) {
            return Err(cursor.unsupported(start, &format!("SHOW … {clause}")));
        }
    }
    Ok(show)
}

fn unknown_show(cursor: &mut Cursor, start: usize) -> Box<Diagnostic> {
    const UNSUPPORTED: [&str; 13] = [
        "CATALOGS",
        "CONNECTIONS",
        "CREATE",
        "CURRENT",
        "DATABASES",
        "FULL",
        "JARS",
        "JOBS",
        "MATERIALIZED",
        "MODELS",
        "MODULES",
        "PARTITIONS",
        "PROCEDURES",
    ];
    match UNSUPPORTED.iter().find(|what| cursor.at(what)) {
        Some(_) => {
            cursor.advance_to(start + 3);
            let what = cursor.span_since(start).slice(cursor.text()).to_uppercase();
            cursor.unsupported(start, &what)
        }
        None => cursor.unexpected_word(&["TABLES", "VIEWS", "FUNCTIONS", "CREATE TABLE", "CREATE VIEW", "COLUMNS"]),
    }
}

/// `DESCRIBE t`, `DESC t`
pub(crate) fn describe(cursor: &mut Cursor) -> Parsed<TableName> {
    let start = cursor.mark();
    cursor.advance_to(start + 1);
    cursor.eat("TABLE");
    let has_object_behind = matches!(cursor.peek(1), Some(Token::Word(_) | Token::SingleQuotedString(_)));
    if has_object_behind && cursor.at_any(&["CATALOG", "DATABASE", "EXTENDED", "FUNCTION", "JOB", "MODEL"]) {
        cursor.advance_to(cursor.mark() + 1);
        let what = cursor.span_since(start).slice(cursor.text()).to_uppercase();
        return Err(cursor.unsupported(start, &what));
    }
    cursor.table_name()
}

/// `DROP [TEMPORARY] TABLE|VIEW [IF EXISTS] name`
pub(crate) fn drop(cursor: &mut Cursor) -> Parsed<Drop> {
    cursor.expect("DROP")?;
    let temporary = cursor.eat("TEMPORARY");
    let object = if cursor.eat("TABLE") {
        ObjectKind::Table
    } else if cursor.eat("VIEW") {
        ObjectKind::View
    } else {
        return Err(cursor.unexpected_word(&["TABLE", "VIEW"]));
    };
    let if_exists = cursor.eat("IF EXISTS");
    Ok(Drop { object, temporary, if_exists, name: cursor.table_name()? })
}
