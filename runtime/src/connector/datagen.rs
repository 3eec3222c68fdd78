//! `datagen`: rows made up by rule. Row i depends on the options and on i alone.
//!
//! `'fields.<column>.kind' = 'random'` (the default) draws between `.min` and `.max`, or `.length` characters;
//! `'sequence'` counts from `.start` to `.end` and ends the table there. `.null-rate` is the share of NULLs.
//! A timestamp, unlike in Flink, is not the time of day at which the row is made: row i has `.start` plus i times
//! `.interval`, less up to `.max-past` at random, which makes rows that are out of order. By default it starts at
//! 2020-01-01 00:00:00 and the interval is what `rows-per-second` comes to. A date is the day of such a time.
//!
//! Without `number-of-rows` or a sequence the table has no end and gives 10000 rows a second unless told otherwise;
//! with one of them it gives its rows as fast as they are taken, unless `rows-per-second` is given.

mod column;
mod options;
mod pace;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::OptionSpec;
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;

use super::{
    Connector, RowPosition, SinkCommitter, SinkOwner, SinkRequest, SinkWriter, Source, SourcePoll, SourceRequest,
    SplitPosition, SplitReader, only_read,
};
use crate::error::{OperatorError, RuntimeError};
use crate::metrics::SourceMetrics;
use options::Recipe;
use pace::Pace;

/// The only split.
const SPLIT: &str = "generator";

/// The connector.
#[derive(Debug)]
pub struct DatagenConnector;

impl ConnectorFactory for DatagenConnector {
    fn name(&self) -> &'static str {
        "datagen"
    }

    fn options(&self) -> Vec<OptionSpec> {
        options::specs()
    }

    fn check_table(&self, table: &TableDef) -> Result<(), OptionError> {
        Recipe::of(table).map(|_| ())
    }

    fn source(&self, table: &TableDef) -> Result<SourceInfo, OptionError> {
        let bounded = Recipe::of(table)?.rows.is_some();
        Ok(SourceInfo { bounded, changelog: ChangelogMode::Append })
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Err(only_read(self.name()))
    }
}

impl Connector for DatagenConnector {
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        Ok(Box::new(DatagenSource { request }))
    }

    fn open_sink(&self, _request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        Err(RuntimeError::Unsupported(only_read(self.name()).message))
    }

    fn open_committer(&self, _table: &TableDef, _owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

struct DatagenSource {
    request: SourceRequest,
}

impl Source for DatagenSource {
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
        let recipe = Recipe::of(&self.request.table).map_err(|e| RuntimeError::Unsupported(e.message))?;
        let row = RowPosition::read(position, &self.request.table.name, SPLIT)?;
        let pace = recipe.rows_per_second.map(|rows| Pace::start(rows, row));
        Ok(Box::new(DatagenReader { request: self.request.clone(), recipe, pace, row }))
    }
}

struct DatagenReader {
    request: SourceRequest,
    recipe: Recipe,
    pace: Option<Pace>,
    /// The next row.
    row: u64,
}

impl SplitReader for DatagenReader {
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError> {
        let mut end = self.row.saturating_add(self.request.batch_size as u64).min(self.recipe.rows.unwrap_or(u64::MAX));
        if self.row >= end {
            return Ok(SourcePoll::Finished);
        }
        if let Some(pace) = &self.pace {
            end = end.min(pace.rows_due());
            if self.row >= end {
                return Ok(SourcePoll::Pending { retry_after_ms: Some(pace.wait_ms(self.row)) });
            }
        }
        let rows = self.row..end;
        self.row = end;
        let fields = self.request.projection.fields().iter();
        let columns: Vec<ArrayRef> =
            fields.filter_map(|f| self.recipe.column(f.name())).map(|c| c.rows(rows.clone())).collect();
        let options = RecordBatchOptions::new().with_row_count(Some((rows.end - rows.start) as usize));
        let batch = RecordBatch::try_new_with_options(self.request.projection.clone(), columns, &options);
        Ok(SourcePoll::Batch(batch.map_err(OperatorError::from)?))
    }

    fn position(&self) -> SplitPosition {
        SplitPosition::of(&RowPosition { row: self.row })
    }
}
