//! Joins of rows whose event times are not far apart: a row is kept while event time may still bring a match.
//!
//! ```text
//! LEFT JOIN ON a.ts BETWEEN b.ts - 5 AND b.ts + 5      a at 10, b at 14   ->   (10, 14) at once
//!                                                      a at 20            ->   (20, NULL) at watermark 25
//! ```
//!
//! **Invariant:** the output does not depend on which input was read first. A row behind the watermark still matches
//! those rows that are not done with at the watermark it met, and no others, whether or not they are still there; a
//! row that is done with itself is late: it is dropped and counted.
//!
//! The output's event times can be behind the watermark by as much as the interval reaches back: so much the output's
//! watermark is held back.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{BooleanArray, Int64Array};
use arrow::datatypes::SchemaRef;
use tidemark_planner::stream_plan::JoinNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::keyed_join::{Arrival, KeyedJoin};
use super::plan::{Interval, JoinPlan};
use super::row_store::RowTimes;
use super::state::SideState;
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::event_time::EventTimes;
use crate::metrics::OperatorMetrics;
use crate::operator::state::EVENT_TIME;
use crate::operator::{Operator, OperatorContext, Output};

/// An interval join.
#[derive(Debug)]
pub struct IntervalJoin {
    join: KeyedJoin,
    interval: Interval,
    time_columns: [usize; 2],
    states: [SideState; 2],
    watermark: Watermark,
    batch_size: usize,
    max_parallelism: u32,
    key_groups: Range<u32>,
    has_keys: bool,
    metrics: Option<Arc<OperatorMetrics>>,
}

/// What event time says of the rows of a batch.
struct JudgedRows {
    batch: ChangeBatch,
    /// None for a row without event time.
    times: Vec<Option<RowTimes>>,
}

impl IntervalJoin {
    /// A join of rows of these schemas, whose event times stand in these columns.
    pub fn new(
        node: &JoinNode,
        time_columns: [usize; 2],
        (lower_ms, upper_ms): (i64, i64),
        inputs: [&SchemaRef; 2],
        output: &SchemaRef,
    ) -> Result<Self, OperatorError> {
        let plan = Arc::new(JoinPlan::new(node, inputs, output));
        Ok(Self {
            interval: Interval { lower_ms, upper_ms },
            time_columns,
            states: [0, 1].map(|side| SideState::new(&plan, side)),
            has_keys: !plan.sides[0].side.keys.is_empty(),
            join: KeyedJoin::new(plan, true)?,
            watermark: Watermark::MIN,
            batch_size: usize::MAX,
            max_parallelism: 1,
            key_groups: 0..0,
            metrics: None,
        })
    }

    /// How far the event times of the output can be behind the watermark.
    fn delay_ms(&self) -> i64 {
        self.interval.lower_ms.saturating_neg().max(self.interval.upper_ms).max(0)
    }

    /// The watermark from which on a row at `time_ms` is late.
    fn late_from_ms(&self, side: usize, time_ms: i64) -> i64 {
        self.interval.expires_ms(side, time_ms).max(time_ms)
    }

    /// Drops late rows, and says until when the others are kept.
    fn judge(&self, input: usize, batch: ChangeBatch) -> Result<JudgedRows, OperatorError> {
        let event_times = EventTimes::of(batch.batch.column(self.time_columns[input]))?;
        let mut times = Vec::with_capacity(batch.num_rows());
        let mut late = Vec::new();
        for row in 0..batch.num_rows() {
            let Some(time_ms) = event_times.get(row) else {
                times.push(None);
                continue;
            };
            let met_ms = batch.row_watermarks.as_ref().map_or(i64::MIN, |w: &Int64Array| w.value(row));
            let met_ms = met_ms.max(self.watermark.0);
            if met_ms != i64::MIN && self.late_from_ms(input, time_ms) <= met_ms {
                self.count_late(input, time_ms, met_ms);
                late.push(row);
            }
            times.push(Some(RowTimes { time_ms, met_ms, expires_ms: self.interval.expires_ms(input, time_ms) }));
        }
        if late.is_empty() {
            return Ok(JudgedRows { batch, times });
        }
        let mut is_kept = vec![true; times.len()];
        late.iter().for_each(|row| is_kept[*row] = false);
        let mut kept = is_kept.iter();
        times.retain(|_| *kept.next().expect("one flag a row"));
        Ok(JudgedRows { batch: batch.filter(&BooleanArray::from(is_kept))?, times })
    }

    fn count_late(&self, input: usize, time_ms: i64, met_ms: i64) {
        if let Some(metrics) = &self.metrics {
            let missed_ms = met_ms.saturating_sub(self.late_from_ms(input, time_ms)).saturating_add(1);
            metrics.late_rows.fetch_add(1, Ordering::Relaxed);
            metrics.max_behind_ms.fetch_max(met_ms.saturating_sub(time_ms), Ordering::Relaxed);
            metrics.max_window_behind_ms.fetch_max(missed_ms, Ordering::Relaxed);
        }
    }
}

impl Operator for IntervalJoin {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.batch_size = ctx.batch_size.max(1);
        self.max_parallelism = ctx.max_parallelism;
        self.key_groups = ctx.key_groups.clone();
        self.metrics = Some(Arc::clone(&ctx.metrics));
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.states.iter().map(|state| state.table().clone()).chain([EVENT_TIME.schema()]).collect()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        let write = |(side, state): (usize, &SideState)| state.write(&self.join, side, self.max_parallelism);
        let mut tables = self.states.iter().enumerate().map(write).collect::<Result<Vec<_>, _>>()?;
        let groups: Vec<Option<u32>> =
            if self.has_keys { self.key_groups.clone().map(Some).collect() } else { vec![None] };
        tables.push(EVENT_TIME.write(groups, [self.watermark.0])?);
        Ok(OperatorSnapshot { tables })
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        for (side, state) in self.states.iter().enumerate() {
            state.read(snapshot, &mut self.join, side)?;
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
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let JudgedRows { batch, times } = self.judge(input, batch)?;
        let arrival = Arrival {
            input,
            batch: &batch,
            times: Some(&times),
            watermark_ms: self.watermark.0,
            batch_size: self.batch_size,
        };
        self.join.process(&arrival, out)
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<Watermark, OperatorError> {
        self.watermark = self.watermark.max(watermark);
        self.join.expire(self.watermark.0, self.batch_size, out)?;
        Ok(match watermark {
            Watermark::MAX => Watermark::MAX,
            Watermark(ms) => Watermark(ms.saturating_sub(self.delay_ms())),
        })
    }
}

#[cfg(test)]
mod tests;
