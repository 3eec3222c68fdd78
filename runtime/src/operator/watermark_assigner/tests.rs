use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use tidemark_planner::compiled_expr::CompiledExpr;

use super::*;
use crate::test_exprs::{column, minus_ms};
use crate::test_rows::{event_schema, events, values_of};

fn node(expr: CompiledExpr) -> WatermarkNode {
    WatermarkNode {
        rowtime: 0,
        rowtime_name: "ts".into(),
        table: "t".into(),
        expr,
        idle_timeout_ms: None,
        always_attach: false,
        null_rowtime: NullRowtime::Fail,
    }
}

/// `WATERMARK FOR ts AS ts - INTERVAL '5' ms`
fn delayed() -> WatermarkNode {
    node(minus_ms(0, 5, &event_schema()))
}

fn open(node: WatermarkNode) -> (WatermarkAssigner, Arc<OperatorMetrics>) {
    let metrics = Arc::new(OperatorMetrics::new("watermark-1"));
    let mut assigner = WatermarkAssigner::new(&node);
    let ctx = OperatorContext::single(10, Arc::clone(&metrics));
    assigner.open(&ctx).unwrap();
    (assigner, metrics)
}

fn feed(assigner: &mut WatermarkAssigner, batch: RecordBatch) -> (Vec<ChangeBatch>, Option<i64>) {
    let mut out = Output::default();
    assigner.process(0, ChangeBatch::insert_only(batch), 0, &mut out).unwrap();
    let watermark = out.take_watermark().map(|w| w.0);
    (out.drain().collect(), watermark)
}

/// For rows at `times`, cut into batches of `batch_size`: the rows that are behind, with the watermark each met,
/// and the last watermark.
fn behind(times: &[i64], batch_size: usize) -> (Vec<(i64, i64)>, i64) {
    let (mut assigner, _) = open(delayed());
    let (mut behind, mut last) = (vec![], i64::MIN);
    for chunk in times.chunks(batch_size) {
        let (batches, watermark) = feed(&mut assigner, events(chunk.iter().map(|&t| (t, 0))));
        if let Some(met) = &batches[0].row_watermarks {
            behind.extend(chunk.iter().copied().zip(met.values().iter().copied()).filter(|(t, met)| t <= met));
        }
        last = watermark.unwrap_or(last);
    }
    (behind, last)
}

#[test]
fn rows_are_judged_one_by_one_whatever_the_batch_size() {
    let times = [1, 20, 2, 16, 15, 40, 39, 35, 34, -7];
    for batch_size in [1, 2, 3, 10] {
        let expect = vec![(2, 15), (15, 15), (35, 35), (34, 35), (-7, 35)];
        assert_eq!(behind(&times, batch_size), (expect, 35), "batch size {batch_size}");
    }
}

#[test]
fn rows_in_order_carry_nothing() {
    let (mut assigner, metrics) = open(delayed());
    let (batches, watermark) = feed(&mut assigner, events([(1, 1), (7, 2), (4, 3)]));
    assert!(batches[0].row_watermarks.is_none());
    assert_eq!(watermark, Some(2));
    assert_eq!(metrics.watermark_delay_ms.load(Ordering::Relaxed), 5);
}

#[test]
fn the_watermark_does_not_go_back_and_is_not_repeated() {
    let (mut assigner, _) = open(delayed());
    assert_eq!(feed(&mut assigner, events([(20, 1)])).1, Some(15));
    assert_eq!(feed(&mut assigner, events([(18, 1)])).1, None);
    assert_eq!(feed(&mut assigner, events([(21, 1)])).1, Some(16));
}

#[test]
fn every_row_carries_its_watermark_when_the_query_reads_it() {
    let (mut assigner, _) = open(WatermarkNode { always_attach: true, ..delayed() });
    let (batches, _) = feed(&mut assigner, events([(1, 1), (7, 2)]));
    assert_eq!(batches[0].row_watermarks.as_ref().unwrap().values(), &[i64::MIN, -4]);
}

#[test]
fn times_before_1970_are_ordinary() {
    assert_eq!(behind(&[-100, -80, -90, -81], 4), (vec![(-90, -85)], -85));
}

#[test]
fn a_null_event_time_fails_and_names_the_column() {
    let (mut assigner, _) = open(delayed());
    let batch = ChangeBatch::insert_only(events([(Some(1), 1), (None, 2)]));
    let error = assigner.process(0, batch, 0, &mut Output::default()).unwrap_err();
    assert!(error.to_string().starts_with("table `t`: the event time column 'ts' is NULL in a row"));
}

#[test]
fn a_null_event_time_is_dropped_and_counted_by_policy() {
    let (mut assigner, metrics) = open(WatermarkNode { null_rowtime: NullRowtime::Drop, ..delayed() });
    let (batches, watermark) = feed(&mut assigner, events([(Some(9), 1), (None, 2), (Some(8), 3)]));
    assert_eq!(values_of(&batches), [1, 3]);
    assert_eq!(watermark, Some(4));
    assert!(feed(&mut assigner, events([(None, 4)])).0.is_empty());
    assert_eq!(metrics.null_rowtime_rows.load(Ordering::Relaxed), 2);
}

#[test]
fn a_null_watermark_moves_nothing() {
    let schema = Arc::new(Schema::new(vec![
        Field::new("ts", DataType::Timestamp(TimeUnit::Microsecond, None), false),
        Field::new("w", DataType::Timestamp(TimeUnit::Microsecond, None), true),
    ]));
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_500, 2_500, 2_999]));
    let given: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![None, Some(2_700), None]));
    let (mut assigner, metrics) = open(node(column(1, &schema)));
    let (batches, watermark) = feed(&mut assigner, RecordBatch::try_new(schema, vec![times, given]).unwrap());
    assert_eq!(watermark, Some(2), "2.7 ms is in the millisecond 2");
    let met = batches[0].row_watermarks.as_ref().expect("2.999 ms is in the millisecond 2 as well");
    assert_eq!(met.values(), &[i64::MIN, i64::MIN, 2]);
    assert_eq!(metrics.watermark_delay_ms.load(Ordering::Relaxed), 0);
}
