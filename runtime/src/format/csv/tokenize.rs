//! Finds the rows and fields of a CSV text.
//!
//! RFC 4180 with a choice of characters. A row in which no quote and no escape stands is cut at its delimiters; only
//! others go through the quoting rules. Those are strict: behind a closing quote there is a delimiter or the end of the
//! row. A row that breaks them ends with its line, so a quote that is never closed costs that line and not the rest.

use super::super::cell::Cell;
use super::super::rows::Block;

/// The characters that mean something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Between fields.
    pub delimiter: u8,
    /// Around fields that hold a delimiter, a quote or a line's end.
    pub quote: Option<u8>,
    /// Before a character that is to be taken as it is.
    pub escape: Option<u8>,
    /// Are lines that begin with `#` left out?
    pub allow_comments: bool,
}

/// How a row ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// It has so many fields and takes up so many lines; the next row begins here.
    Whole { fields: usize, lines: u64, next: usize },
    /// The input ends within it.
    Incomplete,
    /// It is not CSV.
    Broken(String),
}

impl Dialect {
    /// Reads the row that begins at `start`, telling `field` of each.
    pub(super) fn row(&self, input: &[u8], start: usize, last: bool, mut field: impl FnMut(usize, Cell)) -> Row {
        if self.escape.is_some() {
            return self.quoted_row(input, start, last, field);
        }
        // Without quotes the newline stands in for them: a byte that is looked for anyway.
        let quote = self.quote.unwrap_or(b'\n');
        let (mut from, mut fields) = (start, 0);
        for at in memchr::memchr3_iter(self.delimiter, b'\n', quote, &input[start..]).map(|at| start + at) {
            match input[at] {
                b'\n' => {
                    field(fields, Cell::new(from, end_of_line(input, from, at)));
                    return Row::Whole { fields: fields + 1, lines: 1, next: at + 1 };
                }
                byte if byte == self.delimiter => {
                    field(fields, Cell::new(from, at));
                    fields += 1;
                    from = at + 1;
                }
                _ => return self.quoted_row(input, start, last, field),
            }
        }
        if !last {
            return Row::Incomplete;
        }
        field(fields, Cell::new(from, end_of_line(input, from, input.len())));
        Row::Whole { fields: fields + 1, lines: 1, next: input.len() }
    }

    fn quoted_row(&self, input: &[u8], start: usize, last: bool, mut field: impl FnMut(usize, Cell)) -> Row {
        let (mut at, mut fields) = (start, 0);
        loop {
            let from = at;
            if self.quote.is_some() && input.get(at).copied() == self.quote {
                match self.closing_quote(input, at + 1) {
                    Some(close) => at = close + 1,
                    None if last => return Row::Broken("a quoted field is not closed".into()),
                    None => return Row::Incomplete,
                }
            } else {
                at = self.end_of_plain_field(input, at);
            }
            // A quote at the end of what is at hand may turn out to be the first of two.
            if at >= input.len() && !last {
                return Row::Incomplete;
            }
            let (end, next) = match input.get(at..).unwrap_or_default() {
                [] => (end_of_line(input, from, input.len()), None),
                [b'\n', ..] => (end_of_line(input, from, at), Some(at + 1)),
                [b'\r', b'\n', ..] => (at, Some(at + 2)),
                [b'\r'] if last => (at, None),
                [b'\r'] => return Row::Incomplete,
                [byte, ..] if *byte == self.delimiter => {
                    field(fields, Cell::new(from, at));
                    fields += 1;
                    at += 1;
                    continue;
                }
                rest => return Row::Broken(self.behind_quote(rest)),
            };
            field(fields, Cell::new(from, end));
            let next = next.unwrap_or(input.len());
            let lines = memchr::memchr_iter(b'\n', &input[start..next]).count() as u64;
            return Row::Whole { fields: fields + 1, lines, next };
        }
    }

