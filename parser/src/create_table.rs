//! `CREATE [TEMPORARY] TABLE`

mod element;
mod like;
mod options;
#[cfg(test)]
mod tests;

use crate::ast::CreateTable;
use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::diagnostic::Diagnostic;
use element::Element;
use sqlparser::tokenizer::Token;

/// Reads what follows `CREATE [TEMPORARY] TABLE`.
pub(crate) fn create_table(cursor: &mut Cursor, temporary: bool) -> Parsed<CreateTable> {
    let if_not_exists = cursor.eat("IF NOT EXISTS");
    let mut table = CreateTable {
        temporary,
        if_not_exists,
        name: cursor.table_name()?,
        columns: vec![],
        watermarks: vec![],
        primary_key: None,
        partitioned_by: vec![],
        comment: None,
        options: vec![],
        like: None,
        query: None,
    };
    if cursor.at_token(&Token::LParen) && !eat_empty_list(cursor) {
        for element in cursor.parenthesised(element::element)? {
            add_element(&mut table, element)?;
        }
    }
    clauses(cursor, &mut table)?;
    Ok(table)
}

/// `()`, which Flink allows in front of `LIKE`.
fn eat_empty_list(cursor: &mut Cursor) -> bool {
    let is_empty = cursor.peek(1) == Some(&Token::RParen);
    if is_empty {
        cursor.advance_to(cursor.mark() + 2);
    }
    is_empty
}

fn add_element(table: &mut CreateTable, element: Element) -> Parsed<()> {
    let key = match element {
        Element::Column(column, key) => {
            table.columns.push(column);
            key
        }
        Element::Watermark(watermark) => {
            table.watermarks.push(watermark);
            None
        }
        Element::PrimaryKey(key) => Some(key),
    };
    match (key, &table.primary_key) {
        (Some(second), Some(first)) => Err(Box::new(
            Diagnostic::error(code::DUPLICATE, "a table has one primary key")
                .at(second.span)
                .label(first.span, "the first one")
                .help("a key of several columns is written PRIMARY KEY (a, b) NOT ENFORCED"),
        )),
        (Some(key), None) => {
            table.primary_key = Some(key);
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// The clauses behind the columns, in the order of Flink's grammar; LIKE and AS exclude each other.
const CLAUSES: [&str; 5] = ["COMMENT", "PARTITIONED BY", "WITH", "LIKE", "AS"];

fn clauses(cursor: &mut Cursor, table: &mut CreateTable) -> Parsed<()> {
    let mut done = 0;
    while !cursor.is_at_end() {
        let start = cursor.mark();
        let Some(clause) = CLAUSES.iter().position(|clause| cursor.eat(clause)) else {
            if cursor.at("DISTRIBUTED") {
                cursor.advance_to(start + 1);
                return Err(cursor.unsupported(start, "DISTRIBUTED BY"));
            }
            // Something else may be the next statement, whose semicolon is missing.
            return if crate::statement::starts_here(cursor) {
                Ok(())
            } else {
                Err(cursor.unexpected_word(&CLAUSES[done..]))
            };
        };
        if clause < done {
            return Err(out_of_order(cursor, start, clause, done));
        }
        match CLAUSES[clause] {
            "COMMENT" => table.comment = Some(cursor.string("a comment")?.value),
            "PARTITIONED BY" => table.partitioned_by = cursor.names("a column's name")?,
            "WITH" => table.options = options::options(cursor)?,
            "LIKE" => {
                table.like = Some(like::like(cursor)?);
                return match CLAUSES[..clause].iter().position(|before| cursor.at(before)) {
                    Some(before) => Err(late_clause(cursor, before, clause)),
                    None => Ok(()),
                };
            }
            _ => {
                table.query = Some(cursor.query()?.0);
                return Ok(());
            }
        }
        done = clause + 1;
    }
    Ok(())
}

/// A clause that stands behind the last one.
fn late_clause(cursor: &mut Cursor, clause: usize, last: usize) -> Box<Diagnostic> {
    let start = cursor.mark();
    cursor.eat(CLAUSES[clause]);
    out_of_order(cursor, start, clause, last + 1)
}

fn out_of_order(cursor: &Cursor, start: usize, clause: usize, done: usize) -> Box<Diagnostic> {
    let (name, previous) = (CLAUSES[clause], CLAUSES[done - 1]);
    let (code, message) = if clause + 1 == done {
        (code::DUPLICATE, format!("{name} is given twice"))
    } else {
        (code::SYNTAX, format!("{name} stands before {previous}"))
    };
    let help = "the order is (columns) COMMENT '…' PARTITIONED BY (…) WITH (…) LIKE … or AS …";
    Box::new(Diagnostic::error(code, message).at(cursor.span_since(start)).help(help))
}
