use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::Array;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use proptest::prelude::*;
use tidemark_planner::stream_plan::{AggregateCall, AggregateFunction, WindowAssignment, WindowKind};

use super::*;
use crate::change_batch::ChangeBatch;
use crate::element::Watermark;
use crate::metrics::OperatorMetrics;
use crate::operator::window_aggregate::tests::{Row, aggregate, batch_of, count_star, input_schema, node};
use crate::operator::{Operator, OperatorContext, Output};

pub(super) const GAP_MS: i64 = 10;

pub(super) fn calls() -> Vec<AggregateCall> {
    use AggregateFunction::*;
    let list_agg = ListAgg { separator: ",".into() };
    vec![
        count_star(),
        aggregate(Sum, &[1], DataType::Int64),
        aggregate(Max, &[1], DataType::Int64),
        aggregate(FirstValue, &[1], DataType::Int64),
        aggregate(LastValue, &[1], DataType::Int64),
        aggregate(list_agg, &[1], DataType::Utf8),
        AggregateCall { distinct: true, ..aggregate(Count, &[1], DataType::Int64) },
        AggregateCall { filter: Some(3), ..count_star() },
    ]
}

/// An operator behind a watermark assigner with a fixed delay that attaches every row's watermark, and what the
/// operator has emitted, a line a row.
struct Pipeline {
    operator: SessionAggregate,
    metrics: Arc<OperatorMetrics>,
    delay_ms: i64,
    watermark: i64,
    rows: Vec<String>,
}

impl Pipeline {
    fn new(delay_ms: i64) -> Self {
        let window = TimeWindow { time_column: Some(2), kind: WindowKind::Session { gap_ms: GAP_MS }, zone: None };
        let node = node(WindowAssignment::Time(window.clone()), &[0], calls());
        let mut fields = vec![input_schema().field(0).clone()];
        fields.extend(node.aggregates.iter().map(|call| call.field.as_ref().clone()));
        let bound = || Field::new("bound", DataType::Timestamp(TimeUnit::Millisecond, None), false);
        fields.extend([bound(), bound()]);
        let output = Arc::new(Schema::new(fields));
        let mut operator = SessionAggregate::of_node(&node, &window, &input_schema(), &output).unwrap();
        let metrics = Arc::new(OperatorMetrics::new("window-aggregate-1"));
        operator.open(&OperatorContext::single(3, Arc::clone(&metrics))).unwrap();
        Self { operator, metrics, delay_ms, watermark: i64::MIN, rows: vec![] }
    }

    /// Rows that do not carry the watermark they met: they are ahead of it.
    fn feed_ahead(&mut self, rows: &[Row]) {
        let mut out = Output::default();
        self.operator.process(0, ChangeBatch::insert_only(batch_of(rows)), 0, &mut out).unwrap();
        self.advance(rows[rows.len() - 1].2 - 1);
    }

    fn feed(&mut self, rows: &[Row]) {
        let mut met = vec![];
        for row in rows {
            met.push(self.watermark);
            self.watermark = self.watermark.max(row.2 - self.delay_ms);
        }
        let mut batch = ChangeBatch::insert_only(batch_of(rows));
        batch.row_watermarks = Some(met.into());
        let mut out = Output::default();
        self.operator.process(0, batch, 0, &mut out).unwrap();
        assert!(out.is_empty(), "sessions close at watermarks only");
        self.advance(self.watermark);
    }

    fn advance(&mut self, watermark: i64) {
        let mut out = Output::default();
        self.operator.on_watermark(Watermark(watermark), &mut out).unwrap();
        let options = FormatOptions::new().with_null("NULL");
        for batch in out.drain() {
            assert!(batch.num_rows() <= 3, "batches are not larger than asked for");
            let columns = batch.batch.columns().iter();
            // Times as numbers: ms since 1970.
            let columns: Vec<ArrayRef> = columns
                .map(|c| match c.data_type() {
                    DataType::Timestamp(_, _) => arrow::compute::cast(c, &DataType::Int64).unwrap(),
                    _ => ArrayRef::clone(c),
                })
                .collect();
            let cells: Vec<_> =
                columns.iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options).unwrap()).collect();
            let line = |row| cells.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join(" ");
            self.rows.extend((0..batch.num_rows()).map(line));
        }
    }
}

