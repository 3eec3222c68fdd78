//! `nexmark`: the bids, auctions and persons of the Nexmark benchmark, the same for the same options.
//!
//! Of each fifty events one is a person, three are auctions and 46 are bids. Events are numbered through; event n
//! happens at 2020-01-01 00:00:00 plus n / `event-rate` seconds. A table has the events of one `type`; every value is
//! computed from the number of its event, so other types' events cost nothing and neither do columns not asked for.
//! Half of the bids go to one hot auction of the last hundred, three quarters come from one hot bidder, three quarters
//! of the auctions from one hot seller, half of the bids through four hot channels. States are in capitals.

mod auction;
mod bid;
mod event;
mod person;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::DataType;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError, SinkInfo, SourceInfo};
use tidemark_planner::catalog::options::{OptionKind, OptionSpec};
use tidemark_planner::catalog::table::TableDef;
use tidemark_planner::changelog::ChangelogMode;

use super::{
    Connector, RowPosition, SinkCommitter, SinkOwner, SinkRequest, SinkWriter, Source, SourcePoll, SourceRequest,
    SplitPosition, SplitReader, only_read,
};
use crate::error::{OperatorError, RuntimeError};
use crate::format::nearest::did_you_mean;
use crate::metrics::SourceMetrics;
use event::{EventType, Events};
use tidemark_planner::types::sql_name;

const TYPE: &str = "type";
const EVENTS: &str = "events";
const RATE: &str = "event-rate";
const SEED: &str = "seed";

/// Events of each second of event time, unless told otherwise.
const DEFAULT_RATE: u64 = 10_000;

/// The connector.
#[derive(Debug)]
pub struct NexmarkConnector;

impl ConnectorFactory for NexmarkConnector {
    fn name(&self) -> &'static str {
        "nexmark"
    }

    fn options(&self) -> Vec<OptionSpec> {
        let spec = |key, kind, help| OptionSpec { key, kind, required: key == TYPE, help };
        vec![
            spec(TYPE, OptionKind::OneOf(&["person", "auction", "bid"]), "which events are the rows"),
            spec(EVENTS, OptionKind::Count, "events of all types before the end; without it there is none"),
            spec(RATE, OptionKind::Count, "events of all types in a second of event time, 10000 by default"),
            spec(SEED, OptionKind::Count, "another seed gives other rows, 0 by default"),
        ]
    }

    fn check_table(&self, table: &TableDef) -> Result<(), OptionError> {
        if table.options.get_u64(RATE) == Some(0) {
            return Err(OptionError::new(RATE, "the rate must not be 0"));
        }
        let event_type = event_type(table);
        let known = event_type.columns();
        for field in table.physical_schema().fields() {
            let Some((_, kind)) = known.iter().find(|(name, _)| name == field.name()) else {
                let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                let hint = did_you_mean(field.name(), &names);
                let message = format!("a Nexmark {} has no column '{}'{hint}", event_type.word(), field.name());
                return Err(OptionError::new(None, message).help(format!("its columns are {}", names.join(", "))));
            };
            let fits = match kind {
                DataType::Timestamp(_, _) => matches!(field.data_type(), DataType::Timestamp(_, _)),
                kind => field.data_type() == kind,
            };
            if !fits {
                let (name, declared, is) = (field.name(), sql_name(field.data_type()), sql_name(kind));
                return Err(OptionError::new(None, format!("column '{name}' is {is}, not {declared}")));
            }
        }
        Ok(())
    }

    fn source(&self, table: &TableDef) -> Result<SourceInfo, OptionError> {
        Ok(SourceInfo { bounded: table.options.get(EVENTS).is_some(), changelog: ChangelogMode::Append })
    }

    fn sink(&self, _table: &TableDef) -> Result<SinkInfo, OptionError> {
        Err(only_read(self.name()))
    }
}

impl Connector for NexmarkConnector {
    fn open_source(&self, request: SourceRequest) -> Result<Box<dyn Source>, RuntimeError> {
        Ok(Box::new(NexmarkSource { request }))
    }

    fn open_sink(&self, _request: SinkRequest) -> Result<Box<dyn SinkWriter>, RuntimeError> {
        Err(RuntimeError::Unsupported(only_read(self.name()).message))
    }

    fn open_committer(&self, _table: &TableDef, _owner: &SinkOwner) -> Option<Box<dyn SinkCommitter>> {
        None
    }
}

/// The type of the table's events, which was checked when it was created.
fn event_type(table: &TableDef) -> EventType {
    match table.options.get(TYPE) {
        Some("person") => EventType::Person,
        Some("auction") => EventType::Auction,
        _ => EventType::Bid,
    }
}

struct NexmarkSource {
    request: SourceRequest,
}

impl Source for NexmarkSource {
    fn splits(&self) -> Vec<String> {
        vec![event_type(&self.request.table).word().into()]
    }

    fn not_resumable_because(&self) -> Option<&'static str> {
        None
    }

    fn open_split(
        &self,
        _index: usize,
        position: Option<&SplitPosition>,
        _metrics: Arc<SourceMetrics>,
    ) -> Result<Box<dyn SplitReader>, RuntimeError> {
        let options = &self.request.table.options;
        let event_type = event_type(&self.request.table);
        let events = Events {
            rate: options.get_u64(RATE).unwrap_or(DEFAULT_RATE).max(1),
            seed: options.get_u64(SEED).unwrap_or(0),
        };
        let rows = options.get_u64(EVENTS).map_or(u64::MAX, |events| event_type.rows_in(events));
        let row = RowPosition::read(position, &self.request.table.name, event_type.word())?;
        Ok(Box::new(NexmarkReader { request: self.request.clone(), event_type, events, row, rows }))
    }
}

struct NexmarkReader {
    request: SourceRequest,
    event_type: EventType,
    events: Events,
    /// The next row.
    row: u64,
    rows: u64,
}

impl SplitReader for NexmarkReader {
    fn poll(&mut self) -> Result<SourcePoll, RuntimeError> {
        let end = self.rows.min(self.row + self.request.batch_size as u64);
        if self.row >= end {
            return Ok(SourcePoll::Finished);
        }
        let numbers: Vec<u64> = (self.row..end).map(|row| self.event_type.event_number(row)).collect();
        self.row = end;
        let fields = self.request.projection.fields().iter();
        let columns: Vec<ArrayRef> =
            fields.map(|f| self.event_type.column(f.name(), f.data_type(), &self.events, &numbers)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(numbers.len()));
        let batch = RecordBatch::try_new_with_options(self.request.projection.clone(), columns, &options);
        Ok(SourcePoll::Batch(batch.map_err(OperatorError::from)?))
    }

    fn position(&self) -> SplitPosition {
        SplitPosition::of(&RowPosition { row: self.row })
    }
}
