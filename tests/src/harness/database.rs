//! What a script talks to: a session, its directory, and the directives.
//!
//! | directive        | what it does                                                              |
//! |------------------|---------------------------------------------------------------------------|
//! | `FEED name …`    | writes a file, see [`super::feed`]                                        |
//! | `FILE name`      | the lines of a file, or of all files of a directory in name order         |
//! | `SUMMARY`        | what the last job had to say at its end, without the time it took         |
//! | `WARNINGS`       | what was said before the last job started                                 |
//! | `CHANGELOG SELECT …` | the query's changes instead of the rows they leave, kind first        |
//! | `PLAN …`         | as EXPLAIN, without the logical plan, whose spelling is DataFusion's      |

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use sqllogictest::DBOutput;
use tempfile::TempDir;
use tidemark::Session;
use tidemark::session::{Crash, Job, Outcome, StatementError};
use tidemark_parser::ast::{ParsedStatement, Statement};
use tidemark_parser::{Diagnostic, parse_script};
use tidemark_planner::QueryOutput;
use tidemark_runtime::change_batch::{ChangeBatch, RowKind};
use tidemark_runtime::error::RuntimeError;
use tidemark_runtime::format::zone::Zone;
use tidemark_runtime::job::results::{Received, ResultReceiver};
use tidemark_runtime::summary::JobSummary;

use super::fold::Fold;
use super::values::{self, Row, TypeChar};
use super::{Cell, answer, crash, feed, finding};
use crate::workspace;

/// A query that has not ended by then never will.
const PATIENCE: Duration = Duration::from_secs(120);

type Output = DBOutput<TypeChar>;

/// Why a record failed, as the script's author would read it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(String);

/// A session with its directory.
pub struct Database {
    session: Session,
    dir: TempDir,
    last_job: Option<(JobSummary, bool)>,
    warnings: Vec<String>,
    cell: Cell,
}

impl Database {
    /// A session in one cell of the matrix, in a new directory.
    pub fn new(cell: Cell) -> Result<Self, RecordError> {
        let mut session = Session::new();
        let settings = [("parallelism.default", cell.parallelism), ("execution.batch-size", cell.batch_size)];
        for (key, value) in settings {
            session.set(key, &value.to_string()).map_err(|e| RecordError(e.to_string()))?;
        }
        let dir = tempfile::tempdir().map_err(|e| RecordError(e.to_string()))?;
        Ok(Self { session, dir, last_job: None, warnings: vec![], cell })
    }

    fn perform(&mut self, text: &str) -> Result<Output, String> {
        let word = text.split_whitespace().next().unwrap_or("");
        match word {
            "FEED" => feed::write(self.dir.path(), text).map(|()| DBOutput::StatementComplete(0)),
            "FILE" => Ok(answer::of_lines(read(&self.dir.path().join(text[word.len()..].trim()))?.lines())),
            "SUMMARY" => self.summary(),
            "WARNINGS" => Ok(answer::of_lines(self.warnings.iter().map(String::as_str))),
            "PLAN" => self.plan(&text.replacen("PLAN", "EXPLAIN", 1)),
            "CHANGELOG" => self.execute(&text.replacen("CHANGELOG", "", 1), Show::Changes),
            _ => self.execute(text, Show::Rows),
        }
    }

    fn plan(&mut self, explain: &str) -> Result<Output, String> {
        match self.execute(explain, Show::Rows)? {
            DBOutput::Rows { types, rows } => {
                let is_logical = |row: &Vec<String>| !row[0].starts_with("== Stream plan");
                Ok(DBOutput::Rows { types, rows: rows.into_iter().skip_while(is_logical).collect() })
            }
            other => Ok(other),
        }
    }

    fn summary(&self) -> Result<Output, String> {
        let (summary, is_insert) = self.last_job.as_ref().ok_or("no job has run yet")?;
        let timeless = JobSummary { elapsed: Duration::ZERO, ..summary.clone() };
        let text = tidemark::summary::describe(&timeless, *is_insert).replacen(", in 0 seconds", "", 1);
        Ok(answer::of_lines(text.lines()))
    }

