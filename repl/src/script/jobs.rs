//! Follows a running job to its end: prints a query's rows as they come, waits for an INSERT.

use std::io::Write;
use std::time::{Duration, Instant};

use tidemark::render::{Format, RenderError, ResultMode, ResultPrinter, ResultShape};
use tidemark::session::Job;
use tidemark::summary;
use tidemark_parser::ast::ParsedStatement;
use tidemark_planner::QueryOutput;
use tidemark_runtime::error::RuntimeError;
use tidemark_runtime::job::handle::JobHandle;
use tidemark_runtime::job::results::Received;
use tidemark_runtime::summary::JobSummary;

use super::{Ending, Runner, Source};
use crate::stop::{Reason, Stop};

/// Why a job did not end well.
enum Failure {
    /// Its rows could not be printed.
    Print(RenderError),
    /// It failed.
    Run(RuntimeError),
    /// It was stopped; holds whether folded rows were printed although the query had not ended.
    Stopped { reason: Reason, is_partial: bool },
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        Failure::Print(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Print(error.into())
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Failure::Run(error)
    }
}

impl Runner {
    /// Follows a job to its end and says how it went.
    pub(super) fn show_job(
        &mut self,
        job: Job,
        statement: &ParsedStatement,
        source: &Source,
        stop: &Stop,
    ) -> Result<(), Ending> {
        let followed = match &job.output {
            Some(output) => self.print_rows(job.handle, output, stop),
            None => wait(job.handle, stop),
        };
        match followed {
            Ok(run) => {
                if job.output.is_some() && self.options.format() == Format::Table {
                    self.console.note(&format!("({})\n", summary::words::counted(run.rows_out, "row", "rows")));
                }
                self.console.note(&summary::describe(&run, job.output.is_none()));
                Ok(())
            }
            Err(Failure::Print(error)) => Err(self.unprintable(&error)),
            Err(Failure::Run(error)) => Err(self.failed(&error, statement, source)),
            Err(Failure::Stopped { reason, is_partial }) => {
                let ending = self.stopped(reason);
                if is_partial {
                    self.console.note("these are the rows as they were at that moment\n");
                }
                Err(ending)
            }
        }
    }

    /// Prints a query's rows. `rows_out` of the summary becomes the number of rows printed.
    fn print_rows(&mut self, handle: JobHandle, output: &QueryOutput, stop: &Stop) -> Result<JobSummary, Failure> {
        let format = self.options.format();
        let on_terminal = self.console.is_terminal();
        let mode = self.options.result_mode();
        let mode = mode.unwrap_or_else(|| ResultMode::default_for(format, output.bounded, on_terminal));
        let shape = ResultShape {
            schema: output.schema.clone(),
            changelog: output.changelog,
            upsert_key: output.upsert_key.clone(),
        };
        let style = self.console.style(&self.options, self.session.settings().time_zone());
        let out = &mut self.console.out;
        let mut printer = ResultPrinter::new(&shape, mode, &style)?;
        printer.begin(out)?;
        if let Some(reason) = print_until_end(&handle, &mut printer, out, stop)? {
            handle.cancel();
            printer.end(out)?;
            out.flush()?;
            return Err(Failure::Stopped { reason, is_partial: mode == ResultMode::Table });
        }
        let run = handle.wait()?;
        let rows_out = printer.end(out)?;
        out.flush()?;
        Ok(JobSummary { rows_out, ..run })
    }
}

/// Prints rows until there are no more, or until there is a reason to stop, which is given. What was printed is flushed
/// whenever the next rows are not at hand.
fn print_until_end(
    handle: &JobHandle,
    printer: &mut ResultPrinter,
    out: &mut impl Write,
    stop: &Stop,
) -> Result<Option<Reason>, Failure> {
    let Some(results) = handle.results() else {
        return Ok(None);
    };
    loop {
        let received = match results.try_recv() {
            Received::Empty => {
                out.flush()?;
                results.recv_timeout(stop.tick())
            }
            received => received,
        };
        match received {
            Received::Batch(changes) => printer.write(&changes, out)?,
            Received::Empty => {}
            Received::Finished => return Ok(None),
        }
        if let Some(reason) = stop.reason() {
            return Ok(Some(reason));
        }
    }
}

/// Waits for a job that only writes.
fn wait(handle: JobHandle, stop: &Stop) -> Result<JobSummary, Failure> {
    let start = Instant::now();
    while !handle.is_finished() {
        if let Some(reason) = stop.reason() {
            handle.cancel();
            return Err(Failure::Stopped { reason, is_partial: false });
        }
        // A short job is noticed at once, a long one costs few wake-ups: at most a tenth is waited in vain.
        let pause = (start.elapsed() / 10).max(Duration::from_micros(200));
        std::thread::sleep(pause.min(stop.tick()));
    }
    Ok(handle.wait()?)
}
