//! Decided matches to output rows.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::match_recognize::{MatchColumn, MatchRows};

use super::found::{Found, Kind};
use super::measures::{Asked, Measures, OutputRow};
use super::rows::{RowId, RowStore};
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;
use crate::operator::Output;

/// Makes rows of matches.
#[derive(Debug)]
pub struct MatchOutput {
    rows: MatchRows,
    columns: Vec<MatchColumn>,
    measures: Measures,
    names: Vec<String>,
    schema: SchemaRef,
}

impl MatchOutput {
    /// Output rows of `schema`.
    pub fn new(
        rows: MatchRows,
        columns: Vec<MatchColumn>,
        measures: Measures,
        names: Vec<String>,
        schema: SchemaRef,
    ) -> Self {
        Self { rows, columns, measures, names, schema }
    }

    /// Emits what was found, at most `batch_size` rows at once unless a match has more.
    pub fn emit(
        &self,
        found: &Found,
        store: &RowStore,
        batch_size: usize,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let mut rows = vec![];
        for head in 0..found.heads.len() {
            self.add_rows(found, head, &mut rows);
            if rows.len() >= batch_size {
                out.emit(self.batch(found, store, &rows)?);
                rows.clear();
            }
        }
        if !rows.is_empty() {
            out.emit(self.batch(found, store, &rows)?);
        }
        Ok(())
    }

    fn add_rows(&self, found: &Found, head: usize, rows: &mut Vec<OutputRow>) {
        let match_ = &found.heads[head];
        if self.rows == MatchRows::One || match_.kind != Kind::Match {
            rows.push(OutputRow { head, seen: match_.len });
            return;
        }
        let labels = found.labels_of(match_).iter().enumerate();
        let shown = labels.filter(|(_, label)| !label.is_excluded());
        rows.extend(shown.map(|(at, _)| OutputRow { head, seen: at + 1 }));
    }

    fn batch(&self, found: &Found, store: &RowStore, rows: &[OutputRow]) -> Result<ChangeBatch, OperatorError> {
        let measures = self.measures.evaluate(Asked { store, names: &self.names, found, rows })?;
        let row_of = |row: &OutputRow| {
            let at = if self.rows == MatchRows::One { 0 } else { row.seen.saturating_sub(1) };
            found.row(&found.heads[row.head], at as i64)
        };
        let ids: Vec<RowId> = rows.iter().map(row_of).collect();
        let column = |column: &MatchColumn| -> Result<ArrayRef, OperatorError> {
            match column {
                MatchColumn::Input(column) => Ok(store.gather(*column, &ids)?),
                MatchColumn::Measure(measure) => Ok(ArrayRef::clone(&measures[*measure])),
            }
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options)?;
        Ok(ChangeBatch::insert_only(batch))
    }
}
