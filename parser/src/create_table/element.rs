//! What stands between the parentheses of `CREATE TABLE`: columns, watermarks, the primary key.

use crate::ast::{ColumnDef, ColumnKind, Name, PrimaryKeyDef, SqlType, WatermarkDef};
use crate::code;
use crate::cursor::{Cursor, Parsed};
use crate::data_type::parse_type;
use crate::diagnostic::Diagnostic;

pub(super) enum Element {
    /// A column, with the key that it declares to be alone in.
    Column(ColumnDef, Option<PrimaryKeyDef>),
    Watermark(WatermarkDef),
    PrimaryKey(PrimaryKeyDef),
}

pub(super) fn element(cursor: &mut Cursor) -> Parsed<Element> {
    if cursor.at("WATERMARK FOR") {
        return Ok(Element::Watermark(watermark(cursor)?));
    }
    let start = cursor.mark();
    constraint_name(cursor)?;
    if cursor.at("UNIQUE") {
        return Err(unique(cursor));
    }
    if cursor.eat("PRIMARY KEY") {
        let columns = cursor.names("a column's name")?;
        return Ok(Element::PrimaryKey(primary_key(cursor, start, columns)?));
    }
    column(cursor)
}

/// `CONSTRAINT name` in front of a constraint; the name is not kept.
fn constraint_name(cursor: &mut Cursor) -> Parsed<()> {
    if cursor.eat("CONSTRAINT") {
        cursor.name("a constraint's name")?;
        if !cursor.at("PRIMARY KEY") && !cursor.at("UNIQUE") {
            return Err(cursor.unexpected_word(&["PRIMARY KEY"]));
        }
    }
    Ok(())
}

fn watermark(cursor: &mut Cursor) -> Parsed<WatermarkDef> {
    let start = cursor.mark();
    cursor.expect("WATERMARK FOR")?;
    let column = cursor.name("the event time column's name")?;
    cursor.expect("AS")?;
    let (expr, expr_span) = cursor.expr()?;
    Ok(WatermarkDef { column, expr, expr_span, span: cursor.span_since(start) })
}

fn column(cursor: &mut Cursor) -> Parsed<Element> {
    let start = cursor.mark();
    let name = cursor.name("a column's name")?;
    let mut key = None;
    let kind = if cursor.eat("AS") {
        let (expr, span) = cursor.expr()?;
        ColumnKind::Computed { expr, span }
    } else {
        let data_type = data_type(cursor)?;
        let mut not_null = nullability(cursor)?.unwrap_or(false);
        if cursor.at("METADATA") {
            metadata(cursor, data_type, not_null)?
        } else {
            key = column_key(cursor, &name)?;
            not_null |= nullability(cursor)?.unwrap_or(false);
            ColumnKind::Physical { data_type, not_null }
        }
    };
    let comment = cursor.comment()?;
    refuse_column_clauses(cursor)?;
    Ok(Element::Column(ColumnDef { name, kind, comment, span: cursor.span_since(start) }, key))
}

fn data_type(cursor: &mut Cursor) -> Parsed<SqlType> {
    let source = cursor.source();
    parse_type(cursor.parser(), &|span| source.span(span)).map_err(|error| cursor.diagnose(&error))
}

/// `NOT NULL`, `NULL` or nothing.
fn nullability(cursor: &mut Cursor) -> Parsed<Option<bool>> {
    if cursor.eat("NOT") {
        cursor.expect("NULL")?;
        return Ok(Some(true));
    }
    Ok(cursor.eat("NULL").then_some(false))
}

fn metadata(cursor: &mut Cursor, data_type: SqlType, not_null: bool) -> Parsed<ColumnKind> {
    cursor.expect("METADATA")?;
    let from = if cursor.eat("FROM") { Some(cursor.string("a metadata key")?) } else { None };
    Ok(ColumnKind::Metadata { data_type, not_null, from, is_virtual: cursor.eat("VIRTUAL") })
}

/// `[CONSTRAINT name] PRIMARY KEY NOT ENFORCED` behind a column's type.
fn column_key(cursor: &mut Cursor, column: &Name) -> Parsed<Option<PrimaryKeyDef>> {
    let start = cursor.mark();
    constraint_name(cursor)?;
    if !cursor.eat("PRIMARY KEY") {
        return Ok(None);
    }
    Ok(Some(primary_key(cursor, start, vec![column.clone()])?))
}

/// `[NOT] ENFORCED` behind a key. A key that claims to be enforced is reported, and parsing goes on.
fn primary_key(cursor: &mut Cursor, start: usize, columns: Vec<Name>) -> Parsed<PrimaryKeyDef> {
    let not_enforced = cursor.eat("NOT ENFORCED");
    let is_enforced = !not_enforced && cursor.eat("ENFORCED");
    let span = cursor.span_since(start);
    if !not_enforced {
        let message = match is_enforced {
            true => "a primary key cannot be ENFORCED",
            false => "NOT ENFORCED is missing after PRIMARY KEY",
        };
        let help = "write NOT ENFORCED: rows come from outside, so a key is a promise and is not checked";
        cursor.findings.push(Diagnostic::error(code::CONSTRAINT, message).at(span).help(help));
    }
    Ok(PrimaryKeyDef { columns, not_enforced, span })
}

fn unique(cursor: &Cursor) -> Box<Diagnostic> {
    let help = "only PRIMARY KEY (…) NOT ENFORCED can be declared";
    Box::new(Diagnostic::error(code::CONSTRAINT, "UNIQUE is not supported").at(cursor.span_here()).help(help))
}

/// Clauses of other systems behind a column.
fn refuse_column_clauses(cursor: &mut Cursor) -> Parsed<()> {
    if cursor.at("UNIQUE") {
        return Err(unique(cursor));
    }
    let start = cursor.mark();
    for clause in ["DEFAULT", "CHECK", "REFERENCES", "AUTO_INCREMENT", "GENERATED"] {
        if cursor.eat(clause) {
            let diagnostic = cursor.unsupported(start, &format!("{clause} after a column"));
            return Err(Box::new(diagnostic.help("a computed column is written: name AS expression")));
        }
    }
    Ok(())
}
