//! A box for people.
//!
//! ```text
//! ┌────────┬─────┐
//! │ origin │   n │
//! ├────────┼─────┤
//! │ EWR    │ 120 │
//! │ NULL   │   3 │
//! └────────┴─────┘
//! ```
//!
//! Final rows are held back until their widths are known, but never more than [`WIDTH_SAMPLE_ROWS`]; changes are
//! printed as they come, and a column grows when a wider value arrives. On a terminal long texts are cut to fit,
//! numbers never; elsewhere nothing is cut.

mod layout;

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

use super::cells::Cells;
use super::{RenderError, ResultMode, RowWriter, Zone};
use layout::{Columns, Rule};

/// So many rows decide how wide the columns of a final result are.
const WIDTH_SAMPLE_ROWS: usize = 10_000;

/// Writes a box.
pub struct TableWriter {
    columns: Columns,
    zone: Zone,
    /// Texts of rows whose printing waits for widths, row after row.
    pending: Vec<String>,
    /// So many rows may wait.
    sample_rows: usize,
    has_head: bool,
    line: String,
}

impl TableWriter {
    /// Of rows of that schema, fitted into `width` terminal columns when given.
    pub fn new(schema: &Schema, zone: Zone, width: Option<usize>, mode: ResultMode) -> Self {
        let sample_rows = match mode {
            ResultMode::Table => WIDTH_SAMPLE_ROWS,
            ResultMode::Changelog => 0,
        };
        let columns = Columns::new(schema, width);
        Self { columns, zone, pending: vec![], sample_rows, has_head: false, line: String::new() }
    }

    fn print_pending(&mut self, out: &mut dyn Write) -> Result<(), RenderError> {
        let columns = self.columns.count();
        self.columns.widen(&self.pending);
        if !self.has_head {
            self.has_head = true;
            self.line.clear();
            self.columns.push_rule(&mut self.line, Rule::Top);
            self.columns.push_names(&mut self.line);
            self.columns.push_rule(&mut self.line, Rule::Middle);
            out.write_all(self.line.as_bytes())?;
        }
        for row in self.pending.chunks(columns.max(1)) {
            self.line.clear();
            self.columns.push_row(&mut self.line, row);
            out.write_all(self.line.as_bytes())?;
        }
        self.pending.clear();
        Ok(())
    }
}

impl RowWriter for TableWriter {
    fn begin(&mut self, _out: &mut dyn Write) -> Result<(), RenderError> {
        Ok(())
    }

    fn write(&mut self, rows: &RecordBatch, out: &mut dyn Write) -> Result<(), RenderError> {
        let cells = Cells::new(rows, self.zone)?;
        let mut raw = String::new();
        for row in 0..rows.num_rows() {
            for column in 0..rows.num_columns() {
                raw.clear();
                if !cells.write(column, row, &mut raw) {
                    raw.push_str("NULL");
                }
                self.pending.push(layout::printable(&raw));
            }
        }
        let waiting_rows = self.pending.len() / self.columns.count().max(1);
        if self.has_head || waiting_rows > self.sample_rows {
            self.print_pending(out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> Result<(), RenderError> {
        if !self.has_head || !self.pending.is_empty() {
            self.print_pending(out)?;
        }
        self.line.clear();
        self.columns.push_rule(&mut self.line, Rule::Bottom);
        Ok(out.write_all(self.line.as_bytes())?)
    }
}

#[cfg(test)]
mod tests;
