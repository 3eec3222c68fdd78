//! `memory`: tables that the program around the engine fills with batches. Nothing is copied.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::{OptionKind, OptionSpec};
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;

use super::{
    Connector, RowPosition, SinkCommitter, SinkOwner, SinkRequest, SinkWriter, Source, SourcePoll, SourceRequest,
    SplitPosition, SplitReader, only_read,
};
use crate::error::{OperatorError, RestoreError, RuntimeError};
use crate::format::nearest::did_you_mean;
use crate::metrics::SourceMetrics;
use tidemark_planner::types::sql_name;

const TABLE: &str = "table";

/// The only split.
const SPLIT: &str = "memory";

/// Batches by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryTables {
    tables: Arc<Mutex<BTreeMap<String, Arc<[RecordBatch]>>>>,
}

impl MemoryTables {
    /// Puts `batches` under `name`, in place of what was there. All must have the same columns.
    pub fn set(&self, name: impl Into<String>, batches: Vec<RecordBatch>) {
        self.lock().insert(name.into(), batches.into());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<[RecordBatch]>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, table: &TableDef) -> Result<Arc<[RecordBatch]>, OptionError> {
        let name = table.options.get(TABLE).unwrap_or("");
        let tables = self.lock();
        tables.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = tables.keys().collect();
            OptionError::new(TABLE, format!("no rows are held in memory under '{name}'{}", did_you_mean(name, &known)))
        })
    }
}

/// The connector.
#[derive(Debug)]
pub struct MemoryConnector {
    tables: MemoryTables,
}

impl MemoryConnector {
    /// Reads `tables`.
    pub fn new(tables: MemoryTables) -> Self {
        Self { tables }
    }
}

impl ConnectorFactory for MemoryConnector {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![OptionSpec {
            key: TABLE,
            kind: OptionKind::Text,
            required: true,
            help: "the name the rows are held under",
        }]
    }

    fn check_table(&self, _table: &TableDef) -> Result<(), OptionError> {
        Ok(())
    }

    fn source(&self, table: &TableDef) -> Result<SourceInfo, OptionError> {
        let batches = self.tables.get(table)?;
        for batch in batches.iter() {
            for field in table.physical_schema().fields() {
                let held = batch.schema_ref().field_with_name(field.name()).map_err(|_| {
                    OptionError::new(TABLE, format!("the rows held in memory have no column '{}'", field.name()))
                })?;
                if held.data_type() != field.data_type() {
                    let (name, declared) = (field.name(), sql_name(field.data_type()));
                    let held = sql_name(held.data_type());
                    let message = format!("column '{name}' is declared {declared} but holds {held}");
                    return Err(OptionError::new(TABLE, message));
                }
            }
        }
        Ok(SourceInfo { bounded: true, changelog: ChangelogMode::Append })
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Err(only_read(self.name()))
    }
}

impl Connector for MemoryConnector {
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        let batches = self.tables.get(&request.table).map_err(|e| RuntimeError::Unsupported(e.message))?;
        Ok(Box::new(MemorySource { batches, request }))
    }

    fn open_sink(&self, _request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        Err(RuntimeError::Unsupported(only_read(self.name()).message))
    }

    fn open_committer(&self, _table: &TableDef, _owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

struct MemorySource {
    batches: Arc<[RecordBatch]>,
    request: SourceRequest,
}

impl Source for MemorySource {
    fn splits(&self) -> Vec<String> {
        vec![SPLIT.into()]
    }

    fn not_resumable_because(&self) -> Option<&'static str> {
        None
    }

    fn open_split(
        &self,
        _index: usize,
        position: Option<&SplitPosition>,
        _metrics: Arc<SourceMetrics>,
    ) -> Result<Box<dyn SplitReader>, RuntimeError> {
        let (batches, request) = (self.batches.clone(), self.request.clone());
        let table = &request.table.name;
        let given = RowPosition::read(position, table, SPLIT)?;
        let held: u64 = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        if given > held {
            let reason = format!("{held} rows are held in memory, but {given} had been read");
            return Err(RestoreError::Position { table: table.clone(), split: SPLIT.into(), reason }.into());
        }
        let (mut batch, mut row) = (0, given);
        while let Some(rows) = batches.get(batch).map(|b| b.num_rows() as u64).filter(|rows| row >= *rows) {
            row -= rows;
            batch += 1;
        }
        Ok(Box::new(MemoryReader { batches, request, batch, row: row as usize, given }))
    }
}

struct MemoryReader {
    batches: Arc<[RecordBatch]>,
    request: SourceRequest,
    /// Where the next row is.
    batch: usize,
    row: usize,
    /// Rows given so far.
    given: u64,
}

impl SplitReader for MemoryReader {
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError> {
        while let Some(batch) = self.batches.get(self.batch) {
            let length = self.request.batch_size.min(batch.num_rows() - self.row);
            if length == 0 {
                self.batch += 1;
                self.row = 0;
                continue;
            }
            let slice = batch.slice(self.row, length);
            self.row += length;
            self.given += length as u64;
            let wanted = self.request.projection.fields().iter();
            let columns = wanted.map(|f| slice.schema_ref().index_of(f.name())).collect::<Result<Vec<_>, _>>();
            let projected = columns.and_then(|columns| slice.project(&columns)).map_err(OperatorError::from)?;
            return projected
                .with_schema(self.request.projection.clone())
                .map(SourcePoll::Batch)
                .map_err(|e| OperatorError::from(e).into());
        }
        Ok(SourcePoll::Finished)
    }

    fn position(&self) -> SplitPosition {
        SplitPosition::of(&RowPosition { row: self.given })
    }
}

#[cfg(test)]
mod tests;
