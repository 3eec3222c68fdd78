//! `filesystem`: files of CSV, JSON lines or Parquet, read and written.
//!
//! `path` names a file, a directory or a pattern; each file is a split. Written files appear under their names only
//! when they are complete; those of a job with checkpoints when the checkpoint behind their rows is, in a directory, even
//! where the path looks like a file.

mod listing;
mod metadata;
mod pending;
mod single_file;
mod sink;
mod source;

#[cfg(test)]
mod resume_tests;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::DataType;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::{OptionKind, OptionSpec};
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;
use tidemark_state::fs::{FileSystem, LocalFs};

use super::{Connector, SinkCommitter, SinkOwner, SinkRequest, SinkWriter, Source, SourceRequest, parse_zone};
use crate::error::{IoError, RuntimeError};
use crate::format::Format;
use listing::{Listing, list_files};
use single_file::{Joint, names_a_file};

const PATH: &str = "path";

/// The connector.
#[derive(Debug)]
pub struct FilesystemConnector {
    fs: Arc<dyn FileSystem>,
}

impl FilesystemConnector {
    /// Writes to `fs`; it reads from the machine's file system all the same.
    pub fn writing_to(fs: Arc<dyn FileSystem>) -> Self {
        Self { fs }
    }
}

impl Default for FilesystemConnector {
    fn default() -> Self {
        Self::writing_to(Arc::new(LocalFs))
    }
}

impl ConnectorFactory for FilesystemConnector {
    fn name(&self) -> &'static str {
        "filesystem"
    }

    fn options(&self) -> Vec<OptionSpec> {
        let help = "a file, a directory, or a pattern such as 'logs/*.csv'";
        let mut specs = vec![OptionSpec { key: PATH, kind: OptionKind::Text, required: true, help }];
        specs.extend(Format::specs(&["csv", "json", "parquet"]));
        specs
    }

    fn metadata(&self) -> Vec<(&'static str, DataType)> {
        metadata::KEYS.iter().map(|key| (*key, metadata::data_type(key))).collect()
    }

    fn check_table(&self, table: &TableDef) -> Result<(), OptionError> {
        if !table.partitioned_by.is_empty() {
            return Err(OptionError::new(None, "'filesystem' does not know PARTITIONED BY")
                .help("write to one table for each partition, or leave the clause out"));
        }
        if local_path(table).is_empty() {
            return Err(OptionError::new(PATH, "the path is empty"));
        }
        Format::of(table).map(|_| ())
    }

    fn source(&self, table: &TableDef) -> Result<SourceInfo, OptionError> {
        match list_files(local_path(table)) {
            Ok(Listing::Files(_)) => Ok(SourceInfo { bounded: true, changelog: ChangelogMode::Append }),
            Ok(Listing::Missing { message, help }) => Err(OptionError { key: Some(PATH.into()), message, help }),
            Err(failed) => {
                let message = format!("cannot list '{}': {}", failed.path.display(), failed.source);
                Err(OptionError::new(PATH, message))
            }
        }
    }

    fn sink(&self, table: &TableDef) -> Result<SinkInfo, OptionError> {
        if listing::is_pattern(local_path(table)) {
            return Err(OptionError::new(PATH, "a pattern can be read but not written"));
        }
        let path = Path::new(local_path(table));
        if names_a_file(path) && path.is_file() && Format::of(table)?.joint() == Joint::None {
            let message = format!("'{}' exists, and rows cannot be added to a Parquet file", path.display());
            return Err(OptionError::new(PATH, message).help("write to a directory, or to another file"));
        }
        Ok(SinkInfo { accepts: ChangelogMode::Append })
    }

    fn writes_alone(&self, table: &TableDef) -> bool {
        names_a_file(Path::new(local_path(table)))
    }

    fn reads_its_output(&self, source: &TableDef, sink: &TableDef) -> bool {
        let path = Path::new(local_path(sink));
        let canonical = |path: &Path| path.canonicalize().ok();
        match (names_a_file(path), canonical(path), list_files(local_path(source))) {
            (true, Some(written), Ok(Listing::Files(files))) => {
                files.iter().any(|file| canonical(file).is_some_and(|read| read == written))
            }
            _ => false,
        }
    }
}

impl Connector for FilesystemConnector {
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        let table = request.table.clone();
        let format = Format::of(&table).map_err(|e| RuntimeError::Unsupported(e.message))?;
        let files = match list_files(local_path(&table)) {
            Ok(Listing::Files(files)) => files,
            Ok(Listing::Missing { message, .. }) => return Err(RuntimeError::Unsupported(message)),
            Err(failed) => {
                let (path, source) = (failed.path, failed.source);
                return Err(IoError { table: table.name.clone(), action: "list", path, source }.into());
            }
        };
        Ok(Box::new(source::FileSource::new(files, format, request)))
    }

    fn open_sink(&self, request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        let format = Format::of(&request.table).map_err(|e| RuntimeError::Unsupported(e.message))?;
        let zone = parse_zone(&request.time_zone)?;
        let path = local_path(&request.table).to_string();
        match request.owner.clone() {
            Some(owner) => {
                let fs = Arc::clone(&self.fs);
                Ok(Box::new(pending::PendingSink::open(fs, &path, format, &request, owner, zone)?))
            }
            None => Ok(Box::new(sink::FileSink::open(&path, &format, &request, zone)?)),
        }
    }

    fn open_committer(&self, table: &TableDef, owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        let fs = Arc::clone(&self.fs);
        Some(Box::new(pending::Committer::new(fs, local_path(table), &table.name, owner.clone())))
    }
}

impl Format {
    /// How rows are added to a file of this format.
    fn joint(&self) -> Joint {
        match self {
            Format::Csv(options) if options.header => Joint::LinesBehindHeader,
            Format::Csv(_) | Format::Json(_) => Joint::Lines,
            Format::Parquet(_) => Joint::None,
        }
    }
}

/// The path without `file://`, relative to the working directory of the process.
fn local_path(table: &TableDef) -> &str {
    let path = table.options.get(PATH).unwrap_or("");
    path.strip_prefix("file://").unwrap_or(path)
}
