//! Orders the rows of a bounded input when it has ended.
//!
//! **Invariant:** what is ordered is the final relation: a row that was taken back is not there.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::row::{OwnedRow, RowConverter, SortField};
use tidemark_planner::stream_plan::SortNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::order::{RowOrder, RowRef, emit_rows};
use super::state::RowState;
use crate::change_batch::{ChangeBatch, RowKind};
use crate::error::OperatorError;
use crate::operator::limit::RowWindow;
use crate::operator::{Operator, OperatorContext, Output};

/// Rows that a sort for the first few may collect before it forgets those that cannot be among them.
const MIN_ROWS_TO_PRUNE: u64 = 64 * 1024;

/// Which rows of the input belong to the relation in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldInput {
    /// All: nothing is ever taken back.
    Append,
    /// `-U` and `-D` take back one equal row.
    Retract,
    /// A row replaces the one with equal values in these columns; `-D` removes it.
    Upsert(Vec<usize>),
}

/// Sorts once.
#[derive(Debug)]
pub struct SortAtEnd {
    order: RowOrder,
    window: RowWindow,
    fold: FoldInput,
    batches: Vec<ChangeBatch>,
    rows: u64,
    state: RowState,
    batch_size: usize,
}

impl SortAtEnd {
    /// A sort of rows of `schema`.
    pub fn new(node: &SortNode, fold: FoldInput, schema: &SchemaRef) -> Result<Self, OperatorError> {
        Ok(Self {
            order: RowOrder::new(&node.keys, schema)?,
            window: RowWindow::new(node.offset, node.fetch),
            fold,
            batches: Vec::new(),
            rows: 0,
            state: RowState::new(schema),
            batch_size: usize::MAX,
        })
    }

    fn final_rows(&self) -> Result<Vec<RowRef>, ArrowError> {
        let columns: Vec<usize> = match (&self.fold, self.batches.first()) {
            (FoldInput::Append, _) => return Ok(all_rows(&self.batches)),
            (_, None) => return Ok(vec![]),
            (FoldInput::Retract, Some(first)) => (0..first.batch.num_columns()).collect(),
            (FoldInput::Upsert(key), _) => key.clone(),
        };
        fold(&self.batches, &columns, matches!(self.fold, FoldInput::Upsert(_)))
    }

    fn sorted(&self) -> Result<(Vec<&RecordBatch>, Vec<RowRef>), ArrowError> {
        let batches: Vec<_> = self.batches.iter().map(|b| &b.batch).collect();
        let mut rows = self.final_rows()?;
        self.order.sort(&batches, &mut rows)?;
        Ok((batches, rows))
    }

    /// Forgets rows that can no longer be among the first: only when none is ever taken back.
    fn prune(&mut self) -> Result<(), OperatorError> {
        let reach = self.window.reach();
        if self.fold != FoldInput::Append || self.rows < reach.saturating_mul(4).max(MIN_ROWS_TO_PRUNE) {
            return Ok(());
        }
        let (batches, mut rows) = self.sorted()?;
        rows.truncate(usize::try_from(reach).unwrap_or(usize::MAX));
        let mut kept = Output::default();
        emit_rows(&batches, &rows, self.batch_size, &mut RowWindow::new(0, None), &mut kept)?;
        self.rows = rows.len() as u64;
        self.batches = kept.drain().collect();
        Ok(())
    }
}

impl Operator for SortAtEnd {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.batch_size = ctx.batch_size;
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        vec![self.state.table().clone()]
    }

    /// Keeps the relation as it is now: what was taken back is not needed again.
    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        let batches: Vec<_> = self.batches.iter().map(|b| &b.batch).collect();
        Ok(OperatorSnapshot { tables: vec![self.state.write(&batches, &self.final_rows()?)?] })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        for rows in self.state.read(snapshot)? {
            self.rows += rows.num_rows() as u64;
            self.batches.push(ChangeBatch::insert_only(rows.clone()));
        }
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        _out: &mut Output,
    ) -> Result<(), OperatorError> {
        self.rows += batch.num_rows() as u64;
        self.batches.push(batch);
        self.prune()
    }

    fn finish(&mut self, out: &mut Output) -> Result<(), OperatorError> {
        let mut window = self.window;
        let (batches, rows) = self.sorted()?;
        emit_rows(&batches, &rows, self.batch_size, &mut window, out)?;
        self.batches.clear();
        Ok(())
    }

    fn is_satisfied(&self) -> bool {
        self.window.is_full()
    }
}

fn all_rows(batches: &[ChangeBatch]) -> Vec<RowRef> {
    let rows_of = |(index, batch): (usize, &ChangeBatch)| (0..batch.num_rows()).map(move |row| (index, row));
    batches.iter().enumerate().flat_map(rows_of).collect()
}

