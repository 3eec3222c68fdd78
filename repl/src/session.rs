//! The engine as a library: SQL in, rows out.
//!
//! A [`Session`] owns names and settings. [`Session::execute`] runs a script to its end and gives what each statement
//! gave; [`Session::query`] streams the changes of one query while it runs; [`Session::run`] starts one statement and
//! leaves the waiting to the caller, which is what the command line does.
//!
//! ```
//! # fn main() -> Result<(), tidemark::session::SessionError> {
//! let mut session = tidemark::Session::new();
//! let results = session.execute("SELECT 1 AS one")?;
//! assert_eq!(results.len(), 1);
//! # Ok(())
//! # }
//! ```

mod answers;
mod job;
mod memory;
mod recovery;
mod statement;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use tidemark_parser::ast::{ParsedStatement, Statement};
use tidemark_parser::{Diagnostic, parse_script};
use tidemark_planner::catalog::Catalog;
use tidemark_planner::catalog::connector::ConnectorFactory;
use tidemark_planner::settings::{SettingError, Settings};
use tidemark_planner::{Planned, QueryOutput};
use tidemark_runtime::change_batch::ChangeBatch;
use tidemark_runtime::connector::Connector;
use tidemark_runtime::connector::memory::{MemoryConnector, MemoryTables};
use tidemark_runtime::connector::registry::standard_connectors;
use tidemark_runtime::engine::Engine;
use tidemark_runtime::error::RuntimeError;
use tidemark_runtime::job::JobOptions;
use tidemark_runtime::job::restart::Restarts;
use tidemark_runtime::summary::JobSummary;

pub use job::{Job, QueryRows};
pub use recovery::{Crash, CrashedQuery, ScriptJob};

/// Why no state lives in RocksDB.
pub const ROCKSDB_REFUSAL: &str = if cfg!(feature = "rocksdb") {
    "operators cannot spill to RocksDB in this version; their state stays in memory"
} else {
    "this build has no RocksDB; `cargo build` with the default features includes it"
};

/// Names, settings and the engine that runs jobs.
pub struct Session {
    catalog: Catalog,
    settings: Settings,
    engine: Engine,
    memory: MemoryTables,
    /// How often a job of each name has been started.
    jobs: BTreeMap<String, usize>,
}

/// What a statement that was started gave.
pub enum Outcome {
    /// The session has changed; a sentence says how.
    Changed(String),
    /// Rows about the session: `SHOW`, `DESCRIBE`, `SET`.
    Answer(RecordBatch),
    /// A text: `EXPLAIN`, `SHOW CREATE`.
    Text(String),
    /// A job that now runs: a query, an `INSERT`, a statement set.
    Job(Job),
}

/// What a statement that ran to its end gave.
#[derive(Debug)]
pub enum StatementResult {
    /// The session has changed; a sentence says how.
    Changed(String),
    /// Rows about the session: `SHOW`, `DESCRIBE`, `SET`.
    Answer(RecordBatch),
    /// A text: `EXPLAIN`, `SHOW CREATE`.
    Text(String),
    /// A query's changes, in order, and what the run has to say.
    Rows {
        /// Columns and kind of the result.
        output: QueryOutput,
        /// The changes.
        changes: Vec<ChangeBatch>,
        /// Rows read, rows left out, windows fired.
        summary: JobSummary,
    },
    /// An `INSERT` or statement set has written its rows.
    Written(JobSummary),
}

/// Why a statement failed.
#[derive(Debug)]
pub enum StatementError {
    /// The SQL is wrong: all that was found.
    Sql(Vec<Diagnostic>),
    /// The job failed.
    Run(RuntimeError),
}

/// Why a script failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The SQL is wrong.
    #[error("{}", tidemark_parser::render(diagnostics, "sql", text, false).trim_end())]
    Sql {
        /// All that was found.
        diagnostics: Vec<Diagnostic>,
        /// The script that they speak of.
        text: String,
    },
    /// A job failed.
    #[error(transparent)]
    Run(#[from] RuntimeError),
    /// The script is not what was asked for.
    #[error("{0}")]
    Usage(String),
}

impl SessionError {
    fn new(error: StatementError, text: &str) -> Self {
        match error {
            StatementError::Sql(diagnostics) => SessionError::Sql { diagnostics, text: text.into() },
            StatementError::Run(error) => SessionError::Run(error),
        }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A session without tables, over the connectors that come with the engine.
    pub fn new() -> Self {
        Self::over(standard_connectors())
    }

    /// A session without tables, over these connectors and `memory`, which every session has.
    pub fn over(mut connectors: Vec<Arc<dyn Connector>>) -> Self {
        let memory = MemoryTables::default();
        connectors.push(Arc::new(MemoryConnector::new(memory.clone())) as Arc<dyn Connector>);
        let factories = connectors.iter().map(|c| Arc::clone(c) as Arc<dyn ConnectorFactory>).collect();
        let catalog = Catalog::new(factories);
        Self { catalog, settings: Settings::default(), engine: Engine::new(connectors), memory, jobs: BTreeMap::new() }
    }

    /// The tables and views.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// As `SET 'key' = 'value'`.
    ///
    /// # Errors
    /// A key that does not exist, or a value that does not fit it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingError> {
        let before = self.settings.clone();
        self.settings.set(key, value)?;
        if self.settings.state_backend() == "rocksdb" {
            self.settings = before;
            let (key, value) = ("state.backend.type", value.into());
            return Err(SettingError::BadValue { key, value, reason: ROCKSDB_REFUSAL.into() });
        }
        Ok(())
    }

