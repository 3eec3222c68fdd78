//! Runs scripts: statements in order, rows to stdout, stop at the first error.

mod findings;
mod guard;
mod jobs;
mod plans;
mod source;
mod state;

use std::io::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use tidemark::Session;
use tidemark::render::{Format, RenderError, ResultMode, ResultPrinter, ResultShape};
use tidemark::session::{Outcome, StatementError};
use tidemark_parser::ast::ParsedStatement;
use tidemark_parser::{Diagnostic, parse_script};
use tidemark_runtime::change_batch::ChangeBatch;
use tidemark_runtime::error::RuntimeError;

use crate::args::RunOptions;
use crate::console::Console;
use crate::stop::{Reason, Stop};
use guard::guarded;
pub use source::Source;

/// Why a script did not run to its end. What is to be said about it has been said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// An error of the SQL, of the data or of the machine.
    Failed,
    /// What is kept of a job does not fit it, or is corrupt.
    StateRefused,
    /// Nobody reads the rows any more.
    ClosedPipe,
    /// A signal or the timeout.
    Stopped(Reason),
}

impl Ending {
    /// The exit code of a process that ends so.
    pub fn exit_code(self) -> u8 {
        match self {
            Ending::Failed => 1,
            Ending::StateRefused => 5,
            Ending::ClosedPipe => 0,
            Ending::Stopped(reason) => reason.exit_code(),
        }
    }
}

/// Runs statements of scripts in one session.
pub struct Runner {
    /// Names and settings.
    pub session: Session,
    /// Where rows and messages go.
    pub console: Console,
    options: RunOptions,
}

impl Runner {
    /// Over a session.
    pub fn new(session: Session, console: Console, options: RunOptions) -> Self {
        Self { session, console, options }
    }

    /// Runs a script. With a syntax error anywhere in it, nothing of it runs.
    pub fn run(&mut self, source: &Source, stop: &Stop) -> Result<(), Ending> {
        let script = parse_script(&source.text);
        self.console.diagnose(&script.diagnostics, source);
        if script.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Ending::Failed);
        }
        for statement in &script.statements {
            if let Some(reason) = stop.reason() {
                return Err(self.stopped(reason));
            }
            self.run_statement(statement, source, stop)?;
        }
        Ok(())
    }

    fn run_statement(&mut self, statement: &ParsedStatement, source: &Source, stop: &Stop) -> Result<(), Ending> {
        let mut warnings = Vec::new();
        let session = &mut self.session;
        let outcome = guarded(|| session.run(statement, &source.text, &mut |warning| warnings.push(warning)))
            .unwrap_or_else(|message| Err(StatementError::Run(RuntimeError::Panic(message))));
        self.console.diagnose(&warnings, source);
        match outcome {
            Ok(Outcome::Changed(sentence)) => {
                if source.is_interactive {
                    self.console.note(&format!("{sentence}\n"));
                }
                Ok(())
            }
            Ok(Outcome::Answer(rows)) => self.show_answer(rows),
            Ok(Outcome::Text(text)) => self.show_text(&text),
            Ok(Outcome::Job(job)) => self.show_job(job, statement, source, stop),
            Err(StatementError::Sql(findings)) => {
                self.console.diagnose(&findings, source);
                Err(Ending::Failed)
            }
            Err(StatementError::Run(error)) => Err(self.failed(&error, statement, source)),
        }
    }

    fn show_answer(&mut self, rows: RecordBatch) -> Result<(), Ending> {
        let shape = ResultShape::append(rows.schema());
        let style = self.console.style(&self.options, self.session.settings().time_zone());
        let out = &mut self.console.out;
        let printed = ResultPrinter::new(&shape, ResultMode::Table, &style).and_then(|mut printer| {
            printer.begin(out)?;
            printer.write(&ChangeBatch::insert_only(rows), out)?;
            printer.end(out)?;
            Ok(out.flush()?)
        });
        printed.map_err(|error| self.unprintable(&error))
    }

    /// A person reads the text as it is; a program gets it as a row.
    fn show_text(&mut self, text: &str) -> Result<(), Ending> {
        if self.options.format() == Format::Table {
            let printed = writeln!(self.console.out, "{}", text.trim_end()).and_then(|()| self.console.out.flush());
            return printed.map_err(|error| self.unprintable(&error.into()));
        }
        let column: ArrayRef = Arc::new(StringArray::from(vec![text]));
        self.show_answer(RecordBatch::try_from_iter([("result", column)]).expect("one column has one length"))
    }

    /// Says that a job failed, at its statement; unless it failed because nobody reads what it prints.
    fn failed(&mut self, error: &RuntimeError, statement: &ParsedStatement, source: &Source) -> Ending {
        if findings::is_closed_pipe(error) {
            return Ending::ClosedPipe;
        }
        let finding = findings::of_runtime_error(error, statement, &source.text);
        self.console.diagnose(&[finding], source);
        if error.is_about_state() { Ending::StateRefused } else { Ending::Failed }
    }

    fn unprintable(&mut self, error: &RenderError) -> Ending {
        if error.is_closed_pipe() {
            return Ending::ClosedPipe;
        }
        self.console.error(&findings::with_causes(error));
        Ending::Failed
    }

    fn stopped(&mut self, reason: Reason) -> Ending {
        match reason {
            Reason::Interrupt => self.console.note("stopped: the query was cancelled\n"),
            Reason::Terminate => self.console.note("stopped: the process was told to end\n"),
            Reason::Timeout => self.console.note("stopped: the timeout has passed\n"),
        }
        Ending::Stopped(reason)
    }
}
