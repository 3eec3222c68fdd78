//! Removing what nobody needs any more.
//!
//! Where a manifest cannot be read for any other reason than that it is corrupt (it is of a later format, or the disk
//! does not answer), nothing is removed at all: it may name any file.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::{CheckpointDir, ListedCheckpoint, MANIFEST_NAME};
use crate::checkpoint_error::CheckpointError;
use crate::manifest::CheckpointId;

impl CheckpointDir {
    /// Removes the checkpoints of a job but the `newest`, and files of earlier ones that no checkpoint shares any more.
    ///
    /// Savepoints, corrupt checkpoints and those of jobs of other names stay. An attempt in flight is not touched.
    pub fn retain(&self, job: &str, newest: usize) -> Result<(), CheckpointError> {
        assert!(newest > 0, "the newest checkpoint of a job is never removed");
        let listed = self.list()?;
        let Some(newest_id) = listed.first().map(|listed| listed.id) else { return Ok(()) };
        let is_expendable = |listed: &&ListedCheckpoint| match &listed.checkpoint {
            Ok(checkpoint) => !checkpoint.manifest().is_savepoint && checkpoint.manifest().job.name == job,
            Err(_) => false,
        };
        let expired: BTreeSet<_> = listed.iter().filter(is_expendable).skip(newest).map(|l| l.id).collect();
        let kept = listed.iter().filter(|listed| !expired.contains(&listed.id));
        let Some(needed) = needed_files(kept)? else { return Ok(()) };
        // All end before any file goes: one may share the files of another.
        for id in &expired {
            self.end(*id)?;
        }
        self.remove_uncommitted(&needed, |id| id < newest_id)
    }

    /// Removes what crashed attempts have left. No attempt may be in flight.
    pub fn remove_leftovers(&self) -> Result<(), CheckpointError> {
        let Some(needed) = needed_files(self.list()?.iter())? else { return Ok(()) };
        self.remove_uncommitted(&needed, |_| true)
    }

    /// Makes the checkpoint one no more.
    fn end(&self, id: CheckpointId) -> Result<(), CheckpointError> {
        let path = self.path_of(id);
        self.fs.remove_file(&path.join(MANIFEST_NAME))?;
        Ok(self.fs.sync_dir(&path)?)
    }

    /// Removes the files of all attempts and ended checkpoints among `ids` but those that are needed.
    fn remove_uncommitted(
        &self,
        needed: &BTreeSet<PathBuf>,
        ids: impl Fn(CheckpointId) -> bool,
    ) -> Result<(), CheckpointError> {
        for id in self.ids()?.into_iter().filter(|id| ids(*id)) {
            if !self.is_committed(id)? {
                self.remove_files(&self.path_of(id), needed)?;
            }
        }
        Ok(())
    }

    fn remove_files(&self, directory: &Path, needed: &BTreeSet<PathBuf>) -> Result<(), CheckpointError> {
        // Paths sort by component: what begins with a path comes right after it.
        let is_needed = |path: &Path| {
            let from = (Bound::Included(path), Bound::Unbounded);
            needed.range::<Path, _>(from).next().is_some_and(|file| file.starts_with(path))
        };
        if !is_needed(directory) {
            return Ok(self.fs.remove_dir_all(directory)?);
        }
        for entry in self.fs.list(directory)?.into_iter().filter(|entry| !is_needed(&entry.path)) {
            if entry.is_dir {
                self.fs.remove_dir_all(&entry.path)?;
            } else {
                self.fs.remove_file(&entry.path)?;
            }
        }
        Ok(())
    }
}

/// The files of these checkpoints; `None` if those of one are not known but may matter.
fn needed_files<'a>(
    kept: impl Iterator<Item = &'a ListedCheckpoint>,
) -> Result<Option<BTreeSet<PathBuf>>, CheckpointError> {
    let mut needed = BTreeSet::new();
    for listed in kept {
        match &listed.checkpoint {
            Ok(checkpoint) => needed.extend(checkpoint.file_paths()?),
            Err(CheckpointError::Corrupt { .. }) => {}
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(needed))
}
