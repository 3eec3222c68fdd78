//! A file system in memory that knows what would be left after a loss of power.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{DirEntry, FileLock, FileSystem, FsError};

/// A file system in memory, for tests.
///
/// It is as forgetful as a real one may be: what was written, renamed, linked or removed in a directory outlasts a
/// loss of power only if the directory was synced afterwards; and of what was written to a file piece by piece only
/// as much is left as was there when the file was synced last. Clones share the files.
#[derive(Clone, Debug, Default)]
pub struct MemoryFs {
    names: Arc<Mutex<Names>>,
    locks: Arc<Mutex<BTreeSet<PathBuf>>>,
}

#[derive(Clone, Debug, Default)]
struct Names {
    now: BTreeMap<PathBuf, Node>,
    /// What is on the disk.
    durable: BTreeMap<PathBuf, Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Directory,
    File {
        bytes: Arc<[u8]>,
        /// So many of them are on the disk.
        synced: usize,
    },
}

impl Node {
    fn durable_file(bytes: Arc<[u8]>) -> Self {
        Node::File { synced: bytes.len(), bytes }
    }

    /// As it is after a loss of power.
    fn cut_off(self) -> Self {
        match self {
            Node::Directory => Node::Directory,
            Node::File { bytes, synced } => Node::durable_file(bytes[..synced].into()),
        }
    }
}

impl MemoryFs {
    /// What is left when the power fails now. Of the changes that were not synced those are left whose path
    /// `has_reached_disk`: a disk takes them in any order.
    pub fn after_power_loss(&self, has_reached_disk: impl Fn(&Path) -> bool) -> Self {
        let Names { now, mut durable } = self.names().clone();
        durable.retain(|path, _| now.contains_key(path) || !has_reached_disk(path));
        durable.extend(now.into_iter().filter(|(path, _)| has_reached_disk(path)));
        // Nothing is left in a directory that is gone.
        let directories = durable.clone();
        durable.retain(|path, _| path.ancestors().all(|directory| directories.contains_key(directory)));
        let durable: BTreeMap<_, _> = durable.into_iter().map(|(path, node)| (path, node.cut_off())).collect();
        Self { names: Arc::new(Mutex::new(Names { now: durable.clone(), durable })), locks: Arc::default() }
    }

