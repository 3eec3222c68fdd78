//! Departures of a week, out of order by up to a day: `COUNT(*)` per hour and airport.

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use chrono::NaiveDateTime;
use tidemark_planner::job_graph::JobGraph;
use tidemark_planner::stream_plan::{
    AggregateCall, AggregateFunction, Distribution, NodeKind, TimeWindow, WindowAggregateNode, WindowAssignment,
    WindowKind,
};

use super::harness::*;
use crate::job::JobOptions;
use crate::summary::JobSummary;

const HOUR_MS: i64 = 3_600_000;

/// (event time, number of the airport) of every departure.
fn departures() -> Vec<(i64, i64)> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/flights_week1.csv");
    let mut reader = csv::Reader::from_path(file).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|h| h == name).unwrap();
    let (time, origin) = (column("time_hour"), column("origin"));
    let departure = |record: csv::StringRecord| {
        let at = NaiveDateTime::parse_from_str(&record[time], "%Y-%m-%dT%H:%M:%SZ").unwrap();
        let airport = ["EWR", "JFK", "LGA"].iter().position(|o| *o == &record[origin]).unwrap();
        (at.and_utc().timestamp_millis(), airport as i64)
    };
    reader.records().map(|r| departure(r.unwrap())).collect()
}

fn graph(parallelism: usize, delay_ms: i64, kind: WindowKind) -> JobGraph {
    let columns = Schema::new(vec![Field::new("n", DataType::Int64, true), Field::new("c", DataType::Int64, false)]);
    let count = AggregateCall {
        function: AggregateFunction::Count,
        args: vec![],
        distinct: false,
        filter: None,
        field: Arc::new(columns.field(1).clone()),
        text: "COUNT(*)".into(),
    };
    let aggregate = NodeKind::WindowAggregate(WindowAggregateNode {
        window: WindowAssignment::Time(TimeWindow { time_column: Some(0), kind, zone: None }),
        keys: vec![1],
        grouping_sets: vec![],
        aggregates: vec![count],
        window_columns: vec![],
    });
    let mut graph = GraphBuilder::new();
    let read = graph.vertex(parallelism, &[], vec![source("flights"), watermark(delay_ms, None)]);
    let counted = graph.vertex(parallelism, &[(read, Distribution::Hash(vec![1]))], vec![aggregate]);
    graph.schema(Arc::new(columns.clone()));
    graph.vertex(1, &[(counted, Distribution::Single)], vec![NodeKind::Collect]);
    graph.schema(Arc::new(columns));
    graph.build()
}

/// Result rows, the sum of their counts, late rows and the sufficient delay in hours, at several parallelisms, batch
/// sizes and orders of steps.
fn check(delay_hours: i64, kind: WindowKind, expect: (usize, i64, u64, Option<i64>)) {
    let departures = departures();
    for (parallelism, batch_size, seed) in [(1, 1, 0), (1, 8192, 1), (3, 7, 2), (3, 8192, 3)] {
        let scripts = Scripts::default().table("flights", vec![in_batches(&departures, batch_size)]);
        let graph = graph(parallelism, delay_hours * HOUR_MS, kind);
        let options = JobOptions { batch_size, ..options() };
        let (batches, summary) = scripts.simulate(&graph, options, seed).unwrap();
        let counts = batches.iter().flat_map(|b| b.batch.column(1).as_primitive::<Int64Type>().values());
        let rows = batches.iter().map(|b| b.num_rows()).sum();
        let seen = (rows, counts.sum(), late(&summary), sufficient_delay_hours(&summary));
        assert_eq!(seen, expect, "delay {delay_hours} h, parallelism {parallelism}, batch size {batch_size}");
    }
}

fn late(summary: &JobSummary) -> u64 {
    summary.windows[0].late_rows
}

fn sufficient_delay_hours(summary: &JobSummary) -> Option<i64> {
    summary.windows[0].sufficient_delay_ms.map(|ms| ms / HOUR_MS)
}

#[test]
fn tumbling_windows_of_an_hour() {
    let hour = WindowKind::Tumble { size_ms: HOUR_MS, offset_ms: 0 };
    check(24, hour, (373, 6_099, 0, None));
    check(12, hour, (266, 4_321, 1_778, Some(18)));
    check(2, hour, (65, 696, 5_403, Some(18)));
    check(0, hour, (33, 303, 5_796, Some(18)));
}

#[test]
fn hopping_windows_of_six_hours() {
    let hop = WindowKind::Hop { size_ms: 6 * HOUR_MS, slide_ms: HOUR_MS, offset_ms: 0 };
    check(24, hop, (478, 36_594, 0, None));
    check(2, hop, (185, 9_823, 3_419, Some(18)));
}
