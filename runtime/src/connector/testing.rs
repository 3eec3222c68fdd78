//! Runs connectors for tests.

use std::sync::Arc;

use arrow::array::RecordBatch;
use tidemark_planner::catalog::table::TableDef;

use super::{Connector, SinkRequest, SinkWriter, SourcePoll, SourceRequest, SplitPosition, SplitReader};
use crate::change_batch::ChangeBatch;
use crate::error::RuntimeError;
use crate::format::testing::lines;
use crate::metrics::SourceMetrics;

/// All columns of `table`, and `metadata`.
pub fn request(table: &TableDef, batch_size: usize, metadata: &[&str]) -> SourceRequest {
    SourceRequest {
        table: Arc::new(table.clone()),
        projection: table.physical_schema(),
        metadata: metadata.iter().map(|key| key.to_string()).collect(),
        batch_size,
        time_zone: "UTC".into(),
    }
}

/// The batches of all splits, one after the other.
pub fn read_batches(connector: &dyn Connector, request: SourceRequest) -> Result<Vec<RecordBatch>, RuntimeError> {
    let batch_size = request.batch_size;
    let source = connector.open_source(request)?;
    let mut batches = vec![];
    for split in 0..source.splits().len() {
        let mut reader = source.open_split(split, None, Arc::new(SourceMetrics::default()))?;
        while let Some(batch) = next_batch(reader.as_mut())? {
            assert!((1..=batch_size).contains(&batch.num_rows()));
            batches.push(batch);
        }
    }
    Ok(batches)
}

/// The next batch of a reader that is never pending.
pub fn next_batch(reader: &mut dyn SplitReader) -> Result<Option<RecordBatch>, RuntimeError> {
    match reader.poll()? {
        SourcePoll::Batch(batch) => Ok(Some(batch)),
        SourcePoll::Finished => Ok(None),
        SourcePoll::Pending { .. } => panic!("there is nothing to wait for"),
    }
}

/// The rows of all splits as text, each split read by several readers in turn: each gives one batch and leaves its
/// position to the next. Where there is an error, it is the last reader's.
fn read_in_turns(connector: &dyn Connector, table: &TableDef, batch_size: usize) -> Result<Vec<String>, RuntimeError> {
    let source = connector.open_source(request(table, batch_size, &[]))?;
    assert_eq!(source.not_resumable_because(), None);
    let mut rows = vec![];
    for split in 0..source.splits().len() {
        let mut position: Option<SplitPosition> = None;
        loop {
            let mut reader = source.open_split(split, position.as_ref(), Arc::default())?;
            let Some(batch) = next_batch(reader.as_mut())? else { break };
            rows.extend(lines(&batch));
            // As text, as a checkpoint keeps it.
            let kept = serde_json::to_string(&reader.position()).unwrap();
            position = Some(serde_json::from_str(&kept).unwrap());
        }
    }
    Ok(rows)
}

/// The rows as text. They are checked to be the same for small batches, and when the readers are changed in between.
pub fn read_rows(connector: &dyn Connector, table: &TableDef) -> Result<Vec<String>, RuntimeError> {
    let read = |batch_size| -> Result<Vec<String>, RuntimeError> {
        Ok(read_batches(connector, request(table, batch_size, &[]))?.iter().flat_map(lines).collect())
    };
    let rows = read(8192)?;
    assert_eq!(read(7)?, rows);
    for batch_size in [1, 7, 8192] {
        assert_eq!(read_in_turns(connector, table, batch_size)?, rows);
    }
    Ok(rows)
}

/// A writer of one subtask.
pub fn open_sink(
    connector: &dyn Connector,
    table: &TableDef,
    subtask: usize,
    parallelism: usize,
) -> Result<Box<dyn SinkWriter>, RuntimeError> {
    connector.open_sink(SinkRequest {
        table: Arc::new(table.clone()),
        schema: table.physical_schema(),
        subtask,
        parallelism,
        time_zone: "UTC".into(),
        owner: None,
    })
}

/// Writes `batches` to the end.
pub fn write(connector: &dyn Connector, table: &TableDef, batches: &[RecordBatch]) -> Result<(), RuntimeError> {
    let mut writer = open_sink(connector, table, 0, 1)?;
    batches.iter().try_for_each(|batch| writer.write(&ChangeBatch::insert_only(batch.clone())))?;
    writer.flush()?;
    writer.finish()
}

/// What reading a table that cannot be opened says.
pub fn error<T>(result: Result<T, RuntimeError>) -> String {
    result.err().expect("an error").to_string()
}
