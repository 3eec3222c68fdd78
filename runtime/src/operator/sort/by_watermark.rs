//! Orders rows by event time while they flow.
//!
//! ```text
//! rows at 3, 1, 9, then watermark 5   ->   1, 3      (9 waits)
//! ```
//!
//! **Invariant:** a row leaves when the watermark reaches its event time, and no row leaves behind a later one. A
//! row that is at or behind the watermark when it arrives cannot keep that order: it is dropped and counted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::SortNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::order::{RowOrder, RowRef, emit_rows};
use super::state::RowState;
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::event_time::EventTimes;
use crate::metrics::OperatorMetrics;
use crate::operator::limit::RowWindow;
use crate::operator::state::NumberTable;
use crate::operator::{Operator, OperatorContext, Output};

const PROGRESS: NumberTable<2> = NumberTable { name: "progress", columns: ["watermark", "emitted"] };

/// Sorts by an ascending time attribute first.
#[derive(Debug)]
pub struct SortByWatermark {
    time_column: usize,
    order: RowOrder,
    window: RowWindow,
    state: RowState,
    watermark: Watermark,
    batches: BTreeMap<u64, Buffered>,
    next_batch: u64,
    /// Event time, batch and row of what waits; the earliest on top, in order of arrival within a time.
    waiting: BinaryHeap<Reverse<(i64, u64, usize)>>,
    batch_size: usize,
    metrics: Option<Arc<OperatorMetrics>>,
}

/// A batch with rows that wait.
#[derive(Debug)]
struct Buffered {
    rows: RecordBatch,
    waiting: usize,
}

impl SortByWatermark {
    /// A sort of rows of `schema`.
    pub fn new(node: &SortNode, schema: &SchemaRef) -> Result<Self, OperatorError> {
        Ok(Self {
            time_column: node.keys.first().map_or(0, |k| k.column),
            order: RowOrder::new(&node.keys, schema)?,
            window: RowWindow::new(node.offset, node.fetch),
            state: RowState::new(schema),
            watermark: Watermark::MIN,
            batches: BTreeMap::new(),
            next_batch: 0,
            waiting: BinaryHeap::new(),
            batch_size: usize::MAX,
            metrics: None,
        })
    }

    fn count_late(&self, event_time_ms: i64, watermark_ms: i64) {
        if let Some(metrics) = &self.metrics {
            metrics.late_rows.fetch_add(1, Ordering::Relaxed);
            let behind = watermark_ms.saturating_sub(event_time_ms);
            metrics.max_behind_ms.fetch_max(behind, Ordering::Relaxed);
        }
    }

