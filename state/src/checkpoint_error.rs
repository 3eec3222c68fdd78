//! What can be wrong with a checkpoint.

use std::path::{Path, PathBuf};

use arrow::error::ArrowError;

use crate::fs::FsError;

/// A checkpoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system refused something.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// Bytes of a file are not those that were written, or the file is gone.
    #[error("checkpoint file {} is corrupt: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// How that shows.
        reason: String,
    },
    /// The file was written by a later version of this program.
    #[error(
        "checkpoint file {} has format version {found}, but this version reads no later one than {newest}",
        path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The version it names.
        found: u32,
        /// The newest version that can be read.
        newest: u32,
    },
    /// There is no checkpoint where one was asked for.
    #[error("there is no checkpoint at {}", .0.display())]
    NotFound(PathBuf),
    /// A checkpoint, or what is left of one, is in the way of a new one.
    #[error("there is something at {} already; a checkpoint needs a new place", .0.display())]
    InTheWay(PathBuf),
    /// The rows of a table cannot be written: they do not have the table's columns.
    #[error("cannot encode table '{table}' of operator '{operator}'")]
    Encode {
        /// The operator's uid.
        operator: String,
        /// The table.
        table: String,
        /// What Arrow says.
        #[source]
        source: ArrowError,
    },
    /// The job has another number of key groups than the one that wrote the checkpoint.
    #[error(
        "the checkpoint at {} was written with a maximum parallelism of {written} and cannot be restored with {wanted}",
        path.display()
    )]
    MaxParallelism {
        /// The checkpoint.
        path: PathBuf,
        /// Its number of key groups.
        written: u32,
        /// The job's.
        wanted: u32,
    },
    /// Subtasks of one operator wrote states that do not go together.
    #[error("the state of table '{table}' cannot be put together: {reason}")]
    Disagreement {
        /// The table.
        table: String,
        /// In what they differ.
        reason: String,
    },
}

impl CheckpointError {
    pub(crate) fn corrupt(path: &Path, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), reason: reason.into() }
    }
}
