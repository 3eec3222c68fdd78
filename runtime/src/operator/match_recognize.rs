//! `MATCH_RECOGNIZE`: patterns among the rows of each key.
//!
//! ```text
//! PATTERN (A B) DEFINE A AS page = 'a', B AS page = 'b'      k at 3:55 a, k at 4:02 b      ->      one match of k
//! ```
//!
//! Rows wait for the watermark and are taken in order of time, ties in order of arrival. What each row can be is
//! decided for a whole batch at once ([`conditions`]); then the rows of each key go through the pattern's states
//! ([`cohorts`]) or, where conditions read the match, through attempts ([`attempt`]). Matches leave as soon as no later
//! row can change them.
//!
//! **Invariant:** what is emitted depends on the rows and their order alone. A key is forgotten with its last row,
//! unless the pattern asks for the partition's start or for match numbers.

mod advance;
mod attempt;
mod automaton;
mod closure;
mod cohorts;
mod conditions;
mod found;
mod keys;
mod measures;
mod output;
mod partition;
mod path;
mod path_conditions;
mod program;
mod release;
#[cfg(test)]
mod restore_tests;
mod rows;
mod schedule;
mod search;
mod skip;
mod state;
mod values;

use std::sync::atomic::Ordering;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use tidemark_planner::stream_plan::match_recognize::MatchRecognizeNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::sort::order::RowOrder;
use super::{Operator, OperatorContext, Output};
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::error::OperatorError;
use crate::event_time::EventTimes;
use conditions::RowConditions;
use keys::Keys;
use measures::Measures;
use output::MatchOutput;
use path_conditions::PathConditions;
use program::Program;
use release::{ReleaseBuffer, Waiting};
use rows::{RowId, RowStore};
use schedule::Schedule;
use search::{SearchSettings, Searcher};
use state::MatchState;

/// Runs a [`MatchRecognizeNode`].
pub struct MatchRecognize {
    partition_by: Vec<usize>,
    time_column: Option<usize>,
    by_watermark: bool,
    /// Orders rows further than by millisecond and arrival.
    order: Option<RowOrder>,
    order_columns: Vec<usize>,
    conditions: RowConditions,
    searcher: Searcher,
    output: MatchOutput,
    store: RowStore,
    waiting: ReleaseBuffer,
    keys: Keys,
    schedule: Schedule,
    watermark: Watermark,
    /// The watermark given to consumers.
    given: Watermark,
    /// How many rows in front of those needed are kept.
    keep: u64,
    /// How many rows the conditions look ahead.
    ahead: u64,
    /// Must a key be remembered when it has no rows?
    keeps_keys: bool,
    state: MatchState,
    context: Option<OperatorContext>,
}

