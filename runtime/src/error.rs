//! What can go wrong while a job runs, with the context a person needs.

use std::path::PathBuf;

use tidemark_planner::compiled_expr::ExprError;

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
    /// Who has to act.
    pub fn class(&self) -> ErrorClass {
        match self {
            RuntimeError::Data(_) | RuntimeError::Unsupported(_) | RuntimeError::Cancelled => ErrorClass::User,
            RuntimeError::Operator(OperatorError::Arrow(_) | OperatorError::State { .. }) | RuntimeError::Panic(_) => {
                ErrorClass::Fatal
            }
            RuntimeError::Operator(_) => ErrorClass::User,
            RuntimeError::Io(_) => ErrorClass::Retryable,
        }
    }
}
