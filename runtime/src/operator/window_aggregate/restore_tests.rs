//! Slices come back from a snapshot as they were, at any parallelism.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use proptest::prelude::*;
use tidemark_planner::stream_plan::{GroupingSet, TimeWindow, WindowAssignment, WindowKind};

use super::model_tests::{any_kind, any_row, calls};
use super::tests::{Row, batch_of, by_time, input_schema, node};
use super::*;
use crate::test_restore::{Step, Subject};

fn subject(node: WindowAggregateNode, keys: &[usize]) -> Subject<impl Fn() -> WindowAggregate + use<>> {
    let mut fields: Vec<Field> = node.keys.iter().map(|key| input_schema().field(*key).clone()).collect();
    if !node.grouping_sets.is_empty() {
        fields.push(Field::new("__grouping_id", DataType::Int64, false));
    }
    fields.extend(node.aggregates.iter().map(|call| call.field.as_ref().clone()));
    let window = Field::new("window", DataType::Timestamp(TimeUnit::Millisecond, None), false);
    fields.extend(node.window_columns.iter().map(|_| window.clone()));
    let output = Arc::new(Schema::new(fields));
    Subject { create: move || WindowAggregate::new(&node, &input_schema(), &output).unwrap(), keys: keys.to_vec() }
}

/// The rows behind a watermark assigner with a fixed delay.
fn steps_of(rows: &[Row], delay_ms: i64, batch: usize) -> Vec<Step> {
    let mut watermark = i64::MIN;
    let mut steps = Vec::new();
    for rows in rows.chunks(batch) {
        let before = watermark;
        let mut met = Vec::new();
        for row in rows {
            met.push(watermark);
            watermark = watermark.max(row.2 - delay_ms);
        }
        let is_behind = rows.iter().zip(&met).any(|(row, met)| row.2 <= *met);
        let mut batch = ChangeBatch::insert_only(batch_of(rows));
        batch.row_watermarks = is_behind.then(|| met.into());
        steps.push(Step::Rows(batch));
        if watermark > before {
            steps.push(Step::Watermark(watermark));
        }
    }
    steps
}

fn cut_at(steps: &[Step], cut: f64) -> usize {
    (steps.len() as f64 * cut) as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn slices_come_back(
        kind in any_kind(),
        rows in prop::collection::vec(any_row(), 0..80),
        (delay_ms, batch) in (0i64..25, 1usize..9),
        cut in 0.0..=1.0,
        (old, new) in (1usize..=4, 1usize..=4),
    ) {
        let steps = steps_of(&rows, delay_ms, batch);
        let cut = cut_at(&steps, cut);
        subject(node(by_time(kind, None), &[0], calls()), &[0]).check(&steps, cut, old, new);
        subject(node(by_time(kind, None), &[], calls()), &[]).check(&steps, cut, 1, 1);
        let sets = [[true, true], [false, true], [false, false]].into_iter().zip(0..);
        let sets = sets.map(|(present, id)| GroupingSet { present: present.to_vec(), id }).collect();
        let node = WindowAggregateNode { grouping_sets: sets, ..node(by_time(kind, None), &[0, 1], calls()) };
        subject(node, &[]).check(&steps, cut, 1, 1);
    }

    /// Rows without row watermarks are judged by the operator's own watermark, which every subtask must know.
    #[test]
    fn the_watermark_comes_back(
        kind in any_kind(),
        steps in prop::collection::vec((prop::collection::vec(any_row(), 1..5), 0i64..4), 1..30),
        cut in 0.0..=1.0,
        (old, new) in (1usize..=4, 1usize..=4),
    ) {
        let mut watermark = -30;
        let steps: Vec<Step> = steps
            .into_iter()
            .flat_map(|(rows, step)| {
                watermark += step;
                [Step::Rows(ChangeBatch::insert_only(batch_of(&rows))), Step::Watermark(watermark)]
            })
            .collect();
        let cut = cut_at(&steps, cut);
        subject(node(by_time(kind, None), &[0], calls()), &[0]).check(&steps, cut, old, new);
    }

    /// Timers of different subtasks need not have fired equally far.
    #[test]
    fn windows_of_processing_time_come_back(
        kind in any_kind(),
        steps in prop::collection::vec((prop::collection::vec(any_row(), 1..5), 0i64..6), 1..30),
        cut in 0.0..=1.0,
        (old, new) in (1usize..=4, 1usize..=4),
    ) {
        let mut now_ms = 0;
        let steps: Vec<Step> = steps
            .into_iter()
            .flat_map(|(rows, step)| {
                now_ms += step;
                [Step::Time(now_ms), Step::Rows(ChangeBatch::insert_only(batch_of(&rows)))]
            })
            .collect();
        let cut = cut_at(&steps, cut);
        let window = WindowAssignment::Time(TimeWindow { time_column: None, kind, zone: None });
        subject(node(window, &[0], calls()), &[0]).check(&steps, cut, old, new);
    }
}

#[test]
fn the_table_names_the_windows() {
    let table_of = |window| (subject(node(window, &[0], calls()), &[0]).create)().state_tables();
    let kind = WindowKind::Hop { size_ms: 10_000, slide_ms: 5_000, offset_ms: 0 };
    let tables = table_of(by_time(kind, None));
    assert_eq!(tables[0].name, "slices of HOP(10 s every 5 s) over ts");
    let names: Vec<&str> = tables[0].schema.fields().iter().map(|field| field.name().as_str()).take(6).collect();
    assert_eq!(names, ["first_end", "start", "rank", "next_row", "k", "AGG(v): count"]);
    assert_eq!(tables[1].name, "event time");
    let tables = table_of(by_time(kind, Some("Europe/Berlin")));
    assert_eq!(tables[0].name, "slices of HOP(10 s every 5 s) over ts in Europe/Berlin");
}
