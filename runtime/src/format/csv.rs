//! CSV.
//!
//! Without a header, fields are the table's physical columns in their order; with one (`csv.header`), columns are found
//! by name and fields that the table does not declare are skipped. Blank lines are skipped.
//!
//! An empty field is NULL, but for a string it is the empty string, unless `csv.null-literal` is the empty text:
//! then it is NULL and `""` is the empty string, which is how Tidemark itself writes CSV. A string in
//! quotes is never NULL, also where it reads like the null literal.

pub(crate) mod encode;
pub(crate) mod options;
mod tokenize;

#[cfg(test)]
mod tests;

use arrow::datatypes::Field;

use super::cell::{Cell, CellSource};
use super::column::{ColumnBuilder, JsonInText};
use super::nearest::did_you_mean;
use super::rows::{Block, TextContext, TextDecoder, Tokenizer};
use super::zone::Zone;
use super::{Decoder, TextPlace, byte_order_mark_length};
use options::CsvOptions;
pub(crate) use tokenize::Dialect;
use tokenize::{Row, RowFinder};

/// A decoder at the beginning of a text.
pub(crate) fn decoder(options: &CsvOptions, ctx: TextContext) -> Box<dyn Decoder> {
    let dialect = options.dialect.clone();
    let wanted: Vec<String> = ctx.projection.fields().iter().map(|f| f.name().clone()).collect();
    let columns = ctx.declared.iter().map(|name| wanted.iter().position(|w| w == name)).collect();
    let source = CsvSource { quote: dialect.quote, escape: dialect.escape, null_literal: options.null_literal.clone() };
    let tokenizer = CsvTokenizer {
        rows: RowFinder { dialect, columns, line: 1 },
        source,
        declared: ctx.declared.clone(),
        wanted,
        is_at_start: true,
        has_header: options.header,
        expects_header: options.header,
        header: None,
    };
    Box::new(TextDecoder::new(tokenizer, ctx))
}

struct CsvTokenizer {
    rows: RowFinder,
    source: CsvSource,
    declared: Vec<String>,
    wanted: Vec<String>,
    is_at_start: bool,
    has_header: bool,
    /// Is the header still to come?
    expects_header: bool,
    /// The header, once it has been read.
    header: Option<Vec<String>>,
}

impl CsvTokenizer {
    /// Reads the header and says where the first row begins; `None` when more bytes are needed, or it is unusable.
    fn header(&mut self, input: &[u8], mut at: usize, last: bool, block: &mut Block) -> Option<usize> {
        while at < input.len() {
            match self.rows.skipped(input, at, last)? {
                0 => break,
                length => at += length,
            }
            self.rows.line += 1;
        }
        if at >= input.len() {
            return None;
        }
        let mut cells = vec![];
        let (lines, next) = match self.rows.dialect.row(input, at, last, |i, cell| {
            cells.truncate(i);
            cells.push(cell);
        }) {
            Row::Incomplete => return None,
            Row::Broken(reason) => {
                block.broken_text(self.rows.line, reason);
                return None;
            }
            Row::Whole { lines, next, .. } => (lines, next),
        };
        let names: Vec<String> = cells.iter().map(|cell| self.name(*cell, input)).collect();
        if let Err(reason) = self.take_header(names) {
            block.broken_text(self.rows.line, reason);
            return None;
        }
        self.rows.line += lines;
        Some(next)
    }

    /// The fields of the rows to come have these names.
    fn take_header(&mut self, names: Vec<String>) -> Result<(), String> {
        self.check_names(&names)?;
        self.rows.columns = names.iter().map(|name| self.wanted.iter().position(|w| w == name)).collect();
        self.expects_header = false;
        self.header = Some(names);
        Ok(())
    }

    fn name(&self, cell: Cell, input: &[u8]) -> String {
        let mut scratch = vec![];
        let text = self.source.text(cell.of(input).unwrap_or_default(), &mut scratch);
        String::from_utf8_lossy(text.trim_ascii()).into_owned()
    }

