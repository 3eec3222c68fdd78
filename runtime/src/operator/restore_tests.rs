//! Operators with little state or none come back from a snapshot as they were.

use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use proptest::prelude::*;
use tidemark_planner::stream_plan::{
    CalcNode, HiddenColumn, NullRowtime, TimeWindow, WatermarkNode, WindowKind, WindowTvfNode,
};

use super::Operator;
use super::calc::Calc;
use super::limit::Limit;
use super::pass_through::PassThrough;
use super::watermark_assigner::WatermarkAssigner;
use super::window_tvf::WindowTvf;
use crate::change_batch::ChangeBatch;
use crate::test_exprs::{column, minus_ms};
use crate::test_restore::{Step, Subject};
use crate::test_rows::{event_schema, events};

fn check<O: Operator + 'static>(
    create: impl Fn() -> O,
    keys: &[usize],
    steps: &[Step],
    cut: f64,
    (old, new): (usize, usize),
) {
    Subject { create, keys: keys.to_vec() }.check(steps, (steps.len() as f64 * cut) as usize, old, new);
}

fn limit(offset: u64, fetch: Option<u64>, steps: &[Step], cut: f64) {
    check(|| Limit::new(offset, fetch), &[], steps, cut, (1, 1));
}

fn watermark_assigner(always_attach: bool, steps: &[Step], cut: f64) {
    let node = WatermarkNode {
        rowtime: 0,
        rowtime_name: "ts".into(),
        table: "t".into(),
        expr: minus_ms(0, 5, &event_schema()),
        idle_timeout_ms: None,
        always_attach,
        null_rowtime: NullRowtime::Drop,
    };
    check(|| WatermarkAssigner::new(&node), &[], steps, cut, (1, 1));
}

/// `SELECT n, CURRENT_WATERMARK(ts)`, or `SELECT n` alone.
fn calc(hidden: &[HiddenColumn], steps: &[Step], cut: f64, parallelism: (usize, usize)) {
    let hidden_field = Field::new("$w", DataType::Timestamp(TimeUnit::Millisecond, None), true);
    let input: Vec<_> = event_schema().fields().iter().cloned().chain([Arc::new(hidden_field)]).collect();
    let input = Arc::new(Schema::new(input));
    let projection: Vec<_> = (1..=1 + hidden.len()).map(|index| column(index, &input)).collect();
    let output = Arc::new(Schema::new(projection.iter().map(|expr| Arc::clone(&expr.field)).collect::<Vec<_>>()));
    let node = CalcNode { hidden: hidden.to_vec(), predicate: None, projection };
    check(|| Calc::new(&node, &event_schema(), &output), &[1], steps, cut, parallelism);
}

fn window_tvf(steps: &[Step], cut: f64, parallelism: (usize, usize)) {
    let kind = WindowKind::Hop { size_ms: 10, slide_ms: 4, offset_ms: 0 };
    let window = |name: &str| Arc::new(Field::new(name, DataType::Timestamp(TimeUnit::Millisecond, None), false));
    let windows = ["window_start", "window_end", "window_time"].map(window);
    let output = Arc::new(Schema::new(event_schema().fields().iter().cloned().chain(windows).collect::<Vec<_>>()));
    let window = TimeWindow { time_column: Some(0), kind, zone: None };
    let node = WindowTvfNode { window, partition: vec![] };
    check(|| WindowTvf::new(&node, &output).unwrap(), &[1], steps, cut, parallelism);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn operators_come_back(
        steps in prop::collection::vec(
            (prop::collection::vec((prop::option::weighted(0.9, 0i64..40), 0i64..9), 0..6), 0i64..4, any::<bool>()),
            0..20,
        ),
        cut in 0.0..=1.0,
        parallelism in (1usize..=4, 1usize..=4),
        (offset, fetch) in (0u64..9, prop::option::of(0u64..30)),
    ) {
        let mut watermark = 0;
        let steps: Vec<Step> = steps
            .into_iter()
            .flat_map(|(rows, step, has_met)| {
                let mut batch = ChangeBatch::insert_only(events(rows.iter().copied()));
                batch.row_watermarks = has_met.then(|| Int64Array::from_value(watermark, rows.len()));
                watermark += step;
                [Step::Rows(batch), Step::Watermark(watermark)]
            })
            .collect();
        let rows_only: Vec<Step> = steps.iter().filter(|step| matches!(step, Step::Rows(_))).cloned().collect();
        limit(offset, fetch, &steps, cut);
        watermark_assigner(false, &rows_only, cut);
        watermark_assigner(true, &rows_only, cut);
        calc(&[HiddenColumn::RowWatermark], &steps, cut, parallelism);
        calc(&[], &steps, cut, parallelism);
        window_tvf(&steps, cut, parallelism);
        check(|| PassThrough, &[1], &steps, cut, parallelism);
    }
}

#[test]
fn only_operators_with_state_have_tables() {
    assert!(PassThrough.state_tables().is_empty());
    let [limit] = Limit::new(1, None).state_tables().try_into().unwrap();
    assert_eq!((limit.name.as_str(), limit.version), ("position", 1));
}
