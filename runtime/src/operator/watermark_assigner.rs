//! Derives the watermark from rows, and marks rows that are behind it.
//!
//! ```text
//! WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
//! ts (s):                      1    20    2    16
//! watermark before the row:    -    -4   15    15
//! behind (ts <= watermark):                yes
//! ```
//!
//! **Invariant:** the watermark is the largest value that the expression has given so far. Each row is judged
//! against what the rows before it gave, as if it came alone: how rows are cut into batches changes nothing.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{BooleanArray, Int64Array};
use arrow::buffer::BooleanBuffer;
use tidemark_planner::stream_plan::{NullRowtime, WatermarkNode};
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::state::NumberTable;
use super::{Operator, OperatorContext, Output};
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::event_time::EventTimes;
use crate::metrics::OperatorMetrics;

/// One row: the state belongs to a split, which whoever keeps it knows.
const WATERMARK: NumberTable<1> = NumberTable { name: "watermark", columns: ["watermark"] };

/// Evaluates a [`WatermarkNode`] for one split.
#[derive(Debug)]
pub struct WatermarkAssigner {
    node: WatermarkNode,
    watermark: i64,
    /// The last watermark that it has told.
    told: i64,
    metrics: Option<Arc<OperatorMetrics>>,
}

impl WatermarkAssigner {
    /// Knows nothing yet.
    pub fn new(node: &WatermarkNode) -> Self {
        Self { node: node.clone(), watermark: Watermark::MIN.0, told: Watermark::MIN.0, metrics: None }
    }

    /// Rows that have an event time, with their event times.
    fn with_event_time(&self, batch: ChangeBatch) -> Result<(ChangeBatch, EventTimes), OperatorError> {
        let times = EventTimes::of(batch.batch.column(self.node.rowtime))?;
        let Some(nulls) = &times.nulls else { return Ok((batch, times)) };
        if self.node.null_rowtime == NullRowtime::Fail {
            let (table, column) = (self.node.table.clone(), self.node.rowtime_name.clone());
            return Err(OperatorError::NullRowtime { table, column });
        }
        if let Some(metrics) = &self.metrics {
            metrics.null_rowtime_rows.fetch_add(nulls.null_count() as u64, Ordering::Relaxed);
        }
        let batch = batch.filter(&BooleanArray::new(nulls.inner().clone(), None))?;
        let times = EventTimes::of(batch.batch.column(self.node.rowtime))?;
        Ok((batch, times))
    }

    fn record_delay(&self, event_time_ms: i64, watermark_ms: i64) {
        if let Some(metrics) = &self.metrics {
            let delay = event_time_ms.saturating_sub(watermark_ms);
            metrics.watermark_delay_ms.fetch_max(delay, Ordering::Relaxed);
        }
    }
}

impl Operator for WatermarkAssigner {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.metrics = Some(Arc::clone(&ctx.metrics));
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        vec![WATERMARK.schema()]
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        Ok(OperatorSnapshot { tables: vec![WATERMARK.write([None], [self.watermark])?] })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        if let Some([watermark]) = WATERMARK.read_largest(snapshot)? {
            self.watermark = watermark;
        }
        Ok(())
    }

    /// A split that is read on from some place has the watermark of the rows before.
    fn on_watermark(&mut self, watermark: Watermark, _out: &mut Output) -> Result<Watermark, OperatorError> {
        self.watermark = self.watermark.max(watermark.0);
        self.told = self.told.max(watermark.0);
        Ok(watermark)
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let (mut batch, times) = self.with_event_time(batch)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let given = EventTimes::of(&self.node.expr.evaluate(&batch.batch)?)?;
        let given = without_nulls(&given);
        let before = self.watermark;
        let pass = follow(before, &times.ms, &given);
        if pass.is_behind || self.node.always_attach {
            batch.row_watermarks = Some(watermarks_met(before, &given));
        }
        if let Some(row) = pass.last_advance {
            self.watermark = given[row];
            self.record_delay(times.ms[row], self.watermark);
        }
        out.emit(batch);
        if self.watermark > self.told {
            self.told = self.watermark;
            out.advance_watermark(Watermark(self.watermark));
        }
        Ok(())
    }
}

/// What a batch does to the watermark.
struct Pass {
    /// Is some row at or behind the watermark that it met?
    is_behind: bool,
    /// The last row that raised the watermark.
    last_advance: Option<usize>,
}

/// One pass over the rows, in order: no more than a comparison and a maximum each.
fn follow(before: i64, times: &[i64], given: &[i64]) -> Pass {
    let (mut watermark, mut is_behind) = (before, false);
    for (&time, &given) in times.iter().zip(given) {
        is_behind |= time <= watermark;
        watermark = watermark.max(given);
    }
    let last_advance = (watermark > before).then(|| given.iter().position(|&g| g == watermark)).flatten();
    Pass { is_behind, last_advance }
}

/// The watermark that each row met.
fn watermarks_met(before: i64, given: &[i64]) -> Int64Array {
    let met = given.iter().scan(before, |watermark, &given| {
        let met = *watermark;
        *watermark = met.max(given);
        Some(met)
    });
    Int64Array::from_iter_values(met)
}

/// The values, with "no watermark" where the expression gave NULL.
fn without_nulls(given: &EventTimes) -> Cow<'_, [i64]> {
    match &given.nulls {
        None => given.ms.as_ref().into(),
        Some(nulls) => mask(&given.ms, nulls.inner()).into(),
    }
}

fn mask(values: &[i64], valid: &BooleanBuffer) -> Vec<i64> {
    values.iter().zip(valid).map(|(&v, valid)| if valid { v } else { Watermark::MIN.0 }).collect()
}

#[cfg(test)]
mod tests;
