//! Writes CSV.

use std::io::{self, BufWriter, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::super::Encoder;
use super::super::text::TextFormatter;
use super::super::zone::Zone;
use super::options::CsvOptions;

/// Writes rows to a file.
pub(crate) struct CsvEncoder {
    file: BufWriter<Box<dyn Write + Send>>,
    options: CsvOptions,
    zone: Zone,
    text: String,
}

impl CsvEncoder {
    /// Begins with the header, when there is to be one.
    pub fn new(options: &CsvOptions, file: Box<dyn Write + Send>, schema: &SchemaRef, zone: Zone) -> Self {
        let mut encoder = Self { file: BufWriter::new(file), options: options.clone(), zone, text: String::new() };
        if options.header {
            for (i, field) in schema.fields().iter().enumerate() {
                encoder.begin_field(i);
                encoder.text.push_str(field.name());
                encoder.end_field(encoder.text.len() - field.name().len(), false);
            }
            encoder.text.push('\n');
        }
        encoder
    }

    fn begin_field(&mut self, column: usize) {
        if column > 0 {
            self.text.push(char::from(self.options.dialect.delimiter));
        }
    }

    /// Puts the field that begins at `start` in quotes, or escapes in it, where it needs them.
    fn end_field(&mut self, start: usize, is_string: bool) {
        let dialect = &self.options.dialect;
        let field = &self.text.as_bytes()[start..];
        let is_special = |b: &u8| {
            matches!(*b, b'\n' | b'\r')
                || *b == dialect.delimiter
                || Some(*b) == dialect.quote
                || Some(*b) == dialect.escape
        };
        let is_comment = dialect.allow_comments && field.starts_with(b"#");
        let is_like_null = is_string && (field.is_empty() || Some(field) == self.options.null_literal.as_deref());
        if !(field.iter().any(is_special) || is_comment || is_like_null) {
            return;
        }
        let Some(quote) = dialect.quote.map(char::from) else { return };
        let field = self.text.split_off(start);
        self.text.push(quote);
        for character in field.chars() {
            if character == quote {
                self.text.push(quote);
            } else if Some(character) == dialect.escape.map(char::from) {
                self.text.push(character);
            }
            self.text.push(character);
        }
        self.text.push(quote);
    }

    /// A NULL that is written as nothing, in the only column: the line must not be blank, since readers skip those. In
    /// quotes it is still NULL for all types but STRING, whose empty text it is.
    fn write_empty_row(&mut self) -> io::Result<()> {
        let Some(quote) = self.options.dialect.quote.map(char::from) else {
            return Err(io::Error::other(
                "a NULL in the only column would be a blank line: set 'csv.null-literal', or allow quotes",
            ));
        };
        self.text.extend([quote, quote]);
        Ok(())
    }

    fn write_out(&mut self) -> io::Result<()> {
        self.file.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

impl Encoder for CsvEncoder {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let columns: Result<Vec<_>, _> = batch.columns().iter().map(|c| TextFormatter::new(c, self.zone)).collect();
        let columns = columns.map_err(io::Error::other)?;
        let null = self.options.null_literal.clone().unwrap_or_default();
        let null = String::from_utf8_lossy(&null).into_owned();
        let is_string: Vec<_> = batch.columns().iter().map(|c| c.data_type().is_string()).collect();
        for row in 0..batch.num_rows() {
            let row_start = self.text.len();
            for (i, column) in columns.iter().enumerate() {
                self.begin_field(i);
                if column.is_null(row) {
                    self.text.push_str(&null);
                    continue;
                }
                let start = self.text.len();
                column.write(row, &mut self.text);
                self.end_field(start, is_string[i]);
            }
            if self.text.len() == row_start {
                self.write_empty_row()?;
            }
            self.text.push('\n');
        }
        self.write_out()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.file.flush()
    }
}
