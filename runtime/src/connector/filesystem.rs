//! `filesystem`: files of CSV, JSON lines or Parquet, read and written.
//!
//! `path` names a file, a directory or a pattern; each file is a split. Written files appear under their names only
//! when they are complete.

mod listing;
mod metadata;
mod sink;
mod source;

#[cfg(test)]
mod tests;

use arrow::datatypes::DataType;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::{OptionKind, OptionSpec};
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;

use super::{Connector, SinkRequest, SinkWriter, Source, SourceRequest, parse_zone};
use crate::error::{IoError, RuntimeError};
use crate::format::Format;
use listing::{Listing, list_files};

const PATH: &str = "path";

/// The connector.
#[derive(Debug)]
pub struct FilesystemConnector;

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
        Ok(SinkInfo { accepts: ChangelogMode::Append })
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
        Ok(Box::new(sink::FileSink::open(&path, &format, &request, zone)?))
    }
}

/// The path without `file://`, relative to the working directory of the process.
fn local_path(table: &TableDef) -> &str {
    let path = table.options.get(PATH).unwrap_or("");
    path.strip_prefix("file://").unwrap_or(path)
}
