//! SESSION windows: rows of a key that are at most a gap apart.
//!
//! ```text
//! SESSION 60 s    rows at 0 s, 30 s, 600 s    watermark 89.999 s    ->    [0, 90) closes with 2 rows
//! ```
//!
//! [`aggregate::SessionAggregate`] gives a row a session, [`window::SessionWindow`] the session's rows. Both are a
//! [`operator::SessionOperator`], which takes rows through a [`SessionStream`] that knows the open sessions.

pub mod aggregate;
pub mod operator;
mod part_states;
mod sessions;
mod state;
pub mod window;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::{Array, ArrayRef, BooleanArray, TimestampMillisecondArray};
use arrow::buffer::ScalarBuffer;
use arrow::compute;
use arrow::datatypes::{DataType, SchemaRef};
use tidemark_planner::stream_plan::{TimeWindow, WindowColumn, WindowKind};

use self::sessions::{Closed, LATE, Sessions};
use crate::aggregate::group_table::of_type;
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;
use crate::metrics::OperatorMetrics;
use crate::window::late::LateRows;
use crate::window::{MAX_TIME_MS, Zone, event_times, range_of};

/// Rows on their way into sessions.
pub(crate) struct SessionStream {
    /// The event time column; `None` for processing time.
    time_column: Option<usize>,
    zone: Zone,
    key_columns: Vec<usize>,
    sessions: Sessions,
    /// The watermark of all inputs.
    watermark: i64,
}

/// Rows that are in a session, and in which part of it each is.
struct AssignedRows {
    batch: ChangeBatch,
    parts: Vec<u32>,
}

impl SessionStream {
    /// Sessions of these key columns of `schema`. Fails for a gap that times near it would overflow with.
    fn new(window: &TimeWindow, key_columns: &[usize], schema: &SchemaRef) -> Result<Self, OperatorError> {
        let WindowKind::Session { gap_ms } = window.kind else {
            unreachable!("{} is no session window", window.kind);
        };
        if !(1..=MAX_TIME_MS).contains(&gap_ms) {
            let limit = format!("the gap of a session must be positive and at most {MAX_TIME_MS} ms");
            return Err(OperatorError::Limit(limit));
        }
        let key_types = key_columns.iter().map(|key| schema.field(*key).data_type().clone()).collect();
        Ok(Self {
            time_column: window.time_column,
            zone: Zone::new(window.zone.as_deref())?,
            key_columns: key_columns.to_vec(),
            sessions: Sessions::new(gap_ms, key_types)?,
            watermark: i64::MIN,
        })
    }

    /// The rows of `batch` that have a time and are not late, in their sessions.
    fn assign(
        &mut self,
        batch: ChangeBatch,
        now_ms: i64,
        metrics: &OperatorMetrics,
    ) -> Result<AssignedRows, OperatorError> {
        let batch = self.with_time(batch, metrics)?;
        let (mut parts, mut late) = (Vec::with_capacity(batch.num_rows()), LateRows::default());
        if batch.num_rows() == 0 {
            return Ok(AssignedRows { batch, parts });
        }
        let times = self.times(&batch, now_ms)?;
        range_of(&times)?;
        let columns = batch.batch.columns();
        let keys: Vec<ArrayRef> = self.key_columns.iter().map(|key| ArrayRef::clone(&columns[*key])).collect();
        let (sessions, watermark) = (&mut self.sessions, self.watermark);
        match &batch.row_watermarks {
            Some(met) => {
                let met = met.values();
                sessions.assign(&keys, &times, |row| met[row].max(watermark), &mut parts, &mut late)?;
            }
            // The watermark that a row met is not known, only that the row is ahead of it. A session that ends right
            // where the row begins counts as closed: were the watermark there already, it would be.
            None => sessions.assign(&keys, &times, |row| watermark.max(times[row] - 1), &mut parts, &mut late)?,
        }
        if late.rows == 0 {
            return Ok(AssignedRows { batch, parts });
        }
        late.report(metrics);
        let in_time: BooleanArray = parts.iter().map(|part| Some(*part != LATE)).collect();
        parts.retain(|part| *part != LATE);
        Ok(AssignedRows { batch: batch.filter(&in_time)?, parts })
    }

    /// The rows that have an event time; the others are counted.
    fn with_time(&self, batch: ChangeBatch, metrics: &OperatorMetrics) -> Result<ChangeBatch, OperatorError> {
        let Some(column) = self.time_column else { return Ok(batch) };
        let time = batch.batch.column(column);
        if time.null_count() == 0 {
            return Ok(batch);
        }
        metrics.null_rowtime_rows.fetch_add(time.null_count() as u64, Ordering::Relaxed);
        Ok(batch.filter(&compute::is_not_null(time)?)?)
    }

    fn times(&self, batch: &ChangeBatch, now_ms: i64) -> Result<ScalarBuffer<i64>, OperatorError> {
        match self.time_column {
            Some(column) => event_times(batch.batch.column(column).as_ref()),
            None => Ok(vec![now_ms; batch.num_rows()].into()),
        }
    }

    fn is_processing_time(&self) -> bool {
        self.time_column.is_none()
    }

    /// A property of each session's window, as a column of that type.
    fn window_column(
        &self,
        closed: &[Closed],
        column: WindowColumn,
        data_type: &DataType,
    ) -> Result<ArrayRef, OperatorError> {
        let of_session = |session: &Closed| match column {
            WindowColumn::Start => self.zone.wall_of(session.start),
            WindowColumn::End => self.zone.wall_of(session.end),
            WindowColumn::Time => session.end - 1,
        };
        let zone = match data_type {
            DataType::Timestamp(_, zone) => zone.clone(),
            _ => None,
        };
        let times = TimestampMillisecondArray::from_iter_values(closed.iter().map(of_session));
        of_type(Arc::new(times.with_timezone_opt(zone)), data_type)
    }
}
