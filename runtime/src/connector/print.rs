//! `print`, also known as `stdout`: a line for each change, such as `+I[a, 1]`.
//!
//! Values are written as the command line shows them, NULL as `null`. After a restart from a checkpoint the lines behind
//! it are printed again (at least once).

use std::io::{self, Write};

use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::{OptionKind, OptionSpec};
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;

use super::{
    Connector, SinkCommitter, SinkOwner, SinkRequest, SinkToken, SinkWriter, Source, SourceRequest, only_written,
    parse_zone,
};
use crate::change_batch::ChangeBatch;
use crate::error::{IoError, OperatorError, RuntimeError};
use crate::format::text::TextFormatter;
use crate::format::zone::Zone;

const IDENTIFIER: &str = "print-identifier";
const STANDARD_ERROR: &str = "standard-error";

/// The connector.
#[derive(Debug)]
pub struct PrintConnector {
    name: &'static str,
}

impl PrintConnector {
    /// Under its name in Flink.
    pub fn print() -> Self {
        Self { name: "print" }
    }

    /// Under the name of where it writes.
    pub fn stdout() -> Self {
        Self { name: "stdout" }
    }
}

impl ConnectorFactory for PrintConnector {
    fn name(&self) -> &'static str {
        self.name
    }

    fn options(&self) -> Vec<OptionSpec> {
        let spec = |key, kind, help| OptionSpec { key, kind, required: false, help };
        vec![
            spec(IDENTIFIER, OptionKind::Text, "what each line begins with"),
            spec(STANDARD_ERROR, OptionKind::Bool, "write to the standard error output"),
        ]
    }

    fn check_table(&self, _table: &TableDef) -> Result<(), OptionError> {
        Ok(())
    }

    fn source(&self, _table: &TableDef) -> Result<SourceInfo, OptionError> {
        Err(only_written(self.name))
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Ok(SinkInfo { accepts: ChangelogMode::Retract })
    }
}

impl Connector for PrintConnector {
    fn open_source(&self, _request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        Err(RuntimeError::Unsupported(only_written(self.name).message))
    }

    fn open_sink(&self, request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        let options = &request.table.options;
        let (output, place): (Box<dyn Write + Send>, _) = match options.get_bool(STANDARD_ERROR, false) {
            true => (Box::new(io::stderr()), "standard error"),
            false => (Box::new(io::stdout()), "standard output"),
        };
        Ok(Box::new(PrintWriter {
            prefix: options.get(IDENTIFIER).filter(|id| !id.is_empty()).map(|id| format!("{id}> ")).unwrap_or_default(),
            table: request.table.name.clone(),
            zone: parse_zone(&request.time_zone)?,
            text: String::new(),
            output,
            place,
        }))
    }

    fn open_committer(&self, _table: &TableDef, _owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

struct PrintWriter {
    output: Box<dyn Write + Send>,
    place: &'static str,
    prefix: String,
    table: String,
    zone: Zone,
    text: String,
}

impl PrintWriter {
    fn io_error(&self, source: io::Error) -> RuntimeError {
        IoError { table: self.table.clone(), action: "write", path: self.place.into(), source }.into()
    }
}

impl SinkWriter for PrintWriter {
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError> {
        let columns = batch.batch.columns().iter().map(|c| TextFormatter::new(c, self.zone));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(OperatorError::from)?;
        self.text.clear();
        for row in 0..batch.num_rows() {
            self.text.push_str(&self.prefix);
            self.text.push_str(batch.kind(row).symbol());
            for (i, column) in columns.iter().enumerate() {
                self.text.push_str(if i == 0 { "[" } else { ", " });
                match column.is_null(row) {
                    true => self.text.push_str("null"),
                    false => column.write(row, &mut self.text),
                }
            }
            self.text.push_str(if columns.is_empty() { "[]\n" } else { "]\n" });
        }
        // One piece, so that lines of other subtasks do not come in between.
        self.output.write_all(self.text.as_bytes()).map_err(|e| self.io_error(e))
    }

    fn flush(&mut self) -> Result<(), RuntimeError> {
        self.output.flush().map_err(|e| self.io_error(e))
    }

    /// A line that was printed cannot be taken back: after a restart, those behind the last checkpoint come again.
    fn prepare(&mut self) -> Result<Option<SinkToken>, RuntimeError> {
        self.flush()?;
        Ok(None)
    }

    fn finish(&mut self) -> Result<(), RuntimeError> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

    use super::*;
    use crate::change_batch::RowKind;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_for_each_change() {
        let output = Shared::default();
        let mut writer = PrintWriter {
            output: Box::new(output.clone()),
            place: "standard output",
            prefix: "out> ".into(),
            table: "t".into(),
            zone: Zone::Utc,
            text: String::new(),
        };
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("a"), None]));
        let counts: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_from_iter([("name", names), ("n", counts)]).unwrap();
        let mut batch = ChangeBatch::insert_only(batch);
        batch.kinds = Some(vec![RowKind::UpdateBefore as i8, RowKind::UpdateAfter as i8, RowKind::Delete as i8].into());
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "out> -U[a, 1]\nout> +U[a, 2]\nout> -D[null, 3]\n");
    }
}
