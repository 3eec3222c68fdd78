//! `EXPLAIN`

use crate::ast::{Explain, Name, ParsedStatement, Statement};
use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use crate::insert::{at_statement_set, insert, statement_set};
use crate::suggest::suggest;
use sqlparser::tokenizer::Token;

/// The details that Flink knows; others are left to the planner.
const DETAILS: [&str; 4] = ["CHANGELOG_MODE", "ESTIMATED_COST", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"];
const STARTS: [&str; 7] = ["SELECT", "WITH", "VALUES", "INSERT", "EXECUTE", "STATEMENT", "BEGIN"];

/// `EXPLAIN [PLAN FOR | detail, …] (query | insert | statement set)`
pub(crate) fn explain(cursor: &mut Cursor) -> Parsed<Explain> {
    cursor.expect("EXPLAIN")?;
    let details = if cursor.eat("PLAN FOR") { vec![] } else { details(cursor)? };
    let start = cursor.mark();
    let statement = if at_statement_set(cursor) {
        statement_set(cursor)?
    } else if cursor.at("INSERT") {
        Statement::Insert(Box::new(insert(cursor)?))
    } else if cursor.at_query() {
        Statement::Query(cursor.query()?.0)
    } else {
        return Err(cursor.unexpected("a query, an INSERT INTO or a statement set"));
    };
    Ok(Explain { details, statement: ParsedStatement { statement, span: cursor.span_since(start) } })
}

fn details(cursor: &mut Cursor) -> Parsed<Vec<Name>> {
    let mut details: Vec<Name> = vec![];
    while cursor.word(0).is_some() && !cursor.at_query() && !cursor.at_any(&STARTS) {
        let detail = cursor.name("a statement to explain")?;
        if let Some(start) = suggest(&detail.value.to_uppercase(), STARTS)
            && !is_known(&detail.value)
        {
            let message = format!("EXPLAIN knows no `{}`", detail.value);
            let help = format!("did you mean `{start}`?");
            return Err(Box::new(Diagnostic::error(code::SYNTAX, message).at(detail.span).help(help)));
        }
        details.push(Name { value: detail.value.to_uppercase(), span: detail.span });
        if !cursor.eat_token(&Token::Comma) {
            break;
        }
    }
    Ok(details)
}

fn is_known(detail: &str) -> bool {
    DETAILS.iter().any(|known| known.eq_ignore_ascii_case(detail))
}
