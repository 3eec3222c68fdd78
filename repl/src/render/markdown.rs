//! A GitHub table, a line a row as it comes.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::cells::Cells;
use super::{RenderError, RowWriter, Zone};

/// Writes the heading, then a line a row. Columns are not padded: rows leave as they come.
pub struct MarkdownWriter {
    schema: SchemaRef,
    zone: Zone,
    line: String,
    cell: String,
}

impl MarkdownWriter {
    /// Of rows of that schema.
    pub fn new(schema: SchemaRef, zone: Zone) -> Self {
        Self { schema, zone, line: String::new(), cell: String::new() }
    }
}

impl RowWriter for MarkdownWriter {
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), RenderError> {
        let mut lines = String::from("|");
        for field in self.schema.fields() {
            push_cell(&mut lines, field.name());
        }
        lines.push_str("\n|");
        for field in self.schema.fields() {
            lines.push_str(if field.data_type().is_numeric() { " ---: |" } else { " --- |" });
        }
        lines.push('\n');
        Ok(out.write_all(lines.as_bytes())?)
    }

    fn write(&mut self, rows: &RecordBatch, out: &mut dyn Write) -> Result<(), RenderError> {
        let cells = Cells::new(rows, self.zone)?;
        for row in 0..rows.num_rows() {
            self.line.clear();
            self.line.push('|');
            for column in 0..rows.num_columns() {
                self.cell.clear();
                if !cells.write(column, row, &mut self.cell) {
                    self.cell.push_str("NULL");
                }
                push_cell(&mut self.line, &self.cell);
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

/// A cell ends at `|` and at the line's end, so both are written otherwise.
fn push_cell(line: &mut String, text: &str) {
    line.push(' ');
    for c in text.chars() {
        match c {
            '|' => line.push_str("\\|"),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("<br>"),
            '\r' => {}
            c => line.push(c),
        }
    }
    line.push_str(" |");
}

#[cfg(test)]
mod tests;
