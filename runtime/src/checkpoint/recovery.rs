//! Which checkpoint a job goes on from, and whether it can.
//!
//! **Invariant:** until a checkpoint has been accepted, nothing in the directory is changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidemark_state::checkpoint_dir::{Checkpoint, CheckpointDir, ListedCheckpoint};
use tidemark_state::checkpoint_error::CheckpointError;
use tidemark_state::fs::FileLock;
use tidemark_state::job_fingerprint::{Difference, Effect, JobFingerprint, compare};
use tidemark_state::manifest::CheckpointId;

use super::{CheckpointOptions, RestoreFrom};
use crate::error::{RestoreError, RuntimeError};

/// The file that the one job that may write to a directory has locked.
const LOCK_NAME: &str = "lock";

/// A directory, ready for a job's checkpoints.
#[derive(Debug)]
pub struct Recovery {
    /// The directory.
    pub dir: CheckpointDir,
    /// Keeps other processes from writing to it.
    pub lock: FileLock,
    /// The number of the next checkpoint.
    pub next_id: CheckpointId,
    /// The checkpoint that the job goes on from, every file of it verified.
    pub checkpoint: Option<Checkpoint>,
}

impl CheckpointOptions {
    fn is_of_job(&self, checkpoint: &Checkpoint) -> bool {
        let name = &checkpoint.manifest().job.name;
        *name == self.job_name || self.former_names.contains(name)
    }
}

/// Finds the checkpoint that `job` goes on from, and removes what crashed attempts have left.
///
/// # Errors
/// The checkpoint is corrupt or does not fit the job, the directory is another job's, or another process has it.
pub fn recover(
    options: &CheckpointOptions,
    job: &JobFingerprint,
    max_parallelism: u32,
) -> Result<Recovery, RuntimeError> {
    let dir = CheckpointDir::open(Arc::clone(&options.fs), &options.dir)?;
    let lock = options.fs.try_lock(&options.dir.join(LOCK_NAME)).map_err(CheckpointError::from)?;
    let lock = lock.ok_or_else(|| RestoreError::Busy(options.dir.clone()))?;
    let checkpoint = match &options.restore {
        RestoreFrom::Nothing => None,
        RestoreFrom::Latest => newest(&dir, options)?,
        RestoreFrom::Path(path) => Some(named(path, options)?),
    };
    if let Some(checkpoint) = &checkpoint {
        check_fit(checkpoint, job, max_parallelism, options.allows_dropped_state)?;
    }
    dir.remove_leftovers()?;
    let next_id = dir.next_id()?;
    Ok(Recovery { dir, lock, next_id, checkpoint })
}

/// The newest checkpoint of the job. One that is corrupt is not passed over: what was written since the one before it
/// would be written twice.
fn newest(dir: &CheckpointDir, options: &CheckpointOptions) -> Result<Option<Checkpoint>, RuntimeError> {
    let listed = dir.list()?;
    let mut strangers = BTreeSet::new();
    let mut remaining = listed.into_iter();
    while let Some(ListedCheckpoint { checkpoint, .. }) = remaining.next() {
        let verified = match checkpoint {
            Ok(checkpoint) if !options.is_of_job(&checkpoint) => {
                strangers.insert(checkpoint.manifest().job.name.clone());
                continue;
            }
            Ok(checkpoint) => checkpoint.verify().map(|()| checkpoint),
            Err(error) => Err(error),
        };
        return match verified {
            Ok(checkpoint) => Ok(Some(checkpoint)),
            Err(error) => Err(RestoreError::Unusable { error, previous: first_good(remaining, options) }.into()),
        };
    }
    strangers.retain(|name| !options.other_jobs.contains(name));
    match strangers.is_empty() {
        true => Ok(None),
        false => {
            let (dir, wanted) = (options.dir.clone(), options.job_name.clone());
            Err(RestoreError::OtherJob { dir, found: quoted(&strangers), wanted }.into())
        }
    }
}

fn first_good(listed: impl Iterator<Item = ListedCheckpoint>, options: &CheckpointOptions) -> Option<PathBuf> {
    let mut good = listed.filter_map(|listed| listed.checkpoint.ok());
    let found = good.find(|checkpoint| options.is_of_job(checkpoint) && checkpoint.verify().is_ok());
    found.map(|checkpoint| checkpoint.path().to_owned())
}

/// The checkpoint that the user has named.
fn named(path: &Path, options: &CheckpointOptions) -> Result<Checkpoint, RestoreError> {
    let opened = Checkpoint::open(Arc::clone(&options.fs), path);
    let verified = opened.and_then(|checkpoint| checkpoint.verify().map(|()| checkpoint));
    let checkpoint = verified.map_err(|error| RestoreError::Unusable { error, previous: None })?;
    if !options.is_of_job(&checkpoint) {
        let found = format!("'{}'", checkpoint.manifest().job.name);
        let (dir, wanted) = (path.to_owned(), options.job_name.clone());
        return Err(RestoreError::OtherJob { dir, found, wanted });
    }
    Ok(checkpoint)
}

fn check_fit(
    checkpoint: &Checkpoint,
    job: &JobFingerprint,
    max_parallelism: u32,
    allows_dropped_state: bool,
) -> Result<(), RestoreError> {
    let (path, manifest) = (checkpoint.path().to_owned(), checkpoint.manifest());
    if manifest.max_parallelism != max_parallelism {
        let (written, wanted) = (manifest.max_parallelism, max_parallelism);
        let error = CheckpointError::MaxParallelism { path, written, wanted };
        return Err(RestoreError::Unusable { error, previous: None });
    }
    let differences = compare(&manifest.job, job);
    let with = |effect| {
        let those = differences.iter().filter(move |difference| difference.effect() == effect);
        those.map(Difference::to_string).collect::<Vec<_>>()
    };
    let refused = with(Effect::Refused);
    if !refused.is_empty() {
        return Err(RestoreError::OtherState { path, differences: refused.join("; ") });
    }
    let dropped = with(Effect::Dropped);
    if !dropped.is_empty() && !allows_dropped_state {
        return Err(RestoreError::DroppedState { path, differences: dropped.join("; ") });
    }
    Ok(())
}

fn quoted(names: &BTreeSet<String>) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}
