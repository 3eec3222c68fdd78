//! Tokens to types.

use crate::ast::{RowField, SqlType, SqlTypeKind};
use crate::span::Span;
use crate::suggest::suggest;
use crate::syntax_error::type_error;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span as TokenSpan, Token, TokenWithSpan, Word};
use std::ops::RangeInclusive;

const FRACTION: RangeInclusive<u64> = 0..=9;
const LENGTH: RangeInclusive<u64> = 1..=i32::MAX as u64;
const DECIMAL_PRECISION: RangeInclusive<u64> = 1..=38;
const UNITS: [&str; 6] = ["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];

/// Every name a type can start with.
const NAMES: [&str; 28] = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "INTEGER",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "DEC",
    "NUMERIC",
    "CHAR",
    "CHARACTER",
    "VARCHAR",
    "STRING",
    "BINARY",
    "VARBINARY",
    "BYTES",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "INTERVAL",
    "ARRAY",
    "MAP",
    "MULTISET",
    "ROW",
    "PRECISION",
];

/// Other systems' names and what they are called here.
const FOREIGN_NAMES: [(&str, &str); 22] = [
    ("BLOB", "BYTES"),
    ("BOOL", "BOOLEAN"),
    ("BYTEA", "BYTES"),
    ("CLOB", "STRING"),
    ("DATETIME", "TIMESTAMP(3)"),
    ("FLOAT32", "FLOAT"),
    ("FLOAT64", "DOUBLE"),
    ("FLOAT8", "DOUBLE"),
    ("INT16", "SMALLINT"),
    ("INT32", "INT"),
    ("INT64", "BIGINT"),
    ("INT8", "BIGINT"),
    ("JSON", "STRING"),
    ("LONG", "BIGINT"),
    ("NUMBER", "DECIMAL"),
    ("REAL", "FLOAT"),
    ("STRUCT", "ROW"),
    ("TEXT", "STRING"),
    ("TIMESTAMPTZ", "TIMESTAMP_LTZ"),
    ("UTF8", "STRING"),
    ("UUID", "STRING"),
    ("VARCHAR2", "STRING"),
];

/// Parses a type. `place` turns `sqlparser`'s places into byte spans.
pub(crate) fn parse_type(parser: &mut Parser, place: &dyn Fn(TokenSpan) -> Span) -> Result<SqlType, ParserError> {
    let mut types = Types { parser, place };
    types.sql_type(0)
}

/// How deep types may nest; far above any schema, far below the stack.
const MAX_DEPTH: usize = 50;

struct Types<'p, 'a> {
    parser: &'p mut Parser<'a>,
    place: &'p dyn Fn(TokenSpan) -> Span,
}

impl Types<'_, '_> {
    /// `base [ARRAY | MULTISET]…`
    fn sql_type(&mut self, depth: usize) -> Result<SqlType, ParserError> {
        if depth > MAX_DEPTH {
            return Err(ParserError::RecursionLimitExceeded);
        }
        let start = self.parser.peek_token_ref().span;
        let mut kind = self.base(depth)?;
        loop {
            let inner = SqlType { kind, span: self.span_from(start) };
            if self.eat("ARRAY") {
                kind = SqlTypeKind::Array(Box::new(inner));
            } else if self.eat("MULTISET") {
                kind = SqlTypeKind::Multiset(Box::new(inner));
            } else {
                return Ok(inner);
            }
        }
    }

    fn base(&mut self, depth: usize) -> Result<SqlTypeKind, ParserError> {
        let token = self.parser.next_token();
        let Token::Word(Word { value, quote_style: None, .. }) = &token.token else {
            return self.parser.expected("a data type", token);
        };
        Ok(match value.to_uppercase().as_str() {
            "BOOLEAN" => SqlTypeKind::Boolean,
            "TINYINT" => SqlTypeKind::TinyInt,
            "SMALLINT" => SqlTypeKind::SmallInt,
            "INT" | "INTEGER" => SqlTypeKind::Int,
            "BIGINT" => SqlTypeKind::BigInt,
            "FLOAT" => SqlTypeKind::Float,
            "DOUBLE" => {
                self.eat("PRECISION");
                SqlTypeKind::Double
            }
            "DECIMAL" | "DEC" | "NUMERIC" => self.decimal()?,
            "CHAR" | "CHARACTER" if self.eat("VARYING") => SqlTypeKind::Varchar(self.length("VARCHAR")?),
            "CHAR" | "CHARACTER" => SqlTypeKind::Char(self.length("CHAR")?),
            "VARCHAR" => SqlTypeKind::Varchar(self.length("VARCHAR")?),
            "STRING" => SqlTypeKind::Varchar(None),
            "BINARY" if self.eat("VARYING") => SqlTypeKind::Varbinary(self.length("VARBINARY")?),
            "BINARY" => SqlTypeKind::Binary(self.length("BINARY")?),
            "VARBINARY" => SqlTypeKind::Varbinary(self.length("VARBINARY")?),
            "BYTES" => SqlTypeKind::Varbinary(None),
            "DATE" => SqlTypeKind::Date,
            "TIME" => self.time()?,
            "TIMESTAMP" => self.timestamp()?,
            "TIMESTAMP_LTZ" => SqlTypeKind::TimestampLtz(self.fraction("TIMESTAMP_LTZ")?),
            "INTERVAL" => self.interval()?,
            "ARRAY" => SqlTypeKind::Array(Box::new(self.angle_brackets(|types| types.element(depth))?)),
            "MULTISET" => SqlTypeKind::Multiset(Box::new(self.angle_brackets(|types| types.element(depth))?)),
            "MAP" => {
                let (key, value) = self.angle_brackets(|types| {
                    let key = types.element(depth)?;
                    types.parser.expect_token(&Token::Comma)?;
                    Ok((key, types.element(depth)?))
                })?;
                SqlTypeKind::Map(Box::new(key), Box::new(value))
            }
            "ROW" => SqlTypeKind::Row(self.row_fields(depth)?),
            _ => return Err(unknown_type(value, &token)),
        })
    }

