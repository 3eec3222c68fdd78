//! Jobs that go on from checkpoints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemark_parser::Diagnostic;
use tidemark_parser::ast::ParsedStatement;
use tidemark_planner::stream_plan::NodeKind;
use tidemark_planner::{Planned, QueryOutput};
use tidemark_runtime::change_batch::ChangeBatch;
use tidemark_runtime::checkpoint::fingerprint::fingerprint;
use tidemark_runtime::checkpoint::{CheckpointOptions, RestoreFrom};
use tidemark_runtime::clock::{Clock, ManualClock, SystemClock};
use tidemark_runtime::engine::{CrashPlan, NoCrash, SimulatedRun};
use tidemark_runtime::error::RuntimeError;
use tidemark_state::fs::{LocalFs, MemoryFs};
use tidemark_state::job_fingerprint::JobFingerprint;

use super::{Session, SessionError, StatementError, parse};

/// A crash to try a query with.
pub struct Crash<'a> {
    /// When checkpoints are taken, and when the query crashes.
    pub plan: &'a mut dyn CrashPlan,
    /// In which order its subtasks make their steps.
    pub seed: u64,
    /// How many subtasks each operator has when the query goes on.
    pub parallelism_after: usize,
}

/// A job of a script, as far as its checkpoints are concerned.
#[derive(Clone, Debug)]
pub struct ScriptJob {
    /// Its name and its operators' state.
    pub fingerprint: JobFingerprint,
    /// What it would have been called without some of the tables that it writes.
    pub former_names: BTreeSet<String>,
}

/// What a query has given that may have crashed on the way.
#[derive(Debug)]
pub struct CrashedQuery {
    /// Columns and kind of the result.
    pub output: QueryOutput,
    /// All its changes, as one who has taken none twice.
    pub changes: Vec<ChangeBatch>,
    /// Has it crashed, or ended before?
    pub has_crashed: bool,
}

impl Session {
    /// Where the job that was planned keeps its checkpoints; `None` when nothing is set.
    pub(super) fn checkpoints_of(&mut self, planned: &Planned) -> Result<Option<CheckpointOptions>, RuntimeError> {
        if let Some(key) = self.settings.checkpointing_in_vain() {
            let sentence = "means nothing without a directory for checkpoints: set 'execution.checkpointing.dir'";
            return Err(RuntimeError::Unsupported(format!("'{key}' {sentence}")));
        }
        let Some(set) = self.settings.checkpointing() else { return Ok(None) };
        let JobNames { name: job_name, former } = self.name_job(planned);
        Ok(Some(CheckpointOptions {
            fs: Arc::new(LocalFs),
            dir: PathBuf::from(set.dir),
            other_jobs: self.job_names().collect(),
            job_name,
            former_names: former,
            interval: Some(set.interval),
            retained: set.retained,
            restore: match set.restore_from {
                "latest" => RestoreFrom::Latest,
                "none" => RestoreFrom::Nothing,
                path => RestoreFrom::Path(PathBuf::from(path)),
            },
            allows_dropped_state: set.allows_dropped_state,
        }))
    }

    /// What of a script's jobs that write tables their checkpoints must fit, in order. Definitions in it take effect,
    /// nothing is run.
    ///
    /// # Errors
    /// What is wrong with the first statement that is wrong.
    pub fn fingerprints(&mut self, sql: &str) -> Result<Vec<ScriptJob>, SessionError> {
        let mut found = vec![];
        for statement in &parse(sql)? {
            let planned = self.plan(statement, sql);
            let planned = planned.map_err(|e| SessionError::new(StatementError::Sql(e), sql))?;
            if let Some(planned) = planned.filter(|planned| planned.output.is_none()) {
                let JobNames { name, former } = self.name_job(&planned);
                found.push(ScriptJob { fingerprint: fingerprint(&planned.graph, &name)?, former_names: former });
                self.note_started(&planned);
            }
        }
        Ok(found)
    }

