//! The manifest: the file that makes a checkpoint of a directory of files.
//!
//! It is readable JSON, followed by a line with the XXH3-64 checksum of everything before that line:
//!
//! ```text
//! {
//!   "format_version": 1,
//!   "checkpoint_id": 7,
//!   …
//! }
//! {"xxh3":"0123456789abcdef"}
//! ```
//!
//! **Invariant:** a manifest is read only if it is, byte for byte, what was written, and in a format that this version
//! knows. Names that a reader does not know are skipped; anything that it would misread raises the format version.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint_error::CheckpointError;
use crate::checksum::Xxh3;
use crate::job_fingerprint::{JobFingerprint, TableFingerprint};

/// The version of the format that is written, and the newest that is read.
pub const MANIFEST_VERSION: u32 = 1;

/// The number of a checkpoint; later checkpoints in a directory have larger ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckpointId(pub u64);

/// Everything that is needed to go on from a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this format: [`MANIFEST_VERSION`].
    pub format_version: u32,
    /// The checkpoint's number.
    pub checkpoint_id: CheckpointId,
    /// When the checkpoint was begun, in milliseconds since 1970.
    pub created_at_ms: i64,
    /// Was it asked for by the user, who alone removes it?
    pub is_savepoint: bool,
    /// The job that wrote it.
    pub job: JobFingerprint,
    /// The number of key groups.
    pub max_parallelism: u32,
    /// The operators' states.
    pub operators: Vec<OperatorState>,
    /// How far the sources had read.
    pub sources: Vec<SourceState>,
    /// What the sinks have prepared and commit once the checkpoint is there.
    pub sinks: Vec<SinkState>,
    /// How far event time had come in each subtask.
    pub watermarks: Vec<SubtaskWatermark>,
    /// The uids of operators, sources and sinks that have ended in all their subtasks: they have put out all they had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finished: Vec<String>,
    /// Has the whole job ended?
    #[serde(default)]
    pub is_complete: bool,
}

/// The state of an operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorState {
    /// Its uid.
    pub uid: String,
    /// What it is, for people.
    pub kind: String,
    /// Its tables.
    pub tables: Vec<TableFingerprint>,
    /// The number of its subtasks.
    pub parallelism: u32,
    /// The files with its rows; several operators may be in one file.
    pub files: Vec<StateFile>,
}

/// A file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFile {
    /// Where it is, from the checkpoint's own directory and with `/` on every platform: `agg-0.state`, or in another
    /// checkpoint's directory, `../chk-3/000012.sst`.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// The checksum of all of it.
    pub xxh3: Xxh3,
    /// The key groups that its keyed rows belong to, from the first up to but not including the second; `None` if
    /// they may be any.
    pub key_groups: Option<(u32, u32)>,
}

/// How far a source had read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceState {
    /// The source's uid.
    pub uid: String,
    /// Its splits.
    pub splits: Vec<SplitState>,
}

/// How far a split of a source had been read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitState {
    /// Which split, in the connector's own words.
    pub split: String,
    /// Where to go on, in the connector's own form.
    pub position: Value,
    /// The split's watermark in milliseconds since 1970.
    pub watermark: Option<i64>,
}

/// What a subtask of a sink has prepared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SinkState {
    /// The sink's uid.
    pub uid: String,
    /// Which of its subtasks.
    pub subtask: u32,
    /// What commits it, in the connector's own form.
    pub token: Value,
}

/// How far event time had come in a subtask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubtaskWatermark {
    /// The operator's uid.
    pub uid: String,
    /// Which of its subtasks.
    pub subtask: u32,
    /// The watermark in milliseconds since 1970; `None` if there was none yet.
    pub watermark: Option<i64>,
}

/// The part of a manifest that every version has.
#[derive(Deserialize)]
struct FormatVersion {
    format_version: u32,
}

impl Manifest {
    /// The bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("all keys are text");
        json.push(b'\n');
        let line = checksum_line(&json);
        json.extend_from_slice(line.as_bytes());
        json
    }

    /// Reads the bytes of the file; `path` is for errors.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let corrupt = |reason: String| CheckpointError::corrupt(path, reason);
        let line_bytes = checksum_line(b"").len();
        let json_bytes = bytes.len().checked_sub(line_bytes);
        let (json, line) = bytes.split_at(json_bytes.ok_or_else(|| corrupt("it is too short".to_owned()))?);
        if line != checksum_line(json).as_bytes() {
            return Err(corrupt("its checksum does not match".to_owned()));
        }
        let version: FormatVersion = serde_json::from_slice(json).map_err(|error| corrupt(error.to_string()))?;
        match version.format_version {
            1..=MANIFEST_VERSION => serde_json::from_slice(json).map_err(|error| corrupt(error.to_string())),
            0 => Err(corrupt("there is no format version 0".to_owned())),
            found => Err(CheckpointError::NewerFormat { path: path.to_owned(), found, newest: MANIFEST_VERSION }),
        }
    }

    /// All files that the manifest names; one of several operators once for each.
    pub fn files(&self) -> impl Iterator<Item = &StateFile> {
        self.operators.iter().flat_map(|operator| &operator.files)
    }
}

impl CheckpointId {
    /// The number of the checkpoint after this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The last line of a file that begins with these bytes; its length is always the same.
fn checksum_line(json: &[u8]) -> String {
    format!("{{\"xxh3\":\"{}\"}}\n", Xxh3::of(json))
}

#[cfg(test)]
mod tests;