    fn element(&mut self, depth: usize) -> Result<SqlType, ParserError> {
        let element = self.sql_type(depth + 1)?;
        self.not_null()?;
        Ok(element)
    }

    fn decimal(&mut self) -> Result<SqlTypeKind, ParserError> {
        if !self.parser.consume_token(&Token::LParen) {
            return Ok(SqlTypeKind::Decimal { precision: None, scale: None });
        }
        let precision = self.number("precision of DECIMAL", DECIMAL_PRECISION)?;
        let scale = match self.parser.consume_token(&Token::Comma) {
            true => Some(self.number("scale of DECIMAL", 0..=precision)? as u8),
            false => None,
        };
        self.parser.expect_token(&Token::RParen)?;
        Ok(SqlTypeKind::Decimal { precision: Some(precision as u8), scale })
    }

    fn time(&mut self) -> Result<SqlTypeKind, ParserError> {
        let precision = self.fraction("TIME")?;
        if self.eat("WITHOUT") {
            self.expect_all(&["TIME", "ZONE"])?;
        }
        Ok(SqlTypeKind::Time(precision))
    }

    fn timestamp(&mut self) -> Result<SqlTypeKind, ParserError> {
        let precision = self.fraction("TIMESTAMP")?;
        if self.eat("WITHOUT") {
            self.expect_all(&["TIME", "ZONE"])?;
        } else if self.at("WITH") && self.word_at(1).is_some_and(|word| word == "LOCAL" || word == "TIME") {
            let with = self.parser.next_token();
            if !self.eat("LOCAL") {
                let help = "TIMESTAMP WITH LOCAL TIME ZONE, or TIMESTAMP_LTZ for short, is an instant shown in the \
                            session's time zone";
                return Err(type_error("TIMESTAMP WITH TIME ZONE is not supported", help, with.span.start));
            }
            self.expect_all(&["TIME", "ZONE"])?;
            return Ok(SqlTypeKind::TimestampLtz(precision));
        }
        Ok(SqlTypeKind::Timestamp(precision))
    }

    /// `INTERVAL unit[(n)] [TO unit[(n)]]`; precisions are read and not kept.
    fn interval(&mut self) -> Result<SqlTypeKind, ParserError> {
        let leading = self.unit()?;
        let trailing = if self.eat("TO") { self.unit()? } else { leading };
        match (leading <= 1, trailing <= 1) {
            (true, true) => Ok(SqlTypeKind::IntervalYearMonth),
            (false, false) => Ok(SqlTypeKind::IntervalDayTime),
            _ => {
                let message = "an interval counts either years and months, or days to seconds";
                Err(type_error(message, "", self.parser.get_current_token().span.start))
            }
        }
    }

    /// Position in [`UNITS`].
    fn unit(&mut self) -> Result<usize, ParserError> {
        let token = self.parser.next_token();
        let unit = unquoted(&token.token).and_then(|word| UNITS.iter().position(|unit| *unit == word));
        let Some(unit) = unit else {
            return self.parser.expected("one of YEAR, MONTH, DAY, HOUR, MINUTE or SECOND", token);
        };
        if self.parser.consume_token(&Token::LParen) {
            self.number("precision of INTERVAL", FRACTION)?;
            self.parser.expect_token(&Token::RParen)?;
        }
        Ok(unit)
    }

