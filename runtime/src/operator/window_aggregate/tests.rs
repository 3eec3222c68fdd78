use std::sync::Arc;

use arrow::array::{BooleanArray, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use tidemark_planner::stream_plan::{
    AggregateCall, AggregateFunction, GroupingSet, TimeWindow, WindowAssignment, WindowColumn, WindowKind,
};

use super::*;
use crate::metrics::OperatorMetrics;

/// Key, value, event time (ms).
pub(crate) type Row = (Option<&'static str>, Option<i64>, i64);

pub(crate) fn input_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("k", DataType::Utf8, true),
        Field::new("v", DataType::Int64, true),
        Field::new("ts", DataType::Timestamp(TimeUnit::Millisecond, None), true),
        Field::new("is_even", DataType::Boolean, true),
    ]))
}

pub(crate) fn batch_of(rows: &[Row]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.0).collect::<StringArray>()),
        Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>()),
        Arc::new(TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.2))),
        Arc::new(rows.iter().map(|row| row.1.map(|v| v % 2 == 0)).collect::<BooleanArray>()),
    ];
    RecordBatch::try_new(input_schema(), columns).unwrap()
}

pub(crate) fn aggregate(function: AggregateFunction, args: &[usize], result: DataType) -> AggregateCall {
    AggregateCall {
        function,
        args: args.to_vec(),
        distinct: false,
        filter: None,
        field: Arc::new(Field::new("result", result, true)),
        text: "AGG(v)".into(),
    }
}

pub(crate) fn count_star() -> AggregateCall {
    aggregate(AggregateFunction::Count, &[], DataType::Int64)
}

pub(super) fn by_time(kind: WindowKind, zone: Option<&str>) -> WindowAssignment {
    WindowAssignment::Time(TimeWindow { time_column: Some(2), kind, zone: zone.map(str::to_owned) })
}

pub(crate) fn node(window: WindowAssignment, keys: &[usize], aggregates: Vec<AggregateCall>) -> WindowAggregateNode {
    WindowAggregateNode {
        window,
        keys: keys.to_vec(),
        grouping_sets: vec![],
        aggregates,
        window_columns: vec![WindowColumn::Start, WindowColumn::End],
    }
}

/// An operator behind a watermark assigner with a fixed delay, and what it has emitted, a line a row.
pub(super) struct Pipeline {
    pub(super) operator: WindowAggregate,
    pub(super) metrics: Arc<OperatorMetrics>,
    delay_ms: i64,
    watermark: i64,
    pub(super) rows: Vec<String>,
}

impl Pipeline {
    pub(super) fn new(node: &WindowAggregateNode, delay_ms: i64) -> Self {
        Self::over(&input_schema(), node, delay_ms, 8192)
    }

