//! Jobs that crash and go on.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tidemark_planner::job_graph::JobGraph;
use tidemark_planner::stream_plan::{Distribution, NodeKind};
use tidemark_state::checkpoint_dir::CheckpointDir;
use tidemark_state::fs::{FileSystem, MemoryFs};
use tidemark_state::manifest::{CheckpointId, Manifest};

use super::harness::*;
use crate::checkpoint::{CheckpointOptions, RestoreFrom};
use crate::clock::ManualClock;
use crate::engine::{CrashPlan, CrashStep, NoCrash, SimulatedRun};
use crate::error::RuntimeError;
use crate::job::JobOptions;
use crate::test_rows::values_of;

const DIR: &str = "checkpoints";

fn with_checkpoints(fs: &MemoryFs) -> JobOptions {
    let checkpoints = CheckpointOptions {
        fs: Arc::new(fs.clone()),
        dir: DIR.into(),
        job_name: "job".into(),
        former_names: BTreeSet::new(),
        other_jobs: BTreeSet::new(),
        interval: None,
        retained: 2,
        restore: RestoreFrom::Latest,
        allows_dropped_state: false,
    };
    JobOptions { checkpoints: Some(checkpoints), ..options() }
}

fn newest(fs: &MemoryFs) -> Manifest {
    let dir = CheckpointDir::open_existing(Arc::new(fs.clone()), Path::new(DIR)).unwrap();
    let latest = dir.latest_valid().unwrap();
    assert!(latest.refused.is_empty(), "{:?}", latest.refused);
    latest.checkpoint.expect("a checkpoint").manifest().clone()
}

/// Asks for a checkpoint before step `checkpoint_at`, and crashes `crash_after` steps behind it.
struct At {
    step: usize,
    checkpoint_at: usize,
    crash_after: usize,
    completed_at: Option<usize>,
}

impl At {
    fn new(checkpoint_at: usize, crash_after: usize) -> Self {
        Self { step: 0, checkpoint_at, crash_after, completed_at: None }
    }
}

impl CrashPlan for At {
    fn next(&mut self, completed: Option<CheckpointId>) -> CrashStep {
        self.step += 1;
        if completed.is_some() && self.completed_at.is_none() {
            self.completed_at = Some(self.step);
        }
        if self.completed_at.is_some_and(|at| self.step >= at + self.crash_after) {
            return CrashStep::Crash;
        }
        if self.step == self.checkpoint_at { CrashStep::Checkpoint } else { CrashStep::GoOn }
    }
}

fn run(
    scripts: &Scripts,
    graph: &JobGraph,
    fs: &MemoryFs,
    seed: u64,
    plan: &mut dyn CrashPlan,
) -> Result<SimulatedRun, RuntimeError> {
    let clock = Arc::new(ManualClock::default());
    scripts.engine().simulate_crash(graph, with_checkpoints(fs), clock, seed, plan)
}

/// Several splits, sorted by event time: the order of the rows shows what the watermark was.
fn sorted_graph(parallelism: usize) -> JobGraph {
    let mut graph = GraphBuilder::new();
    let read = graph.vertex(parallelism, &[], vec![source("t"), watermark(2, None)]);
    graph.vertex(1, &[(read, Distribution::Single)], vec![sort_by_time(), NodeKind::Collect]);
    graph.build()
}

/// The numbers from 0 to 35, in three splits; read in turn, none is late.
fn splits() -> Vec<Vec<Act>> {
    let split = |from: i64| in_batches(&(from..from + 12).map(|n| (n, n)).collect::<Vec<_>>(), 2);
    vec![split(0), split(12), split(24)]
}

#[test]
fn a_job_that_crashes_gives_what_it_would_have_given() {
    let scripts = Scripts::default().table("t", splits());
    let mut crashes = 0;
    for (before, after) in [(1, 3), (3, 1), (3, 2)] {
        for seed in seeds() {
            let fs = MemoryFs::default();
            let mut plan = At::new(seed as usize % 23, seed as usize % 7);
            let crashed = run(&scripts, &sorted_graph(before), &fs, seed, &mut plan).unwrap();
            let mut values = values_of(&crashed.rows);
            if crashed.has_crashed {
                crashes += 1;
                let rest = run(&scripts, &sorted_graph(after), &fs, seed, &mut NoCrash).unwrap();
                assert!(rest.summary.recovery.is_some_and(|recovery| !recovery.is_complete));
                values.extend(values_of(&rest.rows));
            }
            values.sort_unstable();
            assert_eq!(values, (0..36).collect::<Vec<_>>(), "{before} to {after}, seed {seed}");
            assert!(newest(&fs).is_complete);
        }
    }
    assert!(crashes > 100, "{crashes}");
}

