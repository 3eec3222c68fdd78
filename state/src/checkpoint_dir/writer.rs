//! A checkpoint being written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checkpoint::{check_lengths, is_plain_name};
use super::{Checkpoint, MANIFEST_NAME, STATE_FILE_SUFFIX, UNCOMMITTED_MANIFEST_NAME, checkpoint_id};
use crate::checkpoint_error::CheckpointError;
use crate::checksum::Xxh3;
use crate::fs::{FileSystem, FsError};
use crate::manifest::{CheckpointId, Manifest, StateFile};
use crate::snapshot::OperatorSnapshot;
use crate::snapshot_file::encode_snapshot_file;

/// A checkpoint being written. Subtasks on several threads may add files to clones of it; one commits or aborts it.
#[derive(Clone, Debug)]
pub struct CheckpointWriter {
    fs: Arc<dyn FileSystem>,
    path: PathBuf,
    id: CheckpointId,
}

impl CheckpointWriter {
    pub(super) fn begin(fs: Arc<dyn FileSystem>, path: PathBuf, id: CheckpointId) -> Result<Self, CheckpointError> {
        if fs.exists(&path)? {
            return Err(CheckpointError::InTheWay(path));
        }
        fs.create_dir_all(&path)?;
        Ok(Self { fs, path, id })
    }

    /// The checkpoint's number.
    pub fn id(&self) -> CheckpointId {
        self.id
    }

    /// Writes the states of operators of one subtask, each under its uid, to the file `name` + `.state`. `key_groups`
    /// are those of the subtask.
    pub fn add_state(
        &self,
        name: &str,
        operators: &[(String, OperatorSnapshot)],
        key_groups: Option<(u32, u32)>,
    ) -> Result<StateFile, CheckpointError> {
        let bytes = encode_snapshot_file(operators)?;
        let name = format!("{name}{STATE_FILE_SUFFIX}");
        self.fs.write_new(&self.path_in(&name), &bytes)?;
        Ok(StateFile { path: name, bytes: bytes.len() as u64, xxh3: Xxh3::of(&bytes), key_groups })
    }

    /// Adds an existing file under the name `name`: as a link if it is on the same volume, otherwise as a copy. Its
    /// bytes must be on the disk, and nobody may change them from now on.
    pub fn add_file(
        &self,
        name: &str,
        existing: &Path,
        key_groups: Option<(u32, u32)>,
    ) -> Result<StateFile, CheckpointError> {
        let path = self.path_in(name);
        match self.fs.hard_link(existing, &path) {
            Err(FsError { source, .. }) if is_unlinkable(&source) => {
                self.fs.write_new(&path, &self.fs.read(existing)?)?;
            }
            linked => linked?,
        }
        let bytes = self.fs.file_len(&path)?.ok_or_else(|| CheckpointError::corrupt(&path, "it is missing"))?;
        let xxh3 = Xxh3::of_file(self.fs.as_ref(), &path, bytes)?;
        Ok(StateFile { path: name.to_owned(), bytes, xxh3, key_groups })
    }

    /// Takes over a file of an earlier checkpoint of the same directory, without a copy. It stays as long as any
    /// manifest names it; until this checkpoint is committed, that is sure only of the newest one that is.
    pub fn share_file(&self, earlier: &Checkpoint, file: &StateFile) -> StateFile {
        let path = if file.path.starts_with("../") {
            file.path.clone()
        } else {
            let name = earlier.path().file_name().and_then(|name| name.to_str());
            let name =
                name.filter(|name| checkpoint_id(name).is_some() && earlier.path().parent() == self.path.parent());
            let name = name.expect("files are shared by checkpoints of one directory");
            format!("../{name}/{}", file.path)
        };
        StateFile { path, ..file.clone() }
    }

    /// Makes it a checkpoint. When this returns, it will be found after any crash.
    ///
    /// After an error it may be there or not: only reading the directory anew tells, and until then nothing that
    /// depends on it may be undone.
    pub fn commit(self, manifest: Manifest) -> Result<Checkpoint, CheckpointError> {
        assert_eq!(manifest.checkpoint_id, self.id, "a manifest belongs to its checkpoint");
        check_lengths(self.fs.as_ref(), &self.path, &manifest)?;
        let uncommitted = self.path_in(UNCOMMITTED_MANIFEST_NAME);
        self.fs.write_new(&uncommitted, &manifest.encode())?;
        // The names of all files must be on the disk before the manifest's final name can be.
        self.fs.sync_dir(&self.path)?;
        self.fs.rename(&uncommitted, &self.path_in(MANIFEST_NAME))?;
        self.fs.sync_dir(&self.path)?;
        Ok(Checkpoint::committed(self.fs, self.path, manifest))
    }

    /// Removes what was written.
    pub fn abort(self) -> Result<(), CheckpointError> {
        Ok(self.fs.remove_dir_all(&self.path)?)
    }

    fn path_in(&self, name: &str) -> PathBuf {
        assert!(is_plain_name(name), "files of a checkpoint have plain names, not '{name}'");
        self.path.join(name)
    }
}

/// Can there be no link between the two places, whatever one does?
fn is_unlinkable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::CrossesDevices | io::ErrorKind::Unsupported | io::ErrorKind::TooManyLinks)
}