    /// Every declared column must be in the header once.
    fn check_names(&self, names: &[String]) -> Result<(), String> {
        for column in &self.declared {
            match names.iter().filter(|name| *name == column).count() {
                1 => {}
                0 => {
                    // A name that the table declares is in its place already.
                    let spare: Vec<&String> = names.iter().filter(|name| !self.declared.contains(name)).collect();
                    let hint = did_you_mean(column, &spare);
                    return Err(format!("the header has no column '{column}'{hint}"));
                }
                _ => return Err(format!("the header has more than one column '{column}'")),
            }
        }
        Ok(())
    }
}

impl Tokenizer for CsvTokenizer {
    type Source = CsvSource;

    fn source(&self) -> &CsvSource {
        &self.source
    }

    fn skip_option(&self) -> Option<&'static str> {
        Some(options::IGNORE_ERRORS)
    }

    fn header_help(&self) -> Option<&'static str> {
        (!self.has_header).then_some("the first line names the columns: set 'csv.header' = 'true'")
    }

    fn tokenize(&mut self, input: &[u8], last: bool, block: &mut Block) -> usize {
        let mut at = if self.is_at_start { byte_order_mark_length(input) } else { 0 };
        if self.expects_header {
            match self.header(input, at, last, block) {
                Some(next) => at = next,
                // A text of blank lines alone has no header and no rows.
                None if last => return input.len(),
                None => return 0,
            }
        }
        let used = self.rows.enter_rows(input, at, last, block);
        self.is_at_start &= used == 0;
        used
    }

    fn place(&self) -> TextPlace {
        TextPlace { lines: self.rows.line - 1, header: self.header.clone() }
    }

    fn resume(&mut self, place: &TextPlace) -> Result<(), String> {
        match &place.header {
            Some(names) if self.expects_header => self.take_header(names.clone())?,
            None if !self.expects_header => {}
            Some(_) => return Err("it had a header when it was read and has none now".into()),
            None => return Err("it had no header when it was read and has one now".into()),
        }
        self.rows.line = place.lines + 1;
        self.is_at_start = false;
        Ok(())
    }
}

/// CSV's notation.
pub(crate) struct CsvSource {
    quote: Option<u8>,
    escape: Option<u8>,
    null_literal: Option<Vec<u8>>,
}

impl CsvSource {
    /// The field without its quotes and escapes.
    fn text<'a>(&self, raw: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
        let (inner, quote) = match raw {
            [first, inner @ .., _] if Some(*first) == self.quote => (inner, self.quote),
            _ => (raw, None),
        };
        // Within quotes a quote is always the first of two: like the escape it announces a character to be taken as
        // it is.
        let Some(announcer) = quote.or(self.escape) else { return inner };
        let other = self.escape.unwrap_or(announcer);
        if memchr::memchr2(announcer, other, inner).is_none() {
            return inner;
        }
        scratch.clear();
        let mut rest = inner;
        while let Some(at) = memchr::memchr2(announcer, other, rest) {
            scratch.extend_from_slice(&rest[..at]);
            scratch.extend(rest.get(at + 1));
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        scratch.extend_from_slice(rest);
        scratch
    }

    fn is_null_literal(&self, text: &[u8]) -> bool {
        self.null_literal.as_deref() == Some(text)
    }

    fn is_quoted(&self, raw: &[u8]) -> bool {
        self.quote.is_some() && raw.first().copied() == self.quote
    }
}

impl CellSource for CsvSource {
    fn value<'a>(&self, raw: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let text = self.text(raw, scratch);
        (!text.is_empty() && !self.is_null_literal(text)).then_some(text)
    }

    fn string<'a>(&self, raw: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let text = self.text(raw, scratch);
        (self.is_quoted(raw) || !self.is_null_literal(text)).then_some(text)
    }

    fn nested_builder(field: &Field, zone: Zone) -> Box<dyn ColumnBuilder<Self>> {
        Box::new(JsonInText::new(field, zone))
    }
}
