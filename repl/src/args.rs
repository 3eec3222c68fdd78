//! The command line: what was asked for, checked as far as it can be without a session.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tidemark::render::{Format, ResultMode};
use tidemark::session::ROCKSDB_REFUSAL;

/// Streaming SQL over files and streams.
///
/// Without a file, a command or `-c`: a REPL when stdin is a terminal, otherwise the script on stdin is run.
#[derive(Debug, Parser)]
#[command(name = "tidemark", version, styles = STYLES, max_term_width = 100)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// Scripts to run, the same as `tidemark run FILE.sql`; `-` is stdin
    #[arg(value_name = "FILE.sql")]
    files: Vec<PathBuf>,
    /// Run these statements; may be given several times
    #[arg(short = 'c', value_name = "SQL", allow_hyphen_values = true, global = true)]
    statements: Vec<String>,
    /// How to run and how to show the results.
    #[command(flatten)]
    pub options: RunOptions,
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Green.on_default());

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scripts
    Run(Files),
    /// Show the plans of the statements, without running them
    Explain(Files),
    /// Report all errors of scripts, without running them
    Check(Files),
    /// Look at what jobs keep in checkpoints
    #[command(subcommand)]
    State(StateCommand),
}

/// What to look at.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum StateCommand {
    /// List the checkpoints of a directory
    Ls {
        /// The directory given as `--checkpoint-dir`
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Show what a checkpoint holds; of a directory of checkpoints its newest
    Show {
        /// The checkpoint, or a directory of them
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Say what becomes of the state when a script is changed; exit code 5 when it cannot all be kept
    Diff {
        /// The script whose jobs have taken checkpoints
        #[arg(value_name = "OLD.sql")]
        old: PathBuf,
        /// The script that is to go on from them
        #[arg(value_name = "NEW.sql")]
        new: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Files {
    /// Scripts, in order; `-` is stdin
    #[arg(value_name = "FILE.sql")]
    files: Vec<PathBuf>,
}

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
pub struct RunOptions {
    /// How rows are printed
    #[arg(long, value_enum, default_value_t = FormatArg::Table, global = true)]
    format: FormatArg,
    /// Every change as it happens, or the final rows when the query ends.
    /// Default: `table` for a bounded query in table format or on a terminal, else `changelog`
    #[arg(long, value_enum, value_name = "MODE", global = true)]
    result_mode: Option<ResultModeArg>,
    /// As `SET 'KEY' = 'VALUE'` before the script; may be given several times
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE", value_parser = parse_setting, global = true)]
    settings: Vec<(String, String)>,
    /// Subtasks of each operator
    #[arg(short = 'p', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), global = true)]
    parallelism: Option<u32>,
    /// Rows of a batch inside the engine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), global = true)]
    batch_size: Option<u32>,
    /// Where operators keep their state
    #[arg(long, value_enum, value_name = "BACKEND", default_value_t = StateBackend::Memory, global = true)]
    state_backend: StateBackend,
    #[arg(long, value_name = "DIR", hide = true, global = true)]
    state_dir: Option<String>,
    /// Where jobs that write tables keep checkpoints, and go on from
    #[arg(long, value_name = "DIR", global = true)]
    checkpoint_dir: Option<String>,
    /// Time from one checkpoint to the next, such as `10s`
    #[arg(long, value_name = "DURATION", global = true)]
    checkpoint_interval: Option<String>,
    /// The checkpoint to go on from: the job's newest by default, or begin anew
    #[arg(long, value_name = "latest|PATH|none", global = true)]
    restore: Option<String>,
    /// Go on without the state of operators that are gone from the query
    #[arg(long, global = true)]
    allow_dropped_state: bool,
    /// Stop after this time with exit code 124, such as `30s` or `5min`
    #[arg(long, value_name = "DURATION", value_parser = parse_timeout, global = true)]
    pub timeout: Option<Duration>,
    /// Print rows and errors only: no summary, no warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Colour in messages
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, global = true)]
    pub color: ColorChoice,
}

/// Result formats, as clap lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
enum FormatArg {
    Table,
    Csv,
    Json,
    Jsonl,
    Markdown,
}

/// Result modes, as clap lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ResultModeArg {
    Changelog,
    Table,
}

