//! The file system of this machine.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::{DirEntry, FileLock, FileSystem, FsError};

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFs;

impl FileSystem for LocalFs {
    fn create_dir_all(&self, path: &Path) -> Result<(), FsError> {
        create_dirs(path).map_err(FsError::on("create the directory", path))
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> Result<(), FsError> {
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        write().map_err(FsError::on("write", path))
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn Write + Send>, FsError> {
        let created = OpenOptions::new().write(true).create_new(true).open(path);
        created.map(|file| Box::new(file) as Box<dyn Write + Send>).map_err(FsError::on("create", path))
    }

    fn sync_file(&self, path: &Path) -> Result<(), FsError> {
        let sync = || OpenOptions::new().write(true).open(path)?.sync_all();
        sync().map_err(FsError::on("sync", path))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<FileLock>, FsError> {
        let lock = || {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) => Ok(Some(FileLock(Box::new(file)))),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        };
        lock().map_err(FsError::on("lock", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        fs::rename(from, to).map_err(FsError::on("rename a file to", to))
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        fs::hard_link(existing, new).map_err(FsError::on("link a file as", new))
    }

    fn sync_dir(&self, path: &Path) -> Result<(), FsError> {
        sync_directory(path).map_err(FsError::on("sync the directory", path))
    }

    fn remove_file(&self, path: &Path) -> Result<(), FsError> {
        fs::remove_file(path).map_err(FsError::on("remove", path))
    }

    fn remove_dir_all(&self, path: &Path) -> Result<(), FsError> {
        fs::remove_dir_all(path).map_err(FsError::on("remove the directory", path))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError> {
        fs::read(path).map_err(FsError::on("read", path))
    }

    fn read_at(&self, path: &Path, offset: u64, bytes: usize) -> Result<Vec<u8>, FsError> {
        let read = || {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(offset))?;
            // The length may come from a damaged file: memory is taken for what is there, not for what is claimed.
            let mut out = Vec::new();
            file.take(bytes as u64).read_to_end(&mut out)?;
            if out.len() == bytes { Ok(out) } else { Err(ErrorKind::UnexpectedEof.into()) }
        };
        read().map_err(FsError::on("read", path))
    }

    fn file_len(&self, path: &Path) -> Result<Option<u64>, FsError> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(FsError::on("read", path)(io::Error::other("it is not a file"))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(FsError::on("read", path)(error)),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, FsError> {
        path.try_exists().map_err(FsError::on("look for", path))
    }

    fn list(&self, path: &Path) -> Result<Vec<DirEntry>, FsError> {
        let list = || {
            let mut entries = Vec::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                entries.push(DirEntry { path: entry.path(), is_dir: entry.file_type()?.is_dir() });
            }
            entries.sort_unstable();
            Ok(entries)
        };
        list().map_err(FsError::on("list the directory", path))
    }
}

/// Is nothing of that name there, be it for want of the file or of a directory above it?
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Creates the directory and those above it; each new name is synced in the directory that holds it.
fn create_dirs(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    create_dirs(parent)?;
    match fs::create_dir(path) {
        // Another process may have been faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync_directory(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

/// Only Unix lets a directory be opened and synced; elsewhere the file system orders such changes by itself.
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
