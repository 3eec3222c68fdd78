//! The operator against a model that takes row by row and adds each to every window that is still open.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tidemark_planner::stream_plan::{AggregateCall, AggregateFunction, WindowKind};

use arrow::datatypes::DataType;

use super::tests::{Pipeline, Row, aggregate, by_time, count_star, node};

const KEYS: [Option<&str>; 4] = [Some("a"), Some("b"), Some("a key of more than sixteen bytes"), None];

pub(super) fn calls() -> Vec<AggregateCall> {
    use AggregateFunction::*;
    let list_agg = ListAgg { separator: ",".into() };
    vec![
        count_star(),
        aggregate(Sum, &[1], DataType::Int64),
        aggregate(Min, &[1], DataType::Int64),
        aggregate(Max, &[1], DataType::Int64),
        aggregate(FirstValue, &[1], DataType::Int64),
        aggregate(LastValue, &[1], DataType::Int64),
        aggregate(list_agg, &[1], DataType::Utf8),
        AggregateCall { distinct: true, ..aggregate(Count, &[1], DataType::Int64) },
        AggregateCall { filter: Some(3), ..count_star() },
    ]
}

/// All windows that hold the time, found by trying every start.
fn windows_of(kind: WindowKind, time: i64) -> Vec<(i64, i64)> {
    let starts = time - 100..=time;
    match kind {
        WindowKind::Tumble { size_ms, offset_ms } => {
            windows_of(WindowKind::Hop { size_ms, slide_ms: size_ms, offset_ms }, time)
        }
        WindowKind::Hop { size_ms, slide_ms, offset_ms } => starts
            .filter(|start| (start - offset_ms) % slide_ms == 0 && time < start + size_ms)
            .map(|start| (start + size_ms, start))
            .collect(),
        WindowKind::Cumulate { max_size_ms, step_ms, offset_ms } => starts
            .filter(|start| (start - offset_ms) % max_size_ms == 0 && time < start + max_size_ms)
            .flat_map(|start| (1..=max_size_ms / step_ms).map(move |steps| (start + steps * step_ms, start)))
            .filter(|(end, _)| time < *end)
            .collect(),
        WindowKind::Session { .. } => unreachable!("sessions have a model of their own"),
    }
}

/// What the operator is to emit, sorted, and the number of late rows.
fn model(kind: WindowKind, rows: &[Row], delay_ms: i64) -> (Vec<String>, u64) {
    let mut watermark = i64::MIN;
    let mut late = 0;
    type Groups<'a> = BTreeMap<Option<&'a str>, Vec<Option<i64>>>;
    let mut windows: BTreeMap<(i64, i64), Groups> = BTreeMap::new();
    for (key, value, time) in rows {
        let all = windows_of(kind, *time);
        let open: Vec<_> = all.iter().filter(|(end, _)| end - 1 > watermark).collect();
        late += u64::from(!all.is_empty() && open.is_empty());
        for window in open {
            windows.entry(*window).or_default().entry(*key).or_default().push(*value);
        }
        watermark = watermark.max(time - delay_ms);
    }
    let mut lines = Vec::new();
    for ((end, start), keys) in windows {
        for (key, rows) in keys {
            let values: Vec<i64> = rows.iter().flatten().copied().collect();
            let or_null = |value: Option<i64>| value.map_or("NULL".to_owned(), |value| value.to_string());
            let mut unique = values.clone();
            unique.sort_unstable();
            unique.dedup();
            let list: Vec<String> = values.iter().map(i64::to_string).collect();
            let cells = [
                key.unwrap_or("NULL").to_owned(),
                rows.len().to_string(),
                or_null((!values.is_empty()).then(|| values.iter().sum())),
                or_null(values.iter().min().copied()),
                or_null(values.iter().max().copied()),
                or_null(values.first().copied()),
                or_null(values.last().copied()),
                if list.is_empty() { "NULL".to_owned() } else { list.join(",") },
                unique.len().to_string(),
                values.iter().filter(|value| *value % 2 == 0).count().to_string(),
                show_time(start),
                show_time(end),
            ];
            lines.push(cells.join(" "));
        }
    }
    lines.sort();
    (lines, late)
}

fn show_time(ms: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(ms).unwrap().naive_utc();
    format!("{time:?}").replace("1970-01-01T", "")
}

fn run(kind: WindowKind, rows: &[Row], delay_ms: i64, batch: usize) -> (Vec<String>, u64) {
    let mut pipeline = Pipeline::new(&node(by_time(kind, None), &[0], calls()), delay_ms);
    rows.chunks(batch).for_each(|rows| pipeline.feed(rows));
    pipeline.end();
    let late = pipeline.late_rows();
    (pipeline.rows, late)
}

pub(super) fn any_kind() -> impl Strategy<Value = WindowKind> {
    let length = 1i64..6;
    prop_oneof![
        (1i64..12, -7i64..7).prop_map(|(size_ms, offset_ms)| WindowKind::Tumble { size_ms, offset_ms }),
        (1i64..12, 1i64..8, -7i64..7).prop_map(|(size_ms, slide_ms, offset_ms)| WindowKind::Hop {
            size_ms,
            slide_ms,
            offset_ms
        }),
        (length, 1i64..6, -7i64..7).prop_map(|(steps, step_ms, offset_ms)| WindowKind::Cumulate {
            max_size_ms: steps * step_ms,
            step_ms,
            offset_ms
        }),
    ]
}

pub(super) fn any_row() -> impl Strategy<Value = Row> {
    (0usize..4, prop::option::weighted(0.9, -3i64..3), -30i64..40)
        .prop_map(|(key, value, time)| (KEYS[key], value, time))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Every split of the rows into batches gives the model's result, in one and the same order.
    #[test]
    fn batches_do_not_matter(
        kind in any_kind(),
        rows in prop::collection::vec(any_row(), 1..120),
        delay_ms in 0i64..25,
    ) {
        let expected = model(kind, &rows, delay_ms);
        let one_by_one = run(kind, &rows, delay_ms, 1);
        let mut sorted = one_by_one.clone();
        sorted.0.sort();
        prop_assert_eq!(&sorted, &expected, "{:?}, one row a batch", kind);
        for batch in [2, 7, rows.len()] {
            prop_assert_eq!(&run(kind, &rows, delay_ms, batch), &one_by_one, "{:?}, {} rows a batch", kind, batch);
        }
    }

    /// Rows mostly in order, as they come in practice.
    #[test]
    fn nearly_ordered_rows(
        kind in any_kind(),
        steps in prop::collection::vec((any_row(), 0i64..3, -6i64..1), 1..200),
        delay_ms in 0i64..8,
    ) {
        let mut time = -50;
        let rows: Vec<Row> = steps
            .into_iter()
            .map(|((key, value, _), step, back)| {
                time += step;
                (key, value, time + back)
            })
            .collect();
        let expected = model(kind, &rows, delay_ms);
        for batch in [1, 13, rows.len()] {
            let mut found = run(kind, &rows, delay_ms, batch);
            found.0.sort();
            prop_assert_eq!(&found, &expected, "{:?}, {} rows a batch", kind, batch);
        }
    }
}
