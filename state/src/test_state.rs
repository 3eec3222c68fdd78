//! Small states for the tests of this crate.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::snapshot::{OperatorSnapshot, StateEntry, TableSnapshot};

/// `key: utf8 not null, count: int64`.
pub(crate) fn counts_schema() -> SchemaRef {
    let fields = vec![Field::new("key", DataType::Utf8, false), Field::new("count", DataType::Int64, true)];
    Arc::new(Schema::new(fields))
}

/// Rows of that schema.
pub(crate) fn counts(rows: &[(&str, Option<i64>)]) -> RecordBatch {
    let keys: StringArray = rows.iter().map(|row| Some(row.0)).collect();
    let counts: Int64Array = rows.iter().map(|row| row.1).collect();
    RecordBatch::try_new(counts_schema(), vec![Arc::new(keys) as ArrayRef, Arc::new(counts)]).unwrap()
}

/// Keys and their counts.
pub(crate) type Counts<'a> = &'a [(&'a str, Option<i64>)];

/// A table `counts` version 2 with these rows, each in the key group named with it.
pub(crate) fn counts_table(entries: &[(u32, Counts<'_>)]) -> TableSnapshot {
    let entries = entries.iter().map(|(group, rows)| StateEntry { key_group: Some(*group), rows: counts(rows) });
    TableSnapshot { name: "counts".to_owned(), version: 2, schema: counts_schema(), entries: entries.collect() }
}

/// A table `timer` version 1 with one row, `next: int64`, that belongs to no key.
pub(crate) fn timer_table(next: i64) -> TableSnapshot {
    let schema = Arc::new(Schema::new(vec![Field::new("next", DataType::Int64, false)]));
    let rows = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(Int64Array::from(vec![next]))]).unwrap();
    TableSnapshot { name: "timer".to_owned(), version: 1, schema, entries: vec![StateEntry { key_group: None, rows }] }
}

/// A state of two tables in key groups 0 and 3 and in none.
pub(crate) fn small_state() -> OperatorSnapshot {
    let counts = counts_table(&[(0, &[("ann", Some(3)), ("bob", None)]), (3, &[("cyd", Some(-1))])]);
    OperatorSnapshot { tables: vec![counts, timer_table(1_000)] }
}
