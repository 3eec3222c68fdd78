//! The rows of a query as text on a writer.
//!
//! A [`ResultPrinter`] takes a query's changes and decides what is shown: the changes themselves (with a leading `op`
//! column when the query updates) or the rows that are left when it ends. A [`RowWriter`] turns rows into one format.
//!
//! **Invariant:** what streams is written as it comes: no writer but the table holds rows back, and that one only for
//! rows that are final.

mod cells;
mod changelog;
mod csv;
pub mod fold;
mod json;
mod markdown;
mod table;

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use tidemark_planner::changelog::ChangelogMode;
use tidemark_runtime::change_batch::ChangeBatch;

pub use tidemark_runtime::format::zone::Zone;

use fold::{Fold, FoldError};

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A box for people.
    Table,
    /// RFC 4180 with a header line; NULL is an empty field, an empty string is `""`.
    Csv,
    /// One array of objects.
    Json,
    /// One object a line.
    Jsonl,
    /// A GitHub table.
    Markdown,
}

/// Which rows of a query are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultMode {
    /// Every change as it happens.
    Changelog,
    /// The rows that are left when the query ends.
    Table,
}

impl ResultMode {
    /// The mode when none was asked for: the final rows of a query that ends, where a person reads them.
    pub fn default_for(format: Format, bounded: bool, on_terminal: bool) -> Self {
        if bounded && (format == Format::Table || on_terminal) { ResultMode::Table } else { ResultMode::Changelog }
    }
}

/// How a result looks.
#[derive(Clone, Debug)]
pub struct Style {
    /// The format.
    pub format: Format,
    /// The zone on whose wall clock `TIMESTAMP_LTZ` is shown.
    pub zone: Zone,
    /// Columns of the terminal, when the result goes to one: tables are made to fit.
    pub width: Option<usize>,
}

/// What a result consists of.
#[derive(Clone, Debug)]
pub struct ResultShape {
    /// The columns.
    pub schema: SchemaRef,
    /// The changes that the query emits.
    pub changelog: ChangelogMode,
    /// Columns that identify a row, for [`ChangelogMode::Upsert`].
    pub upsert_key: Vec<usize>,
}

impl ResultShape {
    /// Rows that only ever come.
    pub fn append(schema: SchemaRef) -> Self {
        Self { schema, changelog: ChangelogMode::Append, upsert_key: vec![] }
    }
}

/// Why a result could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The writer failed; a closed pipe among others.
    #[error("cannot write the result")]
    Io(#[from] io::Error),
    /// The changes contradict themselves.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A value has no text.
    #[error("internal error: {0}")]
    Arrow(#[from] ArrowError),
}

impl RenderError {
    /// Has the reader gone away?
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, RenderError::Io(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Writes rows in one format.
trait RowWriter {
    /// What stands before the first row.
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), RenderError>;
    /// Rows.
    fn write(&mut self, rows: &RecordBatch, out: &mut dyn Write) -> Result<(), RenderError>;
    /// What stands behind the last row.
    fn end(&mut self, out: &mut dyn Write) -> Result<(), RenderError>;
}

/// Prints the result of one query.
pub struct ResultPrinter {
    writer: Box<dyn RowWriter>,
    changes: Changes,
    rows: u64,
}

/// What becomes of changes.
enum Changes {
    /// They are all insertions: they are the rows.
    Rows,
    /// Each is shown with its kind in front; holds the schema with `op`.
    Shown(SchemaRef),
    /// They are folded into the rows that are left.
    Folded(Box<Fold>),
}

impl ResultPrinter {
    /// A printer of a result of that shape.
    pub fn new(shape: &ResultShape, mode: ResultMode, style: &Style) -> Result<Self, RenderError> {
        let (changes, schema) = match mode {
            _ if shape.changelog.is_append() => (Changes::Rows, shape.schema.clone()),
            ResultMode::Changelog => {
                let schema = changelog::schema_with_op(&shape.schema);
                (Changes::Shown(schema.clone()), schema)
            }
            ResultMode::Table => (Changes::Folded(Box::new(Fold::new(shape)?)), shape.schema.clone()),
        };
        let zone = style.zone;
        let writer: Box<dyn RowWriter> = match style.format {
            Format::Table => Box::new(table::TableWriter::new(&schema, zone, style.width, mode)),
            Format::Csv => Box::new(csv::CsvWriter::new(schema, zone)),
            Format::Json => Box::new(json::JsonWriter::array(&schema, zone)),
            Format::Jsonl => Box::new(json::JsonWriter::lines(&schema, zone)),
            Format::Markdown => Box::new(markdown::MarkdownWriter::new(schema, zone)),
        };
        Ok(Self { writer, changes, rows: 0 })
    }

    /// Prints what stands before the rows.
    pub fn begin(&mut self, out: &mut dyn Write) -> Result<(), RenderError> {
        self.writer.begin(out)
    }

    /// Takes changes; prints them unless they are folded.
    pub fn write(&mut self, changes: &ChangeBatch, out: &mut dyn Write) -> Result<(), RenderError> {
        match &mut self.changes {
            Changes::Rows => self.writer.write(&changes.batch, out)?,
            Changes::Shown(schema) => self.writer.write(&changelog::with_op(schema, changes)?, out)?,
            Changes::Folded(fold) => return Ok(fold.apply(changes)?),
        }
        self.rows += changes.num_rows() as u64;
        Ok(())
    }

    /// Prints the folded rows, when they are folded, and what stands behind the rows. Returns the number of rows.
    pub fn end(mut self, out: &mut dyn Write) -> Result<u64, RenderError> {
        if let Changes::Folded(fold) = self.changes {
            for batch in fold.into_batches()? {
                self.rows += batch.num_rows() as u64;
                self.writer.write(&batch, out)?;
            }
        }
        self.writer.end(out)?;
        Ok(self.rows)
    }
}

#[cfg(test)]
mod tests;