    /// Runs statements; gives what the last one gave.
    fn execute(&mut self, text: &str, show: Show) -> Result<Output, String> {
        let script = parse_script(text);
        if script.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(finding::lines(&script.diagnostics, text).join("\n"));
        }
        let mut last = DBOutput::StatementComplete(0);
        for statement in &script.statements {
            if let Some(parallelism_after) = self.cell.after_crash
                && let Statement::Query(_) = statement.statement
            {
                last = self.crash(statement, text, show, parallelism_after)?;
                continue;
            }
            let mut warnings = vec![];
            let outcome = self.session.run(statement, text, &mut |warning| warnings.push(warning));
            self.warnings = finding::lines(&warnings, text);
            last = match outcome {
                Ok(Outcome::Changed(_)) => DBOutput::StatementComplete(0),
                Ok(Outcome::Answer(rows)) => self.answer(&rows),
                Ok(Outcome::Text(text)) => answer::of_lines(text.lines()),
                Ok(Outcome::Job(job)) => self.follow(job, show)?,
                Err(StatementError::Sql(findings)) => return Err(finding::lines(&findings, text).join("\n")),
                Err(StatementError::Run(error)) => return Err(sentence(&error)),
            };
        }
        Ok(last)
    }

    /// Runs a query that crashes at a point that its text decides.
    fn crash(
        &mut self,
        query: &ParsedStatement,
        text: &str,
        show: Show,
        parallelism_after: usize,
    ) -> Result<Output, String> {
        let seed = crash::seed_of(text, self.cell);
        let mut warnings = vec![];
        let plan = &mut crash::RandomCrash::new(seed);
        let crash = Crash { plan, seed, parallelism_after };
        let run = self.session.run_with_crash(query, text, &mut |warning| warnings.push(warning), crash);
        self.warnings = finding::lines(&warnings, text);
        match run {
            Ok(Some(query)) => show.rows(&query.output, &query.changes, self.zone()),
            Ok(None) => Err("not a query".into()),
            Err(StatementError::Sql(findings)) => Err(finding::lines(&findings, text).join("\n")),
            Err(StatementError::Run(error)) => Err(sentence(&error)),
        }
    }

    fn answer(&self, rows: &RecordBatch) -> Output {
        let types = rows.schema().fields().iter().map(|f| TypeChar::of(f.data_type())).collect();
        answer::of_rows(types, &values::rows(rows, self.zone()))
    }

    fn zone(&self) -> Zone {
        Zone::parse(self.session.settings().time_zone()).expect("settings are checked when they are set")
    }

    fn follow(&mut self, job: Job, show: Show) -> Result<Output, String> {
        let Some(output) = job.output.clone() else {
            let summary = job.wait().map_err(|e| sentence(&e))?;
            let rows = summary.rows_out;
            self.last_job = Some((summary, true));
            return Ok(DBOutput::StatementComplete(rows));
        };
        let changes = job.handle.results().map_or_else(|| Ok(vec![]), collect)?;
        let summary = job.wait().map_err(|e| sentence(&e))?;
        self.last_job = Some((summary, false));
        show.rows(&output, &changes, self.zone())
    }

    /// Machine-dependent paths as the script writes them.
    fn without_paths(&self, text: &str) -> String {
        let dir = self.dir.path().display().to_string();
        text.replace(&dir, "${dir}").replace(&workspace::root().display().to_string(), "${root}")
    }
}

impl sqllogictest::DB for Database {
    type Error = RecordError;
    type ColumnType = TypeChar;

    fn run(&mut self, sql: &str) -> Result<Output, RecordError> {
        let root = workspace::root().display().to_string();
        let text = sql.replace("${dir}", &self.dir.path().display().to_string()).replace("${root}", &root);
        match self.perform(&text) {
            Ok(DBOutput::Rows { types, mut rows }) => {
                rows.iter_mut().flatten().for_each(|cell| *cell = self.without_paths(cell));
                Ok(DBOutput::Rows { types, rows })
            }
            Ok(other) => Ok(other),
            Err(message) => Err(RecordError(self.without_paths(&message))),
        }
    }
}

/// What of a query is compared.
#[derive(Clone, Copy)]
enum Show {
    /// The rows that are left at its end.
    Rows,
    /// Each change.
    Changes,
}

impl Show {
    fn rows(self, output: &QueryOutput, changes: &[ChangeBatch], zone: Zone) -> Result<Output, String> {
        let mut types: Vec<_> = output.schema.fields().iter().map(|f| TypeChar::of(f.data_type())).collect();
        let mut fold = Fold::new(output.changelog, output.upsert_key.clone());
        let mut all: Vec<Row> = vec![];
        for batch in changes {
            let rows = values::rows(&batch.batch, zone).into_iter().enumerate();
            let changes: Vec<(RowKind, Row)> = rows.map(|(i, row)| (batch.kind(i), row)).collect();
            fold.apply(&changes).map_err(|e| format!("the changelog makes no sense: {e}"))?;
            all.extend(changes.into_iter().map(|(kind, row)| {
                let kind = Some(kind.symbol().to_string());
                std::iter::once(kind).chain(row).collect()
            }));
        }
        Ok(match self {
            Show::Rows => answer::of_rows(types, &fold.into_rows()),
            Show::Changes => {
                types.insert(0, TypeChar::TEXT);
                answer::of_rows(types, &all)
            }
        })
    }
}

fn collect(results: &ResultReceiver) -> Result<Vec<ChangeBatch>, String> {
    let deadline = Instant::now() + PATIENCE;
    let mut changes = vec![];
    loop {
        match results.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Received::Batch(batch) => changes.push(batch),
            Received::Finished => return Ok(changes),
            Received::Empty => return Err(format!("the query has not ended within {} s", PATIENCE.as_secs())),
        }
    }
}

fn sentence(error: &RuntimeError) -> String {
    let help = error.help().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    format!("error: {}{help}", finding::with_causes(error))
}

fn read(path: &Path) -> Result<String, String> {
    let failed = |e| format!("{}: {e}", path.display());
    if !path.is_dir() {
        return fs::read_to_string(path).map_err(failed);
    }
    let mut files: Vec<_> = fs::read_dir(path).map_err(failed)?.filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    files.iter().map(|file| read(file)).collect()
}
