//! Writes JSON lines.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StructArray};

use super::super::Encoder;
use super::super::text::JsonFormatter;
use super::super::zone::Zone;
use super::options::JsonOptions;

/// Writes rows to a file.
pub(crate) struct JsonEncoder {
    file: BufWriter<Box<dyn Write + Send>>,
    options: JsonOptions,
    zone: Zone,
    text: String,
}

impl JsonEncoder {
    /// Nothing written yet.
    pub fn new(options: &JsonOptions, file: Box<dyn Write + Send>, zone: Zone) -> Self {
        Self { file: BufWriter::new(file), options: options.clone(), zone, text: String::new() }
    }
}

impl Encoder for JsonEncoder {
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let rows: ArrayRef = Arc::new(StructArray::from(batch.clone()));
        let formatter = JsonFormatter::new(&rows, self.zone, self.options.timestamps).map_err(io::Error::other)?;
        for row in 0..batch.num_rows() {
            formatter.write(row, &mut self.text);
            self.text.push('\n');
        }
        self.file.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
