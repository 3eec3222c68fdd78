//! Tables and texts for tests.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema, TimeUnit};
use tidemark_planner::catalog::table::{Column, ColumnKind, TableDef};

use super::feed::Feed;
use super::text::TextFormatter;
use super::zone::Zone;
use super::{Format, TextContext};
use crate::metrics::SourceMetrics;

/// `TIMESTAMP(3)`
pub fn timestamp() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, None)
}

/// `TIMESTAMP_LTZ(3)`
pub fn instant() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

/// Table `t`; a name that ends in `!` is NOT NULL.
pub fn table(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> TableDef {
    let column = |(name, data_type): &(&str, DataType)| Column {
        name: name.trim_end_matches('!').into(),
        data_type: data_type.clone(),
        nullable: !name.ends_with('!'),
        type_name: String::new(),
        kind: ColumnKind::Physical,
        comment: None,
    };
    TableDef {
        name: "t".into(),
        columns: columns.iter().map(column).collect(),
        watermark: None,
        primary_key: vec![],
        partitioned_by: vec![],
        comment: None,
        options: options.iter().copied().collect(),
        temporary: false,
        sql: String::new(),
    }
}

/// The rows, values separated by `|`, NULL as `NULL`.
pub fn lines(batch: &RecordBatch) -> Vec<String> {
    let columns: Vec<_> = batch.columns().iter().map(|c| TextFormatter::new(c, Zone::Utc).unwrap()).collect();
    let value = |column: &TextFormatter, row| {
        let mut text = String::new();
        match column.is_null(row) {
            true => text.push_str("NULL"),
            false => column.write(row, &mut text),
        }
        text
    };
    (0..batch.num_rows()).map(|row| columns.iter().map(|c| value(c, row)).collect::<Vec<_>>().join("|")).collect()
}

/// What comes of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// As [`lines`] gives them.
    pub rows: Vec<String>,
    /// The error that ended it.
    pub error: Option<String>,
    /// Rows skipped.
    pub skipped: u64,
    /// What the first of them are told as.
    pub examples: Vec<String>,
}

/// Reads `text` as file `f`. Whatever the size of batches and pieces, the outcome must be the same.
pub fn decode(table: &TableDef, text: &[u8]) -> Decoded {
    decode_columns(table, text, &table.physical_schema())
}

/// Reads only the columns of `projection`.
pub fn decode_columns(table: &TableDef, text: &[u8], projection: &Arc<Schema>) -> Decoded {
    let all = decode_in_pieces(table, text, projection, 8192, usize::MAX, Zone::Utc);
    for (batch_size, piece) in [(1, usize::MAX), (2, 1), (8192, 1), (3, 7)] {
        let outcome = decode_in_pieces(table, text, projection, batch_size, piece, Zone::Utc);
        assert_eq!(outcome, all, "batches of {batch_size}, pieces of {piece}");
    }
    all
}

/// Reads `text` in pieces.
pub fn decode_in_pieces(
    table: &TableDef,
    text: &[u8],
    projection: &Arc<Schema>,
    batch_size: usize,
    piece: usize,
    zone: Zone,
) -> Decoded {
    let format = Format::of(table).unwrap();
    let metrics = Arc::new(SourceMetrics::default());
    let ctx = TextContext {
        table: table.name.clone(),
        place: "f".into(),
        declared: table.physical_schema().fields().iter().map(|f| f.name().clone()).collect(),
        projection: projection.clone(),
        batch_size,
        zone,
        unreadable: format.unreadable(),
        metrics: metrics.clone(),
    };
    let mut feed = Feed::new(format.text_decoder(ctx).unwrap());
    let mut outcome = Decoded::default();
    let mut pieces = text.chunks(piece.min(text.len().max(1)));
    while !feed.is_finished() {
        match feed.next_batch(false) {
            Ok(Some(batch)) => {
                assert!((1..=batch_size).contains(&batch.num_rows()));
                assert_eq!(batch.schema_ref(), projection);
                outcome.rows.extend(lines(&batch));
            }
            Ok(None) if feed.is_finished() => {}
            Ok(None) => match pieces.next() {
                Some(piece) => feed.push(piece),
                None => feed.complete(),
            },
            Err(error) => {
                outcome.error = Some(error.to_string());
                break;
            }
        }
    }
    outcome.skipped = metrics.unreadable_rows.load(Ordering::Relaxed);
    outcome.examples = metrics.unreadable_examples.lock().unwrap().clone();
    outcome
}
