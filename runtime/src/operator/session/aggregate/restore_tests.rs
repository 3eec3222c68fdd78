//! Sessions come back from a snapshot as they were, at any parallelism.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use proptest::prelude::*;
use tidemark_planner::stream_plan::{WindowAssignment, WindowKind, WindowTvfNode};

use super::tests::{GAP_MS, calls, rows};
use super::*;
use crate::change_batch::ChangeBatch;
use crate::operator::Operator;
use crate::operator::session::window::SessionWindow;
use crate::operator::window_aggregate::tests::{Row, batch_of, input_schema, node};
use crate::test_restore::{Step, Subject};

fn window(time_column: Option<usize>) -> TimeWindow {
    TimeWindow { time_column, kind: WindowKind::Session { gap_ms: GAP_MS }, zone: None }
}

fn bound(name: &str) -> Field {
    Field::new(name, DataType::Timestamp(TimeUnit::Millisecond, None), false)
}

fn aggregate_of(time_column: Option<usize>, keys: &[usize]) -> Subject<impl Fn() -> SessionAggregate + use<>> {
    let window = window(time_column);
    let node = node(WindowAssignment::Time(window.clone()), keys, calls());
    let mut fields: Vec<Field> = keys.iter().map(|key| input_schema().field(*key).clone()).collect();
    fields.extend(node.aggregates.iter().map(|call| call.field.as_ref().clone()));
    fields.extend([bound("window_start"), bound("window_end")]);
    let output = Arc::new(Schema::new(fields));
    let create = move || SessionAggregate::of_node(&node, &window, &input_schema(), &output).unwrap();
    Subject { create, keys: keys.to_vec() }
}

fn rows_of(keys: &[usize]) -> Subject<impl Fn() -> SessionWindow + use<>> {
    let node = WindowTvfNode { window: window(Some(2)), partition: keys.to_vec() };
    let mut fields: Vec<Field> = input_schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    fields.extend([bound("window_start"), bound("window_end"), bound("window_time")]);
    let output = Arc::new(Schema::new(fields));
    let create = move || SessionWindow::of_node(&node, &input_schema(), &output).unwrap();
    Subject { create, keys: keys.to_vec() }
}

/// The rows behind a watermark assigner with a fixed delay that attaches every row's watermark.
fn steps_of(rows: &[Row], delay_ms: i64, batch: usize) -> Vec<Step> {
    let mut watermark = i64::MIN;
    let mut steps = vec![];
    for rows in rows.chunks(batch) {
        let mut met = vec![];
        for row in rows {
            met.push(watermark);
            watermark = watermark.max(row.2 - delay_ms);
        }
        let mut batch = ChangeBatch::insert_only(batch_of(rows));
        batch.row_watermarks = Some(met.into());
        steps.extend([Step::Rows(batch), Step::Watermark(watermark)]);
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sessions_come_back(
        rows in rows(),
        (delay_ms, batch) in (0i64..30, 1usize..9),
        cut in 0.0..=1.0,
        (old, new) in (1usize..=4, 1usize..=4),
    ) {
        let steps = steps_of(&rows, delay_ms, batch);
        let cut = (steps.len() as f64 * cut) as usize;
        aggregate_of(Some(2), &[0]).check(&steps, cut, old, new);
        aggregate_of(Some(2), &[]).check(&steps, cut, 1, 1);
        rows_of(&[0]).check(&steps, cut, old, new);
    }

    #[test]
    fn sessions_of_processing_time_come_back(
        steps in prop::collection::vec((rows(), 0i64..8), 1..8),
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
        let cut = (steps.len() as f64 * cut) as usize;
        aggregate_of(None, &[0]).check(&steps, cut, old, new);
    }
}

#[test]
fn the_table_names_the_sessions() {
    let tables = (aggregate_of(Some(2), &[0]).create)().state_tables();
    assert_eq!(tables[0].name, "SESSION(gap 10 ms) over ts");
    let names: Vec<&str> = tables[0].schema.fields().iter().map(|field| field.name().as_str()).take(7).collect();
    assert_eq!(names, ["start", "end", "session", "part", "next_row", "k", "AGG(v): count"]);
    assert_eq!(tables[1].name, "event time");
}
