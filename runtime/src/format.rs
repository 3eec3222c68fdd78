//! How rows are written as bytes.
//!
//! A text format is read by a [`Decoder`], which takes bytes and gives batches; Parquet, which is no stream of
//! bytes, has a reader of its own. Every format is written by an [`Encoder`].

pub(crate) mod cell;
mod column;
pub(crate) mod csv;
pub(crate) mod datetime;
pub(crate) mod feed;
pub(crate) mod json;
pub(crate) mod nearest;
pub(crate) mod parquet;
mod rows;
pub(crate) mod scalar;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
mod type_name;
pub mod zone;

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde::{Deserialize, Serialize};
use tidemark_planner::catalog::connector::OptionError;
use tidemark_planner::catalog::options::{OptionKind, OptionSpec, Options};
use tidemark_planner::catalog::table::TableDef;

pub(crate) use rows::TextContext;
use zone::Zone;

use crate::error::RuntimeError;

/// The option that names the format.
pub(crate) const FORMAT: &str = "format";

/// Takes the bytes of a text and gives its rows.
pub(crate) trait Decoder: Send {
    /// Reads whole rows from the beginning of `input`, at most until a batch is full, and says how many bytes they
    /// took. The others must come again. With `last` nothing follows `input`, or no row may be longer than it.
    fn decode(&mut self, input: &[u8], last: bool) -> usize;

    /// Must the rows be taken before more can be read?
    fn is_full(&self) -> bool;

    /// The rows read since the last time; `None` when there are none. What cannot be read is an error that comes
    /// when the rows before it have been taken.
    fn take(&mut self) -> Result<Option<RecordBatch>, RuntimeError>;

    /// Is an error what comes next?
    fn has_failed(&self) -> bool;

    /// What must be known of the text that has been read to read what follows.
    fn place(&self) -> TextPlace;

    /// Goes on behind the text that another decoder has read to `place`. A sentence says why that cannot be.
    fn resume(&mut self, place: &TextPlace) -> Result<(), String>;
}

/// A place between two rows of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextPlace {
    /// Lines before it.
    pub lines: u64,
    /// The names in the header, where the format has one and it has been read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Vec<String>>,
}

/// Writes rows to a file.
pub(crate) trait Encoder: Send {
    /// Takes rows.
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()>;

    /// Hands on what is buffered, where the format can do that between any two rows.
    fn flush(&mut self) -> io::Result<()>;

    /// Makes the file complete.
    fn finish(&mut self) -> io::Result<()>;
}

/// What becomes of rows that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnreadableRows {
    /// They end the reading with an error.
    Fail,
    /// They are left out and counted.
    Skip,
}

impl UnreadableRows {
    fn of(options: &Options, key: &str) -> Self {
        if options.get_bool(key, false) { UnreadableRows::Skip } else { UnreadableRows::Fail }
    }
}

/// A format and its options.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    /// `csv`
    Csv(csv::options::CsvOptions),
    /// `json`: an object a line
    Json(json::options::JsonOptions),
    /// `parquet`
    Parquet(parquet::ParquetOptions),
}

impl Format {
    /// The option `format` with these choices, and those of the formats themselves.
    pub fn specs(choices: &'static [&'static str]) -> Vec<OptionSpec> {
        let kind = OptionKind::OneOf(choices);
        let mut specs = vec![OptionSpec { key: FORMAT, kind, required: true, help: "how rows are written as bytes" }];
        for choice in choices {
            specs.extend(match *choice {
                "csv" => csv::options::specs(),
                "json" => json::options::specs(),
                _ => parquet::specs(),
            });
        }
        specs
    }

    /// The format of a table. Refuses options of another and columns that it cannot hold.
    pub fn of(table: &TableDef) -> Result<Format, OptionError> {
        let name = table.options.get(FORMAT).unwrap_or("");
        for (key, _) in table.options.iter() {
            let is_of_another = ["csv", "json", "parquet"]
                .iter()
                .any(|other| *other != name && key.strip_prefix(other).is_some_and(|rest| rest.starts_with('.')));
            if is_of_another {
                let message = format!("'{key}' has no meaning with 'format' = '{name}'");
                return Err(OptionError { key: Some(key.into()), message, help: None });
            }
        }
        if let Some(column) = table.physical_schema().fields().iter().find(|f| !column::is_readable(f.data_type())) {
            let message = format!("'{name}' cannot hold column '{}' of type {}", column.name(), column.data_type());
            return Err(OptionError::new(FORMAT, message));
        }
        match name {
            "csv" => csv::options::CsvOptions::of(&table.options).map(Format::Csv),
            "json" => json::options::JsonOptions::of(&table.options).map(Format::Json),
            "parquet" => parquet::ParquetOptions::of(&table.options).map(Format::Parquet),
            other => Err(OptionError::new(FORMAT, format!("there is no format '{other}'"))),
        }
    }

    /// What becomes of unreadable rows.
    pub fn unreadable(&self) -> UnreadableRows {
        match self {
            Format::Csv(options) => options.unreadable,
            Format::Json(options) => options.unreadable,
            Format::Parquet(_) => UnreadableRows::Fail,
        }
    }

    /// A decoder at the beginning of a text; `None` when the format is none.
    pub fn text_decoder(&self, ctx: TextContext) -> Option<Box<dyn Decoder>> {
        match self {
            Format::Csv(options) => Some(csv::decoder(options, ctx)),
            Format::Json(options) => Some(json::decoder(options, ctx)),
            Format::Parquet(_) => None,
        }
    }

    /// Writes rows of `schema` to `file`.
    pub fn encoder(&self, file: Box<dyn Write + Send>, schema: SchemaRef, zone: Zone) -> io::Result<Box<dyn Encoder>> {
        match self {
            Format::Csv(options) => Ok(Box::new(csv::encode::CsvEncoder::new(options, file, &schema, zone))),
            Format::Json(options) => Ok(Box::new(json::encode::JsonEncoder::new(options, file, zone))),
            Format::Parquet(options) => Ok(Box::new(parquet::ParquetEncoder::new(options, file, schema)?)),
        }
    }

    /// What the names of its files end in.
    pub fn extension(&self) -> &'static str {
        match self {
            Format::Csv(_) => "csv",
            Format::Json(_) => "json",
            Format::Parquet(_) => "parquet",
        }
    }
}

/// Length of the byte-order mark that `text` begins with: 3 or 0.
fn byte_order_mark_length(text: &[u8]) -> usize {
    if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
}