    /// A test that panics while it holds the lock has changed nothing by halves.
    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    fn file(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        match self.now.get(path) {
            Some(Node::File { bytes, .. }) => Ok(Arc::clone(bytes)),
            Some(Node::Directory) => Err(io::Error::other("it is not a file")),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        match self.now.get(path) {
            Some(Node::Directory) => Ok(()),
            Some(Node::File { .. }) => Err(ErrorKind::NotADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// Gives a new file its name.
    fn add_file(&mut self, path: &Path, file: Node) -> io::Result<()> {
        self.check_directory(path.parent().unwrap_or(Path::new("")))?;
        if self.now.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.now.insert(path.to_owned(), file);
        Ok(())
    }

    /// Appends to a file that is being written.
    fn append(&mut self, path: &Path, piece: &[u8]) -> io::Result<()> {
        match self.now.get_mut(path) {
            Some(Node::File { bytes, .. }) => *bytes = [bytes, piece].concat().into(),
            _ => return Err(ErrorKind::NotFound.into()),
        }
        Ok(())
    }

    fn sync_file(&mut self, path: &Path) -> io::Result<()> {
        let file = Node::durable_file(self.file(path)?);
        if let Some(durable) = self.durable.get_mut(path) {
            *durable = file.clone();
        }
        self.now.insert(path.to_owned(), file);
        Ok(())
    }

    fn sync_dir(&mut self, directory: &Path) -> io::Result<()> {
        self.check_directory(directory)?;
        // A directory that is gone for good takes along what was in it.
        let now = &self.now;
        let is_gone = |path: &Path| path.parent() == Some(directory) && !now.contains_key(path);
        self.durable.retain(|path, _| !path.ancestors().any(is_gone));
        let synced = now.iter().filter(|(path, _)| path.parent() == Some(directory));
        self.durable.extend(synced.map(|(path, node)| (path.clone(), node.clone())));
        Ok(())
    }
}

/// A file that is being written.
struct OpenFile {
    fs: MemoryFs,
    path: PathBuf,
}

impl Write for OpenFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.fs.names().append(&self.path, piece)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A locked name.
#[derive(Debug)]
struct Held {
    locks: Arc<Mutex<BTreeSet<PathBuf>>>,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

impl FileSystem for MemoryFs {
    fn create_dir_all(&self, path: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        for directory in path.ancestors() {
            if let Some(Node::File { .. }) = names.now.get(directory) {
                return Err(FsError::on("create the directory", path)(ErrorKind::NotADirectory.into()));
            }
            names.now.insert(directory.to_owned(), Node::Directory);
            names.durable.insert(directory.to_owned(), Node::Directory);
        }
        Ok(())
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> Result<(), FsError> {
        self.names().add_file(path, Node::durable_file(bytes.into())).map_err(FsError::on("write", path))
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn Write + Send>, FsError> {
        self.names().add_file(path, Node::durable_file([].into())).map_err(FsError::on("create", path))?;
        Ok(Box::new(OpenFile { fs: self.clone(), path: path.to_owned() }))
    }

    fn sync_file(&self, path: &Path) -> Result<(), FsError> {
        self.names().sync_file(path).map_err(FsError::on("sync", path))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<FileLock>, FsError> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if !locks.insert(path.to_owned()) {
            return Ok(None);
        }
        Ok(Some(FileLock(Box::new(Held { locks: Arc::clone(&self.locks), path: path.to_owned() }))))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        names.file(from).map_err(FsError::on("rename a file to", to))?;
        if let Some(file) = names.now.remove(from) {
            names.now.insert(to.to_owned(), file);
        }
        Ok(())
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        let linked = names.file(existing).and_then(|bytes| names.add_file(new, Node::durable_file(bytes)));
        linked.map_err(FsError::on("link a file as", new))
    }

    fn sync_dir(&self, path: &Path) -> Result<(), FsError> {
        self.names().sync_dir(path).map_err(FsError::on("sync the directory", path))
    }

    fn remove_file(&self, path: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        names.file(path).map_err(FsError::on("remove", path))?;
        names.now.remove(path);
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        names.check_directory(path).map_err(FsError::on("remove the directory", path))?;
        names.now.retain(|name, _| !name.starts_with(path));
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FsError> {
        self.names().file(path).map(|bytes| bytes.to_vec()).map_err(FsError::on("read", path))
    }

    fn read_at(&self, path: &Path, offset: u64, bytes: usize) -> Result<Vec<u8>, FsError> {
        let read = || {
            let file = self.names().file(path)?;
            let from_offset = usize::try_from(offset).ok().and_then(|offset| file.get(offset..));
            let part = from_offset.and_then(|rest| rest.get(..bytes));
            part.map(<[u8]>::to_vec).ok_or_else(|| ErrorKind::UnexpectedEof.into())
        };
        read().map_err(FsError::on("read", path))
    }

    fn file_len(&self, path: &Path) -> Result<Option<u64>, FsError> {
        match self.names().file(path) {
            Ok(bytes) => Ok(Some(bytes.len() as u64)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FsError::on("read", path)(error)),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, FsError> {
        Ok(self.names().now.contains_key(path))
    }

    fn list(&self, path: &Path) -> Result<Vec<DirEntry>, FsError> {
        let names = self.names();
        names.check_directory(path).map_err(FsError::on("list the directory", path))?;
        let entries = names.now.iter().filter(|(name, _)| name.parent() == Some(path));
        let is_dir = |node: &Node| matches!(node, Node::Directory);
        Ok(entries.map(|(name, node)| DirEntry { path: name.clone(), is_dir: is_dir(node) }).collect())
    }
}
