//! Writes the files of a job without checkpoints.
//!
//! Rows go to a file of a hidden name, which readers skip; when the input has ended it gets its name. A directory keeps
//! what is in it: each run adds `part-<subtask>-<number>`. A path that names a file (`out.csv`) is that file, to which
//! the rows are added.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{SinkRequest, SinkToken, SinkWriter};
use super::single_file::{self, Joint, names_a_file};
use crate::change_batch::ChangeBatch;
use crate::error::{IoError, RuntimeError};
use crate::format::zone::Zone;
use crate::format::{Encoder, Format};

/// Tells the hidden files of one process apart.
static TEMPORARY_FILES: AtomicU64 = AtomicU64::new(0);

/// Writes the rows of one subtask.
pub(super) struct FileSink {
    table: String,
    target: Target,
    temporary: PathBuf,
    /// A second handle to the file, to make it durable.
    file: File,
    /// Nothing any more when the file has its name.
    encoder: Option<Box<dyn Encoder>>,
}

enum Target {
    File(PathBuf, Joint),
    /// The next free one of `<stem><number>.<extension>`.
    PartOf {
        directory: PathBuf,
        stem: String,
        extension: &'static str,
    },
}

impl FileSink {
    /// Creates the directory and the hidden file.
    pub fn open(path: &str, format: &Format, request: &SinkRequest, zone: Zone) -> Result<Self, RuntimeError> {
        let table = request.table.name.clone();
        let failed = |action, path: &Path, source| {
            RuntimeError::from(IoError { table: table.clone(), action, path: path.to_path_buf(), source })
        };
        let path = Path::new(path);
        let (target, directory) = if names_a_file(path) && request.parallelism == 1 {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            (Target::File(path.to_path_buf(), format.joint()), parent)
        } else {
            let stem = format!("part-{}-", request.subtask);
            (Target::PartOf { directory: path.to_path_buf(), stem, extension: format.extension() }, path)
        };
        fs::create_dir_all(directory).map_err(|e| failed("create", directory, e))?;
        let number = TEMPORARY_FILES.fetch_add(1, Ordering::Relaxed);
        let temporary = directory.join(format!(".{}-{number}.unfinished", process::id()));
        let file = File::create(&temporary).map_err(|e| failed("create", &temporary, e))?;
        let encoder = file
            .try_clone()
            .and_then(|f| format.encoder(Box::new(f), request.schema.clone(), zone))
            .map_err(|e| failed("write", &temporary, e))?;
        Ok(Self { table, target, temporary, file, encoder: Some(encoder) })
    }

    fn encode(
        &mut self,
        action: &'static str,
        step: impl FnOnce(&mut dyn Encoder) -> io::Result<()>,
    ) -> Result<(), RuntimeError> {
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        step(encoder.as_mut()).map_err(|e| self.failed(action, e))
    }

    fn failed(&self, action: &'static str, source: io::Error) -> RuntimeError {
        let path = match &self.target {
            Target::File(path, _) => path.clone(),
            Target::PartOf { directory, .. } => directory.clone(),
        };
        IoError { table: self.table.clone(), action, path, source }.into()
    }

    fn give_name(&self) -> io::Result<()> {
        match &self.target {
            Target::File(path, joint) => single_file::add(&self.temporary, path, *joint),
            Target::PartOf { directory, stem, extension } => {
                for number in 0_u64.. {
                    let path = directory.join(format!("{stem}{number}.{extension}"));
                    // A link, unlike a rename, never takes the place of a file that somebody else has made meanwhile.
                    match fs::hard_link(&self.temporary, &path) {
                        Ok(()) => return fs::remove_file(&self.temporary),
                        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                        Err(e) if path.exists() => return Err(e),
                        // A file system without links.
                        Err(_) => return fs::rename(&self.temporary, &path),
                    }
                }
                Ok(())
            }
        }
    }
}

impl SinkWriter for FileSink {
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError> {
        self.encode("write", |encoder| encoder.write(&batch.batch))
    }

    fn flush(&mut self) -> Result<(), RuntimeError> {
        self.encode("write", |encoder| encoder.flush())
    }

    /// Only of a job without checkpoints is the file begun here, and that is never asked.
    fn prepare(&mut self) -> Result<Option<SinkToken>, RuntimeError> {
        self.finish().map(|()| None)
    }

    fn finish(&mut self) -> Result<(), RuntimeError> {
        self.encode("write", |encoder| encoder.finish())?;
        if self.encoder.is_some() {
            self.file.sync_all().map_err(|e| self.failed("write", e))?;
            self.give_name().map_err(|e| self.failed("rename", e))?;
            self.encoder = None;
        }
        Ok(())
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if self.encoder.take().is_some() {
            // Best effort: a hidden file left behind harms no reader.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