    /// The closing quote of a field whose text begins at `at`.
    fn closing_quote(&self, input: &[u8], mut at: usize) -> Option<usize> {
        let quote = self.quote?;
        let escape = self.escape.unwrap_or(quote);
        loop {
            at += memchr::memchr2(quote, escape, input.get(at..)?)?;
            let is_pair = input[at] != quote || input.get(at + 1) == Some(&quote);
            if !is_pair {
                return Some(at);
            }
            at += 2;
        }
    }

    /// The delimiter or line's end behind a field without quotes.
    fn end_of_plain_field(&self, input: &[u8], mut at: usize) -> usize {
        let escape = self.escape.unwrap_or(b'\n');
        while let Some(length) = input.get(at..).and_then(|rest| memchr::memchr3(self.delimiter, b'\n', escape, rest)) {
            at += length;
            if self.escape != Some(input[at]) {
                return at;
            }
            at += 2;
        }
        input.len()
    }

    fn behind_quote(&self, rest: &[u8]) -> String {
        let found = String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().next().unwrap_or(' ');
        format!(
            "behind a closing quote there is '{}' where '{}' or the end of the line should be",
            found.escape_debug(),
            char::from(self.delimiter).escape_debug()
        )
    }
}

/// Where the text of a line ends whose newline is at `at`: before a carriage return.
fn end_of_line(input: &[u8], from: usize, at: usize) -> usize {
    if at > from && input[at - 1] == b'\r' { at - 1 } else { at }
}

/// Enters the rows of a text in blocks.
pub(super) struct RowFinder {
    /// Its characters.
    pub dialect: Dialect,
    /// The column that each field goes to.
    pub columns: Vec<Option<usize>>,
    /// The line that the next row begins in, from 1.
    pub line: u64,
}

impl RowFinder {
    /// Length of what is to be passed over at `start`: a blank line, or a comment. `None` when more bytes are needed.
    pub fn skipped(&self, input: &[u8], start: usize, last: bool) -> Option<usize> {
        match &input[start..] {
            [b'\n', ..] => Some(1),
            [b'\r', b'\n', ..] => Some(2),
            [b'\r'] => last.then_some(1),
            rest @ [b'#', ..] if self.dialect.allow_comments => match memchr::memchr(b'\n', rest) {
                Some(length) => Some(length + 1),
                None => last.then_some(rest.len()),
            },
            _ => Some(0),
        }
    }

    /// Enters rows from `at` on and says where the first one begins that is not entered.
    pub fn enter_rows(&mut self, input: &[u8], mut at: usize, last: bool, block: &mut Block) -> usize {
        while !block.is_full() && at < input.len() {
            match self.skipped(input, at, last) {
                None => break,
                Some(0) => {}
                Some(length) => {
                    at += length;
                    self.line += 1;
                    continue;
                }
            }
            let columns = &self.columns;
            let row = self.dialect.row(input, at, last, |field, cell| {
                if let Some(Some(column)) = columns.get(field) {
                    block.set(*column, cell);
                }
            });
            match row {
                Row::Incomplete => break,
                Row::Whole { fields, lines, next } => {
                    if fields == self.columns.len() {
                        block.end_row(self.line);
                    } else {
                        block.broken_row(self.line, None, wrong_width(fields, self.columns.len()));
                    }
                    self.line += lines;
                    at = next;
                }
                Row::Broken(reason) => {
                    let Some(next) = next_line(input, at, last) else { break };
                    block.broken_row(self.line, None, reason);
                    self.line += 1;
                    at = next;
                }
            }
        }
        at
    }
}

fn wrong_width(fields: usize, columns: usize) -> String {
    let plural = |n| if n == 1 { "" } else { "s" };
    format!("{fields} field{} where the table has {columns} column{}", plural(fields), plural(columns))
}

/// Where the line behind that at `at` begins; `None` when more bytes are needed.
fn next_line(input: &[u8], at: usize, last: bool) -> Option<usize> {
    match memchr::memchr(b'\n', &input[at..]) {
        Some(length) => Some(at + length + 1),
        None => last.then_some(input.len()),
    }
}
