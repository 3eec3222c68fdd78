//! The k-th write, rename or sync fails, for all k, and everything after it: as if the process had died there.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tidemark_parser::ast::{Insert, Statement};
use tidemark_parser::parse_script;
use tidemark_planner::Planner;
use tidemark_planner::bind::ddl;
use tidemark_planner::catalog::Catalog;
use tidemark_planner::catalog::connector::ConnectorFactory;
use tidemark_planner::job_graph::JobGraph;
use tidemark_planner::settings::Settings;
use tidemark_runtime::checkpoint::{CheckpointOptions, RestoreFrom};
use tidemark_runtime::clock::ManualClock;
use tidemark_runtime::connector::Connector;
use tidemark_runtime::connector::filesystem::FilesystemConnector;
use tidemark_runtime::connector::nexmark::NexmarkConnector;
use tidemark_runtime::engine::{CrashPlan, CrashStep, Engine, NoCrash};
use tidemark_runtime::error::RuntimeError;
use tidemark_runtime::job::JobOptions;
use tidemark_runtime::summary::JobSummary;
use tidemark_state::fs::{Fault, FaultyFs, FileSystem, MemoryFs};
use tidemark_state::manifest::CheckpointId;

/// Windows that are open at most checkpoints, and rows that pass through at once.
const SCRIPT: &str = "
    CREATE TABLE bids (auction BIGINT, price BIGINT, `dateTime` TIMESTAMP(3), WATERMARK FOR `dateTime` AS `dateTime`)
        WITH ('connector' = 'nexmark', 'type' = 'bid', 'events' = '900', 'event-rate' = '100');
    CREATE TABLE sums (start TIMESTAMP(3), auction BIGINT, bids BIGINT, total BIGINT)
        WITH ('connector' = 'filesystem', 'path' = 'sums', 'format' = 'csv');
    CREATE TABLE dear (auction BIGINT, price BIGINT)
        WITH ('connector' = 'filesystem', 'path' = 'dear', 'format' = 'json');
    EXECUTE STATEMENT SET BEGIN
        INSERT INTO sums SELECT window_start, auction, COUNT(*), SUM(price)
            FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(`dateTime`), INTERVAL '1' SECOND))
            GROUP BY window_start, window_end, auction;
        INSERT INTO dear SELECT auction, price FROM bids WHERE price > 50000000;
    END;";

/// Asks for a checkpoint every so many steps.
struct Every {
    steps: usize,
    step: usize,
}

impl CrashPlan for Every {
    fn next(&mut self, _: Option<CheckpointId>) -> CrashStep {
        self.step += 1;
        if self.step.is_multiple_of(self.steps) { CrashStep::Checkpoint } else { CrashStep::GoOn }
    }
}

fn connectors(fs: &Arc<dyn FileSystem>) -> Vec<Arc<dyn Connector>> {
    vec![Arc::new(NexmarkConnector), Arc::new(FilesystemConnector::writing_to(Arc::clone(fs)))]
}

fn plan(fs: &Arc<dyn FileSystem>, parallelism: usize) -> JobGraph {
    let factories = connectors(fs).into_iter().map(|connector| connector as Arc<dyn ConnectorFactory>);
    let mut catalog = Catalog::new(factories.collect());
    let mut settings = Settings::default();
    settings.set("parallelism.default", &parallelism.to_string()).expect("a parallelism");
    let mut inserts: Vec<Insert> = vec![];
    for parsed in parse_script(SCRIPT).statements {
        match parsed.statement {
            Statement::CreateTable(create) => {
                ddl::create_table(&mut catalog, &settings, &create, SCRIPT, parsed.span).expect("a table");
            }
            Statement::StatementSet(set) => inserts = set,
            _ => panic!("the script has no other statements"),
        }
    }
    Planner::new(&catalog, &settings, SCRIPT).plan_inserts(&inserts).expect("a plan").graph
}