/// A session of the model: rows in the order of their arrival.
#[derive(Clone, Debug)]
struct ModelSession {
    key: Option<&'static str>,
    start: i64,
    end: i64,
    /// When its first row arrived.
    first: usize,
    rows: Vec<(usize, Option<i64>)>,
}

impl ModelSession {
    fn line(&self) -> String {
        let mut rows = self.rows.clone();
        rows.sort_unstable();
        let values: Vec<i64> = rows.iter().filter_map(|(_, value)| *value).collect();
        let text = |value: Option<i64>| value.map_or("NULL".to_string(), |value| value.to_string());
        let list: Vec<String> = values.iter().map(i64::to_string).collect();
        let mut distinct = values.clone();
        distinct.sort_unstable();
        distinct.dedup();
        [
            self.key.unwrap_or("NULL").to_string(),
            rows.len().to_string(),
            text((!values.is_empty()).then(|| values.iter().sum())),
            text(values.iter().max().copied()),
            text(values.first().copied()),
            text(values.last().copied()),
            if list.is_empty() { "NULL".into() } else { list.join(",") },
            distinct.len().to_string(),
            values.iter().filter(|value| *value % 2 == 0).count().to_string(),
            self.start.to_string(),
            self.end.to_string(),
        ]
        .join(" ")
    }
}

/// Row by row, all open sessions are looked through. Sessions that a row's watermark closes leave before the next row,
/// by end and then by their first row.
fn model(rows: &[Row], delay_ms: i64) -> (Vec<String>, u64) {
    let (mut watermark, mut late) = (i64::MIN, 0);
    let mut open: Vec<ModelSession> = vec![];
    let mut lines = vec![];
    let mut close = |open: &mut Vec<ModelSession>, watermark: i64| {
        let (mut due, rest): (Vec<_>, Vec<_>) = open.drain(..).partition(|session| session.end - 1 <= watermark);
        due.sort_by_key(|session| (session.end, session.first));
        lines.extend(due.iter().map(ModelSession::line));
        *open = rest;
    };
    for (number, (key, value, time)) in rows.iter().enumerate() {
        let mut own =
            ModelSession { key: *key, start: *time, end: time + GAP_MS, first: number, rows: vec![(number, *value)] };
        let is_joined = |s: &ModelSession| s.key == *key && s.start <= time + GAP_MS && *time <= s.end;
        let (joined, rest): (Vec<_>, Vec<_>) = open.drain(..).partition(is_joined);
        open = rest;
        if joined.is_empty() && own.end - 1 <= watermark {
            late += 1;
        } else {
            for session in joined {
                own.start = own.start.min(session.start);
                own.end = own.end.max(session.end);
                own.first = own.first.min(session.first);
                own.rows.extend(session.rows);
            }
            open.push(own);
        }
        watermark = watermark.max(time - delay_ms);
        close(&mut open, watermark);
    }
    close(&mut open, i64::MAX);
    (lines, late)
}

fn run(rows: &[Row], delay_ms: i64, batch_size: usize) -> (Vec<String>, u64) {
    let mut pipeline = Pipeline::new(delay_ms);
    rows.chunks(batch_size).for_each(|rows| pipeline.feed(rows));
    pipeline.advance(i64::MAX);
    let late = pipeline.metrics.late_rows.load(Ordering::Relaxed);
    assert_eq!(pipeline.metrics.windows_fired.count(), pipeline.rows.len() as u64);
    (pipeline.rows, late)
}

pub(super) fn rows() -> impl Strategy<Value = Vec<Row>> {
    let key = prop_oneof![Just(Some("a")), Just(Some("b")), Just(None)];
    let row = (key, proptest::option::weighted(0.9, -9..9i64), 0..4i64, 0..25i64);
    proptest::collection::vec(row, 0..120).prop_map(|rows| {
        // Time goes on by 0 to 12 ms a row; every row is up to 25 ms behind.
        let mut now = 0;
        let place = |(key, value, step, behind): (_, _, i64, i64)| {
            now += step * 4;
            (key, value, now - behind)
        };
        rows.into_iter().map(place).collect()
    })
}

