//! `INSERT INTO` and statement sets.

use crate::ast::{Insert, OptionEntry, Statement};
use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use crate::hint::options_of;
use crate::script::block_end;
use crate::span::LineIndex;
use sqlparser::ast::Expr;
use sqlparser::tokenizer::Token;

/// `INSERT INTO [TABLE] t [/*+ OPTIONS(…) */] [(columns)] query`
pub(crate) fn insert(cursor: &mut Cursor) -> Parsed<Insert> {
    let start = cursor.mark();
    cursor.expect("INSERT")?;
    if cursor.eat("OVERWRITE") {
        return Err(cursor.unsupported(start, "INSERT OVERWRITE"));
    }
    cursor.expect("INTO")?;
    cursor.eat("TABLE");
    let table = cursor.table_name()?;
    let options = match cursor.hint() {
        Some(calls) => sink_options(cursor, &calls)?,
        None => vec![],
    };
    let clause = cursor.mark();
    if cursor.eat("PARTITION") {
        return Err(cursor.unsupported(clause, "INSERT INTO … PARTITION"));
    }
    let columns = if starts_column_list(cursor) { cursor.names("a column's name")? } else { vec![] };
    if !cursor.at_query() {
        return Err(cursor.unexpected("a query (SELECT, VALUES or WITH)"));
    }
    let (query, _) = cursor.query()?;
    let clause = cursor.mark();
    if cursor.eat("ON CONFLICT") {
        return Err(cursor.unsupported(clause, "ON CONFLICT"));
    }
    Ok(Insert { table, options, columns, query, span: cursor.span_since(start) })
}

/// A parenthesis behind the sink opens a list of columns unless a query starts in it.
fn starts_column_list(cursor: &Cursor) -> bool {
    let opens_query = cursor.peek(1) == Some(&Token::LParen) || cursor.starts_query(cursor.mark() + 1);
    cursor.at_token(&Token::LParen) && !opens_query
}

fn sink_options(cursor: &Cursor, calls: &[Expr]) -> Parsed<Vec<OptionEntry>> {
    let lines = LineIndex::new(cursor.text());
    let mut options = vec![];
    for call in calls {
        let Some(entries) = options_of(call, &lines) else {
            let message = format!("a sink takes an OPTIONS hint, not {call}");
            let place = sqlparser::ast::Spanned::span(call);
            return Err(Box::new(Diagnostic::error(code::HINT, message).at(lines.span(place))));
        };
        options.extend(entries?);
    }
    Ok(options)
}

/// Does a statement set start here?
pub(crate) fn at_statement_set(cursor: &Cursor) -> bool {
    cursor.at("EXECUTE STATEMENT SET") || cursor.at("STATEMENT SET") || cursor.at("BEGIN STATEMENT SET")
}

/// `EXECUTE STATEMENT SET BEGIN insert; … END`, or the older `BEGIN STATEMENT SET; insert; … END`
pub(crate) fn statement_set(cursor: &mut Cursor) -> Parsed<Statement> {
    let start = cursor.mark();
    if cursor.eat("EXECUTE STATEMENT SET") || cursor.eat("STATEMENT SET") {
        cursor.expect("BEGIN")?;
    } else {
        cursor.expect("BEGIN STATEMENT SET")?;
        cursor.expect_token(&Token::SemiColon)?;
    }
    let opening = cursor.span_since(start);
    let first = cursor.mark();
    let end = block_end((first..cursor.count()).filter_map(|idx| cursor.token(idx)));
    let body_end = end.map_or(cursor.count(), |end| first + end);
    let inserts = inserts(cursor, first, body_end);
    cursor.advance_to(body_end);
    if !cursor.eat("END") {
        let message = "this statement set does not end";
        return Err(Box::new(Diagnostic::error(code::SYNTAX, message).at(opening).help("close it with END;")));
    }
    let inserts = inserts?;
    if inserts.is_empty() {
        let message = "a statement set without a statement";
        return Err(Box::new(Diagnostic::error(code::SYNTAX, message).at(cursor.span_since(start))));
    }
    Ok(Statement::StatementSet(inserts))
}

/// The inserts between two tokens. Each is parsed on its own so that the errors of all are found; the last error is
/// returned, the others are left with the cursor.
fn inserts(cursor: &mut Cursor, first: usize, end: usize) -> Parsed<Vec<Insert>> {
    let mut inserts = vec![];
    let mut last_error: Option<Box<Diagnostic>> = None;
    let mut start = first;
    while start < end {
        let is_semicolon = |idx: &usize| cursor.token(*idx).is_some_and(|token| token.token == Token::SemiColon);
        let stop = (start..end).find(is_semicolon).unwrap_or(end);
        if start < stop {
            match cursor.within(start..stop, member) {
                Ok(insert) => inserts.push(insert),
                Err(error) => cursor.findings.extend(last_error.replace(error).map(|earlier| *earlier)),
            }
        }
        start = stop + 1;
    }
    match last_error {
        Some(error) => Err(error),
        None => Ok(inserts),
    }
}

fn member(cursor: &mut Cursor) -> Parsed<Insert> {
    if !cursor.at("INSERT") {
        let help = "a statement set holds INSERT INTO statements, separated by semicolons";
        return Err(Box::new(cursor.unexpected_word(&["INSERT"]).help(help)));
    }
    let insert = insert(cursor)?;
    if cursor.at("INSERT") {
        return Err(Box::new(crate::script::missing_semicolon(cursor)));
    }
    cursor.expect_end()?;
    Ok(insert)
}
