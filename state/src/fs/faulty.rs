//! A file system that fails at a chosen call, to find out what a crash there leaves behind.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{DirEntry, FileLock, FileSystem, FsError};

/// Another file system on which one call that changes something fails, and every call after it: as if the process had
/// died there.
#[derive(Debug)]
pub struct FaultyFs {
    inner: Arc<dyn FileSystem>,
    switch: Arc<Switch>,
}

/// Says which call fails.
#[derive(Debug)]
struct Switch {
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

impl Switch {
    fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::SeqCst)
    }

    /// Does the call, or fails it: `torn` does half of it. The outer error is the injected one.
    fn change<T, E>(
        &self,
        whole: impl FnOnce() -> Result<T, E>,
        torn: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<T, E>, Injected> {
        if self.is_dead() {
            return Err(Injected);
        }
        if self.calls.fetch_add(1, Ordering::SeqCst) != self.fails_at {
            return Ok(whole());
        }
        self.is_dead.store(true, Ordering::SeqCst);
        let done = match self.fault {
            Fault::Refused => Ok(()),
            Fault::Torn => torn(),
            Fault::Unreported => whole().map(drop),
        };
        match done {
            Ok(()) => Err(Injected),
            Err(error) => Ok(Err(error)),
        }
    }
}

/// The call was failed.
struct Injected;

impl Injected {
    fn into_io(self) -> io::Error {
        io::Error::other("a fault was injected")
    }
}

impl FaultyFs {
    /// Fails the `fails_at`-th call that changes something, counted from 0; to write a piece of a file is such a call.
    pub fn new(inner: Arc<dyn FileSystem>, fails_at: usize, fault: Fault) -> Self {
        let (calls, is_dead) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { inner, switch: Arc::new(Switch { fault, fails_at, calls, is_dead }) }
    }

    /// Has the fault happened?
    pub fn is_dead(&self) -> bool {
        self.switch.is_dead()
    }

    fn check_alive(&self, action: &'static str, path: &Path) -> Result<(), FsError> {
        if self.is_dead() { Err(FsError::on(action, path)(Injected.into_io())) } else { Ok(()) }
    }

    /// Does the call, or fails it: `torn` does half of it.
    fn change<T>(
        &self,
        action: &'static str,
        path: &Path,
        whole: impl FnOnce() -> Result<T, FsError>,
        torn: impl FnOnce() -> Result<(), FsError>,
    ) -> Result<T, FsError> {
        let done = self.switch.change(whole, torn);
        done.unwrap_or_else(|injected| Err(FsError::on(action, path)(injected.into_io())))
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

/// A file that is being written.
struct FaultyFile {
    inner: Box<dyn Write + Send>,
    switch: Arc<Switch>,
}

impl Write for FaultyFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let half = &piece[..piece.len() / 2];
        let file = std::cell::RefCell::new(&mut self.inner);
        let whole = || file.borrow_mut().write(piece);
        let torn = || file.borrow_mut().write_all(half);
        self.switch.change(whole, torn).unwrap_or_else(|injected| Err(injected.into_io()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
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

    fn create_new(&self, path: &Path) -> Result<Box<dyn Write + Send>, FsError> {
        let inner = self.change("create", path, || self.inner.create_new(path), nothing)?;
        Ok(Box::new(FaultyFile { inner, switch: Arc::clone(&self.switch) }))
    }

    fn sync_file(&self, path: &Path) -> Result<(), FsError> {
        self.change("sync", path, || self.inner.sync_file(path), nothing)
    }

    fn try_lock(&self, path: &Path) -> Result<Option<FileLock>, FsError> {
        self.check_alive("lock", path)?;
        self.inner.try_lock(path)
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