    /// The name that the job has in this run of the script and in every other: what it was given, or the first table
    /// that it writes; and, from the second of that name on, its number. Before a table was put in front of the others
    /// it was named for one of those.
    fn name_job(&self, planned: &Planned) -> JobNames {
        let base = self.base_name(planned);
        let name = numbered(&base, self.jobs.get(&base).map_or(1, |count| count + 1));
        let is_given = self.settings.job_name().is_some();
        let former = written_tables(planned).skip(1).filter(|former| !is_given && !self.jobs.contains_key(former));
        JobNames { former: former.filter(|former| *former != name).collect(), name }
    }

    fn base_name(&self, planned: &Planned) -> String {
        let written = || written_tables(planned).next().unwrap_or_else(|| "query".into());
        self.settings.job_name().map_or_else(written, str::to_owned)
    }

    /// The next job of that name is another one.
    pub(super) fn note_started(&mut self, planned: &Planned) {
        *self.jobs.entry(self.base_name(planned)).or_default() += 1;
    }

    /// The names of all jobs that have been started.
    fn job_names(&self) -> impl Iterator<Item = String> {
        self.jobs.iter().flat_map(|(base, count)| (1..=*count).map(|number| numbered(base, number)))
    }

    /// Runs a query to its end on the calling thread, has it crash on the way, and go on from its last checkpoint with
    /// another parallelism. `None` when the statement is no query, which then has not been run. For tests of queries
    /// and of the engine.
    ///
    /// # Errors
    /// As [`Session::run`], and whatever fails while the query runs.
    pub fn run_with_crash(
        &self,
        statement: &ParsedStatement,
        text: &str,
        warn: &mut dyn FnMut(Diagnostic),
        crash: Crash,
    ) -> Result<Option<CrashedQuery>, StatementError> {
        let planned = self.plan_job(&statement.statement, text).map_err(StatementError::Sql)?;
        let Some(planned) = planned.filter(|planned| planned.output.is_some()) else { return Ok(None) };
        planned.warnings.iter().cloned().for_each(warn);
        let clock = Arc::new(ManualClock::new(SystemClock.now_ms()));
        let mut options = self.job_options();
        options.checkpoints = Some(in_memory());
        let simulate = |planned: &Planned, plan: &mut dyn CrashPlan| {
            let run = self.engine.simulate_crash(&planned.graph, options.clone(), Arc::clone(&clock), crash.seed, plan);
            run.map_err(StatementError::Run)
        };
        let SimulatedRun { mut rows, has_crashed, .. } = simulate(&planned, crash.plan)?;
        if has_crashed {
            let session = self.at_parallelism(crash.parallelism_after);
            let planned = session.plan_job(&statement.statement, text).map_err(StatementError::Sql)?;
            let planned = planned.expect("a statement that was a query is one");
            rows.extend(simulate(&planned, &mut NoCrash)?.rows);
        }
        Ok(planned.output.map(|output| CrashedQuery { output, changes: rows, has_crashed }))
    }

    fn at_parallelism(&self, parallelism: usize) -> Session {
        let mut settings = self.settings.clone();
        settings.set("parallelism.default", &parallelism.to_string()).expect("a parallelism that is allowed");
        Session {
            catalog: self.catalog.clone(),
            settings,
            engine: self.engine.clone(),
            memory: self.memory.clone(),
            jobs: self.jobs.clone(),
        }
    }
}

fn in_memory() -> CheckpointOptions {
    CheckpointOptions {
        fs: Arc::new(MemoryFs::default()),
        dir: Path::new("checkpoints").to_owned(),
        job_name: "query".into(),
        former_names: BTreeSet::new(),
        other_jobs: BTreeSet::new(),
        interval: None,
        retained: 1,
        restore: RestoreFrom::Latest,
        allows_dropped_state: false,
    }
}

/// What a job is called, and was called before something was added to it.
struct JobNames {
    name: String,
    former: BTreeSet<String>,
}

/// A name for each table that the job writes, in order.
fn written_tables(planned: &Planned) -> impl Iterator<Item = String> {
    planned.graph.plan.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Sink(sink) => Some(format!("INSERT INTO {}", sink.table.name)),
        _ => None,
    })
}

fn numbered(base: &str, number: usize) -> String {
    if number == 1 { base.to_owned() } else { format!("{base} #{number}") }
}
