//! A committed checkpoint.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{MANIFEST_NAME, STATE_FILE_SUFFIX, checkpoint_id};
use crate::checkpoint_error::CheckpointError;
use crate::checksum::Xxh3;
use crate::fs::FileSystem;
use crate::manifest::{Manifest, StateFile};
use crate::rescale::{StateShare, merge_snapshots};
use crate::snapshot::OperatorSnapshot;
use crate::snapshot_file::{SnapshotFile, StoredTable};

/// A committed checkpoint: its manifest was read, and its files are there with the lengths they should have.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    fs: Arc<dyn FileSystem>,
    path: PathBuf,
    manifest: Manifest,
}

impl Checkpoint {
    /// Opens the checkpoint whose own directory is `path`, wherever that is.
    pub fn open(fs: Arc<dyn FileSystem>, path: &Path) -> Result<Self, CheckpointError> {
        let manifest_path = path.join(MANIFEST_NAME);
        if !fs.exists(&manifest_path)? {
            return Err(CheckpointError::NotFound(path.to_owned()));
        }
        let manifest = Manifest::decode(&manifest_path, &fs.read(&manifest_path)?)?;
        check_lengths(fs.as_ref(), path, &manifest)?;
        Ok(Self { fs, path: path.to_owned(), manifest })
    }

    /// The checkpoint that was just committed at `path`.
    pub(super) fn committed(fs: Arc<dyn FileSystem>, path: PathBuf, manifest: Manifest) -> Self {
        Self { fs, path, manifest }
    }

    /// What it holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its own directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file of the manifest is. Fails if that is neither in this checkpoint nor in one next to it.
    pub fn file_path(&self, file: &StateFile) -> Result<PathBuf, CheckpointError> {
        resolve(&self.path, &file.path)
    }

    /// Where all its files are, each once.
    pub(super) fn file_paths(&self) -> Result<BTreeSet<PathBuf>, CheckpointError> {
        self.manifest.files().map(|file| self.file_path(file)).collect()
    }

    /// Reads all files and compares their checksums.
    pub fn verify(&self) -> Result<(), CheckpointError> {
        let mut verified = BTreeSet::new();
        for file in self.manifest.files() {
            let path = self.file_path(file)?;
            if verified.contains(&path) {
                continue;
            }
            if Xxh3::of_file(self.fs.as_ref(), &path, file.bytes)? != file.xxh3 {
                return Err(CheckpointError::corrupt(&path, "its checksum does not match"));
            }
            verified.insert(path);
        }
        Ok(())
    }

    /// What of an operator's state, over all subtasks that wrote it, is in `share`; `None` if the checkpoint does not
    /// know the operator. The share must be one of as many key groups as the checkpoint has.
    pub fn read_operator(&self, uid: &str, share: &StateShare) -> Result<Option<OperatorSnapshot>, CheckpointError> {
        let written = self.manifest.max_parallelism;
        if let Some(wanted) = share.max_parallelism().filter(|wanted| *wanted != written) {
            return Err(CheckpointError::MaxParallelism { path: self.path.clone(), written, wanted });
        }
        let Some(operator) = self.manifest.operators.iter().find(|operator| operator.uid == uid) else {
            return Ok(None);
        };
        let mut snapshots = Vec::new();
        for file in operator.files.iter().filter(|file| is_state(file) && share.may_be_in(file.key_groups)) {
            let path = self.file_path(file)?;
            let snapshot = SnapshotFile::open(Arc::clone(&self.fs), &path)?.read(uid, share)?;
            let missing = || CheckpointError::corrupt(&path, format!("it does not hold operator '{uid}'"));
            snapshots.push(snapshot.ok_or_else(missing)?);
        }
        merge_snapshots(snapshots, share).map(Some)
    }

    /// The tables in all files of state, file by file.
    pub fn tables(&self) -> Result<Vec<StoredTable>, CheckpointError> {
        let mut tables = Vec::new();
        let files: Vec<&StateFile> = self.manifest.files().filter(|file| is_state(file)).collect();
        for (idx, file) in files.iter().enumerate() {
            if files[..idx].iter().all(|other| other.path != file.path) {
                let path = self.file_path(file)?;
                tables.extend(SnapshotFile::open(Arc::clone(&self.fs), &path)?.tables());
            }
        }
        Ok(tables)
    }
}

fn is_state(file: &StateFile) -> bool {
    file.path.ends_with(STATE_FILE_SUFFIX)
}

/// Are all files that the manifest of the checkpoint at `path` names there, with the lengths that it names?
pub(super) fn check_lengths(fs: &dyn FileSystem, path: &Path, manifest: &Manifest) -> Result<(), CheckpointError> {
    for file in manifest.files() {
        let file_path = resolve(path, &file.path)?;
        match fs.file_len(&file_path)? {
            Some(found) if found == file.bytes => {}
            Some(found) => {
                let reason = format!("it has {found} bytes instead of {}", file.bytes);
                return Err(CheckpointError::corrupt(&file_path, reason));
            }
            None => return Err(CheckpointError::corrupt(&file_path, "it is missing")),
        }
    }
    Ok(())
}

/// Where the file is that a manifest in the directory `checkpoint` calls `path`: there, or in a checkpoint next to it.
fn resolve(checkpoint: &Path, path: &str) -> Result<PathBuf, CheckpointError> {
    let (mut resolved, within) = match path.strip_prefix("../") {
        None => (checkpoint.to_owned(), path),
        Some(shared) => (siblings_of(checkpoint), shared),
    };
    let mut names = within.split('/');
    let is_shared = within.len() != path.len();
    let sibling = if is_shared { names.next() } else { None };
    let is_sibling = sibling.is_none_or(|name| checkpoint_id(name).is_some());
    let mut rest = names.peekable();
    if !is_sibling || rest.peek().is_none() || !rest.clone().all(is_plain_name) {
        let reason = format!("it names a file '{path}' that is in no checkpoint");
        return Err(CheckpointError::corrupt(&checkpoint.join(MANIFEST_NAME), reason));
    }
    resolved.extend(sibling.into_iter().chain(rest));
    Ok(resolved)
}

/// The directory that the checkpoint's directory is in.
fn siblings_of(checkpoint: &Path) -> PathBuf {
    match (checkpoint.file_name(), checkpoint.parent()) {
        (Some(_), Some(parent)) => parent.to_owned(),
        // Of `.`, say, the text does not tell.
        _ => checkpoint.join(".."),
    }
}

/// Is it the name of one file or directory, on this platform?
pub(super) fn is_plain_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!(components.next(), Some(Component::Normal(only)) if only == name) && components.next().is_none()
}
