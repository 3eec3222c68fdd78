//! CSV as RFC 4180 has it, with NULL told apart from the empty string: `,` against `""`.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::cells::Cells;
use super::{RenderError, RowWriter, Zone};

/// Writes a header line, then a line a row, each row as soon as it comes.
pub struct CsvWriter {
    schema: SchemaRef,
    zone: Zone,
    line: String,
    cell: String,
}

impl CsvWriter {
    /// Of rows of that schema.
    pub fn new(schema: SchemaRef, zone: Zone) -> Self {
        Self { schema, zone, line: String::new(), cell: String::new() }
    }
}

impl RowWriter for CsvWriter {
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), RenderError> {
        let mut line = String::new();
        for (column, field) in self.schema.fields().iter().enumerate() {
            separate(&mut line, column);
            push_field(&mut line, field.name());
        }
        line.push('\n');
        Ok(out.write_all(line.as_bytes())?)
    }

    fn write(&mut self, rows: &RecordBatch, out: &mut dyn Write) -> Result<(), RenderError> {
        let cells = Cells::new(rows, self.zone)?;
        for row in 0..rows.num_rows() {
            self.line.clear();
            for column in 0..rows.num_columns() {
                separate(&mut self.line, column);
                self.cell.clear();
                if cells.write(column, row, &mut self.cell) {
                    push_field(&mut self.line, &self.cell);
                }
            }
            self.line.push('\n');
            out.write_all(self.line.as_bytes())?;
        }
        Ok(())
    }

    fn end(&mut self, _out: &mut dyn Write) -> Result<(), RenderError> {
        Ok(())
    }
}

fn separate(line: &mut String, column: usize) {
    if column > 0 {
        line.push(',');
    }
}

fn push_field(line: &mut String, text: &str) {
    let needs_quotes = text.is_empty() || text.bytes().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r'));
    if !needs_quotes {
        line.push_str(text);
        return;
    }
    line.push('"');
    for (i, part) in text.split('"').enumerate() {
        line.push_str(if i > 0 { "\"\"" } else { "" });
        line.push_str(part);
    }
    line.push('"');
}

#[cfg(test)]
mod tests;
