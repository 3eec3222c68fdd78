//! Output rows of grouped aggregates: the keys, `__grouping_id` where there is one, then the rest.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::SchemaRef;

use super::group_sets::GroupSet;
use super::group_table::{GroupTable, of_type};
use crate::error::OperatorError;

/// The shape of the output.
pub(crate) struct GroupOutput {
    schema: SchemaRef,
    has_grouping_id: bool,
}

impl GroupOutput {
    pub(crate) fn new(schema: &SchemaRef, has_grouping_id: bool) -> Self {
        Self { schema: SchemaRef::clone(schema), has_grouping_id }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The key columns of these groups, NULL for keys that the set leaves out, and `__grouping_id`.
    pub(crate) fn keys(
        &self,
        set: &GroupSet,
        table: &GroupTable,
        groups: &[u32],
    ) -> Result<Vec<ArrayRef>, OperatorError> {
        let mut taken = table.keys(groups)?.into_iter();
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for (present, field) in set.present.iter().zip(self.schema.fields()) {
            let key = if *present { taken.next() } else { None };
            columns.push(match key {
                Some(key) => of_type(key, field.data_type())?,
                None => new_null_array(field.data_type(), groups.len()),
            });
        }
        if self.has_grouping_id {
            let ids = Arc::new(Int64Array::from_value(set.id as i64, groups.len()));
            columns.push(of_type(ids, self.schema.field(columns.len()).data_type())?);
        }
        Ok(columns)
    }

    /// A batch of all columns, which have at least one row. There may be no columns at all, but then one row.
    pub(crate) fn batch(&self, columns: Vec<ArrayRef>) -> Result<RecordBatch, OperatorError> {
        let rows = columns.first().map_or(1, |column| column.len());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options)?)
    }
}