/// Rows behind the watermark come now and then; where the job crashes must not let one in.
#[test]
fn a_late_row_stays_late_after_a_restore() {
    let times = [10, 20, 5, 30, 29, 12, 40, 27, 50, 49, 31, 60];
    let acts: Vec<_> = (0..).zip(times).map(|(n, t)| rows(&[(t, n)])).collect();
    let scripts = Scripts::default().table("t", vec![acts]);
    // At or behind the watermark, which is 2 ms behind the largest: 5, 12, 27 and 31. The others by event time.
    let expected = [0, 1, 4, 3, 6, 9, 8, 11];
    for (before, after) in [(1, 3), (3, 1), (2, 2)] {
        for seed in seeds() {
            let fs = MemoryFs::default();
            let mut plan = At::new(seed as usize % 31, seed as usize % 5);
            let crashed = run(&scripts, &sorted_graph(before), &fs, seed, &mut plan).unwrap();
            let mut values = values_of(&crashed.rows);
            if crashed.has_crashed {
                values.extend(values_of(&run(&scripts, &sorted_graph(after), &fs, seed, &mut NoCrash).unwrap().rows));
            }
            assert_eq!(values, expected, "{before} to {after}, seed {seed}");
        }
    }
}

#[test]
fn splits_that_are_added_are_read_and_those_that_were_are_not() {
    for seed in seeds() {
        let fs = MemoryFs::default();
        let two = Scripts::default().table("t", splits()[..2].to_vec());
        let mut plan = At::new(seed as usize % 9, 1);
        let crashed = run(&two, &sorted_graph(1), &fs, seed, &mut plan).unwrap();
        if !crashed.has_crashed {
            continue;
        }
        let three = Scripts::default().table("t", splits());
        let rest = run(&three, &sorted_graph(2), &fs, seed, &mut NoCrash).unwrap();
        let mut values = values_of(crashed.rows.iter().chain(&rest.rows));
        values.sort_unstable();
        assert_eq!(values, (0..36).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn a_job_that_has_ended_is_not_run_again() {
    let scripts = Scripts::default().table("t", splits());
    let fs = MemoryFs::default();
    run(&scripts, &sorted_graph(2), &fs, 1, &mut NoCrash).unwrap();
    let polls = *scripts.polls.lock().unwrap();
    let again = run(&scripts, &sorted_graph(3), &fs, 1, &mut NoCrash).unwrap();
    assert!(again.rows.is_empty() && again.summary.recovery.unwrap().is_complete);
    assert_eq!(*scripts.polls.lock().unwrap(), polls, "nothing is read");
}

/// One source has ended long before the other: what is behind it must not end a second time.
#[test]
fn a_part_of_a_job_that_has_ended_stays_ended() {
    let two = |parallelism| {
        let mut graph = GraphBuilder::new();
        for table in ["short", "long"] {
            let read = graph.vertex(parallelism, &[], vec![source(table)]);
            let limit = NodeKind::Limit { offset: 1, fetch: None };
            graph.vertex(1, &[(read, Distribution::Single)], vec![limit, sink(table)]);
        }
        graph.build()
    };
    let long: Vec<_> = (0..40).map(|n| rows(&[(n, n)])).collect();
    for seed in seeds() {
        let scripts = Scripts::default().table("short", vec![vec![rows(&[(1, 1000), (2, 1001)])]]);
        let scripts = scripts.table("long", vec![long.clone()]);
        let fs = MemoryFs::default();
        let mut plan = At::new(50, seed as usize % 5);
        let crashed = run(&scripts, &two(1), &fs, seed, &mut plan).unwrap();
        assert!(crashed.has_crashed);
        let manifest = newest(&fs);
        let short = ["source-0", "limit-1", "sink-2"].map(|uid| manifest.finished.iter().any(|f| f == uid));
        scripts.written.lock().unwrap().clear();
        run(&scripts, &two(2), &fs, seed, &mut NoCrash).unwrap();
        let written = scripts.written.lock().unwrap().join(" ");
        assert_eq!(written.contains("1001"), !short[2], "seed {seed}: {written}");
        assert!(newest(&fs).is_complete);
    }
}

#[test]
fn what_crashed_attempts_leave_is_removed_and_old_checkpoints_go() {
    let scripts = Scripts::default().table("t", splits());
    let fs = MemoryFs::default();
    for round in 1..6 {
        run(&scripts, &sorted_graph(1), &fs, round, &mut At::new(3, 0)).unwrap();
    }
    let names = fs.list(Path::new(DIR)).unwrap().len();
    assert!(names <= 3, "two checkpoints and at most an attempt: {names}");
}

#[test]
fn another_number_of_key_groups_is_refused() {
    let scripts = Scripts::default().table("t", splits());
    let mut graph = sorted_graph(1);
    let fs = MemoryFs::default();
    run(&scripts, &graph, &fs, 1, &mut At::new(3, 0)).unwrap();
    graph.max_parallelism = 64;
    let error = run(&scripts, &graph, &fs, 1, &mut NoCrash).unwrap_err();
    assert!(error.is_about_state(), "{error}");
    assert!(error.to_string().contains("maximum parallelism of 128 and cannot be restored with 64"), "{error}");
}
