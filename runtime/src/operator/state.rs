//! What the state tables of operators have in common.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use tidemark_state::snapshot::{OperatorSnapshot, StateEntry, StateTableSchema, TableSnapshot};

use crate::error::OperatorError;

/// How far event time has come, for every subtask whatever the parallelism: to be kept in each of its key groups.
pub(crate) const EVENT_TIME: NumberTable<1> = NumberTable { name: "event time", columns: ["watermark"] };

/// A table of whole numbers: `int64 not null` each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberTable<const N: usize> {
    pub(crate) name: &'static str,
    pub(crate) columns: [&'static str; N],
}

impl<const N: usize> NumberTable<N> {
    /// What the table looks like.
    pub(crate) fn schema(&self) -> StateTableSchema {
        let fields: Vec<Field> = self.columns.iter().map(|name| Field::new(*name, DataType::Int64, false)).collect();
        StateTableSchema { name: self.name.to_owned(), version: 1, schema: Arc::new(Schema::new(fields)) }
    }

    /// The table with the same row in each of these key groups.
    pub(crate) fn write(
        &self,
        key_groups: impl IntoIterator<Item = Option<u32>>,
        row: [i64; N],
    ) -> Result<TableSnapshot, OperatorError> {
        let table = self.schema();
        let columns = row.iter().map(|number| Arc::new(Int64Array::from(vec![*number])) as ArrayRef).collect();
        let rows = RecordBatch::try_new(Arc::clone(&table.schema), columns)?;
        let entry = |key_group| StateEntry { key_group, rows: rows.clone() };
        Ok(table.with_entries(key_groups.into_iter().map(entry).collect()))
    }

    /// For each column the largest number in it; `None` when the table has no rows.
    pub(crate) fn read_largest(&self, snapshot: &OperatorSnapshot) -> Result<Option<[i64; N]>, OperatorError> {
        let mut largest: Option<[i64; N]> = None;
        for entry in entries_of(snapshot, &self.schema())? {
            for (column, values) in entry.rows.columns().iter().enumerate() {
                for value in values.as_primitive::<Int64Type>().values() {
                    let largest = &mut largest.get_or_insert([i64::MIN; N])[column];
                    *largest = value.max(largest).to_owned();
                }
            }
        }
        Ok(largest)
    }
}

/// The entries of a table, which has the columns that `table` says; none when it is not there.
pub(crate) fn entries_of<'a>(
    snapshot: &'a OperatorSnapshot,
    table: &StateTableSchema,
) -> Result<&'a [StateEntry], OperatorError> {
    let Some(found) = snapshot.table(&table.name) else { return Ok(&[]) };
    let differs = |reason: String| Err(OperatorError::State { table: table.name.clone(), reason });
    if found.version != table.version {
        return differs(format!("it has version {}, and version {} is known", found.version, table.version));
    }
    let has_columns = |fields| table.schema.fields() == fields;
    if !has_columns(found.schema.fields()) || !found.entries.iter().all(|e| has_columns(e.rows.schema_ref().fields())) {
        return differs(format!("its columns are {}, and these are known: {}", found.schema, table.schema));
    }
    Ok(&found.entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(table: TableSnapshot) -> OperatorSnapshot {
        OperatorSnapshot { tables: vec![table] }
    }

    #[test]
    fn the_largest_number_of_each_column_counts() {
        const TABLE: NumberTable<2> = NumberTable { name: "two", columns: ["a", "b"] };
        let mut table = TABLE.write([Some(3), Some(4)], [7, -9]).unwrap();
        assert_eq!(table.entries.iter().map(|entry| entry.key_group).collect::<Vec<_>>(), [Some(3), Some(4)]);
        table.entries.extend(TABLE.write([None], [5, -8]).unwrap().entries);
        assert_eq!(TABLE.read_largest(&snapshot(table)).unwrap(), Some([7, -8]));
        assert_eq!(TABLE.read_largest(&OperatorSnapshot::default()).unwrap(), None);
    }

    #[test]
    fn a_table_of_another_layout_is_refused() {
        let reason = |table: TableSnapshot| EVENT_TIME.read_largest(&snapshot(table)).unwrap_err().to_string();
        let known = EVENT_TIME.write([None], [1]).unwrap();
        assert_eq!(
            reason(TableSnapshot { version: 2, ..known }),
            "the state of table 'event time' cannot be restored: it has version 2, and version 1 is known"
        );
        const OTHER: NumberTable<1> = NumberTable { name: EVENT_TIME.name, columns: ["w"] };
        assert!(reason(OTHER.write([None], [1]).unwrap()).contains("its columns are"));
        let disguised =
            TableSnapshot { entries: OTHER.write([None], [1]).unwrap().entries, ..EVENT_TIME.write([], [1]).unwrap() };
        assert!(reason(disguised).contains("its columns are"));
    }
}
