//! A file system that fails at a chosen call, to find out what a crash there leaves behind.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{DirEntry, FileSystem, FsError};

/// Another file system on which one call that changes something fails, and every call after it: as if the process had
/// died there.
#[derive(Debug)]
pub struct FaultyFs {
    inner: Arc<dyn FileSystem>,
    fault: Fault,
    /// Which changing call fails, counted from 0.
    fails_at: usize,
    /// How many changing calls there were.
    calls: AtomicUsize,
    is_dead: AtomicBool,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing of it happens.
    Refused,
    /// Half of it happens, where it can: half of a file's bytes are written, half of a directory's entries removed.
    Torn,
    /// All of it happens, but nobody learns of it.
    Unreported,
}

impl FaultyFs {
    /// Fails the `fails_at`-th call that changes something, counted from 0.
    pub fn new(inner: Arc<dyn FileSystem>, fails_at: usize, fault: Fault) -> Self {
        Self { inner, fault, fails_at, calls: AtomicUsize::new(0), is_dead: AtomicBool::new(false) }
    }

    /// Has the fault happened?
    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::SeqCst)
    }

    fn check_alive(&self, action: &'static str, path: &Path) -> Result<(), FsError> {
        if self.is_dead() { Err(injected(action, path)) } else { Ok(()) }
    }

    /// Does the call, or fails it: `torn` does half of it.
    fn change(
        &self,
        action: &'static str,
        path: &Path,
        whole: impl FnOnce() -> Result<(), FsError>,
        torn: impl FnOnce() -> Result<(), FsError>,
    ) -> Result<(), FsError> {
        self.check_alive(action, path)?;
        if self.calls.fetch_add(1, Ordering::SeqCst) != self.fails_at {
            return whole();
        }
        self.is_dead.store(true, Ordering::SeqCst);
        match self.fault {
            Fault::Refused => {}
            Fault::Torn => torn()?,
            Fault::Unreported => whole()?,
        }
        Err(injected(action, path))
    }

    fn remove_half(&self, directory: &Path) -> Result<(), FsError> {
        let entries = self.inner.list(directory)?;
        for entry in &entries[..entries.len().div_ceil(2)] {
            if entry.is_dir {
                self.inner.remove_dir_all(&entry.path)?;
            } else {
                self.inner.remove_file(&entry.path)?;
            }
        }
        Ok(())
    }
}

fn injected(action: &'static str, path: &Path) -> FsError {
    FsError::on(action, path)(io::Error::other("a fault was injected"))
}

fn nothing() -> Result<(), FsError> {
    Ok(())
}

impl FileSystem for FaultyFs {
    fn create_dir_all(&self, path: &Path) -> Result<(), FsError> {
        self.change("create the directory", path, || self.inner.create_dir_all(path), nothing)
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> Result<(), FsError> {
        let half = &bytes[..bytes.len() / 2];
        self.change("write", path, || self.inner.write_new(path, bytes), || self.inner.write_new(path, half))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        self.change("rename a file to", to, || self.inner.rename(from, to), nothing)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        self.change("link a file as", new, || self.inner.hard_link(existing, new), nothing)
    }

    fn sync_dir(&self, path: &Path) -> Result<(), FsError> {
        self.change("sync the directory", path, || self.inner.sync_dir(path), nothing)
    }

    fn remove_file(&self, path: &Path) -> Result<(), FsError> {
        self.change("remove", path, || self.inner.remove_file(path), nothing)
    }

    fn remove_dir_all(&self, path: &Path) -> Result<(), FsError> {
        let torn = || self.remove_half(path);
        self.change("remove the directory", path, || self.inner.remove_dir_all(path), torn)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError> {
        self.check_alive("read", path)?;
        self.inner.read(path)
    }

    fn read_at(&self, path: &Path, offset: u64, bytes: usize) -> Result<Vec<u8>, FsError> {
        self.check_alive("read", path)?;
        self.inner.read_at(path, offset, bytes)
    }

    fn file_len(&self, path: &Path) -> Result<Option<u64>, FsError> {
        self.check_alive("read", path)?;
        self.inner.file_len(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, FsError> {
        self.check_alive("look for", path)?;
        self.inner.exists(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<DirEntry>, FsError> {
        self.check_alive("list the directory", path)?;
        self.inner.list(path)
    }
}
