//! JSON lines: one object a line.
//!
//! Columns are found by name, case and all. A field that is missing is NULL, one that nobody asked for is skipped, of
//! several with one name the last counts. Numbers may stand in quotes; decimals are exact. Blank lines are skipped.

pub(crate) mod encode;
pub(crate) mod options;
pub(crate) mod scan;

#[cfg(test)]
mod tests;

use super::cell::{Cell, CellSource};
use super::rows::{Block, TextContext, TextDecoder, Tokenizer};
use super::{Decoder, TextPlace, byte_order_mark_length};
use options::JsonOptions;
use scan::{Cursor, JsonError, JsonSource};

/// A decoder at the beginning of a text.
pub(crate) fn decoder(options: &JsonOptions, ctx: TextContext) -> Box<dyn Decoder> {
    let names = ctx.projection.fields().iter().map(|f| f.name().as_bytes().to_vec()).collect();
    let tokenizer = JsonTokenizer {
        names,
        layout: vec![],
        fail_on_missing_field: options.fail_on_missing_field,
        scratch: vec![],
        line: 0,
    };
    Box::new(TextDecoder::new(tokenizer, ctx))
}

struct JsonTokenizer {
    /// The columns wanted.
    names: Vec<Vec<u8>>,
    /// The keys of the last row in their order, each in its quotes, with its column: the next row likely has the same.
    layout: Vec<(Vec<u8>, Option<usize>)>,
    fail_on_missing_field: bool,
    scratch: Vec<u8>,
    /// The line read last, from 1.
    line: u64,
}

impl JsonTokenizer {
    /// Enters the row in `text[start..]`.
    fn row(&mut self, text: &[u8], start: usize, block: &mut Block) -> Result<(), JsonError> {
        for column in 0..self.names.len() {
            block.set(column, Cell::MISSING);
        }
        let mut cursor = Cursor::new(text, start);
        cursor.open_object()?;
        let mut position = 0;
        while let Some((key, value)) = cursor.next_entry()? {
            if let Some(column) = self.column(position, key.of(text).unwrap_or_default()) {
                block.set(column, value);
            }
            position += 1;
        }
        match cursor.is_at_end() {
            true => Ok(()),
            false => cursor.fail("expected the line to end behind the object"),
        }
    }

    /// The column of the key at `position`, quotes included.
    fn column(&mut self, position: usize, key: &[u8]) -> Option<usize> {
        if let Some((known, column)) = self.layout.get(position)
            && known == key
        {
            return *column;
        }
        let name = JsonSource.string(key, &mut self.scratch);
        let column = self.names.iter().position(|n| Some(n.as_slice()) == name);
        // An object with ever new keys must not make the layout grow for ever.
        if position < self.layout.len() {
            self.layout[position] = (key.to_vec(), column);
        } else if position < MAX_LAYOUT {
            self.layout.push((key.to_vec(), column));
        }
        column
    }

    fn missing_field(&self, block: &Block) -> Option<String> {
        let missing = (0..self.names.len()).find(|c| block.get(*c).is_missing())?;
        Some(format!("the field '{}' is missing", String::from_utf8_lossy(&self.names[missing])))
    }
}

/// Most keys remembered of the last row.
const MAX_LAYOUT: usize = 4096;

impl Tokenizer for JsonTokenizer {
    type Source = JsonSource;

    fn source(&self) -> &JsonSource {
        &JsonSource
    }

    fn skip_option(&self) -> Option<&'static str> {
        (!self.fail_on_missing_field).then_some(options::IGNORE_ERRORS)
    }

    fn tokenize(&mut self, input: &[u8], last: bool, block: &mut Block) -> usize {
        let mut at = if self.line == 0 { byte_order_mark_length(input) } else { 0 };
        while !block.is_full() && at < input.len() {
            let (end, next) = match memchr::memchr(b'\n', &input[at..]) {
                Some(length) => (at + length, at + length + 1),
                None if last => (input.len(), input.len()),
                None => break,
            };
            self.line += 1;
            let text = &input[..end];
            if !text[at..].trim_ascii().is_empty() {
                match self.row(text, at, block) {
                    Err(JsonError { at: fault, reason }) => {
                        let character = String::from_utf8_lossy(&text[at..fault]).chars().count() + 1;
                        block.broken_row(
                            self.line,
                            Some(format!("character {character}")),
                            format!("not JSON: {reason}"),
                        );
                    }
                    Ok(()) => match self.missing_field(block).filter(|_| self.fail_on_missing_field) {
                        Some(reason) => block.broken_row(self.line, None, reason),
                        None => block.end_row(self.line),
                    },
                }
            }
            at = next;
        }
        at
    }

    fn place(&self) -> TextPlace {
        TextPlace { lines: self.line, header: None }
    }

    fn resume(&mut self, place: &TextPlace) -> Result<(), String> {
        self.line = place.lines;
        Ok(())
    }
}
