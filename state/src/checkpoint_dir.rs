//! The directory in which a job's checkpoints are kept.
//!
//! ```text
//! DIR/chk-6/manifest.json     committed: the manifest is there
//!           agg-0.state
//! DIR/chk-7/manifest.json     may name ../chk-6/000012.sst: files are shared, not copied
//!           agg-0.state
//! DIR/chk-8/agg-0.state       in flight, or left by a crash: no manifest
//! ```
//!
//! **Invariant:** a checkpoint exists from the moment its manifest is renamed to `manifest.json`. Before, all its files
//! are on the disk under their names; afterwards none of them is changed, and none is removed while any manifest in
//! the directory names it.
//!
//! **Invariant:** checkpoints end with the removal of their manifests; files are removed only once all that is on the
//! disk.
//!
//! One job writes to a directory at a time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::checkpoint_error::CheckpointError;
use crate::fs::FileSystem;
use crate::manifest::CheckpointId;

pub use self::checkpoint::Checkpoint;
pub use self::writer::CheckpointWriter;

mod checkpoint;
mod retention;
mod writer;

/// The file whose presence makes a directory a checkpoint.
const MANIFEST_NAME: &str = "manifest.json";
/// The manifest before it counts.
const UNCOMMITTED_MANIFEST_NAME: &str = "manifest.json.tmp";
/// How the names of files of state end, to tell them from a backend's own files.
const STATE_FILE_SUFFIX: &str = ".state";

/// A directory of checkpoints.
#[derive(Clone, Debug)]
pub struct CheckpointDir {
    fs: Arc<dyn FileSystem>,
    root: PathBuf,
}

/// A checkpoint of a directory, be it good or not.
#[derive(Debug)]
pub struct ListedCheckpoint {
    /// Its number, by the name of its directory.
    pub id: CheckpointId,
    /// Its own directory.
    pub path: PathBuf,
    /// What can be restored, or why it cannot. Its files are there with the lengths they should have; only
    /// [`Checkpoint::verify`] reads them.
    pub checkpoint: Result<Checkpoint, CheckpointError>,
}

/// The newest checkpoint that can be restored.
#[derive(Debug)]
pub struct LatestCheckpoint {
    /// The checkpoint, every file of it verified; `None` if there is none.
    pub checkpoint: Option<Checkpoint>,
    /// Why newer ones cannot be restored, newest first.
    pub refused: Vec<CheckpointError>,
}

impl CheckpointDir {
    /// Opens the directory to write checkpoints, making it if it is not there.
    pub fn open(fs: Arc<dyn FileSystem>, root: &Path) -> Result<Self, CheckpointError> {
        fs.create_dir_all(root)?;
        Ok(Self { fs, root: root.to_owned() })
    }

    /// Opens the directory only to look at it. Fails if it is not there.
    pub fn open_existing(fs: Arc<dyn FileSystem>, root: &Path) -> Result<Self, CheckpointError> {
        if !fs.exists(root)? {
            return Err(CheckpointError::NotFound(root.to_owned()));
        }
        Ok(Self { fs, root: root.to_owned() })
    }

    /// The number for the next checkpoint: none in the directory, not even of a crashed attempt, has it or a larger one.
    pub fn next_id(&self) -> Result<CheckpointId, CheckpointError> {
        let newest = self.ids()?.last().copied();
        Ok(newest.map_or(CheckpointId(1), CheckpointId::next))
    }

    /// Begins a checkpoint. Fails if there is anything of that number.
    pub fn begin(&self, id: CheckpointId) -> Result<CheckpointWriter, CheckpointError> {
        CheckpointWriter::begin(Arc::clone(&self.fs), self.path_of(id), id)
    }

    /// The committed checkpoints, newest first.
    pub fn list(&self) -> Result<Vec<ListedCheckpoint>, CheckpointError> {
        let mut listed = Vec::new();
        for id in self.ids()?.into_iter().rev() {
            if self.is_committed(id)? {
                listed.push(ListedCheckpoint { id, path: self.path_of(id), checkpoint: self.load(id) });
            }
        }
        Ok(listed)
    }

    /// The newest checkpoint of which every file is what was written.
    pub fn latest_valid(&self) -> Result<LatestCheckpoint, CheckpointError> {
        let mut refused = Vec::new();
        for listed in self.list()? {
            let verified = listed.checkpoint.and_then(|checkpoint| checkpoint.verify().map(|()| checkpoint));
            match verified {
                Ok(checkpoint) => return Ok(LatestCheckpoint { checkpoint: Some(checkpoint), refused }),
                Err(error) => refused.push(error),
            }
        }
        Ok(LatestCheckpoint { checkpoint: None, refused })
    }

    /// The checkpoint of that number.
    pub fn load(&self, id: CheckpointId) -> Result<Checkpoint, CheckpointError> {
        let path = self.path_of(id);
        let checkpoint = Checkpoint::open(Arc::clone(&self.fs), &path)?;
        let found = checkpoint.manifest().checkpoint_id;
        if found != id {
            let reason = format!("it is the manifest of checkpoint {found}");
            return Err(CheckpointError::corrupt(&path.join(MANIFEST_NAME), reason));
        }
        Ok(checkpoint)
    }

    fn path_of(&self, id: CheckpointId) -> PathBuf {
        self.root.join(format!("chk-{id}"))
    }

    /// The numbers of all checkpoints and attempts, ascending.
    fn ids(&self) -> Result<Vec<CheckpointId>, CheckpointError> {
        let entries = self.fs.list(&self.root)?;
        let names = entries.iter().filter(|entry| entry.is_dir).filter_map(|entry| entry.path.file_name()?.to_str());
        let mut ids: Vec<_> = names.filter_map(checkpoint_id).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn is_committed(&self, id: CheckpointId) -> Result<bool, CheckpointError> {
        Ok(self.fs.exists(&self.path_of(id).join(MANIFEST_NAME))?)
    }
}

/// The number in the name of a checkpoint's directory.
fn checkpoint_id(name: &str) -> Option<CheckpointId> {
    let id = CheckpointId(name.strip_prefix("chk-")?.parse().ok()?);
    (format!("chk-{id}") == name).then_some(id)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod crash_tests;
