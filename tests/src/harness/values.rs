//! Values as cells of a script.
//!
//! NULL is `NULL`, the empty string `(empty)`; control characters, a space at either end of a text and all but the first
//! of several spaces are written as escapes, so that a cell is never cut or merged with its neighbour.

use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use sqllogictest::ColumnType;
use tidemark_runtime::format::text::TextFormatter;
use tidemark_runtime::format::zone::Zone;

/// A column's type as one letter: `B` BOOLEAN, `I` integers, `R` floats and decimals, `T` text, `D` DATE and TIME,
/// `P` TIMESTAMP, `Z` TIMESTAMP_LTZ, `?` all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeChar(char);

impl ColumnType for TypeChar {
    fn from_char(value: char) -> Option<Self> {
        "BIRTDPZ?".contains(value).then_some(TypeChar(value))
    }

    fn to_char(&self) -> char {
        self.0
    }
}

impl TypeChar {
    /// Of text.
    pub const TEXT: TypeChar = TypeChar('T');

    /// Of a column.
    pub fn of(data_type: &DataType) -> Self {
        TypeChar(match data_type {
            DataType::Boolean => 'B',
            t if t.is_integer() => 'I',
            t if t.is_numeric() => 'R',
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => 'T',
            DataType::Date32 | DataType::Time32(_) | DataType::Time64(_) => 'D',
            DataType::Timestamp(_, None) => 'P',
            DataType::Timestamp(_, Some(_)) => 'Z',
            _ => '?',
        })
    }
}

/// A row; NULL is `None`.
pub type Row = Vec<Option<String>>;

/// The rows of a batch, instants on the wall clock of `zone`.
pub fn rows(batch: &RecordBatch, zone: Zone) -> Vec<Row> {
    let columns = batch.columns().iter().map(|column| TextFormatter::new(column, zone));
    let columns: Vec<_> = columns.collect::<Result<_, _>>().expect("every type has a text");
    let cell = |column: &TextFormatter, row| {
        let mut text = String::new();
        (!column.is_null(row)).then(|| column.write(row, &mut text)).map(|()| text)
    };
    (0..batch.num_rows()).map(|row| columns.iter().map(|column| cell(column, row)).collect()).collect()
}

/// A row as cells.
pub fn cells(row: &[Option<String>]) -> Vec<String> {
    row.iter().map(|value| value.as_deref().map_or_else(|| "NULL".into(), cell)).collect()
}

fn cell(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".into();
    }
    let mut cell = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' if cell.is_empty() || cell.ends_with(' ') || rest.peek().is_none() => cell.push_str("\\s"),
            c if c.is_control() => cell.extend(c.escape_default()),
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_neither_cut_nor_merged() {
        for (text, expected) in [
            ("", "(empty)"),
            ("a b", "a b"),
            (" a ", "\\sa\\s"),
            ("a  b", "a \\sb"),
            ("a\nb\t", "a\\nb\\t"),
            ("é", "é"),
        ] {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(cells(&[None, Some("NULL".into())]), ["NULL", "NULL"]);
    }
}