fn run(
    fs: Arc<dyn FileSystem>,
    parallelism: usize,
    seed: u64,
    plan_of_checkpoints: &mut dyn CrashPlan,
) -> Result<JobSummary, RuntimeError> {
    let checkpoints = CheckpointOptions {
        fs: Arc::clone(&fs),
        dir: "checkpoints".into(),
        job_name: "job".into(),
        former_names: BTreeSet::new(),
        other_jobs: BTreeSet::new(),
        interval: None,
        retained: 1,
        restore: RestoreFrom::Latest,
        allows_dropped_state: false,
    };
    let options = JobOptions { batch_size: 50, checkpoints: Some(checkpoints), ..JobOptions::default() };
    let clock = Arc::new(ManualClock::default());
    let engine = Engine::new(connectors(&fs));
    engine.simulate_crash(&plan(&fs, parallelism), options, clock, seed, plan_of_checkpoints).map(|run| run.summary)
}

/// The lines of the published files, sorted: how rows are spread over files does not matter. Nothing else may be there.
fn published(fs: &MemoryFs) -> Vec<String> {
    let mut lines = vec![];
    for table in ["sums", "dear"] {
        for entry in fs.list(Path::new(table)).expect("a directory") {
            let name = entry.path.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(name.starts_with("part-"), "{table}/{name} is left behind");
            let text = String::from_utf8(fs.read(&entry.path).expect("a file")).expect("text");
            lines.extend(text.lines().map(|line| format!("{table}: {line}")));
        }
    }
    lines.sort();
    lines
}

fn every(steps: usize) -> Every {
    Every { steps, step: 0 }
}

fn check_every_write(fault: Fault) {
    let undisturbed = MemoryFs::default();
    run(Arc::new(undisturbed.clone()), 1, 0, &mut NoCrash).expect("nothing is in the way");
    let expected = published(&undisturbed);
    let (sums, dear) = (expected.iter().filter(|l| l.starts_with("sums")).count(), expected.len());
    assert!(sums > 20 && dear > sums, "there is something to lose: {sums} of {dear}");
    let mut crashes = 0;
    for k in 0.. {
        let memory = MemoryFs::default();
        let faulty = Arc::new(FaultyFs::new(Arc::new(memory.clone()), k, fault));
        let (before, after) = [(1, 2), (2, 1), (2, 3)][k % 3];
        let first = run(faulty.clone(), before, k as u64, &mut every(6));
        if first.is_ok() && !faulty.is_dead() {
            assert_eq!(published(&memory), expected, "without a fault");
            break;
        }
        crashes += 1;
        // The process is gone, or the power too: then what was not synced may be lost, all of it or some.
        let left = match k % 4 {
            0 | 1 => memory,
            2 => memory.after_power_loss(|_| false),
            _ => memory.after_power_loss(|path| path.as_os_str().len() % 2 == 0),
        };
        let again = run(Arc::new(left.clone()), after, k as u64 + 1, &mut every(6));
        again.unwrap_or_else(|error| panic!("{fault:?} at write {k}: {error}"));
        assert_eq!(published(&left), expected, "{fault:?} at write {k}, parallelism {before} to {after}");
    }
    assert!(crashes > 60, "{fault:?}: {crashes} writes");
}

#[test]
fn a_write_that_is_refused_loses_nothing_and_repeats_nothing() {
    check_every_write(Fault::Refused);
}

#[test]
fn a_write_that_is_half_done_loses_nothing_and_repeats_nothing() {
    check_every_write(Fault::Torn);
}

#[test]
fn a_write_that_nobody_learns_of_loses_nothing_and_repeats_nothing() {
    check_every_write(Fault::Unreported);
}

#[test]
fn a_job_may_crash_again_and_again() {
    let undisturbed = MemoryFs::default();
    run(Arc::new(undisturbed.clone()), 1, 0, &mut NoCrash).expect("nothing is in the way");
    for seed in 0..12_u64 {
        let memory = MemoryFs::default();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let k = 11 + (seed as usize * 7 + attempts * 13) % 41;
            let faulty = Arc::new(FaultyFs::new(Arc::new(memory.clone()), k, Fault::Torn));
            let parallelism = 1 + attempts % 3;
            if run(faulty.clone(), parallelism, seed, &mut every(9)).is_ok() && !faulty.is_dead() {
                break;
            }
            assert!(attempts < 200, "it gets nowhere");
        }
        assert_eq!(published(&memory), published(&undisturbed), "seed {seed} after {attempts} attempts");
    }
}