/// The rows that are left when every change has been applied, in order of arrival; what a row becomes stands in that
/// row's place, so that the order does not tell how many changes a batch has merged.
///
/// Equal rows are one kind of thing: of several, the last to come is the first to go.
fn fold(batches: &[ChangeBatch], columns: &[usize], replaces: bool) -> Result<Vec<RowRef>, ArrowError> {
    let schema = batches[0].batch.schema();
    let fields = columns.iter().map(|&c| SortField::new(schema.field(c).data_type().clone()));
    let converter = RowConverter::new(fields.collect())?;
    // With each row, the place it has: that of the first row that it goes back to.
    let mut present: HashMap<OwnedRow, Vec<(RowRef, RowRef)>> = HashMap::new();
    let mut vacated = None;
    for (index, batch) in batches.iter().enumerate() {
        let key_columns: Vec<_> = columns.iter().map(|&c| batch.batch.column(c).clone()).collect();
        let keys = converter.convert_columns(&key_columns)?;
        for row in 0..batch.num_rows() {
            let rows = present.entry(keys.row(row).owned()).or_default();
            let is_addition = batch.kind(row).is_addition();
            let mut place = None;
            if replaces || !is_addition {
                let taken_back = rows.pop();
                debug_assert!(replaces || taken_back.is_some(), "a row is taken back that is not there");
                place = taken_back.map(|(place, _)| place);
            }
            match batch.kind(row) {
                // `+U` follows its `-U` at once where there is one.
                RowKind::UpdateBefore => vacated = place,
                RowKind::UpdateAfter => rows.push((place.or(vacated.take()).unwrap_or((index, row)), (index, row))),
                RowKind::Insert => rows.push((place.unwrap_or((index, row)), (index, row))),
                RowKind::Delete => {}
            }
        }
    }
    let mut left: Vec<(RowRef, RowRef)> = present.into_values().flatten().collect();
    left.sort_unstable();
    Ok(left.into_iter().map(|(_, row)| row).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Int8Array;
    use tidemark_planner::stream_plan::SortKey;

    use super::*;
    use crate::metrics::OperatorMetrics;
    use crate::test_rows::{event_schema, events, times_of, values_of};

    fn sort(keys: &[SortKey], fold: FoldInput, offset: u64, fetch: Option<u64>) -> SortAtEnd {
        let node = SortNode { keys: keys.to_vec(), by_watermark: false, offset, fetch };
        let mut sort = SortAtEnd::new(&node, fold, &event_schema()).unwrap();
        let metrics = Arc::new(OperatorMetrics::new("sort-1"));
        sort.open(&OperatorContext::single(3, metrics)).unwrap();
        sort
    }

    fn key(column: usize, descending: bool, nulls_first: bool) -> SortKey {
        SortKey { column, descending, nulls_first }
    }

    fn feed(sort: &mut SortAtEnd, rows: &[(Option<i64>, i64)], kinds: Option<&[i8]>) {
        let mut batch = ChangeBatch::insert_only(events(rows.iter().copied()));
        batch.kinds = kinds.map(|k| Int8Array::from(k.to_vec()));
        sort.process(0, batch, 0, &mut Output::default()).unwrap();
    }

    fn finish(mut sort: SortAtEnd) -> Vec<(Option<i64>, i64)> {
        let mut out = Output::default();
        sort.finish(&mut out).unwrap();
        let batches: Vec<_> = out.drain().collect();
        assert!(batches.iter().all(|b| b.num_rows() <= 3 && b.kinds.is_none()));
        times_of(&batches).into_iter().zip(values_of(&batches)).collect()
    }

    #[test]
    fn orders_by_all_keys_nulls_where_asked_and_ties_by_arrival() {
        let mut sort = sort(&[key(0, true, false)], FoldInput::Append, 0, None);
        feed(&mut sort, &[(Some(1), 1), (None, 2), (Some(3), 3)], None);
        feed(&mut sort, &[(Some(1), 4), (Some(3), 5)], None);
        assert_eq!(finish(sort), [(Some(3), 3), (Some(3), 5), (Some(1), 1), (Some(1), 4), (None, 2)]);
    }

    #[test]
    fn offset_and_fetch_cut_the_sorted_rows() {
        let mut sort = sort(&[key(1, false, true)], FoldInput::Append, 1, Some(3));
        feed(&mut sort, &[(None, 5), (None, 2), (None, 4), (None, 1), (None, 3)], None);
        assert_eq!(finish(sort), [(None, 2), (None, 3), (None, 4)]);
    }

    #[test]
    fn rows_that_were_taken_back_are_not_there() {
        let (insert, before, after, delete) = (0, 1, 2, 3);
        let mut sort = sort(&[key(1, false, true)], FoldInput::Retract, 0, None);
        feed(&mut sort, &[(Some(1), 9), (Some(2), 2), (Some(2), 2)], Some(&[insert, insert, insert]));
        feed(&mut sort, &[(Some(1), 9), (Some(1), 1), (Some(2), 2)], Some(&[before, after, delete]));
        assert_eq!(finish(sort), [(Some(1), 1), (Some(2), 2)]);
    }

    #[test]
    fn without_keys_rows_keep_the_places_where_they_first_were() {
        let (insert, before, after) = (0, 1, 2);
        let mut sort = sort(&[], FoldInput::Retract, 0, Some(1));
        feed(&mut sort, &[(Some(1), 1), (Some(2), 1)], Some(&[insert, insert]));
        feed(&mut sort, &[(Some(1), 1), (Some(1), 2)], Some(&[before, after]));
        assert_eq!(finish(sort), [(Some(1), 2)]);
    }

    #[test]
    fn an_upsert_replaces_the_row_of_its_key() {
        let (insert, after, delete) = (0, 2, 3);
        let mut sort = sort(&[key(1, false, true)], FoldInput::Upsert(vec![0]), 0, None);
        feed(&mut sort, &[(Some(1), 9), (Some(2), 2), (Some(3), 3)], Some(&[insert, insert, insert]));
        feed(&mut sort, &[(Some(1), 1), (Some(3), 0)], Some(&[after, delete]));
        assert_eq!(finish(sort), [(Some(1), 1), (Some(2), 2)]);
    }

    #[test]
    fn a_sort_for_the_first_few_does_not_keep_the_rest() {
        let mut sort = sort(&[key(1, false, true)], FoldInput::Append, 0, Some(2));
        for start in (0..100_000i64).rev().step_by(1_000) {
            let rows: Vec<_> = (0..1_000).map(|i| (None, start - i)).collect();
            feed(&mut sort, &rows, None);
            assert!(sort.rows < MIN_ROWS_TO_PRUNE + 1_000);
        }
        assert_eq!(finish(sort), [(None, 0), (None, 1)]);
    }
}
