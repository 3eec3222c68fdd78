//! Columns of strings and of bytes.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, NullBufferBuilder, StringArray};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field};

use super::super::cell::{BadCells, Cell, CellSource, quote_value};
use super::{ColumnBuilder, null_reason};

/// Values one behind the other, and where each ends.
struct Bytes {
    is_nullable: bool,
    values: Vec<u8>,
    /// One more than there are rows.
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl Bytes {
    fn new(field: &Field) -> Self {
        Self { is_nullable: field.is_nullable(), values: vec![], offsets: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    /// Ends a row whose bytes have been added to `values`. A batch holds less than 2 GiB of a column: its rows stand in
    /// blocks of the input, each far smaller, and are at most a batch size in number; beyond that the value is refused.
    fn end_row(&mut self, row: usize, bad: &mut BadCells) {
        let end = i32::try_from(self.values.len()).unwrap_or_else(|_| {
            let start = self.offsets.last().copied().unwrap_or(0);
            self.values.truncate(start as usize);
            bad.push(row, "the column's values in one batch exceed 2 GiB; lower 'batch-size'".into());
            start
        });
        self.offsets.push(end);
        self.nulls.append_non_null();
    }

    fn null(&mut self, row: usize, data_type: &DataType, bad: &mut BadCells) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0));
        self.nulls.append(!self.is_nullable);
        if !self.is_nullable {
            bad.push(row, null_reason(data_type));
        }
    }

    fn finish(&mut self) -> (OffsetBuffer<i32>, Vec<u8>, Option<arrow::buffer::NullBuffer>) {
        let capacity = self.values.len();
        let values = std::mem::replace(&mut self.values, Vec::with_capacity(capacity));
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        (OffsetBuffer::new(ScalarBuffer::from(offsets)), values, self.nulls.finish())
    }
}

/// A column of strings. All that is in it is UTF-8.
pub(super) struct StringColumn {
    bytes: Bytes,
    scratch: Vec<u8>,
}

impl StringColumn {
    /// An empty column.
    pub fn new(field: &Field) -> Self {
        Self { bytes: Bytes::new(field), scratch: vec![] }
    }

    /// Takes back the rows of a block that are not UTF-8, leaving their places empty.
    #[cold]
    fn drop_what_is_not_utf8(&mut self, first_row: usize, bad: &mut BadCells) {
        let old = std::mem::take(&mut self.bytes.values);
        let ends = self.bytes.offsets.split_off(first_row + 1);
        let mut start = self.bytes.offsets[first_row] as usize;
        self.bytes.values.extend_from_slice(&old[..start]);
        for (row, end) in ends.into_iter().enumerate() {
            let text = &old[start..end as usize];
            match std::str::from_utf8(text) {
                Ok(_) => self.bytes.values.extend_from_slice(text),
                Err(_) => bad.push(row, format!("{} is not UTF-8", quote_value(text))),
            }
            // Not longer than the ends it replaces, which fit.
            self.bytes.offsets.push(self.bytes.values.len() as i32);
            start = end as usize;
        }
    }
}

impl<S: CellSource> ColumnBuilder<S> for StringColumn {
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &S, bad: &mut BadCells) {
        let (first_row, first_byte) = (self.bytes.offsets.len() - 1, self.bytes.values.len());
        for (row, cell) in cells.iter().enumerate() {
            match cell.of(input).and_then(|raw| source.string(raw, &mut self.scratch)) {
                Some(text) => {
                    self.bytes.values.extend_from_slice(text);
                    self.bytes.end_row(row, bad);
                }
                None => self.bytes.null(row, &DataType::Utf8, bad),
            }
        }
        let appended = &self.bytes.values[first_byte..];
        if !appended.is_ascii() && !rows_are_utf8(appended, first_byte, &self.bytes.offsets[first_row..]) {
            self.drop_what_is_not_utf8(first_row, bad);
        }
    }

    fn finish(&mut self) -> ArrayRef {
        let (offsets, values, nulls) = self.bytes.finish();
        Arc::new(StringArray::new(offsets, values.into(), nulls))
    }
}

/// Is the whole UTF-8, and does no row begin within a character?
fn rows_are_utf8(values: &[u8], first_byte: usize, offsets: &[i32]) -> bool {
    std::str::from_utf8(values).is_ok_and(|s| offsets.iter().all(|o| s.is_char_boundary(*o as usize - first_byte)))
}

/// A column of bytes, written as hexadecimal digits.
pub(super) struct BinaryColumn {
    bytes: Bytes,
    scratch: Vec<u8>,
}

impl BinaryColumn {
    /// An empty column.
    pub fn new(field: &Field) -> Self {
        Self { bytes: Bytes::new(field), scratch: vec![] }
    }
}

impl<S: CellSource> ColumnBuilder<S> for BinaryColumn {
    fn append(&mut self, cells: &[Cell], input: &[u8], source: &S, bad: &mut BadCells) {
        for (row, cell) in cells.iter().enumerate() {
            match cell.of(input).and_then(|raw| source.value(raw, &mut self.scratch)) {
                Some(text) => {
                    if !append_hex(text, &mut self.bytes.values) {
                        bad.push(row, format!("{} is not an even number of hexadecimal digits", quote_value(text)));
                    }
                    self.bytes.end_row(row, bad);
                }
                None => self.bytes.null(row, &DataType::Binary, bad),
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        let (offsets, values, nulls) = self.bytes.finish();
        Arc::new(BinaryArray::new(offsets, values.into(), nulls))
    }
}

/// Appends the bytes that `text` spells, or nothing when it is not hexadecimal.
fn append_hex(text: &[u8], out: &mut Vec<u8>) -> bool {
    let length = out.len();
    let (pairs, rest) = text.as_chunks::<2>();
    for [high, low] in pairs {
        match (char::from(*high).to_digit(16), char::from(*low).to_digit(16)) {
            (Some(high), Some(low)) => out.push((high * 16 + low) as u8),
            _ => {
                out.truncate(length);
                return false;
            }
        }
    }
    if !rest.is_empty() {
        out.truncate(length);
    }
    rest.is_empty()
}
