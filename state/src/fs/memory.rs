//! A file system in memory that knows what would be left after a loss of power.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{DirEntry, FileSystem, FsError};

/// A file system in memory, for tests.
///
/// It is as forgetful as a real one may be: what was written, renamed, linked or removed in a directory outlasts a
/// loss of power only if the directory was synced afterwards.
#[derive(Debug, Default)]
pub struct MemoryFs {
    names: Mutex<Names>,
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
    File(Arc<[u8]>),
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
        Self { names: Mutex::new(Names { now: durable.clone(), durable }) }
    }

    /// A test that panics while it holds the lock has changed nothing by halves.
    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Names {
    fn file(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        match self.now.get(path) {
            Some(Node::File(bytes)) => Ok(Arc::clone(bytes)),
            Some(Node::Directory) => Err(io::Error::other("it is not a file")),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        match self.now.get(path) {
            Some(Node::Directory) => Ok(()),
            Some(Node::File(_)) => Err(ErrorKind::NotADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// Gives a new file its name.
    fn add_file(&mut self, path: &Path, bytes: Arc<[u8]>) -> io::Result<()> {
        self.check_directory(path.parent().unwrap_or(Path::new("")))?;
        if self.now.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.now.insert(path.to_owned(), Node::File(bytes));
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

impl FileSystem for MemoryFs {
    fn create_dir_all(&self, path: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        for directory in path.ancestors() {
            if let Some(Node::File(_)) = names.now.get(directory) {
                return Err(FsError::on("create the directory", path)(ErrorKind::NotADirectory.into()));
            }
            names.now.insert(directory.to_owned(), Node::Directory);
            names.durable.insert(directory.to_owned(), Node::Directory);
        }
        Ok(())
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> Result<(), FsError> {
        self.names().add_file(path, bytes.into()).map_err(FsError::on("write", path))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        let file = names.file(from).map_err(FsError::on("rename a file to", to))?;
        names.now.remove(from);
        names.now.insert(to.to_owned(), Node::File(file));
        Ok(())
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), FsError> {
        let mut names = self.names();
        let linked = names.file(existing).and_then(|file| names.add_file(new, file));
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
