//! The `tidemark` command.

mod args;
mod console;
mod script;
mod shell;
mod stop;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use tidemark::Session;

use args::{Action, CommandLine, Input, RunOptions};
use console::Console;
use script::{Ending, Runner, Source};
use stop::Stop;
use stop::watchdog::watch;

fn main() -> ExitCode {
    let line = CommandLine::parse();
    match perform(&line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Refused::Ended(ending)) => ExitCode::from(ending.exit_code()),
        Err(Refused::Usage(sentence)) => {
            Console::new(&line.options).error(&sentence);
            ExitCode::from(USAGE_EXIT_CODE)
        }
        Err(Refused::Signals(error)) => {
            Console::new(&line.options).error(&format!("cannot listen to signals: {error}"));
            ExitCode::from(Ending::Failed.exit_code())
        }
    }
}

/// The command line makes no sense.
const USAGE_EXIT_CODE: u8 = 2;

/// Why the process does not end well.
enum Refused {
    /// The command line makes no sense; a sentence says why.
    Usage(String),
    /// Signals cannot be heard.
    Signals(io::Error),
    /// A script ended early, and what is to be said about it has been said.
    Ended(Ending),
}

impl From<Ending> for Refused {
    fn from(ending: Ending) -> Self {
        Refused::Ended(ending)
    }
}

fn perform(line: &CommandLine) -> Result<(), Refused> {
    let options = &line.options;
    let action = line.action(io::stdin().is_terminal()).map_err(Refused::Usage)?;
    let mut runner = runner(options).map_err(Refused::Usage)?;
    let read = |inputs: &[Input]| read(inputs).map_err(Refused::Usage);
    match action {
        Action::Shell => {
            let stop = Stop::listen().map_err(Refused::Signals)?;
            shell::run(&mut runner, &stop, options.timeout)?;
        }
        Action::Run(inputs) => {
            let sources = read(&inputs)?;
            let stop = Stop::listen_insistently().map_err(Refused::Signals)?.with_timeout(options.timeout);
            watch(&stop, runner.console.out.get_ref().writes()).map_err(Refused::Signals)?;
            sources.iter().try_for_each(|source| runner.run(source, &stop))?;
        }
        Action::Explain(inputs) => for_each(&read(&inputs)?, &mut runner, Runner::explain)?,
        Action::Check(inputs) => for_each(&read(&inputs)?, &mut runner, Runner::check)?,
        Action::State(command) => runner.look_at_state(&command)?,
    }
    Ok(())
}

/// Looks at every script, whatever is wrong with those before it.
fn for_each(
    sources: &[Source],
    runner: &mut Runner,
    look: fn(&mut Runner, &Source) -> Result<(), Ending>,
) -> Result<(), Ending> {
    let endings: Vec<_> = sources.iter().map(|source| look(runner, source)).collect();
    endings.into_iter().collect()
}

/// Reads all scripts before the first one runs.
fn read(inputs: &[Input]) -> Result<Vec<Source>, String> {
    inputs.iter().map(Source::read).collect()
}

/// A session with the settings of the command line.
fn runner(options: &RunOptions) -> Result<Runner, String> {
    let mut session = Session::new();
    for (key, value) in options.all_settings() {
        session.set(&key, &value).map_err(|error| match error.help() {
            Some(help) => format!("{error}; {help}"),
            None => error.to_string(),
        })?;
    }
    Ok(Runner::new(session, Console::new(options), options.clone()))
}