    fn count_null(&self) {
        if let Some(metrics) = &self.metrics {
            metrics.null_rowtime_rows.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes out what the watermark has reached: (event time, batch, row), in order of time, then of arrival.
    fn reached(&mut self, watermark: Watermark) -> Vec<(u64, usize)> {
        let mut reached = Vec::new();
        while let Some(&Reverse((time, batch, row))) = self.waiting.peek() {
            if time > watermark.0 {
                break;
            }
            self.waiting.pop();
            reached.push((batch, row));
        }
        reached
    }

    /// Lets these rows of a batch wait; they come with their event times.
    fn buffer(&mut self, rows: RecordBatch, waiting: Vec<(i64, usize)>) {
        if waiting.is_empty() {
            return;
        }
        let id = self.next_batch;
        self.next_batch += 1;
        self.batches.insert(id, Buffered { rows, waiting: waiting.len() });
        self.waiting.extend(waiting.into_iter().map(|(time, row)| Reverse((time, id, row))));
    }

    /// The batches of waiting rows, and where in them the rows are.
    fn refs(&self, waiting: &[(u64, usize)]) -> (Vec<&RecordBatch>, Vec<RowRef>) {
        let mut ids: Vec<u64> = waiting.iter().map(|(batch, _)| *batch).collect();
        ids.sort_unstable();
        ids.dedup();
        let batches = ids.iter().filter_map(|id| self.batches.get(id).map(|b| &b.rows)).collect();
        let place = |id: &u64| ids.partition_point(|other| other < id);
        (batches, waiting.iter().map(|(batch, row)| (place(batch), *row)).collect())
    }

    fn emit(&mut self, reached: &[(u64, usize)], out: &mut Output) -> Result<(), OperatorError> {
        let (batches, mut rows) = self.refs(reached);
        self.order.sort(&batches, &mut rows)?;
        let mut window = self.window;
        emit_rows(&batches, &rows, self.batch_size, &mut window, out)?;
        self.window = window;
        for (batch, _) in reached {
            if let Some(buffered) = self.batches.get_mut(batch) {
                buffered.waiting -= 1;
                if buffered.waiting == 0 {
                    self.batches.remove(batch);
                }
            }
        }
        Ok(())
    }
}

impl Operator for SortByWatermark {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.batch_size = ctx.batch_size;
        self.metrics = Some(Arc::clone(&ctx.metrics));
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        vec![self.state.table().clone(), PROGRESS.schema()]
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        let mut waiting: Vec<_> = self.waiting.iter().map(|Reverse((_, batch, row))| (*batch, *row)).collect();
        waiting.sort_unstable();
        let (batches, rows) = self.refs(&waiting);
        let progress = PROGRESS.write([None], [self.watermark.0, self.window.position()])?;
        Ok(OperatorSnapshot { tables: vec![self.state.write(&batches, &rows)?, progress] })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        for rows in self.state.read(snapshot)? {
            let times = EventTimes::of(rows.column(self.time_column))?;
            let waiting = (0..rows.num_rows()).filter_map(|row| times.get(row).map(|time| (time, row)));
            self.buffer(rows.clone(), waiting.collect());
        }
        if let Some([watermark, position]) = PROGRESS.read_largest(snapshot)? {
            self.watermark = Watermark(watermark);
            self.window.go_to(position);
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
        let times = EventTimes::of(batch.batch.column(self.time_column))?;
        let met = |row: usize| batch.row_watermarks.as_ref().map_or(i64::MIN, |w: &Int64Array| w.value(row));
        let mut waiting = Vec::new();
        for row in 0..batch.num_rows() {
            let Some(time) = times.get(row) else {
                self.count_null();
                continue;
            };
            let watermark = self.watermark.0.max(met(row));
            if watermark != i64::MIN && time <= watermark {
                self.count_late(time, watermark);
            } else {
                waiting.push((time, row));
            }
        }
        self.buffer(batch.batch, waiting);
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<Watermark, OperatorError> {
        self.watermark = self.watermark.max(watermark);
        let reached = self.reached(watermark);
        if !reached.is_empty() {
            self.emit(&reached, out)?;
        }
        Ok(watermark)
    }

    fn is_satisfied(&self) -> bool {
        self.window.is_full()
    }
}

#[cfg(test)]
mod tests {
    use tidemark_planner::stream_plan::SortKey;

    use super::*;
    use crate::test_rows::{event_schema, events, times_of, values_of};

    fn sort(keys: &[(usize, bool)], offset: u64, fetch: Option<u64>) -> SortByWatermark {
        let keys = keys.iter().map(|&(column, descending)| SortKey { column, descending, nulls_first: false });
        let node = SortNode { keys: keys.collect(), by_watermark: true, offset, fetch };
        let mut sort = SortByWatermark::new(&node, &event_schema()).unwrap();
        let metrics = Arc::new(OperatorMetrics::new("sort-1"));
        sort.open(&OperatorContext::single(2, metrics)).unwrap();
        sort
    }

    fn feed(sort: &mut SortByWatermark, rows: &[(i64, i64)]) {
        let batch = ChangeBatch::insert_only(events(rows.iter().copied()));
        sort.process(0, batch, 0, &mut Output::default()).unwrap();
    }

    fn advance(sort: &mut SortByWatermark, watermark: i64) -> Vec<(i64, i64)> {
        let mut out = Output::default();
        assert_eq!(sort.on_watermark(Watermark(watermark), &mut out).unwrap(), Watermark(watermark));
        let batches: Vec<_> = out.drain().collect();
        assert!(batches.iter().all(|b| b.num_rows() <= 2));
        times_of(&batches).into_iter().flatten().zip(values_of(&batches)).collect()
    }

    #[test]
    fn rows_leave_in_order_when_the_watermark_reaches_them() {
        let mut sort = sort(&[(0, false)], 0, None);
        feed(&mut sort, &[(3, 1), (1, 2), (9, 3)]);
        feed(&mut sort, &[(2, 4), (3, 5)]);
        assert_eq!(advance(&mut sort, 3), [(1, 2), (2, 4), (3, 1), (3, 5)]);
        assert_eq!(advance(&mut sort, 8), []);
        assert_eq!(advance(&mut sort, i64::MAX), [(9, 3)]);
        assert!(sort.batches.is_empty());
    }

    #[test]
    fn further_keys_order_rows_of_one_time() {
        let mut sort = sort(&[(0, false), (1, true)], 0, None);
        feed(&mut sort, &[(1, 1), (0, 7), (1, 3), (1, 2)]);
        assert_eq!(advance(&mut sort, 1), [(0, 7), (1, 3), (1, 2), (1, 1)]);
    }

    #[test]
    fn rows_behind_the_watermark_are_dropped_and_counted() {
        let mut sort = sort(&[(0, false)], 0, None);
        advance(&mut sort, 5);
        feed(&mut sort, &[(5, 1), (6, 2), (2, 3)]);
        let mut met = ChangeBatch::insert_only(events([(7, 4), (8, 5)]));
        met.row_watermarks = Some(Int64Array::from(vec![7, 7]));
        sort.process(0, met, 0, &mut Output::default()).unwrap();
        assert_eq!(advance(&mut sort, 100), [(6, 2), (8, 5)]);
        let metrics = sort.metrics.as_ref().unwrap();
        assert_eq!(metrics.late_rows.load(Ordering::Relaxed), 3);
        assert_eq!(metrics.max_behind_ms.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn offset_and_fetch_count_over_all_watermarks() {
        let mut sort = sort(&[(0, false)], 1, Some(3));
        feed(&mut sort, &[(1, 1), (2, 2), (5, 5), (4, 4), (3, 3)]);
        assert_eq!(advance(&mut sort, 2), [(2, 2)]);
        assert!(!sort.is_satisfied());
        assert_eq!(advance(&mut sort, 9), [(3, 3), (4, 4)]);
        assert!(sort.is_satisfied());
    }
}