    pub(super) fn over(schema: &SchemaRef, node: &WindowAggregateNode, delay_ms: i64, batch_size: usize) -> Self {
        let mut fields: Vec<Field> = node.keys.iter().map(|key| schema.field(*key).clone()).collect();
        if node.grouping_sets.iter().any(|set| set.id > 0) {
            fields.push(Field::new("__grouping_id", DataType::Int64, false));
        }
        fields.extend(node.aggregates.iter().map(|call| call.field.as_ref().clone()));
        let zone = match &node.window {
            WindowAssignment::Time(window) => window.zone.clone(),
            WindowAssignment::Attached { zone, .. } => zone.clone(),
        };
        fields.extend(node.window_columns.iter().map(|column| {
            let zone = if *column == WindowColumn::Time { zone.clone() } else { None };
            Field::new("window", DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into)), false)
        }));
        let mut operator = WindowAggregate::new(node, schema, &Arc::new(Schema::new(fields))).unwrap();
        let metrics = Arc::new(OperatorMetrics::new("window-aggregate-1"));
        let context = OperatorContext::single(batch_size, Arc::clone(&metrics));
        operator.open(&context).unwrap();
        Self { operator, metrics, delay_ms, watermark: i64::MIN, rows: Vec::new() }
    }

    /// A batch, with the watermark that each row met where one is behind it, then the watermark.
    pub(super) fn feed(&mut self, rows: &[Row]) {
        let mut met = Vec::new();
        let before = self.watermark;
        for row in rows {
            met.push(self.watermark);
            self.watermark = self.watermark.max(row.2 - self.delay_ms);
        }
        let is_behind = rows.iter().zip(&met).any(|(row, met)| row.2 <= *met);
        let mut batch = ChangeBatch::insert_only(batch_of(rows));
        batch.row_watermarks = is_behind.then(|| met.into());
        self.process(batch, 0);
        if self.watermark > before {
            self.advance(self.watermark);
        }
    }

    pub(super) fn process(&mut self, batch: ChangeBatch, now_ms: i64) {
        let mut out = Output::default();
        self.operator.process(0, batch, now_ms, &mut out).unwrap();
        assert!(out.is_empty(), "windows fire at watermarks and timers only");
    }

    pub(super) fn advance(&mut self, watermark: i64) {
        let mut out = Output::default();
        assert_eq!(self.operator.on_watermark(Watermark(watermark), &mut out).unwrap(), Watermark(watermark));
        self.take(out);
    }

    pub(super) fn end(&mut self) {
        self.advance(i64::MAX);
        let mut out = Output::default();
        self.operator.finish(&mut out).unwrap();
        self.take(out);
    }

    pub(super) fn take(&mut self, mut out: Output) {
        let options = FormatOptions::new().with_null("NULL");
        for batch in out.drain() {
            assert!(batch.kinds.is_none() && batch.row_watermarks.is_none());
            let columns = batch.batch.columns();
            let formatters: Vec<_> =
                columns.iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap()).collect();
            for row in 0..batch.num_rows() {
                let cells: Vec<String> = formatters.iter().map(|f| f.value(row).to_string()).collect();
                self.rows.push(cells.join(" ").replace("1970-01-01T", ""));
            }
        }
    }

    pub(super) fn late_rows(&self) -> u64 {
        self.metrics.late_rows.load(Ordering::Relaxed)
    }
}

fn tumble(seconds: i64) -> WindowKind {
    WindowKind::Tumble { size_ms: seconds * 1000, offset_ms: 0 }
}

/// `COUNT(*)` per 10 s with a delay of 5 s; times in seconds.
fn count_of_10s() -> Pipeline {
    Pipeline::new(&node(by_time(tumble(10), None), &[], vec![count_star()]), 5000)
}

fn at(seconds: i64) -> Row {
    (Some("a"), Some(seconds), seconds * 1000)
}

#[test]
fn a_window_waits_for_the_watermark_or_the_end() {
    let mut pipeline = count_of_10s();
    pipeline.feed(&[at(1), at(3)]);
    assert!(pipeline.rows.is_empty());
    pipeline.feed(&[(None, None, 14_998)]);
    assert!(pipeline.rows.is_empty(), "the watermark is 9.998");
    pipeline.end();
    assert_eq!(pipeline.rows, ["2 00:00:00 00:00:10", "1 00:00:10 00:00:20"]);

    let mut pipeline = count_of_10s();
    pipeline.feed(&[at(1), (None, None, 14_999)]);
    assert_eq!(pipeline.rows, ["1 00:00:00 00:00:10"]);
}

#[test]
fn a_late_row_is_counted_with_the_delays_that_would_have_kept_it() {
    for batch in [1, 3] {
        let mut pipeline = count_of_10s();
        [at(1), at(20), at(2)].chunks(batch).for_each(|rows| pipeline.feed(rows));
        pipeline.end();
        assert_eq!(pipeline.rows, ["1 00:00:00 00:00:10", "1 00:00:20 00:00:30"]);
        assert_eq!(pipeline.late_rows(), 1);
        // The row of 2 s met the watermark 15 s. A delay of 18 s would have been at 2 s, and one of 10.002 s at
        // 9.998 s, before the last instant of its window.
        assert_eq!(5000 + pipeline.metrics.max_behind_ms.load(Ordering::Relaxed), 18_000);
        assert_eq!(5000 + pipeline.metrics.max_window_behind_ms.load(Ordering::Relaxed), 10_002);
        assert_eq!(pipeline.metrics.windows_fired.count(), 2);
    }
}