/// State backends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StateBackend {
    /// In memory
    Memory,
    /// In RocksDB, on disk
    Rocksdb,
}

/// When messages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that can, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Run scripts.
    Run(Vec<Input>),
    /// Show plans.
    Explain(Vec<Input>),
    /// Report errors.
    Check(Vec<Input>),
    /// Look at checkpoints.
    State(StateCommand),
    /// Talk to a person.
    Shell,
}

/// Where a script comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// `-c`
    Text(String),
    /// Standard input.
    Stdin,
}

impl CommandLine {
    /// What to do; `stdin_is_terminal` decides between the REPL and a script on stdin.
    /// An `Err` is a sentence about wrong usage.
    pub fn action(&self, stdin_is_terminal: bool) -> Result<Action, String> {
        self.options.refuse_what_is_missing()?;
        let (make, named): (fn(Vec<Input>) -> Action, _) = match &self.command {
            None => (Action::Run as fn(_) -> _, &self.files),
            Some(Command::Run(f)) => (Action::Run as fn(_) -> _, &f.files),
            Some(Command::Explain(f)) => (Action::Explain as fn(_) -> _, &f.files),
            Some(Command::Check(f)) => (Action::Check as fn(_) -> _, &f.files),
            Some(Command::State(command)) => return Ok(Action::State(command.clone())),
        };
        if !named.is_empty() && !self.statements.is_empty() {
            return Err("give either files or `-c`, not both".into());
        }
        let mut inputs: Vec<Input> = self.statements.iter().cloned().map(Input::Text).collect();
        inputs.extend(named.iter().map(|f| if f.as_os_str() == "-" { Input::Stdin } else { Input::File(f.clone()) }));
        if inputs.iter().filter(|i| **i == Input::Stdin).count() > 1 {
            return Err("stdin (`-`) can be read only once".into());
        }
        if !inputs.is_empty() {
            return Ok(make(inputs));
        }
        match (&self.command, stdin_is_terminal) {
            (_, false) => Ok(make(vec![Input::Stdin])),
            (None, true) => Ok(Action::Shell),
            (Some(_), true) => Err("which script? Name a file, or give statements with `-c`".into()),
        }
    }
}

impl RunOptions {
    /// The result format.
    pub fn format(&self) -> Format {
        match self.format {
            FormatArg::Table => Format::Table,
            FormatArg::Csv => Format::Csv,
            FormatArg::Json => Format::Json,
            FormatArg::Jsonl => Format::Jsonl,
            FormatArg::Markdown => Format::Markdown,
        }
    }

    /// The result mode, when one was asked for.
    pub fn result_mode(&self) -> Option<ResultMode> {
        self.result_mode.map(|mode| match mode {
            ResultModeArg::Changelog => ResultMode::Changelog,
            ResultModeArg::Table => ResultMode::Table,
        })
    }

    /// What to set before the first statement, in order.
    pub fn all_settings(&self) -> Vec<(String, String)> {
        let flags = [
            ("parallelism.default", self.parallelism.map(|n| n.to_string())),
            ("execution.batch-size", self.batch_size.map(|n| n.to_string())),
            ("execution.checkpointing.dir", self.checkpoint_dir.clone()),
            ("execution.checkpointing.interval", self.checkpoint_interval.clone()),
            ("execution.state-recovery.path", self.restore.clone()),
            ("execution.state-recovery.ignore-unclaimed-state", self.allow_dropped_state.then(|| true.to_string())),
        ];
        let flags = flags.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        flags.chain(self.settings.iter().cloned()).collect()
    }

    fn refuse_what_is_missing(&self) -> Result<(), String> {
        if self.state_dir.is_some() {
            return Err("--state-dir: the state of operators stays in memory in this version".into());
        }
        match self.state_backend {
            StateBackend::Memory => Ok(()),
            StateBackend::Rocksdb => Err(format!("--state-backend rocksdb: {ROCKSDB_REFUSAL}")),
        }
    }
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("expected KEY=VALUE, such as table.local-time-zone=Europe/Berlin".into()),
    }
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text.trim()).map_err(|_| "expected a duration with its unit, such as 30s or 5min".into())
}

#[cfg(test)]
mod tests;