    fn row_fields(&mut self, depth: usize) -> Result<Vec<RowField>, ParserError> {
        let close = if self.parser.consume_token(&Token::LParen) {
            Token::RParen
        } else {
            self.parser.expect_token(&Token::Lt)?;
            Token::Gt
        };
        let mut fields = Vec::new();
        loop {
            fields.push(self.row_field(fields.len(), depth)?);
            if !self.parser.consume_token(&Token::Comma) {
                break;
            }
        }
        self.parser.expect_token(&close)?;
        Ok(fields)
    }

    /// `[name] TYPE [NOT NULL] ['comment']`
    fn row_field(&mut self, idx: usize, depth: usize) -> Result<RowField, ParserError> {
        let name =
            if self.starts_with_field_name() { self.parser.parse_identifier()?.value } else { format!("f{idx}") };
        let data_type = self.sql_type(depth + 1)?;
        let not_null = self.not_null()?;
        if matches!(self.parser.peek_token_ref().token, Token::SingleQuotedString(_)) {
            self.parser.advance_token();
        }
        Ok(RowField { name, data_type, not_null })
    }

    /// A field name is a quoted word, or a word with a type behind it.
    fn starts_with_field_name(&self) -> bool {
        let Token::Word(first) = &self.parser.peek_token_ref().token else { return false };
        if first.quote_style.is_some() {
            return true;
        }
        let Some(second) = self.word_at(1) else { return false };
        match second.as_str() {
            "NOT" | "NULL" | "WITH" | "WITHOUT" | "PRECISION" | "VARYING" => false,
            "ARRAY" | "MULTISET" => self.parser.peek_nth_token_ref(2).token == Token::Lt,
            unit if UNITS.contains(&unit) => !first.value.eq_ignore_ascii_case("INTERVAL"),
            _ => true,
        }
    }

    /// `NOT NULL` (true), `NULL` or nothing (false).
    fn not_null(&mut self) -> Result<bool, ParserError> {
        if self.eat("NOT") {
            self.expect_all(&["NULL"])?;
            return Ok(true);
        }
        self.eat("NULL");
        Ok(false)
    }

    fn angle_brackets<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, ParserError>) -> Result<T, ParserError> {
        self.parser.expect_token(&Token::Lt)?;
        let value = inner(self)?;
        self.parser.expect_token(&Token::Gt)?;
        Ok(value)
    }

    fn fraction(&mut self, name: &str) -> Result<Option<u8>, ParserError> {
        let precision = self.optional_number(&format!("precision of {name}"), FRACTION)?;
        Ok(precision.map(|precision| precision as u8))
    }

    fn length(&mut self, name: &str) -> Result<Option<u32>, ParserError> {
        let length = self.optional_number(&format!("length of {name}"), LENGTH)?;
        Ok(length.map(|length| length as u32))
    }

    fn optional_number(&mut self, what: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, ParserError> {
        if !self.parser.consume_token(&Token::LParen) {
            return Ok(None);
        }
        let number = self.number(what, range)?;
        self.parser.expect_token(&Token::RParen)?;
        Ok(Some(number))
    }

    fn number(&mut self, what: &str, range: RangeInclusive<u64>) -> Result<u64, ParserError> {
        let token = self.parser.next_token();
        let Token::Number(digits, false) = &token.token else {
            return self.parser.expected("a number", token);
        };
        match digits.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => {
                let (least, most) = (range.start(), range.end());
                let message = format!("the {what} must be between {least} and {most}, not {digits}");
                Err(type_error(&message, "", token.span.start))
            }
        }
    }

    fn word_at(&self, n: usize) -> Option<String> {
        unquoted(&self.parser.peek_nth_token_ref(n).token)
    }

    fn at(&self, word: &str) -> bool {
        self.word_at(0).is_some_and(|next| next == word)
    }

    fn eat(&mut self, word: &str) -> bool {
        let is_next = self.at(word);
        if is_next {
            self.parser.advance_token();
        }
        is_next
    }

    fn expect_all(&mut self, words: &[&str]) -> Result<(), ParserError> {
        for word in words {
            if !self.eat(word) {
                return self.parser.expected(word, self.parser.peek_token());
            }
        }
        Ok(())
    }

    fn span_from(&self, start: TokenSpan) -> Span {
        (self.place)(TokenSpan::new(start.start, self.parser.get_current_token().span.end))
    }
}

/// An unquoted word in upper case.
fn unquoted(token: &Token) -> Option<String> {
    match token {
        Token::Word(Word { value, quote_style: None, .. }) => Some(value.to_uppercase()),
        _ => None,
    }
}

fn unknown_type(name: &str, token: &TokenWithSpan) -> ParserError {
    let upper = name.to_uppercase();
    let foreign = FOREIGN_NAMES.iter().find(|(foreign, _)| *foreign == upper);
    let help = match (foreign, suggest(&upper, NAMES)) {
        (Some((_, ours)), _) => format!("in Flink SQL it is called {ours}"),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => String::new(),
    };
    type_error(&format!("unknown data type `{name}`"), &help, token.span.start)
}
