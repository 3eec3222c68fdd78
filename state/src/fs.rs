//! The few things that checkpoints ask of a file system.
//!
//! **Invariant:** nothing in this crate that must survive a crash touches files other than through [`FileSystem`], so
//! that a test can fail any one call ([`FaultyFs`]) or cut the power ([`MemoryFs`]) and find out what is left behind.
//!
//! ```text
//! write_new("chk-3/manifest.json.tmp")   the bytes are on the disk, the name may not be
//! rename("…tmp", "chk-3/manifest.json")  all or nothing
//! sync_dir("chk-3")                      now the names are on the disk, too
//! ```

use std::any::Any;
use std::fmt::Debug;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use self::faulty::{Fault, FaultyFs};
pub use self::local::LocalFs;
pub use self::memory::MemoryFs;

mod faulty;
mod local;
mod memory;

/// A file system, or what stands for one in a test. All paths are taken as given, relative ones as the process sees
/// them.
pub trait FileSystem: Send + Sync + Debug {
    /// Makes the directory and those above it, durably. One that exists is no error.
    fn create_dir_all(&self, path: &Path) -> Result<(), FsError>;

    /// Writes a new file and waits for its bytes to be on the disk. A file that exists is an error. After any error
    /// the file may be there in part.
    fn write_new(&self, path: &Path, bytes: &[u8]) -> Result<(), FsError>;

    /// Begins a new file, to be written piece by piece. A file that exists is an error. What is written may be on the
    /// disk or not until [`FileSystem::sync_file`]; a piece that fails may be there in part.
    fn create_new(&self, path: &Path) -> Result<Box<dyn Write + Send>, FsError>;

    /// Waits for the bytes of a file to be on the disk; its name may not be.
    fn sync_file(&self, path: &Path) -> Result<(), FsError>;

    /// Takes the file of that name, made if need be, for this process alone, until the lock is dropped or the process
    /// is gone. `None` when somebody else has it. The file stays.
    fn try_lock(&self, path: &Path) -> Result<Option<FileLock>, FsError>;

    /// Gives the file another name, taking the place of a file that has it already: wholly or not at all.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError>;

    /// Gives an existing file one more name, which must be new.
    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError>;

    /// Waits for what was written, renamed and removed in the directory to be on the disk.
    fn sync_dir(&self, path: &Path) -> Result<(), FsError>;

    /// Removes a file. One that is not there is an error.
    fn remove_file(&self, path: &Path) -> Result<(), FsError>;

    /// Removes a directory and all that is in it. After an error some of it may be left.
    fn remove_dir_all(&self, path: &Path) -> Result<(), FsError>;

    /// All bytes of the file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError>;

    /// Exactly `bytes` bytes of the file from `offset` on. A file that ends before is an error of kind
    /// [`io::ErrorKind::UnexpectedEof`].
    fn read_at(&self, path: &Path, offset: u64, bytes: usize) -> Result<Vec<u8>, FsError>;

    /// The length of the file in bytes; `None` when there is none. Anything that is not a file is an error.
    fn file_len(&self, path: &Path) -> Result<Option<u64>, FsError>;

    /// Is there a file or directory of that name?
    fn exists(&self, path: &Path) -> Result<bool, FsError>;

    /// What is in the directory, by name.
    fn list(&self, path: &Path) -> Result<Vec<DirEntry>, FsError>;
}

/// A file that is locked. Others see that only if they try to lock it, too.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "it is held, not looked at")] Box<dyn HeldLock>);

/// What unlocks when it is dropped.
trait HeldLock: Any + Debug + Send + Sync {}

impl<T: Any + Debug + Send + Sync> HeldLock for T {}

/// A file or directory found by [`FileSystem::list`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The directory that was listed, and the name in it.
    pub path: PathBuf,
    /// Is it a directory? A link to one is not.
    pub is_dir: bool,
}

/// The file system refused something.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", path.display())]
pub struct FsError {
    /// What was tried, as a verb phrase: "write", "list the directory".
    pub action: &'static str,
    /// On which file or directory.
    pub path: PathBuf,
    /// What the system says.
    #[source]
    pub source: io::Error,
}

impl FsError {
    /// The error of an action on a path, for `map_err`.
    pub(crate) fn on(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { action, path: path.to_owned(), source }
    }
}

#[cfg(test)]
mod tests;
