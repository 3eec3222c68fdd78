//! Follows a running job to its end: prints a query's rows as they come, waits for an INSERT.

use std::io::Write;
use std::path::PathBuf;
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

use super::{Ending, Runner, Source, findings};
use crate::stop::{Reason, Stop, TICK};

/// Why a job did not end well.
enum Failure {
    /// Its rows could not be printed.
    Print(RenderError),
    /// It failed.
    Run(RuntimeError),
    /// It was stopped; holds whether folded rows were printed although the query had not ended.
    Stopped { reason: Reason, is_partial: bool },
    /// It was stopped with a checkpoint, whose directory this is.
    StoppedAt { reason: Reason, checkpoint: PathBuf },
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
        let is_query = job.output.is_some();
        let followed = match job.output.clone() {
            Some(output) => self.print_rows(job.handle, &output, stop),
            None => self.wait(job, source, stop),
        };
        match followed {
            Ok(run) => {
                if is_query && self.options.format() == Format::Table {
                    self.console.note(&format!("({})\n", summary::words::counted(run.rows_out, "row", "rows")));
                }
                self.console.note(&summary::describe(&run, !is_query));
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
            Err(Failure::StoppedAt { reason, checkpoint }) => {
                let ending = self.stopped(reason);
                self.console.note(&format!("the job goes on from checkpoint {}\n", checkpoint.display()));
                Err(ending)
            }
        }
    }

    /// Waits for a job that only writes. One that takes checkpoints is stopped with a last one; a second signal does
    /// not wait for it.
    fn wait(&mut self, mut job: Job, source: &Source, stop: &Stop) -> Result<JobSummary, Failure> {
        let mut stopping = None;
        loop {
            wait_for_end(&job.handle, stop, source.is_interactive, &mut stopping)?;
            let failed = match (job.outcome(), stopping) {
                (Err(RuntimeError::Stopped(checkpoint)), Some(reason)) => {
                    return Err(Failure::StoppedAt { reason, checkpoint });
                }
                (Ok(Err(failed)), Some(_)) => return Err(Failure::Run(failed.error)),
                (outcome, _) => match outcome? {
                    Ok(summary) => return Ok(summary),
                    Err(failed) => failed,
                },
            };
            let (error, delay) = (findings::with_causes(&failed.error), failed.delay);
            let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            let pause = summary::words::duration_ms(delay_ms);
            self.console.note(&format!("the job failed ({error}) and begins again in {pause}\n"));
            let mut is_stopped = None;
            let again = failed.begin_again(&mut |delay| is_stopped = is_stopped.or(pause_before_restart(delay, stop)));
            if let Some(reason) = is_stopped {
                return Err(Failure::Stopped { reason, is_partial: false });
            }
            job = again?;
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

/// Waits until the job has ended. The first reason to stop becomes `stopping` when the job takes checkpoints; it is
/// then waited for the last one.
fn wait_for_end(
    handle: &JobHandle,
    stop: &Stop,
    is_interactive: bool,
    stopping: &mut Option<Reason>,
) -> Result<(), Failure> {
    let start = Instant::now();
    while !handle.is_finished() {
        match (stop.reason(), &stopping) {
            (Some(reason), None) if handle.stop() => {
                *stopping = Some(reason);
                if is_interactive {
                    stop.forget_interrupt();
                }
            }
            // In a script a second signal ends the process without asking; the first is still told.
            (Some(reason), Some(_)) if !is_interactive || reason == Reason::Timeout => {}
            (Some(reason), _) => {
                handle.cancel();
                return Err(Failure::Stopped { reason, is_partial: false });
            }
            (None, _) => {}
        }
        // A short job is noticed at once, a long one costs few wake-ups: at most a tenth is waited in vain.
        let pause = (start.elapsed() / 10).max(Duration::from_micros(200));
        std::thread::sleep(pause.min(if stopping.is_some() { TICK } else { stop.tick() }));
    }
    Ok(())
}

/// Waits, unless there is a reason to stop, which is given.
fn pause_before_restart(delay: Duration, stop: &Stop) -> Option<Reason> {
    let start = Instant::now();
    while let Some(left) = delay.checked_sub(start.elapsed()) {
        if let Some(reason) = stop.reason() {
            return Some(reason);
        }
        std::thread::sleep(left.min(stop.tick()));
    }
    None
}
