//! What the planner needs to know of a connector. The runtime implements it; the planner only declares it.

use std::fmt::Debug;

use arrow::datatypes::DataType;

use super::{options::OptionSpec, table::TableDef};
use crate::changelog::ChangelogMode;

/// Declares a connector to the planner: its options, and what a table over it can do.
pub trait ConnectorFactory: Debug + Send + Sync {
    /// The value of the `connector` option.
    fn name(&self) -> &'static str;

    /// Every option it understands, those of its formats included (`connector` itself excluded).
    fn options(&self) -> Vec<OptionSpec>;

    /// Metadata columns it can fill: key and type.
    fn metadata(&self) -> Vec<(&'static str, DataType)> {
        vec![]
    }

    /// Checks what `CREATE TABLE` can know beyond the single options (combinations, column types).
    fn check_table(&self, table: &TableDef) -> Result<(), OptionError>;

    /// Can `table` be read, and how? Called when a query is planned: the place to notice a missing file.
    fn source(&self, table: &TableDef) -> Result<SourceInfo, OptionError>;

    /// Can `table` be written, and how? Called when an INSERT is planned.
    fn sink(&self, table: &TableDef) -> Result<SinkInfo, OptionError>;

    /// Must one subtask write all rows of `table`?
    fn writes_alone(&self, _table: &TableDef) -> bool {
        false
    }

    /// Would a job that reads `source` and writes `sink`, both of this connector, read what it replaces?
    fn reads_its_output(&self, _source: &TableDef, _sink: &TableDef) -> bool {
        false
    }
}

/// What reading a table gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Does it end by itself?
    pub bounded: bool,
    /// Which changes it carries.
    pub changelog: ChangelogMode,
}

/// What writing a table takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkInfo {
    /// Which changes it can take.
    pub accepts: ChangelogMode,
}

/// What is wrong with a table's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The option at fault, when it is a single one: its place gets the caret.
    pub key: Option<String>,
    /// One sentence, in the user's words, without a final stop.
    pub message: String,
    /// The way out.
    pub help: Option<String>,
}

impl OptionError {
    /// An error about `key`.
    pub fn new(key: impl Into<Option<&'static str>>, message: impl Into<String>) -> Self {
        Self { key: key.into().map(String::from), message: message.into(), help: None }
    }

    /// Adds the way out.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
