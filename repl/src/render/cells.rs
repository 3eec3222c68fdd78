//! The texts of a batch's values.

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use tidemark_runtime::format::text::TextFormatter;
use tidemark_runtime::format::zone::Zone;

/// Writes the values of a batch as text, the same for every format.
pub struct Cells {
    columns: Vec<TextFormatter>,
}

impl Cells {
    /// Of `batch`; `TIMESTAMP_LTZ` on the wall clock of `zone`.
    pub fn new(batch: &RecordBatch, zone: Zone) -> Result<Self, ArrowError> {
        let columns = batch.columns().iter().map(|column| TextFormatter::new(column, zone));
        Ok(Self { columns: columns.collect::<Result<_, _>>()? })
    }

    /// Appends the value to `text`; for NULL, appends nothing and says false.
    pub fn write(&self, column: usize, row: usize, text: &mut String) -> bool {
        let formatter = &self.columns[column];
        if formatter.is_null(row) {
            return false;
        }
        formatter.write(row, text);
        true
    }
}
