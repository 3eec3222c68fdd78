//! One value of any type per group, in arrow's row format, whose bytes compare as the values do.

use arrow::array::{ArrayRef, new_null_array};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};

use super::byte_slots::ByteSlots;

/// Values by group.
pub(super) struct RowValues {
    data_type: DataType,
    converter: RowConverter,
    slots: ByteSlots,
}

impl RowValues {
    /// No groups yet. Fails for types that arrow's row format does not know.
    pub(super) fn new(data_type: &DataType) -> Result<Self, ArrowError> {
        let converter = RowConverter::new(vec![SortField::new(data_type.clone())])?;
        Ok(Self { data_type: data_type.clone(), converter, slots: ByteSlots::default() })
    }

    pub(super) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    pub(super) fn resize(&mut self, groups: usize) {
        self.slots.resize(groups);
    }

    /// The column's values, each to be given to [`RowValues::set`] as its bytes.
    pub(super) fn encode(&self, column: &ArrayRef) -> Result<Rows, ArrowError> {
        self.converter.convert_columns(std::slice::from_ref(column))
    }

    /// The value of a group, as bytes that compare like the values.
    pub(super) fn get(&self, group: usize) -> Option<&[u8]> {
        self.slots.get(group)
    }

    pub(super) fn set(&mut self, group: usize, value: &[u8]) {
        self.slots.set(group, value);
    }

    /// The values of these groups, NULL for those without.
    pub(super) fn column(&self, groups: &[u32]) -> Result<ArrayRef, ArrowError> {
        let null = self.encode(&new_null_array(&self.data_type, 1))?;
        let null = null.row(0);
        let parser = self.converter.parser();
        let values = groups.iter().map(|group| self.get(*group as usize).unwrap_or(null.as_ref()));
        let columns = self.converter.convert_rows(values.map(|bytes| parser.parse(bytes)))?;
        Ok(columns.into_iter().next().expect("the converter has one column"))
    }
}