    /// Runs a script, each statement to its end, and gives what each gave. Needs memory for all rows of its queries,
    /// and does not return from a query that has no end; see [`Session::query`].
    ///
    /// # Errors
    /// The first error; what ran before it has run. A script with a syntax error does not run at all.
    pub fn execute(&mut self, sql: &str) -> Result<Vec<StatementResult>, SessionError> {
        let statements = parse(sql)?;
        let mut results = Vec::with_capacity(statements.len());
        for statement in &statements {
            let outcome = self.run(statement, sql, &mut |_| {}).map_err(|e| SessionError::new(e, sql))?;
            results.push(finish(outcome)?);
        }
        Ok(results)
    }

    /// Starts a query and gives its changes as they happen. Statements before it (`CREATE TABLE …; SELECT …`) run first.
    ///
    /// # Errors
    /// As [`Session::execute`]; and a script that does not end in a query.
    pub fn query(&mut self, sql: &str) -> Result<QueryRows, SessionError> {
        let statements = parse(sql)?;
        let Some((query, before)) = statements.split_last().filter(|(last, _)| is_query(last)) else {
            return Err(SessionError::Usage("the script does not end in a query".into()));
        };
        for statement in before {
            let outcome = self.run(statement, sql, &mut |_| {}).map_err(|e| SessionError::new(e, sql))?;
            finish(outcome)?;
        }
        match self.run(query, sql, &mut |_| {}).map_err(|e| SessionError::new(e, sql))? {
            Outcome::Job(job) => QueryRows::of(job).ok_or_else(|| SessionError::Usage("a query without rows".into())),
            _ => unreachable!("a query is a job"),
        }
    }

    /// The plans of a script's queries and INSERTs, as text. Definitions in it take effect, nothing is run.
    ///
    /// # Errors
    /// What is wrong with the first statement that is wrong.
    pub fn explain(&mut self, sql: &str) -> Result<String, SessionError> {
        let mut plans = Vec::new();
        for statement in &parse(sql)? {
            let planned = self.plan(statement, sql);
            let planned = planned.map_err(|e| SessionError::new(StatementError::Sql(e), sql))?;
            plans.extend(planned.map(|p| p.explain()));
        }
        Ok(plans.join("\n"))
    }

    /// Runs one statement of the script `text`; a job is started and not waited for. `warn` gets what is worth knowing
    /// before it runs.
    ///
    /// # Errors
    /// What is wrong with the statement, or why its job could not start.
    pub fn run(
        &mut self,
        statement: &ParsedStatement,
        text: &str,
        warn: &mut dyn FnMut(Diagnostic),
    ) -> Result<Outcome, StatementError> {
        match self.plan_job(&statement.statement, text).map_err(StatementError::Sql)? {
            Some(planned) => {
                planned.warnings.iter().cloned().for_each(warn);
                self.start(planned).map(Outcome::Job).map_err(StatementError::Run)
            }
            None => self.apply(statement, text).map_err(StatementError::Sql),
        }
    }

    fn start(&mut self, planned: Planned) -> Result<Job, RuntimeError> {
        let mut options = self.job_options();
        if planned.output.is_none() {
            options.checkpoints = self.checkpoints_of(&planned)?;
        }
        let restarts = Restarts::new(self.settings.restart_strategy());
        let job = Job::start(self.engine.clone(), &planned, options, restarts)?;
        if job.output.is_none() {
            self.note_started(&planned);
        }
        Ok(job)
    }

    fn job_options(&self) -> JobOptions {
        JobOptions {
            batch_size: self.settings.batch_size(),
            threads: self.settings.parallelism(),
            time_zone: self.settings.time_zone().into(),
            ..JobOptions::default()
        }
    }
}

fn parse(sql: &str) -> Result<Vec<ParsedStatement>, SessionError> {
    let script = parse_script(sql);
    if script.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(SessionError::Sql { diagnostics: script.diagnostics, text: sql.into() });
    }
    Ok(script.statements)
}

fn is_query(statement: &ParsedStatement) -> bool {
    matches!(statement.statement, Statement::Query(_))
}

/// Waits for what an outcome leaves open.
fn finish(outcome: Outcome) -> Result<StatementResult, SessionError> {
    match outcome {
        Outcome::Changed(sentence) => Ok(StatementResult::Changed(sentence)),
        Outcome::Answer(rows) => Ok(StatementResult::Answer(rows)),
        Outcome::Text(text) => Ok(StatementResult::Text(text)),
        Outcome::Job(job) => {
            let changes = job.handle.results().map(|r| r.iter().collect()).unwrap_or_default();
            let output = job.output.clone();
            let summary = job.wait()?;
            Ok(match output {
                Some(output) => StatementResult::Rows { output, changes, summary },
                None => StatementResult::Written(summary),
            })
        }
    }
}

#[cfg(test)]
mod restart_tests;
#[cfg(test)]
mod tests;