impl MatchRecognize {
    /// An operator over rows of `input`. Fails when the node asks for what cannot be compared or aggregated.
    pub fn new(node: &MatchRecognizeNode, input: &SchemaRef, output: &SchemaRef) -> Result<Self, OperatorError> {
        let row_conditions = RowConditions::new(&node.variables, input);
        let path_conditions = PathConditions::new(&node.variables, input, node.time_column)?;
        let measures = Measures::new(&node.measures, input, node.time_column);
        let program = Program::compile(&node.pattern, path_conditions.variables());
        let back = [row_conditions.reach.0, path_conditions.reach.0, measures.reach.0].into_iter().max().unwrap_or(0);
        let ahead = row_conditions.reach.1.max(path_conditions.reach.1);
        let names: Vec<String> = node.variables.iter().map(|variable| variable.name.clone()).collect();
        let is_finer = node.time_column.is_some_and(|column| {
            matches!(
                input.field(column).data_type(),
                DataType::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _)
            )
        });
        let needs_order = !node.by_watermark || node.order_by.len() > 1 || is_finer;
        let keeps_keys = program.has_start || node.reads_match_number;
        let settings = SearchSettings {
            within_ms: node.within_ms,
            skip: node.skip.clone(),
            skip_leniently: node.skip_leniently,
            rows: node.rows,
            reach: measures.reach,
            time_column: node.time_column,
        };
        Ok(Self {
            partition_by: node.partition_by.clone(),
            time_column: node.time_column,
            by_watermark: node.by_watermark,
            order: needs_order.then(|| RowOrder::new(&node.order_by, input)).transpose()?,
            order_columns: node.order_by.iter().map(|key| key.column).collect(),
            conditions: row_conditions,
            output: MatchOutput::new(node.rows, node.output.clone(), measures, names, SchemaRef::clone(output)),
            store: RowStore::new(SchemaRef::clone(input)),
            waiting: ReleaseBuffer::default(),
            keys: Keys::new(node.partition_by.iter().map(|c| input.field(*c).data_type().clone()).collect())?,
            schedule: Schedule::default(),
            watermark: Watermark::MIN,
            given: Watermark::MIN,
            keep: u64::from(back),
            ahead: u64::from(ahead),
            keeps_keys,
            state: MatchState::new(node, input),
            searcher: Searcher::new(program, path_conditions, settings),
            context: None,
        })
    }

    /// Lets the rows of a batch wait, all but those that come too late.
    fn wait(&mut self, batch: &ChangeBatch) -> Result<(), OperatorError> {
        let times = match self.time_column {
            Some(column) => Some(EventTimes::of(batch.batch.column(column))?),
            None => None,
        };
        let keys: Vec<ArrayRef> =
            self.partition_by.iter().map(|column| ArrayRef::clone(batch.batch.column(*column))).collect();
        let rows = batch.num_rows();
        let kept: Vec<(usize, i64)> = match &times {
            Some(times) => (0..rows).filter_map(|row| Some((row, self.time_of(row, times, batch)?))).collect(),
            None => (0..rows).map(|row| (row, i64::MIN)).collect(),
        };
        if kept.is_empty() {
            return Ok(());
        }
        let slots = self.keys.find(&keys, rows)?;
        let chunk = self.store.add(batch.batch.clone(), kept.len());
        for (row, time) in kept {
            let slot = slots[row];
            self.keys.expect_row(slot);
            self.waiting.push(time, slot, RowStore::id(chunk, row));
        }
        Ok(())
    }

    /// The time of a row; `None` when it has none or comes too late, which is counted.
    fn time_of(&self, row: usize, times: &EventTimes, batch: &ChangeBatch) -> Option<i64> {
        let metrics = self.context.as_ref().map(|context| &context.metrics);
        let Some(time) = times.get(row) else {
            if !self.by_watermark {
                return Some(i64::MIN);
            }
            if let Some(metrics) = metrics {
                metrics.null_rowtime_rows.fetch_add(1, Ordering::Relaxed);
            }
            return None;
        };
        if !self.by_watermark {
            return Some(time);
        }
        let met = batch.row_watermarks.as_ref().map_or(i64::MIN, |met: &Int64Array| met.value(row));
        let watermark = self.watermark.0.max(met);
        if watermark == i64::MIN || time > watermark {
            return Some(time);
        }
        if let Some(metrics) = metrics {
            let behind = watermark.saturating_sub(time);
            metrics.late_rows.fetch_add(1, Ordering::Relaxed);
            metrics.max_behind_ms.fetch_max(behind, Ordering::Relaxed);
        }
        None
    }

    /// Takes the rows that `watermark` has reached, in order.
    fn release(&mut self, watermark: i64) -> Result<Vec<Waiting>, OperatorError> {
        let mut released = vec![];
        self.waiting.release(watermark, &mut released);
        let Some(order) = &self.order else { return Ok(released) };
        if released.len() < 2 {
            return Ok(released);
        }
        let rows: Vec<RowId> = released.iter().map(|waiting| waiting.row).collect();
        let columns = self.order_columns.iter().map(|column| self.store.gather(*column, &rows));
        let places = order.sorted_places(&columns.collect::<Result<Vec<_>, _>>()?)?;
        Ok(places.into_iter().map(|place| released[place]).collect())
    }

    /// The watermark for consumers: no match that is emitted later is at or before it.
    fn watermark_behind(&mut self, watermark: Watermark) -> Watermark {
        let hold = self.schedule.earliest_hold(&self.keys);
        let held = hold.map_or(watermark.0, |hold| watermark.0.min(hold.saturating_sub(1)));
        self.given = self.given.max(Watermark(held));
        self.given
    }
}

impl Operator for MatchRecognize {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.context = Some(ctx.clone());
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.state.tables()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        self.write_state()
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        self.read_state(snapshot)
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        _out: &mut Output,
    ) -> Result<(), OperatorError> {
        self.wait(&batch)
    }

    fn on_watermark(&mut self, watermark: Watermark, out: &mut Output) -> Result<Watermark, OperatorError> {
        self.watermark = self.watermark.max(watermark);
        if self.by_watermark {
            self.advance(watermark, false, out)?;
        }
        Ok(self.watermark_behind(watermark))
    }

    fn finish(&mut self, out: &mut Output) -> Result<(), OperatorError> {
        self.advance(self.watermark, true, out)
    }
}
