//! How jobs begin and end.

use std::time::Duration;

use tidemark_planner::job_graph::JobGraph;
use tidemark_planner::stream_plan::{Distribution, NodeKind};

use super::harness::*;
use crate::error::RuntimeError;
use crate::exchange::channel::ChannelLimits;
use crate::job::JobOptions;
use crate::job::deploy::deploy;
use crate::job::results::Received;
use crate::scheduler::Control;
use crate::task::Step;
use crate::test_rows::{events, values_of};

/// A table, spread by its column `n`, to the caller.
fn spread_graph(parallelism: usize) -> JobGraph {
    let mut graph = GraphBuilder::new();
    let read = graph.vertex(parallelism, &[], vec![source("t")]);
    graph.vertex(parallelism, &[(read, Distribution::Hash(vec![1]))], vec![NodeKind::Collect]);
    graph.build()
}

fn numbered(count: i64) -> Vec<(i64, i64)> {
    (0..count).map(|n| (n, n)).collect()
}

#[test]
fn every_row_arrives_once_at_any_parallelism_in_any_order_of_steps() {
    let split = |from: i64| in_batches(&numbered(100)[from as usize..from as usize + 25], 4);
    let scripts = Scripts::default().table("t", vec![split(0), split(25), split(50), split(75)]);
    for parallelism in [1, 3] {
        for seed in seeds() {
            let limits = ChannelLimits { rows: 5, bytes: usize::MAX };
            let options = JobOptions { channel_limits: limits, ..options() };
            let (batches, summary) = scripts.simulate(&spread_graph(parallelism), options, seed).unwrap();
            let mut values = values_of(&batches);
            values.sort_unstable();
            assert_eq!(values, (0..100).collect::<Vec<_>>(), "parallelism {parallelism}, seed {seed}");
            assert_eq!(summary.rows_out, 100);
        }
    }
}

#[test]
fn threads_give_the_same_rows_as_the_simulation() {
    let scripts = Scripts::default().table("t", vec![in_batches(&numbered(100), 7), in_batches(&numbered(100), 3)]);
    for parallelism in [1, 3] {
        for threads in [1, 2, 8] {
            let options = JobOptions { threads, ..options() };
            let job = scripts.engine().start(&spread_graph(parallelism), options).unwrap();
            let batches: Vec<_> = job.results().unwrap().iter().collect();
            let mut values = values_of(&batches);
            values.sort_unstable();
            assert_eq!(values, (0..100).flat_map(|n| [n, n]).collect::<Vec<_>>());
            assert!(matches!(job.results().unwrap().try_recv(), Received::Finished));
            let progress = job.progress();
            assert_eq!((progress.sources[0].rows, progress.rows_out), (200, 200));
            assert!(progress.watermarks.iter().all(|w| w.watermark_ms == Some(i64::MAX)), "every input has ended");
            let summary = job.wait().unwrap();
            assert_eq!((summary.sources[0].table.as_str(), summary.sources[0].rows), ("t", 200));
        }
    }
}

#[test]
fn a_full_channel_stops_the_source() {
    let scripts = Scripts::default().table("t", vec![in_batches(&numbered(1_000), 4)]);
    let limits = ChannelLimits { rows: 10, bytes: usize::MAX };
    let options = JobOptions { channel_limits: limits, ..options() };
    let connectors = [std::sync::Arc::new(scripts.clone()) as std::sync::Arc<dyn crate::connector::Connector>];
    let mut deployment =
        deploy(&spread_graph(1), &connectors, &options, &std::sync::Arc::new(Control::new(1))).unwrap();
    loop {
        let steps: Vec<_> = deployment.tasks.iter_mut().map(|t| t.step().unwrap()).collect();
        if steps.iter().all(|s| *s == Step::Idle { retry_after_ms: None }) {
            break;
        }
    }
    // Two channels, each filled by batches of 4 until it holds at least 10 rows: 12 rows, 3 batches.
    assert_eq!(*scripts.polls.lock().unwrap(), 6);
    let results = deployment.results.unwrap();
    while let Received::Batch(_) = results.try_recv() {}
    assert_eq!(deployment.tasks[1].step().unwrap(), Step::Progressed, "room again");
}

#[test]
fn a_full_limit_ends_an_endless_source() {
    let scripts = Scripts::default().table("t", vec![vec![Act::Endless]]);
    let mut graph = GraphBuilder::new();
    let read = graph.vertex(1, &[], vec![source("t")]);
    let limit = NodeKind::Limit { offset: 2, fetch: Some(3) };
    graph.vertex(1, &[(read, Distribution::Single)], vec![limit, NodeKind::Collect]);
    let graph = graph.build();
    for seed in seeds() {
        let (batches, _) = scripts.simulate(&graph, options(), seed).unwrap();
        assert_eq!(values_of(&batches), [3, 4, 5], "seed {seed}");
    }
    let job = scripts.engine().start(&graph, options()).unwrap();
    assert_eq!(job.wait().unwrap().rows_out, 3);
}

