//! Joins of windows: rows of one window meet when it ends.
//!
//! ```text
//! TUMBLE 10 s, LEFT JOIN ON k       a (3, k=1), a (4, k=2), b (8, k=1)   ->   at watermark 9.999: (3, 8), (4, NULL)
//! ```
//!
//! **Invariant:** windows fire in the order of their ends, then of their starts. A row is late when its window had
//! fired before the watermark that it met: it is dropped and counted.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemark_planner::stream_plan::{JoinNode, JoinSide};
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::chunks::Chunks;
use super::keyed_join::{Arrival, KeyedJoin};
use super::plan::JoinPlan;
use super::row_store::RowTimes;
use super::state::{KeyedRows, StateRows};
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::event_time::EventTimes;
use crate::operator::state::EVENT_TIME;
use crate::operator::{Operator, OperatorContext, Output};
use crate::window::Zone;

/// Where the bounds of the windows stand.
#[derive(Clone, Debug)]
pub struct WindowColumns {
    /// `window_start`, in the left and in the right input.
    pub starts: [usize; 2],
    /// `window_end`.
    pub ends: [usize; 2],
    /// The zone in which they were aligned.
    pub zone: Option<String>,
}

/// End and start (ms, wall clock).
type Window = (i64, i64);

/// A window join.
#[derive(Debug)]
pub struct WindowJoin {
    /// How the rows of one window are joined; its inputs are the kept rows: keys, then columns.
    plan: Arc<JoinPlan>,
    inputs: [Input; 2],
    zone: Zone,
    /// The rows that wait, left and right.
    windows: BTreeMap<Window, [Chunks; 2]>,
    watermark: Watermark,
    context: Option<OperatorContext>,
}

/// One input: which of its columns are kept, and as what.
#[derive(Debug)]
struct Input {
    start: usize,
    end: usize,
    /// The keys, then the columns.
    columns: Vec<usize>,
    schema: SchemaRef,
    keys: usize,
    state: KeyedRows<2>,
}

/// Rows keep no time of their own in a window.
const IN_WINDOW: RowTimes = RowTimes { time_ms: 0, met_ms: i64::MIN, expires_ms: i64::MAX };

impl WindowJoin {
    /// A join of rows of these schemas.
    pub fn new(
        node: &JoinNode,
        windows: &WindowColumns,
        inputs: [&SchemaRef; 2],
        output: &SchemaRef,
    ) -> Result<Self, OperatorError> {
        let inputs = [0, 1].map(|side| Input::new(node, side, windows, inputs[side]));
        let inner = inner_node(node, windows);
        let plan = JoinPlan::new(&inner, [&inputs[0].schema, &inputs[1].schema], output);
        Ok(Self {
            plan: Arc::new(plan),
            inputs,
            zone: Zone::new(windows.zone.as_deref())?,
            windows: BTreeMap::new(),
            watermark: Watermark::MIN,
            context: None,
        })
    }

    fn context(&self) -> &OperatorContext {
        self.context.as_ref().expect("open comes before all other calls")
    }

    /// Lets rows wait for the end of their window.
    fn keep(&mut self, input: usize, window: Window, rows: RecordBatch) -> Result<(), OperatorError> {
        let types = |side: usize| -> Vec<DataType> {
            self.inputs[side].schema.fields().iter().map(|f| f.data_type().clone()).collect()
        };
        let new = || [Chunks::new(types(0)), Chunks::new(types(1))];
        let chunks = &mut self.windows.entry(window).or_insert_with(new)[input];
        chunks.append(rows.columns().to_vec(), rows.num_rows())?;
        Ok(chunks.merge_small()?)
    }