proptest! {
    /// For every batch size, the operator emits what the model does, in the same order when rows come one by one.
    #[test]
    fn the_model_agrees(rows in rows(), delay_ms in 0..30i64) {
        let (expected, late) = model(&rows, delay_ms);
        prop_assert_eq!(run(&rows, delay_ms, 1), (expected.clone(), late));
        let mut sorted = expected;
        sorted.sort_unstable();
        for batch_size in [2, 7, 1000] {
            let (mut emitted, late_rows) = run(&rows, delay_ms, batch_size);
            emitted.sort_unstable();
            prop_assert_eq!((&emitted, late_rows), (&sorted, late), "batches of {}", batch_size);
        }
    }
}

proptest! {
    /// Rows in the order of their times, as another window emits them, carry no watermark. A row right at the end of a
    /// session is then not in it, wherever batches end.
    #[test]
    fn rows_without_a_watermark_are_ahead_of_it(mut rows in rows()) {
        rows.sort_by_key(|row| row.2);
        let mut sessions: Vec<ModelSession> = vec![];
        for (number, (key, value, time)) in rows.iter().enumerate() {
            let (end, row) = (time + GAP_MS, (number, *value));
            match sessions.iter_mut().rfind(|session| session.key == *key) {
                Some(session) if *time < session.end => {
                    session.end = end;
                    session.rows.push(row);
                }
                _ => sessions.push(ModelSession { key: *key, start: *time, end, first: number, rows: vec![row] }),
            }
        }
        sessions.sort_by_key(|session| (session.end, session.first));
        let expected: Vec<String> = sessions.iter().map(ModelSession::line).collect();
        for batch_size in [1, 2, 7, 1000] {
            let mut pipeline = Pipeline::new(0);
            rows.chunks(batch_size).for_each(|rows| pipeline.feed_ahead(rows));
            pipeline.advance(i64::MAX);
            prop_assert_eq!(&pipeline.rows, &expected, "batches of {}", batch_size);
        }
    }
}

#[test]
fn parts_of_a_long_session_are_joined() {
    // Every other row comes first, then those between: each bridges two sessions.
    let first = |i: i64| i * (2 * GAP_MS - 1);
    let times = (0..100).map(first).chain((0..100).map(|i| first(i) + GAP_MS));
    let rows: Vec<Row> = times.enumerate().map(|(i, time)| (Some("a"), Some(i as i64), time)).collect();
    let (expected, _) = model(&rows, 10_000);
    assert_eq!(expected.len(), 1);
    for batch_size in [1, 7, 1000] {
        assert_eq!(run(&rows, 10_000, batch_size), (expected.clone(), 0));
    }
}

#[test]
fn closed_sessions_and_their_keys_leave_nothing() {
    let mut pipeline = Pipeline::new(0);
    let keys: Vec<&'static str> = (0..500).map(|i| &*Box::leak(format!("key {i}").into_boxed_str())).collect();
    // One session stays open all the time.
    for round in 0..40i64 {
        let start = round * 100;
        let mut rows: Vec<Row> = vec![(Some("open"), Some(1), start)];
        rows.extend(keys.iter().map(|key| (Some(*key), Some(1), start)));
        rows.extend((1..100 / GAP_MS).map(|i| (Some("open"), Some(1), start + i * GAP_MS)));
        pipeline.feed(&rows);
    }
    let held = pipeline.operator.sessions().held();
    assert!(held.iter().all(|count| *count < 200), "keys, slots and parts of one open session: {held:?}");
    assert_eq!(pipeline.rows.len(), 500 * 40);
    pipeline.advance(i64::MAX);
    assert_eq!(pipeline.operator.sessions().held(), [0, 0, 0]);
    let open: Vec<&String> = pipeline.rows.iter().filter(|row| row.starts_with("open ")).collect();
    assert_eq!(open.len(), 1);
    assert!(open[0].starts_with("open 400 400 1 "), "COUNT, SUM and MAX: {}", open[0]);
}

#[test]
fn late_rows_alone_do_not_fill_memory() {
    let mut pipeline = Pipeline::new(0);
    pipeline.feed(&[(Some("now"), Some(1), 1_000_000)]);
    for i in 0..1000 {
        let key: &'static str = Box::leak(format!("key {i}").into_boxed_str());
        pipeline.feed(&[(Some(key), Some(1), 0)]);
    }
    assert_eq!(pipeline.metrics.late_rows.load(Ordering::Relaxed), 1000);
    assert!(pipeline.operator.sessions().held()[0] < 200);
}