#[test]
fn a_row_behind_the_watermark_counts_while_its_window_is_open() {
    for batch in [1, 2, 4] {
        let mut pipeline = count_of_10s();
        [at(1), at(12), at(3), at(15)].chunks(batch).for_each(|rows| pipeline.feed(rows));
        assert_eq!(pipeline.rows, ["2 00:00:00 00:00:10"], "in the very step of the row of 15 s");
        assert_eq!(pipeline.late_rows(), 0);
    }
}

#[test]
fn a_hop_row_counts_in_the_windows_that_are_still_open() {
    let hour = 3_600_000;
    let kind = WindowKind::Hop { size_ms: hour, slide_ms: 60_000, offset_ms: 0 };
    for batch in [1, 2] {
        let mut pipeline = Pipeline::new(&node(by_time(kind, None), &[], vec![count_star()]), 0);
        let (first, behind) = ((None, None, 12 * hour + 5 * 60_000), (None, None, 12 * hour + 4 * 60_000 + 30_000));
        [first, behind].chunks(batch).for_each(|rows| pipeline.feed(rows));
        pipeline.end();
        // The first row is in 60 windows, ending 12:06 to 13:05; the second in those ending 12:05 to 13:04, of which
        // the one ending 12:05 has fired.
        assert_eq!(pipeline.rows.len(), 60);
        assert_eq!(pipeline.rows.iter().filter(|row| row.starts_with("2 ")).count(), 59);
        assert_eq!(pipeline.rows[0], "2 11:06:00 12:06:00");
        assert_eq!(pipeline.rows[59], "1 12:05:00 13:05:00");
        assert_eq!(pipeline.late_rows(), 0);
    }
}

#[test]
fn windows_around_1970() {
    let kind = WindowKind::Hop { size_ms: 10_000, slide_ms: 5_000, offset_ms: 0 };
    let mut pipeline = Pipeline::new(&node(by_time(kind, None), &[], vec![count_star()]), 0);
    pipeline.feed(&[(None, None, 2000)]);
    pipeline.end();
    assert_eq!(pipeline.rows, ["1 1969-12-31T23:59:55 00:00:05", "1 00:00:00 00:00:10"]);
}

#[test]
fn keys_come_in_the_order_of_arrival_and_null_is_one() {
    let calls = vec![count_star(), aggregate(AggregateFunction::Sum, &[1], DataType::Int64)];
    let mut pipeline = Pipeline::new(&node(by_time(tumble(10), None), &[0], calls), 0);
    pipeline.feed(&[(Some("b"), Some(1), 0), (None, None, 1), (Some("a"), Some(2), 2), (Some("b"), Some(3), 3)]);
    pipeline.end();
    let window = "00:00:00 00:00:10";
    assert_eq!(pipeline.rows, ["b 2 4", "NULL 1 NULL", "a 1 2"].map(|row| format!("{row} {window}")));
}

#[test]
fn cumulating_windows_grow() {
    let kind = WindowKind::Cumulate { max_size_ms: 30_000, step_ms: 10_000, offset_ms: 0 };
    for batch in [1, 5] {
        let mut pipeline = Pipeline::new(&node(by_time(kind, None), &[], vec![count_star()]), 0);
        // At watermark 12 s the window [0, 10) is complete: the row of 3 s counts in the other two.
        [at(1), at(12), at(3), at(25), at(31)].chunks(batch).for_each(|rows| pipeline.feed(rows));
        assert_eq!(pipeline.rows, ["1 00:00:00 00:00:10", "3 00:00:00 00:00:20", "4 00:00:00 00:00:30"]);
        pipeline.end();
        assert_eq!(pipeline.rows[3..], ["1 00:00:30 00:00:40", "1 00:00:30 00:00:50", "1 00:00:30 00:01:00"]);
        assert_eq!((pipeline.late_rows(), pipeline.metrics.windows_fired.count()), (0, 6));
    }
}

