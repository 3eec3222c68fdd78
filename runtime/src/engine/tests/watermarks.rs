//! What the watermark of several splits, inputs and subtasks lets through, in any order of steps.

use tidemark_planner::job_graph::JobGraph;
use tidemark_planner::stream_plan::{Distribution, NodeKind};

use super::harness::*;
use crate::summary::JobSummary;
use crate::test_rows::values_of;

/// Source with watermark `ts - 5`, one sorting subtask, the caller.
fn sorting_graph(parallelism: usize, idle_timeout_ms: Option<u64>) -> JobGraph {
    let mut graph = GraphBuilder::new();
    let read = graph.vertex(parallelism, &[], vec![source("t"), watermark(5, idle_timeout_ms)]);
    graph.vertex(1, &[(read, Distribution::Single)], vec![sort_by_time(), NodeKind::Collect]);
    graph.build()
}

fn simulate(scripts: &Scripts, graph: &JobGraph, seed: u64) -> (Vec<i64>, JobSummary) {
    let (batches, summary) = scripts.simulate(graph, options(), seed).unwrap();
    (values_of(&batches), summary)
}

fn late(summary: &JobSummary) -> u64 {
    summary.windows.iter().map(|w| w.late_rows).sum()
}

/// 20 is the largest time before 2 and 14 come: both are behind 15.
const OUT_OF_ORDER: [(i64, i64); 6] = [(1, 1), (20, 2), (2, 3), (16, 4), (14, 5), (40, 6)];

#[test]
fn late_rows_depend_on_neither_batch_size_nor_parallelism_nor_order_of_steps() {
    for parallelism in [1, 3] {
        for batch_size in [1, 2, 6] {
            for seed in seeds() {
                let scripts = Scripts::default().table("t", vec![in_batches(&OUT_OF_ORDER, batch_size)]);
                let (values, summary) = simulate(&scripts, &sorting_graph(parallelism, None), seed);
                assert_eq!(values, [1, 4, 2, 6], "parallelism {parallelism}, batch size {batch_size}, seed {seed}");
                assert_eq!(late(&summary), 2);
                assert_eq!(summary.windows[0].sufficient_delay_ms, Some(13 + 5), "row 2 met the watermark 15");
            }
        }
    }
}

#[test]
fn splits_in_turn_share_a_watermark_and_in_parallel_have_their_own() {
    let splits = || Scripts::default().table("t", vec![vec![rows(&[(30, 1), (31, 2)])], vec![rows(&[(1, 3), (2, 4)])]]);
    for seed in seeds() {
        let (values, summary) = simulate(&splits(), &sorting_graph(1, None), seed);
        assert_eq!((values, late(&summary)), (vec![1, 2], 2), "seed {seed}");
        let (values, summary) = simulate(&splits(), &sorting_graph(2, None), seed);
        assert_eq!((values, late(&summary)), (vec![3, 4, 1, 2], 0), "seed {seed}");
    }
}

#[test]
fn one_subtask_of_several_reads_its_splits_side_by_side() {
    let split = |start: i64| in_batches(&[(start, start), (start + 10, start + 10)], 1);
    let scripts = Scripts::default().table("t", vec![split(50), split(3), split(1), split(4)]);
    for seed in seeds() {
        let (values, summary) = simulate(&scripts, &sorting_graph(2, None), seed);
        assert_eq!((values, late(&summary)), (vec![1, 3, 4, 11, 13, 14, 50, 60], 0), "seed {seed}");
    }
}

#[test]
fn more_splits_than_may_be_open_are_all_read_and_none_is_late() {
    let many = 2 * crate::task::source_task::MAX_OPEN_SPLITS as i64 + 5;
    let splits = (0..2 * many).rev().map(|i| vec![rows(&[(i, i)])]).collect();
    let scripts = Scripts::default().table("t", splits);
    for seed in 0..3 {
        let (values, summary) = simulate(&scripts, &sorting_graph(2, None), seed);
        assert_eq!((values, late(&summary)), ((0..2 * many).collect(), 0), "seed {seed}");
    }
}

/// `a UNION ALL b`, sorted by time.
fn union_graph() -> JobGraph {
    let mut graph = GraphBuilder::new();
    let a = graph.vertex(1, &[], vec![source("a"), watermark(5, None)]);
    let b = graph.vertex(1, &[], vec![source("b"), watermark(5, None)]);
    let inputs = [(a, Distribution::Forward), (b, Distribution::Forward)];
    graph.vertex(1, &inputs, vec![NodeKind::Union, sort_by_time(), NodeKind::Collect]);
    graph.build()
}

#[test]
fn an_ended_input_of_a_union_does_not_push_past_the_running_one() {
    let scripts = Scripts::default()
        .table("a", vec![vec![rows(&[(1, 1)])]])
        .table("b", vec![vec![rows(&[(2, 2)]), Act::Pause(60_000), rows(&[(30, 3)]), rows(&[(26, 4)])]]);
    for seed in seeds() {
        let (values, summary) = simulate(&scripts, &union_graph(), seed);
        assert_eq!((values, late(&summary)), (vec![1, 2, 4, 3], 0), "seed {seed}");
    }
}

#[test]
fn an_ended_input_of_a_union_no_longer_holds_the_running_one() {
    let endless = vec![rows(&[(2, 2)]), rows(&[(30, 3)]), Act::Silence];
    let scripts = Scripts::default().table("a", vec![vec![rows(&[(1, 1)])]]).table("b", vec![endless]);
    let job = scripts.engine().start(&union_graph(), options()).unwrap();
    let first: Vec<_> = job.results().unwrap().iter().take(1).collect();
    assert_eq!(values_of(&first)[..2], [1, 2], "although b never ends");
}

#[test]
fn a_silent_split_holds_the_watermark_until_its_idle_timeout() {
    let silent = vec![Act::Pause(60_000), rows(&[(3, 9)])];
    let lively = in_batches(&[(1, 1), (20, 2), (60, 3)], 1);
    let scripts = Scripts::default().table("t", vec![lively, silent]);
    for seed in seeds() {
        let (values, summary) = simulate(&scripts, &sorting_graph(2, None), seed);
        assert_eq!((values, late(&summary)), (vec![1, 9, 2, 3], 0), "seed {seed}");
        let (values, summary) = simulate(&scripts, &sorting_graph(2, Some(10)), seed);
        assert_eq!((values, late(&summary)), (vec![1, 2, 3], 1), "seed {seed}: 3 is behind 55");
    }
}

#[test]
fn splits_that_fall_silent_together_do_not_hold_what_they_have_said() {
    let pause = || Act::Pause(60_000);
    let lively = vec![rows(&[(1, 1), (20, 2)]), pause(), rows(&[(21, 3)])];
    let scripts = Scripts::default().table("t", vec![lively, vec![pause(), rows(&[(14, 4)])]]);
    for parallelism in [2, 3] {
        for seed in seeds() {
            let (values, summary) = simulate(&scripts, &sorting_graph(parallelism, Some(10)), seed);
            assert_eq!((values, late(&summary)), (vec![1, 2, 3], 1), "seed {seed}: 14 is behind 15");
        }
    }
}

#[test]
fn a_job_in_which_nothing_can_move_is_an_error_of_the_simulation() {
    let scripts = Scripts::default().table("t", vec![vec![Act::Silence]]);
    let error = scripts.simulate(&sorting_graph(1, None), options(), 0).unwrap_err();
    assert_eq!(error.to_string(), "internal error: the tasks wait for each other");
}
