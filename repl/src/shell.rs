//! The REPL: lines are gathered until a statement is complete, then it runs.
//!
//! **Invariant:** only its user ends it. Errors are shown and forgotten; Ctrl-C clears the line at the prompt, and
//! cancels the query while one runs.

mod command;
mod history;

use std::time::Duration;

use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Editor, Result as EditResult};
use tidemark_parser::is_complete;

use crate::script::{Ending, Runner, Source};
use crate::stop::{Reason, Stop};
use command::Command;
use history::History;

const PROMPT: &str = "tidemark> ";
const CONTINUATION: &str = "     ...> ";

const WELCOME: &str = concat!(
    "Tidemark ",
    env!("CARGO_PKG_VERSION"),
    ": streaming SQL. Statements end in `;`. `.help` for help, Ctrl-D to leave.\n"
);

type LineEditor = Editor<(), FileHistory>;

/// Whether to go on reading.
enum Next {
    Read,
    Leave,
}

/// Reads and runs until the user leaves.
pub fn run(runner: &mut Runner, stop: &Stop, timeout: Option<Duration>) -> Result<(), Ending> {
    let mut editor = match editor() {
        Ok(editor) => editor,
        Err(error) => {
            runner.console.error(&format!("cannot use this terminal: {error}"));
            return Err(Ending::Failed);
        }
    };
    let history = History::open(&mut editor);
    runner.console.note(WELCOME);
    let mut pending = String::new();
    loop {
        let prompt = if pending.is_empty() { PROMPT } else { CONTINUATION };
        let read = editor.readline(prompt);
        // A Ctrl-C that came when its query had just ended is not meant for the next one.
        stop.forget_interrupt();
        let next = match read {
            Ok(line) => take_line(&line, &mut pending, runner, stop, timeout, |entry| history.add(&mut editor, entry)),
            Err(ReadlineError::Interrupted) => {
                pending.clear();
                Ok(Next::Read)
            }
            // The window was resized.
            Err(ReadlineError::Signal(_)) => Ok(Next::Read),
            Err(ReadlineError::Eof) => Ok(Next::Leave),
            Err(error) => {
                runner.console.error(&format!("cannot read the terminal: {error}"));
                Err(Ending::Failed)
            }
        };
        match next? {
            Next::Read => {}
            Next::Leave => return Ok(()),
        }
    }
}

fn editor() -> EditResult<LineEditor> {
    let config = Config::builder().history_ignore_space(true).max_history_size(history::MAX_ENTRIES)?;
    Editor::with_config(config.build())
}

/// Adds a line to what is being typed, and runs it when it is complete.
fn take_line(
    line: &str,
    pending: &mut String,
    runner: &mut Runner,
    stop: &Stop,
    timeout: Option<Duration>,
    remember: impl FnOnce(&str),
) -> Result<Next, Ending> {
    if pending.is_empty() {
        if line.trim().is_empty() {
            return Ok(Next::Read);
        }
        if let Some(command) = Command::parse(line) {
            remember(line);
            return obey(command, runner, stop, timeout);
        }
    } else {
        pending.push('\n');
    }
    pending.push_str(line);
    if !is_complete(pending) {
        return Ok(Next::Read);
    }
    let text = std::mem::take(pending);
    remember(&text);
    run_source(runner, &Source::typed(text), stop, timeout)
}

fn obey(command: Command, runner: &mut Runner, stop: &Stop, timeout: Option<Duration>) -> Result<Next, Ending> {
    match command {
        Command::Leave => Ok(Next::Leave),
        Command::Help => {
            runner.console.note(command::HELP);
            Ok(Next::Read)
        }
        Command::Tables => run_source(runner, &Source::typed("SHOW TABLES".into()), stop, timeout),
        Command::Read(path) => match Source::read_file(&path) {
            Ok(source) => run_source(runner, &source, stop, timeout),
            Err(sentence) => {
                runner.console.error(&sentence);
                Ok(Next::Read)
            }
        },
        Command::Unknown(sentence) => {
            runner.console.error(&sentence);
            Ok(Next::Read)
        }
    }
}

/// Runs statements; what ends them does not end the shell, unless it is meant for the process.
fn run_source(runner: &mut Runner, source: &Source, stop: &Stop, timeout: Option<Duration>) -> Result<Next, Ending> {
    match runner.run(source, &stop.with_timeout(timeout)) {
        Ok(()) | Err(Ending::Failed | Ending::StateRefused | Ending::Stopped(Reason::Interrupt | Reason::Timeout)) => {
            Ok(Next::Read)
        }
        Err(ending @ (Ending::ClosedPipe | Ending::Stopped(Reason::Terminate))) => Err(ending),
    }
}