fn day_starts(zone: &str, instants: &[i64]) -> Vec<String> {
    let kind = WindowKind::Tumble { size_ms: 86_400_000, offset_ms: 0 };
    let mut node = node(by_time(kind, Some(zone)), &[], vec![count_star()]);
    node.window_columns.push(WindowColumn::Time);
    let mut pipeline = Pipeline::new(&node, 0);
    pipeline.feed(&instants.iter().map(|instant| (None, None, *instant)).collect::<Vec<_>>());
    pipeline.end();
    pipeline.rows
}

#[test]
fn days_start_at_midnight_of_the_zone() {
    let instant = [1_700_000_000_000];
    assert_eq!(day_starts("UTC", &instant), ["1 2023-11-14T00:00:00 2023-11-15T00:00:00 2023-11-14T23:59:59.999Z"]);
    assert_eq!(
        day_starts("Asia/Shanghai", &instant),
        ["1 2023-11-15T00:00:00 2023-11-16T00:00:00 2023-11-15T23:59:59.999+08:00"]
    );
}

/// Rows every hour from 2026-03-28 23:00 UTC (midnight in Berlin): a day of 23 hours, then one of 24;
/// and from 2026-10-24 22:00 UTC a day of 25.
#[test]
fn days_of_23_and_25_hours() {
    let hour = 3_600_000;
    let hours = |from: i64, n: i64| (0..n).map(|i| from + i * hour).collect::<Vec<_>>();
    assert_eq!(
        day_starts("Europe/Berlin", &hours(1_774_738_800_000, 24)),
        [
            "23 2026-03-29T00:00:00 2026-03-30T00:00:00 2026-03-29T23:59:59.999+02:00",
            "1 2026-03-30T00:00:00 2026-03-31T00:00:00 2026-03-30T23:59:59.999+02:00"
        ]
    );
    assert_eq!(
        day_starts("Europe/Berlin", &hours(1_792_879_200_000, 26)),
        [
            "25 2026-10-25T00:00:00 2026-10-26T00:00:00 2026-10-25T23:59:59.999+01:00",
            "1 2026-10-26T00:00:00 2026-10-27T00:00:00 2026-10-26T23:59:59.999+01:00"
        ]
    );
}

#[test]
fn grouping_sets() {
    let set = |first: bool, second: bool, id: u64| GroupingSet { present: vec![first, second], id };
    let mut node = node(by_time(tumble(10), None), &[0, 1], vec![count_star()]);
    node.grouping_sets = vec![set(true, true, 0), set(true, false, 1), set(false, false, 3)];
    let mut pipeline = Pipeline::new(&node, 0);
    pipeline.feed(&[(Some("a"), Some(1), 0), (Some("a"), Some(2), 1), (None, Some(1), 2), (Some("a"), Some(1), 3)]);
    pipeline.end();
    let expected = ["a 1 0 2", "a 2 0 1", "NULL 1 0 1", "a NULL 1 3", "NULL NULL 1 1", "NULL NULL 3 4"];
    assert_eq!(pipeline.rows, expected.map(|row| format!("{row} 00:00:00 00:00:10")));
}

#[test]
fn attached_windows_fire_in_the_order_of_their_ends() {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    let schema: SchemaRef =
        Arc::new(Schema::new(vec![Field::new("start", time.clone(), true), Field::new("end", time, true)]));
    let window = WindowAssignment::Attached { start: 0, end: 1, zone: None };
    let mut pipeline = Pipeline::over(&schema, &node(window, &[], vec![count_star()]), 0, 2);
    let times = |times: Vec<Option<i64>>| -> ArrayRef { Arc::new(TimestampMillisecondArray::from(times)) };
    let starts = times(vec![Some(0), Some(5000), Some(0), Some(0), None, Some(0)]);
    let ends = times(vec![Some(20_000), Some(10_000), Some(10_000), Some(20_000), Some(10_000), None]);
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![starts, ends]).unwrap();
    pipeline.process(ChangeBatch::insert_only(batch.clone()), 0);
    pipeline.advance(9_999);
    assert_eq!(pipeline.rows, ["1 00:00:00 00:00:10", "1 00:00:05 00:00:10"]);
    pipeline.process(ChangeBatch::insert_only(batch), 0);
    pipeline.end();
    assert_eq!(pipeline.rows[2..], ["4 00:00:00 00:00:20"]);
    assert_eq!(pipeline.late_rows(), 2);
    assert_eq!(pipeline.metrics.null_rowtime_rows.load(Ordering::Relaxed), 4);
}

