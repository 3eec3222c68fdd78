use arrow::array::{AsArray, Int64Array};
use arrow::datatypes::{Field, Int64Type, Schema, TimeUnit, TimestampMillisecondType};
use std::sync::Arc;
use tidemark_planner::stream_plan::{TimeWindow, WindowKind};

use super::*;
use crate::change_batch::{RowKind, uniform_kinds};
use crate::metrics::OperatorMetrics;

fn timestamp(zone: Option<&str>) -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, zone.map(Into::into))
}

/// Input `(v, ts)`; `v` is the number of the row.
fn tvf(kind: WindowKind, zone: Option<&str>, batch_size: usize) -> (WindowTvf, SchemaRef, Arc<OperatorMetrics>) {
    let input = vec![Field::new("v", DataType::Int64, true), Field::new("ts", timestamp(zone), true)];
    let windows = [("window_start", None), ("window_end", None), ("window_time", zone)]
        .map(|(name, zone)| Field::new(name, timestamp(zone), false));
    let output = Arc::new(Schema::new(input.iter().cloned().chain(windows).collect::<Vec<_>>()));
    let window = TimeWindow { time_column: Some(1), kind, zone: zone.map(str::to_owned) };
    let mut tvf = WindowTvf::new(&WindowTvfNode { window, partition: vec![] }, &output).unwrap();
    let metrics = Arc::new(OperatorMetrics::new("window-tvf-1"));
    tvf.open(&OperatorContext::single(batch_size, Arc::clone(&metrics))).unwrap();
    (tvf, Arc::new(Schema::new(input)), metrics)
}

fn rows(schema: &SchemaRef, times: &[Option<i64>]) -> ChangeBatch {
    let numbers = Int64Array::from_iter_values(0..times.len() as i64);
    let zone = match schema.field(1).data_type() {
        DataType::Timestamp(_, zone) => zone.clone(),
        _ => None,
    };
    let times = TimestampMillisecondArray::from(times.to_vec()).with_timezone_opt(zone);
    let columns: Vec<ArrayRef> = vec![Arc::new(numbers), Arc::new(times)];
    ChangeBatch::insert_only(RecordBatch::try_new(Arc::clone(schema), columns).unwrap())
}

/// Number, start, end and time of each output row.
fn show(out: &mut Output) -> Vec<[i64; 4]> {
    let mut shown = Vec::new();
    for batch in out.drain() {
        let time = |column: usize| batch.batch.column(column).as_primitive::<TimestampMillisecondType>().clone();
        let numbers = batch.batch.column(0).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            shown.push([numbers.value(row), time(2).value(row), time(3).value(row), time(4).value(row)]);
        }
    }
    shown
}

#[test]
fn a_tumbling_window_each() {
    let (mut tvf, schema, metrics) = tvf(WindowKind::Tumble { size_ms: 10, offset_ms: 0 }, None, 8192);
    let mut out = Output::default();
    tvf.process(0, rows(&schema, &[Some(7), None, Some(-1)]), 0, &mut out).unwrap();
    assert_eq!(show(&mut out), [[0, 0, 10, 9], [2, -10, 0, -1]]);
    assert_eq!(metrics.null_rowtime_rows.load(Ordering::Relaxed), 1);
}

#[test]
fn all_windows_of_a_row_with_its_kind_and_watermark() {
    let (mut tvf, schema, _) = tvf(WindowKind::Hop { size_ms: 10, slide_ms: 5, offset_ms: 0 }, None, 3);
    let mut batch = rows(&schema, &[Some(7), Some(12)]);
    batch.kinds = Some(uniform_kinds(RowKind::Delete, 2));
    batch.row_watermarks = Some(vec![100, 200].into());
    let mut out = Output::default();
    tvf.process(0, batch, 0, &mut out).unwrap();
    let batches: Vec<ChangeBatch> = out.drain().collect();
    assert_eq!(batches.iter().map(ChangeBatch::num_rows).collect::<Vec<_>>(), [3, 1], "the batch size is kept");
    assert_eq!(batches[0].kind(1), RowKind::Delete);
    assert_eq!(batches[0].row_watermarks.as_ref().unwrap().values().to_vec(), [100, 100, 200]);
    batches.into_iter().for_each(|batch| out.emit(batch));
    assert_eq!(show(&mut out), [[0, 0, 10, 9], [0, 5, 15, 14], [1, 5, 15, 14], [1, 10, 20, 19]]);
}

#[test]
fn a_row_between_windows_has_none() {
    let (mut tvf, schema, _) = tvf(WindowKind::Hop { size_ms: 5, slide_ms: 10, offset_ms: 0 }, None, 8192);
    let mut out = Output::default();
    tvf.process(0, rows(&schema, &[Some(7), Some(12)]), 0, &mut out).unwrap();
    assert_eq!(show(&mut out), [[1, 10, 15, 14]]);
}

/// 2023-11-14 22:13:20 UTC is the 15th in Shanghai, eight hours ahead.
#[test]
fn bounds_are_wall_clock_and_the_time_is_an_instant() {
    let (day, hour) = (86_400_000, 3_600_000);
    let (mut tvf, schema, _) = tvf(WindowKind::Tumble { size_ms: day, offset_ms: 0 }, Some("Asia/Shanghai"), 8192);
    let mut out = Output::default();
    tvf.process(0, rows(&schema, &[Some(1_700_000_000_000)]), 0, &mut out).unwrap();
    let start = 1_700_006_400_000;
    assert_eq!(start % day, 0);
    assert_eq!(show(&mut out), [[0, start, start + day, start + day - 8 * hour - 1]]);
}

#[test]
fn processing_time_is_the_clock() {
    let (mut tvf, schema, _) = tvf(WindowKind::Tumble { size_ms: 10, offset_ms: 0 }, None, 8192);
    tvf.time_column = None;
    let mut out = Output::default();
    tvf.process(0, rows(&schema, &[None, Some(3)]), 25, &mut out).unwrap();
    assert_eq!(show(&mut out), [[0, 20, 30, 29], [1, 20, 30, 29]]);
}
