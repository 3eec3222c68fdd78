//! Finds the values of a JSON text without building anything.
//!
//! The grammar is that of RFC 8259 and is checked in full: also of what nobody asked for.

use arrow::datatypes::Field;

use super::super::cell::{Cell, CellSource};
use super::super::column::{ColumnBuilder, json_nested_builder};
use super::super::zone::Zone;

/// How deep arrays and objects may be nested.
pub(crate) const MAX_DEPTH: usize = 128;

/// Where and why a text is not JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// The byte at fault.
    pub at: usize,
    /// `expected ':'`
    pub reason: &'static str,
}

/// A place in a JSON text.
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Before byte `at`.
    pub fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// Is there nothing but white space behind it?
    pub fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at >= self.text.len()
    }

    /// Steps over the `{` of an object.
    pub fn open_object(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        self.expect(b'{', "expected a JSON object")
    }

    /// Within an object, behind its `{` or a value: the next key (quotes included) and value. Steps over the `}` when
    /// there is none.
    pub fn next_entry(&mut self) -> Result<Option<(Cell, Cell)>, JsonError> {
        self.entry(1)
    }

    /// Within an array, behind its `[` or an item: the next item. Steps over the `]` when there is none.
    pub fn next_item(&mut self) -> Result<Option<Cell>, JsonError> {
        self.item(1)
    }

    /// Steps over a value.
    pub fn skip_value(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        self.value(0).map(|_| ())
    }

    /// An error here.
    pub fn fail<T>(&self, reason: &'static str) -> Result<T, JsonError> {
        Err(JsonError { at: self.at.min(self.text.len()), reason })
    }

    fn entry(&mut self, depth: usize) -> Result<Option<(Cell, Cell)>, JsonError> {
        if !self.step_to_next(b'{', b'}', "expected ',' or '}'")? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return self.fail("expected a key in quotes");
        }
        let key = self.string()?;
        self.skip_space();
        self.expect(b':', "expected ':'")?;
        self.skip_space();
        Ok(Some((key, self.value(depth)?)))
    }

    fn item(&mut self, depth: usize) -> Result<Option<Cell>, JsonError> {
        if !self.step_to_next(b'[', b']', "expected ',' or ']'")? {
            return Ok(None);
        }
        self.value(depth).map(Some)
    }

    /// From behind `open` or a value to the next member; `false` when `close` has been stepped over instead. Nothing
    /// but the bracket itself ends in the bracket that opens, which tells the first member from the others.
    fn step_to_next(&mut self, open: u8, close: u8, reason: &'static str) -> Result<bool, JsonError> {
        let is_first = self.at > 0 && self.text[self.at - 1] == open;
        self.skip_space();
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                return Ok(false);
            }
            Some(b',') if !is_first => self.at += 1,
            Some(_) if is_first => return Ok(true),
            _ => return self.fail(reason),
        }
        self.skip_space();
        Ok(true)
    }

    fn value(&mut self, depth: usize) -> Result<Cell, JsonError> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => return self.string(),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b'{' | b'[') if depth >= MAX_DEPTH => return self.fail("nested too deeply"),
            Some(b'{') => {
                self.at += 1;
                while self.entry(depth + 1)?.is_some() {}
            }
            Some(b'[') => {
                self.at += 1;
                while self.item(depth + 1)?.is_some() {}
            }
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            Some(_) => return self.fail("expected a value"),
            None => return self.fail("the line ends within a value"),
        }
        Ok(Cell::new(start, self.at))
    }

    fn string(&mut self) -> Result<Cell, JsonError> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr::memchr2(b'"', b'\\', rest) else {
                self.at = start;
                return self.fail("a string is not closed");
            };
            if let Some(control) = control_character(&rest[..length]) {
                self.at += control;
                return self.fail("a control character in a string must be escaped");
            }
            self.at += length;
            if self.text[self.at] == b'"' {
                self.at += 1;
                return Ok(Cell::new(start, self.at));
            }
            self.escape()?;
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        match self.text[self.at + 1..] {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(u8::is_ascii_hexdigit) => self.at += 6,
            _ => return self.fail("this is no escape sequence"),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonError> {
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { self.fail("expected a digit") } else { Ok(()) }
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return self.fail("expected a value");
        }
        self.at += word.len();
        Ok(())
    }

    fn expect(&mut self, byte: u8, reason: &'static str) -> Result<(), JsonError> {
        if self.peek() != Some(byte) {
            return self.fail(reason);
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }
}

/// Where the first of them stands.
fn control_character(text: &[u8]) -> Option<usize> {
    // Without a way out of the loop the compiler looks at many bytes at a time.
    let has_any = text.iter().fold(false, |any, b| any | (*b < 0x20));
    has_any.then(|| text.iter().position(|b| *b < 0x20)).flatten()
}

/// JSON's notation. A string column takes any value: what is not a string comes as it is written.
pub(crate) struct JsonSource;

impl CellSource for JsonSource {
    fn value<'a>(&self, raw: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        match raw {
            [b'n', ..] => None,
            [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => Some(inner),
            [b'"', inner @ .., b'"'] => {
                scratch.clear();
                unescape(inner, scratch);
                Some(scratch)
            }
            other => Some(other),
        }
    }

    fn string<'a>(&self, raw: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        self.value(raw, scratch)
    }

    fn nested_builder(field: &Field, zone: Zone) -> Box<dyn ColumnBuilder<Self>> {
        json_nested_builder(field, zone)
    }
}

/// The text of a string without its quotes, whose escapes have been checked. Half a surrogate pair becomes U+FFFD.
fn unescape(mut text: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr(b'\\', text) {
        out.extend_from_slice(&text[..at]);
        let (length, character) = match text[at + 1] {
            b'u' => unicode_escape(&text[at..]),
            b'b' => (2, '\u{8}'),
            b'f' => (2, '\u{c}'),
            b'n' => (2, '\n'),
            b'r' => (2, '\r'),
            b't' => (2, '\t'),
            other => (2, char::from(other)),
        };
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        text = &text[at + length..];
    }
    out.extend_from_slice(text);
}

/// How long the `\uXXXX` or pair of them at the beginning of `text` is, and which character it stands for.
fn unicode_escape(text: &[u8]) -> (usize, char) {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match (unit(0), unit(6)) {
        (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            (12, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        (Some(code), _) => (6, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)),
        (None, _) => (6, char::REPLACEMENT_CHARACTER),
    }
}