    /// The rows of each window, in the order of the windows; late ones are left out and counted.
    fn by_window(&self, input: usize, batch: &ChangeBatch) -> Result<BTreeMap<Window, Vec<u32>>, OperatorError> {
        let column = |column: usize| EventTimes::of(batch.batch.column(column));
        let (starts, ends) = (column(self.inputs[input].start)?, column(self.inputs[input].end)?);
        let metrics = &self.context().metrics;
        let mut windows: BTreeMap<Window, Vec<u32>> = BTreeMap::new();
        for row in 0..batch.num_rows() {
            let (Some(start), Some(end)) = (starts.get(row), ends.get(row)) else {
                metrics.null_rowtime_rows.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            let met = batch.row_watermarks.as_ref().map_or(i64::MIN, |w: &Int64Array| w.value(row));
            let met = met.max(self.watermark.0);
            let last = self.zone.last_instant_before(end);
            if met != i64::MIN && last <= met {
                metrics.late_rows.fetch_add(1, Ordering::Relaxed);
                metrics.max_behind_ms.fetch_max(met.saturating_sub(last), Ordering::Relaxed);
                let missed = met.saturating_sub(last).saturating_add(1);
                metrics.max_window_behind_ms.fetch_max(missed, Ordering::Relaxed);
                continue;
            }
            windows.entry((end, start)).or_default().push(row as u32);
        }
        Ok(windows)
    }

    /// Joins the rows of a window.
    fn fire(&self, rows: &[Chunks; 2], out: &mut Output) -> Result<(), OperatorError> {
        let batch_size = self.context().batch_size.max(1);
        let mut join = KeyedJoin::new(Arc::clone(&self.plan), true)?;
        // The right side first: every left row then meets all that it can match, in its own order.
        for input in [1, 0] {
            let all: Vec<u32> = (0..rows[input].len() as u32).collect();
            if all.is_empty() {
                continue;
            }
            let schema = &self.inputs[input].schema;
            let columns = rows[input].gather(0..schema.fields().len(), &all)?;
            let batch = ChangeBatch::insert_only(batch_of(schema, columns, all.len())?);
            let times = vec![Some(IN_WINDOW); all.len()];
            let arrival = Arrival { input, batch: &batch, times: Some(&times), watermark_ms: i64::MIN, batch_size };
            join.process(&arrival, out)?;
        }
        join.expire(i64::MAX, batch_size, out)
    }

    fn key_groups(&self) -> Vec<Option<u32>> {
        self.context().key_groups.clone().map(Some).collect()
    }
}

impl Operator for WindowJoin {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.context = Some(ctx.clone());
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.inputs.iter().map(|input| input.state.table().clone()).chain([EVENT_TIME.schema()]).collect()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        let max_parallelism = self.context().max_parallelism;
        let mut tables = vec![];
        for (side, input) in self.inputs.iter().enumerate() {
            let width = input.schema.fields().len();
            let (mut ends, mut starts, mut parts) = (vec![], vec![], vec![]);
            for ((end, start), rows) in &self.windows {
                let all: Vec<u32> = (0..rows[side].len() as u32).collect();
                ends.resize(ends.len() + all.len(), *end);
                starts.resize(starts.len() + all.len(), *start);
                parts.push(batch_of(&input.schema, rows[side].gather(0..width, &all)?, all.len())?);
            }
            let rows = compute::concat_batches(&input.schema, &parts)?;
            let (keys, columns) = rows.columns().split_at(input.keys);
            let len = ends.len();
            let rows = StateRows { numbers: [ends, starts], keys: keys.to_vec(), columns: columns.to_vec() };
            tables.push(input.state.write(rows, len, max_parallelism)?);
        }
        tables.push(EVENT_TIME.write(self.key_groups(), [self.watermark.0])?);
        Ok(OperatorSnapshot { tables })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        for side in 0..2 {
            let input = &self.inputs[side];
            let Some(StateRows { numbers: [ends, starts], keys, columns }) = input.state.read(snapshot)? else {
                continue;
            };
            let rows = batch_of(&input.schema, [keys, columns].concat(), ends.len())?;
            let mut windows: BTreeMap<Window, Vec<u32>> = BTreeMap::new();
            for (row, window) in (0..).zip(ends.into_iter().zip(starts)) {
                windows.entry(window).or_default().push(row);
            }
            for (window, indices) in windows {
                self.keep(side, window, compute::take_record_batch(&rows, &UInt32Array::from(indices))?)?;
            }
        }
        if let Some([watermark]) = EVENT_TIME.read_largest(snapshot)? {
            self.watermark = Watermark(watermark);
        }
        Ok(())
    }

    fn process(
        &mut self,
        input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        _out: &mut Output,
    ) -> Result<(), OperatorError> {
        let windows = self.by_window(input, &batch)?;
        let side = &self.inputs[input];
        let columns = side.columns.iter().map(|c| Arc::clone(batch.batch.column(*c))).collect();
        let rows = batch_of(&side.schema, columns, batch.num_rows())?;
        for (window, indices) in windows {
            let rows = match indices.len() == rows.num_rows() {
                true => rows.clone(),
                false => compute::take_record_batch(&rows, &UInt32Array::from(indices))?,
            };
            self.keep(input, window, rows)?;
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<Watermark, OperatorError> {
        self.watermark = self.watermark.max(watermark);
        let mut fired = vec![];
        while let Some(entry) = self.windows.first_entry() {
            let (end, start) = *entry.key();
            let last_instant = self.zone.last_instant_before(end);
            if last_instant > watermark.0 {
                break;
            }
            let rows = entry.remove();
            self.fire(&rows, out)?;
            fired.push((start, last_instant));
        }
        self.context().metrics.windows_fired.report(fired, watermark.0);
        Ok(watermark)
    }
}

impl Input {
    fn new(node: &JoinNode, side: usize, windows: &WindowColumns, schema: &SchemaRef) -> Self {
        let JoinSide { keys, columns, .. } = &node.sides[side];
        let kept: Vec<usize> = keys.iter().chain(columns).copied().collect();
        let fields: Vec<Field> = kept.iter().map(|c| schema.field(*c).clone().with_nullable(true)).collect();
        let name = format!("{} rows of windows, {}", ["left", "right"][side], node.join_type.name());
        let (key_fields, column_fields) = fields.split_at(keys.len());
        let numbers = ["window_end".to_owned(), "window_start".to_owned()];
        Self {
            start: windows.starts[side],
            end: windows.ends[side],
            columns: kept,
            state: KeyedRows::new(name, numbers, key_fields, column_fields),
            schema: Arc::new(Schema::new(fields)),
            keys: keys.len(),
        }
    }
}

/// The join of the rows of one window: over the kept columns, and without the window's bounds, which are all the same.
fn inner_node(node: &JoinNode, windows: &WindowColumns) -> JoinNode {
    let is_bound = |side: usize, key: usize| key == windows.starts[side] || key == windows.ends[side];
    let side = |index: usize| {
        let JoinSide { keys, columns, output, .. } = &node.sides[index];
        let places = (0..keys.len()).filter(|place| !is_bound(0, node.sides[0].keys[*place]));
        let width = keys.len();
        JoinSide {
            keys: places.collect(),
            columns: (width..width + columns.len()).collect(),
            output: *output,
            updating: false,
        }
    };
    let null_safe = node.null_safe.iter().zip(&node.sides[0].keys).filter(|(_, key)| !is_bound(0, **key));
    JoinNode { sides: [side(0), side(1)], null_safe: null_safe.map(|(safe, _)| *safe).collect(), ..node.clone() }
}

fn batch_of(
    schema: &SchemaRef,
    columns: Vec<arrow::array::ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, arrow::error::ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

#[cfg(test)]
mod tests;
