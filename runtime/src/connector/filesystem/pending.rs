//! Writes files that are published with checkpoints.
//!
//! ```text
//! out/.part-0-3.csv.<job>.pending    rows since the last checkpoint: hidden, readers skip it
//! out/part-0-3.csv                   the same file once the checkpoint that names it is there
//! ```
//!
//! **Invariant:** a file is pending until it is renamed, and then it is not. So a commit that is repeated finds whether
//! it has been done before. A file gets the name that was chosen when it was begun, unless another job has published
//! one of that name meanwhile: nothing is ever overwritten.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use serde::{Deserialize, Serialize};
use tidemark_state::fs::{FileSystem, FsError};

use super::super::{SinkCommitter, SinkOwner, SinkRequest, SinkToken, SinkWriter};
use crate::change_batch::ChangeBatch;
use crate::error::{IoError, RuntimeError};
use crate::format::zone::Zone;
use crate::format::{Encoder, Format};

/// Writes the rows of one subtask.
pub(super) struct PendingSink {
    place: Place,
    format: Format,
    schema: SchemaRef,
    zone: Zone,
    subtask: usize,
    owner: SinkOwner,
    /// The file being written; none before the first row since the last checkpoint.
    part: Option<Part>,
}

struct Part {
    token: PartToken,
    encoder: Box<dyn Encoder>,
}

/// What publishes a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PartToken {
    directory: PathBuf,
    /// The name it has.
    pending: String,
    /// The name it gets, if nobody else has taken it.
    name: String,
}

/// The directory of a table.
#[derive(Clone)]
struct Place {
    fs: Arc<dyn FileSystem>,
    table: String,
    directory: PathBuf,
}

impl Place {
    fn failed(&self, error: FsError) -> RuntimeError {
        IoError { table: self.table.clone(), action: error.action, path: error.path, source: error.source }.into()
    }

    fn cannot_write(&self, path: &Path, source: io::Error) -> RuntimeError {
        IoError { table: self.table.clone(), action: "write", path: path.to_owned(), source }.into()
    }

    /// The names in the directory.
    fn names(&self) -> Result<Vec<String>, RuntimeError> {
        let entries = self.fs.list(&self.directory).map_err(|e| self.failed(e))?;
        let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
        Ok(entries.iter().filter_map(|entry| name(&entry.path)).collect())
    }
}

impl PendingSink {
    /// Creates the directory.
    pub fn open(
        fs: Arc<dyn FileSystem>,
        path: &str,
        format: Format,
        request: &SinkRequest,
        owner: SinkOwner,
        zone: Zone,
    ) -> Result<Self, RuntimeError> {
        let place = Place { fs, table: request.table.name.clone(), directory: PathBuf::from(path) };
        place.fs.create_dir_all(&place.directory).map_err(|e| place.failed(e))?;
        let (schema, subtask) = (request.schema.clone(), request.subtask);
        Ok(Self { place, format, schema, zone, subtask, owner, part: None })
    }

    /// Begins a file under the first number that is behind all there are, published or not.
    fn begin_part(&self) -> Result<Part, RuntimeError> {
        let extension = self.format.extension();
        let stem = format!("part-{}-", self.subtask);
        let number_of = |name: &String| {
            let (number, rest) = name.trim_start_matches('.').strip_prefix(&stem)?.split_once('.')?;
            rest.starts_with(extension).then(|| number.parse::<u64>().ok()).flatten()
        };
        let number = self.place.names()?.iter().filter_map(number_of).max().map_or(0, |last| last + 1);
        let name = format!("{stem}{number}.{extension}");
        let pending = format!(".{name}.{}.pending", self.owner.0);
        let path = self.place.directory.join(&pending);
        let file = self.place.fs.create_new(&path).map_err(|e| self.place.failed(e))?;
        let encoder = self.format.encoder(file, self.schema.clone(), self.zone);
        let encoder = encoder.map_err(|e| self.place.cannot_write(&path, e))?;
        Ok(Part { token: PartToken { directory: self.place.directory.clone(), pending, name }, encoder })
    }
}

