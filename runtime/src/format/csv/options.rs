//! The options `csv.*`.

use tidemark_planner::catalog::connector::OptionError;
use tidemark_planner::catalog::options::{OptionKind, OptionSpec, Options};

use super::super::UnreadableRows;
use super::Dialect;

const HEADER: &str = "csv.header";
const DELIMITER: &str = "csv.field-delimiter";
const QUOTE: &str = "csv.quote-character";
const DISABLE_QUOTE: &str = "csv.disable-quote-character";
const ESCAPE: &str = "csv.escape-character";
const NULL: &str = "csv.null-literal";
const COMMENTS: &str = "csv.allow-comments";
/// Leaves out what cannot be read.
pub(crate) const IGNORE_ERRORS: &str = "csv.ignore-parse-errors";

/// How CSV is read and written.
#[derive(Clone, Debug)]
pub(crate) struct CsvOptions {
    /// Is the first line a header?
    pub header: bool,
    /// The characters.
    pub dialect: Dialect,
    /// The text that stands for NULL.
    pub null_literal: Option<Vec<u8>>,
    /// What becomes of rows that cannot be read.
    pub unreadable: UnreadableRows,
}

/// What may be given.
pub(crate) fn specs() -> Vec<OptionSpec> {
    let spec = |key, kind, help| OptionSpec { key, kind, required: false, help };
    vec![
        spec(HEADER, OptionKind::Bool, "the first line names the columns, which are then found by name"),
        spec(DELIMITER, OptionKind::Text, "the character between fields, ',' by default; '\\t' is a tab"),
        spec(QUOTE, OptionKind::Text, "the character around fields, '\"' by default"),
        spec(DISABLE_QUOTE, OptionKind::Bool, "take quotes as ordinary characters"),
        spec(ESCAPE, OptionKind::Text, "the character before one that is to be taken as it is; none by default"),
        spec(NULL, OptionKind::Text, "the text that stands for NULL"),
        spec(COMMENTS, OptionKind::Bool, "skip lines that begin with '#'"),
        spec(IGNORE_ERRORS, OptionKind::Bool, "skip and count rows that cannot be read instead of failing"),
    ]
}

impl CsvOptions {
    /// From the options of a table.
    pub fn of(options: &Options) -> Result<Self, OptionError> {
        let quote = match options.get_bool(DISABLE_QUOTE, false) {
            true => None,
            false => Some(character(options, QUOTE)?.unwrap_or(b'"')),
        };
        let dialect = Dialect {
            delimiter: character(options, DELIMITER)?.unwrap_or(b','),
            quote,
            escape: character(options, ESCAPE)?,
            allow_comments: options.get_bool(COMMENTS, false),
        };
        if quote == Some(dialect.delimiter) || dialect.escape == Some(dialect.delimiter) {
            return Err(OptionError::new(DELIMITER, "the delimiter must differ from the quote and escape characters"));
        }
        Ok(Self {
            header: options.get_bool(HEADER, false),
            dialect,
            null_literal: options.get(NULL).map(|text| text.as_bytes().to_vec()),
            unreadable: UnreadableRows::of(options, IGNORE_ERRORS),
        })
    }
}

fn character(options: &Options, key: &'static str) -> Result<Option<u8>, OptionError> {
    let Some(text) = options.get(key) else { return Ok(None) };
    match text.as_bytes() {
        b"\\t" => Ok(Some(b'\t')),
        b"\\\\" => Ok(Some(b'\\')),
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | 0) => Ok(Some(*byte)),
        _ => Err(OptionError::new(key, format!("expected a single ASCII character, found '{text}'"))
            .help("write a tab as '\\t'")),
    }
}
