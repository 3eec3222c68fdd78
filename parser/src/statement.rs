//! Which statement is it? Decided by the first words.

use crate::ast::Statement;
use crate::code;
use crate::create_table::create_table;
use crate::create_view::create_view;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use crate::explain::explain;
use crate::insert::{at_statement_set, insert, statement_set};
use crate::session::{describe, drop, reset, set, show};
use crate::suggest::suggest;

/// Words that start a statement we have.
const STARTS: [&str; 14] = [
    "BEGIN", "CREATE", "DESC", "DESCRIBE", "DROP", "EXECUTE", "EXPLAIN", "INSERT", "RESET", "SELECT", "SET", "SHOW",
    "VALUES", "WITH",
];

/// Statements that Flink has and Tidemark does not, by their first words; longer ones before shorter ones.
const UNSUPPORTED: [&str; 53] = [
    "ADD JAR",
    "ALTER CATALOG",
    "ALTER DATABASE",
    "ALTER FUNCTION",
    "ALTER MATERIALIZED TABLE",
    "ALTER MODEL",
    "ALTER TABLE",
    "ALTER VIEW",
    "ALTER",
    "ANALYZE TABLE",
    "ANALYZE",
    "CALL",
    "COMPILE AND EXECUTE PLAN",
    "COMPILE PLAN",
    "CREATE OR ALTER MATERIALIZED TABLE",
    "CREATE OR REPLACE TABLE",
    "CREATE OR REPLACE VIEW",
    "CREATE CATALOG",
    "CREATE CONNECTION",
    "CREATE DATABASE",
    "CREATE FUNCTION",
    "CREATE MATERIALIZED TABLE",
    "CREATE MODEL",
    "CREATE TEMPORARY FUNCTION",
    "CREATE TEMPORARY MODEL",
    "CREATE TEMPORARY SYSTEM FUNCTION",
    "DELETE FROM",
    "DELETE",
    "DROP CATALOG",
    "DROP CONNECTION",
    "DROP DATABASE",
    "DROP FUNCTION",
    "DROP MATERIALIZED TABLE",
    "DROP MODEL",
    "DROP TEMPORARY FUNCTION",
    "DROP TEMPORARY MODEL",
    "DROP TEMPORARY SYSTEM FUNCTION",
    "EXECUTE IMMEDIATE",
    "EXECUTE JAR",
    "EXECUTE PLAN",
    "LOAD MODULE",
    "LOAD",
    "MERGE INTO",
    "MERGE",
    "REMOVE JAR",
    "REPLACE TABLE",
    "STOP JOB",
    "TRUNCATE TABLE",
    "TRUNCATE",
    "UNLOAD MODULE",
    "UPDATE",
    "UPSERT INTO",
    "USE",
];

/// Does a statement start here?
pub(crate) fn starts_here(cursor: &Cursor) -> bool {
    cursor.at_any(&STARTS) || unsupported_here(cursor).is_some()
}

/// Parses the statement that starts here, up to its end or to the first token that does not belong to it.
pub(crate) fn statement(cursor: &mut Cursor) -> Parsed<Statement> {
    if let Some(words) = unsupported_here(cursor) {
        let start = cursor.mark();
        cursor.eat(words);
        return Err(cursor.unsupported(start, words));
    }
    let first = cursor.word(0).map(str::to_uppercase).unwrap_or_default();
    match first.as_str() {
        "CREATE" => create(cursor),
        "DROP" => drop(cursor).map(Statement::Drop),
        "INSERT" => insert(cursor).map(|insert| Statement::Insert(Box::new(insert))),
        "EXECUTE" | "BEGIN" if at_statement_set(cursor) => statement_set(cursor),
        "EXECUTE" => execute(cursor),
        "EXPLAIN" => explain(cursor).map(|explain| Statement::Explain(Box::new(explain))),
        "SET" => set(cursor),
        "RESET" => reset(cursor),
        "SHOW" => show(cursor).map(Statement::Show),
        "DESCRIBE" | "DESC" => describe(cursor).map(Statement::Describe),
        _ if cursor.at_query() => Ok(Statement::Query(cursor.query()?.0)),
        _ => Err(unknown_statement(cursor)),
    }
}

fn create(cursor: &mut Cursor) -> Parsed<Statement> {
    cursor.expect("CREATE")?;
    let temporary = cursor.eat("TEMPORARY");
    if cursor.eat("TABLE") {
        create_table(cursor, temporary).map(|table| Statement::CreateTable(Box::new(table)))
    } else if cursor.eat("VIEW") {
        create_view(cursor, temporary).map(|view| Statement::CreateView(Box::new(view)))
    } else {
        Err(cursor.unexpected_word(&["TABLE", "VIEW", "TEMPORARY"]))
    }
}

/// `EXECUTE INSERT …` and `EXECUTE SELECT …` are the statement itself.
fn execute(cursor: &mut Cursor) -> Parsed<Statement> {
    cursor.expect("EXECUTE")?;
    if cursor.at("INSERT") {
        insert(cursor).map(|insert| Statement::Insert(Box::new(insert)))
    } else if cursor.at_query() {
        Ok(Statement::Query(cursor.query()?.0))
    } else {
        Err(cursor.unexpected_word(&["STATEMENT SET", "INSERT", "SELECT"]))
    }
}

fn unsupported_here(cursor: &Cursor) -> Option<&'static str> {
    UNSUPPORTED.into_iter().find(|words| cursor.at(words))
}

fn unknown_statement(cursor: &Cursor) -> Box<Diagnostic> {
    let Some(word) = cursor.word(0) else { return cursor.unexpected("a statement") };
    let mut diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, format!("no statement starts with `{word}`"));
    diagnostic.help = suggest(&word.to_uppercase(), STARTS).map(|start| format!("did you mean `{start}`?"));
    Box::new(diagnostic.at(cursor.span_here()))
}
