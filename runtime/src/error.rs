//! What can go wrong while a job runs, with the context a person needs.

use std::error::Error;
use std::path::PathBuf;

use tidemark_planner::compiled_expr::ExprError;
use tidemark_state::checkpoint_error::CheckpointError;

/// Who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The writer of the SQL or of the data.
    User,
    /// Nobody: try again.
    Retryable,
    /// The operator of the machine.
    Fatal,
}

/// A row that cannot be read, or a value that does not fit its column.
#[derive(Debug, thiserror::Error)]
#[error("table `{table}`: {place}: {reason}")]
pub struct DataError {
    /// The table.
    pub table: String,
    /// `file.csv, line 3, column 'price'`
    pub place: String,
    /// `'abc' is not a BIGINT`
    pub reason: String,
    /// The way out, when there is a general one.
    pub help: Option<String>,
}

/// Reading or writing outside the process failed.
#[derive(Debug, thiserror::Error)]
#[error("table `{table}`: cannot {action} {}", path.display())]
pub struct IoError {
    /// The table.
    pub table: String,
    /// `read`, `write`, `create`, `rename`, `list`
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// What the system says.
    #[source]
    pub source: std::io::Error,
}

/// An operator failed.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// An expression failed on a row.
    #[error(transparent)]
    Expr(#[from] ExprError),
    /// An aggregate overflowed.
    #[error("{reason} in `{call}`")]
    Aggregate {
        /// The SQL of the aggregate.
        call: String,
        /// What went wrong.
        reason: String,
    },
    /// A row without event time.
    #[error(
        "table `{table}`: the event time column '{column}' is NULL in a row; \
         set 'table.exec.source.rowtime-null-handling' = 'drop' to drop and count such rows"
    )]
    NullRowtime {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A match after which the search cannot go on.
    #[error("{0}")]
    Match(String),
    /// A limit of the engine was reached.
    #[error("{0}")]
    Limit(String),
    /// State was not written by an operator like this one.
    #[error("the state of table '{table}' cannot be restored: {reason}")]
    State {
        /// The state table.
        table: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An Arrow kernel refused what the plan promised it would take.
    #[error("internal error: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
}

/// A job cannot go on from a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A split does not reach to where it had been read.
    #[error("table `{table}`: cannot go on reading {split}: {reason}")]
    Position {
        /// The table.
        table: String,
        /// The split.
        split: String,
        /// What is different.
        reason: String,
    },
    /// A source cannot be gone back to.
    #[error("table `{table}`: {reason}, so a job that reads it cannot go on from a checkpoint")]
    NotResumable {
        /// The table.
        table: String,
        /// Why not.
        reason: &'static str,
    },
    /// The checkpoint cannot be read.
    #[error("{}{}", spell(error), offer(previous))]
    Unusable {
        /// What is wrong with it.
        error: CheckpointError,
        /// The newest one before it that can.
        previous: Option<PathBuf>,
    },
    /// The checkpoints are of another job.
    #[error("{} holds checkpoints of the job {found}, not of '{wanted}'", dir.display())]
    OtherJob {
        /// The directory.
        dir: PathBuf,
        /// The names of the jobs, quoted.
        found: String,
        /// The name of this job.
        wanted: String,
    },
    /// The operators' state has another layout.
    #[error("the checkpoint {} does not fit this query: {differences}", path.display())]
    OtherState {
        /// The checkpoint.
        path: PathBuf,
        /// What is different, operator by operator.
        differences: String,
    },
    /// Operators that had state are gone.
    #[error("this query would leave behind state of the checkpoint {}: {differences}", path.display())]
    DroppedState {
        /// The checkpoint.
        path: PathBuf,
        /// Which operators.
        differences: String,
    },
    /// Another process writes to the directory.
    #[error("another process takes checkpoints in {}", .0.display())]
    Busy(PathBuf),
}

impl RestoreError {
    /// Is it for what is kept of the job, and not for how it is run?
    pub fn is_about_state(&self) -> bool {
        !matches!(self, RestoreError::NotResumable { .. } | RestoreError::Busy(_))
    }

    /// The way out.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            RestoreError::Position { .. } => Some("put the data back, or begin anew with --restore none"),
            RestoreError::NotResumable { .. } => Some("run it without a checkpoint directory"),
            RestoreError::Unusable { previous: Some(_), .. } => Some(
                "to go on from an earlier checkpoint writes again what was written since; to begin anew: --restore none",
            ),
            RestoreError::Unusable { previous: None, .. } => Some("to begin anew: --restore none"),
            RestoreError::OtherJob { .. } => Some("give each script its own --checkpoint-dir"),
            RestoreError::OtherState { .. } => {
                Some("run the query as it was, give it another --checkpoint-dir, or begin anew with --restore none")
            }
            RestoreError::DroppedState { .. } => Some("--allow-dropped-state goes on without it"),
            RestoreError::Busy(_) => None,
        }
    }
}

fn spell(error: &CheckpointError) -> String {
    let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

fn offer(previous: &Option<PathBuf>) -> String {
    previous.as_ref().map_or(String::new(), |path| {
        format!("; the one before it is good: --restore {} goes on from there", path.display())
    })
}

/// A job failed.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// Bad data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The outside world.
    #[error(transparent)]
    Io(#[from] IoError),
    /// An operator.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// No checkpoint to go on from.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// A checkpoint cannot be written or read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The job was stopped with a checkpoint, whose directory this is.
    #[error("the query was stopped; it goes on from {}", .0.display())]
    Stopped(PathBuf),
    /// The job asks for something this build or this engine does not have.
    #[error("{0}")]
    Unsupported(String),
    /// The job was cancelled.
    #[error("the query was cancelled")]
    Cancelled,
    /// A bug of ours, caught at a task's edge.
    #[error("internal error: {0}")]
    Panic(String),
}

impl RuntimeError {
    /// Is it for what is kept of the job in checkpoints?
    pub fn is_about_state(&self) -> bool {
        match self {
            RuntimeError::Restore(error) => error.is_about_state(),
            RuntimeError::Operator(OperatorError::State { .. }) => true,
            RuntimeError::Checkpoint(error) => !matches!(error, CheckpointError::Fs(_)),
            _ => false,
        }
    }

    /// The way out, when there is a general one.
    pub fn help(&self) -> Option<String> {
        match self {
            RuntimeError::Data(error) => error.help.clone(),
            RuntimeError::Restore(refusal) => refusal.help().map(String::from),
            RuntimeError::Operator(OperatorError::Expr(error)) if error.reason.starts_with("cannot cast") => {
                Some("TRY_CAST gives NULL where CAST fails".into())
            }
            _ => None,
        }
    }

    /// Who has to act.
    pub fn class(&self) -> ErrorClass {
        match self {
            RuntimeError::Data(_)
            | RuntimeError::Restore(_)
            | RuntimeError::Unsupported(_)
            | RuntimeError::Stopped(_)
            | RuntimeError::Cancelled => ErrorClass::User,
            RuntimeError::Operator(OperatorError::Arrow(_) | OperatorError::State { .. }) | RuntimeError::Panic(_) => {
                ErrorClass::Fatal
            }
            RuntimeError::Operator(_) => ErrorClass::User,
            RuntimeError::Io(_) | RuntimeError::Checkpoint(_) => ErrorClass::Retryable,
        }
    }
}
