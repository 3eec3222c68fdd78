//! Checkpoints of a running job: when they are taken, what is in them, and how a job goes on from one.
//!
//! ```text
//! coordinator      sources              other tasks                sinks
//! "barrier 7" ──►  positions,  ──7──►   align, snapshot,  ──7──►   prepare: token
//!     ▲            snapshot             pass it on                    │
//!     └──────────────── reports of all subtasks ◄─────────────────────┘
//! write state files, manifest; rename it: now checkpoint 7 exists. Then commit the sinks' tokens.
//! ```
//!
//! **Invariant:** what a sink has prepared is committed only once the checkpoint that names it exists, and before the
//! next one is begun; a restored job commits the tokens of its checkpoint before it does anything else.

pub(crate) mod coordinator;
pub mod fingerprint;
pub(crate) mod recovery;
pub mod wishes;

pub(crate) mod manifest;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidemark_state::fs::FileSystem;

/// Where a job's checkpoints are, and how they are taken.
#[derive(Clone, Debug)]
pub struct CheckpointOptions {
    /// The file system that they are on.
    pub fs: Arc<dyn FileSystem>,
    /// The directory.
    pub dir: PathBuf,
    /// The job's name: several jobs may keep their checkpoints in one directory.
    pub job_name: String,
    /// Names that the job may have had in an earlier version. If its newest checkpoint bears one, it keeps that.
    pub former_names: BTreeSet<String>,
    /// Other jobs that may have checkpoints there. Those of any further job are taken for a mistake.
    pub other_jobs: BTreeSet<String>,
    /// Time from one checkpoint to the next; `None` takes only the one at the end, and those that are wished for.
    pub interval: Option<Duration>,
    /// How many are kept; at least 1.
    pub retained: usize,
    /// From which one the job goes on.
    pub restore: RestoreFrom,
    /// May state be left behind that no operator of the job takes?
    pub allows_dropped_state: bool,
}

/// The checkpoint from which a job goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreFrom {
    /// The newest of the job; without one it begins anew.
    Latest,
    /// The one whose own directory this is.
    Path(PathBuf),
    /// None: it begins anew.
    Nothing,
}
