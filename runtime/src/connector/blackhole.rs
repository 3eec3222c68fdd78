//! `blackhole`: takes every row and keeps none.

use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::OptionSpec;
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;

use super::{
    Connector, SinkCommitter, SinkOwner, SinkRequest, SinkToken, SinkWriter, Source, SourceRequest, only_written,
};
use crate::change_batch::ChangeBatch;
use crate::error::RuntimeError;

/// The connector.
#[derive(Debug)]
pub struct BlackholeConnector;

impl ConnectorFactory for BlackholeConnector {
    fn name(&self) -> &'static str {
        "blackhole"
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![]
    }

    fn check_table(&self, _table: &TableDef) -> Result<(), OptionError> {
        Ok(())
    }

    fn source(&self, _table: &TableDef) -> Result<SourceInfo, OptionError> {
        Err(only_written(self.name()))
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Ok(SinkInfo { accepts: ChangelogMode::Retract })
    }
}

impl Connector for BlackholeConnector {
    fn open_source(&self, _request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        Err(RuntimeError::Unsupported(only_written(self.name()).message))
    }

    fn open_sink(&self, _request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        Ok(Box::new(Blackhole))
    }

    fn open_committer(&self, _table: &TableDef, _owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

struct Blackhole;

impl SinkWriter for Blackhole {
    fn write(&mut self, _batch: &ChangeBatch) -> Result<(), RuntimeError> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RuntimeError> {
        Ok(())
    }

    fn prepare(&mut self) -> Result<Option<SinkToken>, RuntimeError> {
        Ok(None)
    }

    fn finish(&mut self) -> Result<(), RuntimeError> {
        Ok(())
    }
}