#[test]
fn a_limit_in_the_chain_of_the_source_ends_it_too() {
    let scripts = Scripts::default().table("t", vec![vec![Act::Endless]]);
    let mut graph = GraphBuilder::new();
    graph.vertex(1, &[], vec![source("t"), NodeKind::Limit { offset: 0, fetch: Some(2) }, NodeKind::Collect]);
    let (batches, _) = scripts.simulate(&graph.build(), options(), 0).unwrap();
    assert_eq!(values_of(&batches), [1, 2]);
}

#[test]
fn a_cancelled_job_stops_and_says_so() {
    let scripts = Scripts::default().table("t", vec![vec![Act::Endless]]);
    let job = scripts.engine().start(&spread_graph(1), options()).unwrap();
    assert!(job.results().unwrap().recv().is_some());
    assert!(!job.is_finished());
    job.cancel();
    assert!(matches!(job.wait(), Err(RuntimeError::Cancelled)));
}

#[test]
fn a_job_that_waits_for_rows_is_woken_by_the_cancellation() {
    let scripts = Scripts::default().table("t", vec![vec![Act::Silence]]);
    let job = scripts.engine().start(&spread_graph(1), options()).unwrap();
    assert!(matches!(job.results().unwrap().recv_timeout(Duration::from_millis(5)), Received::Empty));
    job.canceller()();
    assert!(job.results().unwrap().recv().is_none());
    assert!(matches!(job.wait(), Err(RuntimeError::Cancelled)));
}

#[test]
fn dropping_the_handle_ends_the_job() {
    let scripts = Scripts::default().table("t", vec![vec![Act::Endless]]);
    drop(scripts.engine().start(&spread_graph(3), options()).unwrap());
    let polls = *scripts.polls.lock().unwrap();
    std::thread::yield_now();
    assert_eq!(*scripts.polls.lock().unwrap(), polls, "the threads are gone");
}

#[test]
fn a_panic_is_an_error_that_names_the_task() {
    let scripts = Scripts::default().table("t", vec![vec![rows(&[(1, 1)]), Act::Panic], vec![Act::Silence]]);
    let job = scripts.engine().start(&spread_graph(2), options()).unwrap();
    let error = job.wait().unwrap_err();
    assert_eq!(error.to_string(), "internal error: source-0 (1/2): a bad reader");
}

#[test]
fn the_first_error_ends_the_job() {
    let mut graph = GraphBuilder::new();
    let read = graph.vertex(2, &[], vec![source("t"), watermark(5, None)]);
    graph.vertex(1, &[(read, Distribution::Single)], vec![NodeKind::Collect]);
    let scripts = Scripts::default().table("t", vec![vec![Act::Rows(vec![(None, 1)])], vec![Act::Endless]]);
    let error = scripts.engine().start(&graph.build(), options()).unwrap().wait().unwrap_err();
    assert!(error.to_string().starts_with("table `t`: the event time column 'ts' is NULL"), "{error}");
}

#[test]
fn an_unknown_connector_is_refused_at_the_start() {
    let error = crate::engine::Engine::default().start(&spread_graph(1), options()).err().unwrap();
    assert_eq!(error.to_string(), "this engine has no connector 'script'");
}

#[test]
fn a_sink_is_flushed_when_the_input_pauses_and_finished_at_the_end() {
    let pause = Act::Pause(1_000);
    let scripts = Scripts::default().table("t", vec![vec![rows(&[(1, 1)]), pause.clone(), pause, rows(&[(2, 2)])]]);
    let mut graph = GraphBuilder::new();
    graph.vertex(1, &[], vec![source("t"), sink("out")]);
    let (batches, summary) = scripts.simulate(&graph.build(), options(), 7).unwrap();
    assert!(batches.is_empty());
    assert_eq!(*scripts.written.lock().unwrap(), ["[1]", "flush", "[2]", "finish"]);
    assert_eq!(summary.rows_out, 2);
}

#[test]
fn a_vertex_may_feed_several() {
    let scripts = Scripts::default().table("t", vec![in_batches(&numbered(5), 2)]);
    let mut graph = GraphBuilder::new();
    let read = graph.vertex(1, &[], vec![source("t")]);
    graph.vertex(1, &[(read, Distribution::Forward)], vec![sink("out")]);
    graph.vertex(1, &[(read, Distribution::Single)], vec![NodeKind::Collect]);
    let (batches, summary) = scripts.simulate(&graph.build(), options(), 1).unwrap();
    assert_eq!(values_of(&batches), [0, 1, 2, 3, 4]);
    assert_eq!(summary.rows_out, 10, "five to each end");
    let written = scripts.written.lock().unwrap();
    assert_eq!(written.iter().filter(|w| w.starts_with('[')).count(), 3);
}

#[test]
fn values_are_read_like_a_table() {
    let mut graph = GraphBuilder::new();
    let constant = NodeKind::Values { rows: events((0..20).map(|n| (n, n))) };
    let read = graph.vertex(1, &[], vec![constant]);
    graph.vertex(1, &[(read, Distribution::Single)], vec![NodeKind::Collect]);
    let (batches, summary) = Scripts::default().simulate(&graph.build(), options(), 1).unwrap();
    assert_eq!(batches.iter().map(|b| b.num_rows()).collect::<Vec<_>>(), [8, 8, 4]);
    assert_eq!(values_of(&batches), (0..20).collect::<Vec<_>>());
    assert!(summary.sources.is_empty(), "no table was read");
}