impl SinkWriter for PendingSink {
    fn write(&mut self, batch: &ChangeBatch) -> Result<(), RuntimeError> {
        let part = match &mut self.part {
            Some(part) => part,
            None => {
                let part = self.begin_part()?;
                self.part.insert(part)
            }
        };
        let written = part.encoder.write(&batch.batch);
        written.map_err(|e| self.place.cannot_write(&part.token.pending_path(), e))
    }

    /// Nobody sees the file before its checkpoint.
    fn flush(&mut self) -> Result<(), RuntimeError> {
        Ok(())
    }

    fn prepare(&mut self) -> Result<Option<SinkToken>, RuntimeError> {
        let Some(part) = &mut self.part else { return Ok(None) };
        let path = part.token.pending_path();
        part.encoder.finish().map_err(|e| self.place.cannot_write(&path, e))?;
        self.place.fs.sync_file(&path).map_err(|e| self.place.failed(e))?;
        self.place.fs.sync_dir(&self.place.directory).map_err(|e| self.place.failed(e))?;
        let token = serde_json::to_value(&part.token).map_err(|e| self.place.cannot_write(&path, e.into()))?;
        self.part = None;
        Ok(Some(SinkToken(token)))
    }

    fn finish(&mut self) -> Result<(), RuntimeError> {
        match self.prepare()? {
            Some(token) => Committer { place: self.place.clone(), owner: self.owner.clone() }.commit(&token),
            None => Ok(()),
        }
    }
}

impl Drop for PendingSink {
    fn drop(&mut self) {
        if let Some(part) = self.part.take() {
            // Best effort: the next run of the job removes what is left.
            let _ = self.place.fs.remove_file(&part.token.pending_path());
        }
    }
}

impl PartToken {
    fn pending_path(&self) -> PathBuf {
        self.directory.join(&self.pending)
    }
}

/// Publishes the files of a table.
pub(super) struct Committer {
    place: Place,
    owner: SinkOwner,
}

impl Committer {
    /// Touches nothing yet.
    pub fn new(fs: Arc<dyn FileSystem>, path: &str, table: &str, owner: SinkOwner) -> Self {
        Self { place: Place { fs, table: table.to_owned(), directory: PathBuf::from(path) }, owner }
    }
}

impl Committer {
    /// The name of the token, or the first like it that is free.
    fn free_path(&self, token: &PartToken) -> Result<PathBuf, RuntimeError> {
        let (stem, extension) = token.name.split_once('.').unwrap_or((&token.name, ""));
        let mut path = token.directory.join(&token.name);
        for number in 2_u64.. {
            if !self.place.fs.exists(&path).map_err(|e| self.place.failed(e))? {
                break;
            }
            path = token.directory.join(format!("{stem}-{number}.{extension}"));
        }
        Ok(path)
    }
}

impl SinkCommitter for Committer {
    fn commit(&mut self, token: &SinkToken) -> Result<(), RuntimeError> {
        let token =
            PartToken::deserialize(&token.0).map_err(|e| self.place.cannot_write(&self.place.directory, e.into()))?;
        let pending = token.pending_path();
        let place = &self.place;
        // One that is not there any more has been published; whoever reads the directory may have taken it away since.
        if place.fs.exists(&pending).map_err(|e| place.failed(e))? {
            place.fs.rename(&pending, &self.free_path(&token)?).map_err(|e| place.failed(e))?;
        }
        place.fs.sync_dir(&token.directory).map_err(|e| place.failed(e))
    }

    fn discard_leftovers(&mut self) -> Result<(), RuntimeError> {
        let place = &self.place;
        if !place.fs.exists(&place.directory).map_err(|e| place.failed(e))? {
            return Ok(());
        }
        let ending = format!(".{}.pending", self.owner.0);
        for name in place.names()?.iter().filter(|name| name.starts_with('.') && name.ends_with(&ending)) {
            place.fs.remove_file(&place.directory.join(name)).map_err(|e| place.failed(e))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