#[test]
fn processing_time_windows_fire_by_the_clock_and_at_the_end() {
    let window = WindowAssignment::Time(TimeWindow { time_column: None, kind: tumble(10), zone: None });
    let mut pipeline = Pipeline::new(&node(window, &[], vec![count_star()]), 0);
    assert_eq!(pipeline.operator.next_timer_ms(), None);
    let batch = || ChangeBatch::insert_only(batch_of(&[at(1), at(2)]));
    pipeline.process(batch(), 9_999);
    assert_eq!(pipeline.operator.next_timer_ms(), Some(10_000));
    pipeline.process(batch(), 12_000);
    pipeline.advance(50_000);
    assert!(pipeline.rows.is_empty(), "event time has no say");
    let mut out = Output::default();
    pipeline.operator.on_processing_time(10_000, &mut out).unwrap();
    pipeline.take(out);
    assert_eq!(pipeline.rows, ["2 00:00:00 00:00:10"]);
    assert_eq!(pipeline.operator.next_timer_ms(), Some(20_000));
    pipeline.end();
    assert_eq!(pipeline.rows[1..], ["2 00:00:10 00:00:20"]);
}

#[test]
fn rows_without_time_are_dropped_and_counted() {
    let mut pipeline = count_of_10s();
    let batch = batch_of(&[at(1), at(2), at(3)]);
    let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![None, Some(2000), None]));
    let mut columns = batch.columns().to_vec();
    columns[2] = times;
    pipeline.process(ChangeBatch::insert_only(RecordBatch::try_new(batch.schema(), columns).unwrap()), 0);
    pipeline.end();
    assert_eq!(pipeline.rows, ["1 00:00:00 00:00:10"]);
    assert_eq!(pipeline.metrics.null_rowtime_rows.load(Ordering::Relaxed), 2);
}

#[test]
fn output_batches_keep_to_the_size() {
    let node = node(by_time(tumble(1), None), &[1], vec![count_star()]);
    let mut pipeline = Pipeline::over(&input_schema(), &node, 100_000, 4);
    pipeline.feed(&(0..30).map(|i| (None, Some(i), i * 300)).collect::<Vec<_>>());
    let mut out = Output::default();
    pipeline.operator.on_watermark(Watermark::MAX, &mut out).unwrap();
    let sizes: Vec<usize> = out.drain().map(|batch| batch.num_rows()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 30);
    assert!(sizes.iter().all(|size| (1..=4).contains(size)), "{sizes:?}");
}

#[test]
fn overflow_is_told_when_the_window_fires() {
    let calls = vec![aggregate(AggregateFunction::Sum, &[1], DataType::Int64)];
    let mut pipeline = Pipeline::new(&node(by_time(tumble(10), None), &[], calls), 0);
    pipeline.feed(&[(None, Some(i64::MAX), 0), (None, Some(1), 1)]);
    let error = pipeline.operator.on_watermark(Watermark::MAX, &mut Output::default()).unwrap_err();
    assert_eq!(error.to_string(), "integer overflow in `AGG(v)`");
}

#[test]
fn absurd_times_are_refused() {
    let mut pipeline = count_of_10s();
    let batch = ChangeBatch::insert_only(batch_of(&[(None, None, i64::MIN)]));
    let error = pipeline.operator.process(0, batch, 0, &mut Output::default()).unwrap_err();
    assert!(error.to_string().contains("-9223372036854775808 ms is more than 36 million years"), "{error}");
}
