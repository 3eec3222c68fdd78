//! A window table function by itself: each row with the bounds of its windows, one output row a window.
//!
//! ```text
//! TUMBLE 10 s    (a, 00:07)  ->  (a, 00:07, 00:00, 00:10, 00:09.999)
//! ```
//!
//! No row is late here: nothing waits for the watermark. Kinds and row watermarks go with the rows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{Array, ArrayRef, RecordBatch, TimestampMillisecondArray, UInt32Array};
use arrow::compute;
use arrow::datatypes::{DataType, SchemaRef};
use tidemark_planner::stream_plan::WindowTvfNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::{Operator, OperatorContext, Output};
use crate::aggregate::group_table::of_type;
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;
use crate::window::{Window, Windows, Zone, event_times, range_of};

/// Runs a [`WindowTvfNode`].
pub struct WindowTvf {
    time_column: Option<usize>,
    windows: Windows,
    zone: Zone,
    schema: SchemaRef,
    context: Option<OperatorContext>,
}

impl WindowTvf {
    /// `output_schema` is that of the input and the three window columns. Fails when the windows cannot be had.
    pub fn new(node: &WindowTvfNode, output_schema: &SchemaRef) -> Result<Self, OperatorError> {
        Ok(Self {
            time_column: node.window.time_column,
            windows: Windows::new(&node.window.kind)?,
            zone: Zone::new(node.window.zone.as_deref())?,
            schema: SchemaRef::clone(output_schema),
            context: None,
        })
    }

    /// The rows that have an event time; the others are counted.
    fn with_time(&self, batch: ChangeBatch) -> Result<ChangeBatch, OperatorError> {
        let Some(column) = self.time_column else { return Ok(batch) };
        let time = batch.batch.column(column);
        if time.null_count() == 0 {
            return Ok(batch);
        }
        if let Some(context) = &self.context {
            context.metrics.null_rowtime_rows.fetch_add(time.null_count() as u64, Ordering::Relaxed);
        }
        Ok(batch.filter(&compute::is_not_null(time)?)?)
    }

    /// For each window of each row: the row's index and the window.
    fn windows_of_rows(&self, batch: &ChangeBatch, now_ms: i64) -> Result<(Vec<u32>, Vec<Window>), OperatorError> {
        let walls = match self.time_column {
            Some(column) => {
                let instants = event_times(batch.batch.column(column).as_ref())?;
                range_of(&instants)?;
                self.zone.walls_of(&instants)
            }
            None => vec![self.zone.wall_of(now_ms); batch.num_rows()].into(),
        };
        let (mut rows, mut windows) = (Vec::with_capacity(walls.len()), Vec::with_capacity(walls.len()));
        for (row, wall) in walls.iter().enumerate() {
            for end in self.windows.ends_of(*wall).into_iter().flat_map(|ends| ends.iter()) {
                rows.push(row as u32);
                windows.push(self.windows.window_ending_at(end));
            }
        }
        Ok((rows, windows))
    }

    fn window_columns(&self, windows: &[Window]) -> Result<[ArrayRef; 3], OperatorError> {
        let mut complete = (i64::MIN, i64::MIN);
        let last_instants = windows.iter().map(|window| {
            if complete.0 != window.end {
                complete = (window.end, self.zone.last_instant_before(window.end));
            }
            complete.1
        });
        let times = self.timestamps(2, last_instants.collect())?;
        let starts = self.timestamps(0, windows.iter().map(|window| window.start).collect())?;
        let ends = self.timestamps(1, windows.iter().map(|window| window.end).collect())?;
        Ok([starts, ends, times])
    }

    /// The window column `which` of the three.
    fn timestamps(&self, which: usize, values: Vec<i64>) -> Result<ArrayRef, OperatorError> {
        let data_type = self.schema.field(self.schema.fields().len() - 3 + which).data_type();
        let zone = match data_type {
            DataType::Timestamp(_, zone) => zone.clone(),
            _ => None,
        };
        of_type(Arc::new(TimestampMillisecondArray::from(values).with_timezone_opt(zone)), data_type)
    }
}

impl Operator for WindowTvf {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.context = Some(ctx.clone());
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        vec![]
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        Ok(OperatorSnapshot::default())
    }

    fn restore(&mut self, _snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        now_ms: i64,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let batch = self.with_time(batch)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let (rows, windows) = self.windows_of_rows(&batch, now_ms)?;
        let batch = if self.windows.is_tumbling() { batch } else { batch.take(&UInt32Array::from(rows))? };
        let mut columns = batch.batch.columns().to_vec();
        columns.extend(self.window_columns(&windows)?);
        let limit = self.context.as_ref().map_or(usize::MAX, |context| context.batch_size.max(1));
        let batch = batch.with_columns(RecordBatch::try_new(SchemaRef::clone(&self.schema), columns)?);
        for start in (0..batch.num_rows()).step_by(limit) {
            out.emit(batch.slice(start, limit.min(batch.num_rows() - start)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
