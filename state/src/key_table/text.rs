//! Keys of one column of text or bytes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, GenericBinaryBuilder, StringArray};
use arrow::compute;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::byte_keys::ByteKeys;

#[derive(Debug)]
pub(super) struct TextKeys {
    data_type: DataType,
    keys: ByteKeys,
    null_group: Option<u32>,
}

impl TextKeys {
    pub(super) fn supports(data_type: &DataType) -> bool {
        matches!(
            data_type,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
        )
    }

    pub(super) fn new(data_type: DataType) -> Self {
        Self { data_type, keys: ByteKeys::new(), null_group: None }
    }

    pub(super) fn intern(&mut self, column: &dyn Array, groups: &mut Vec<u32>) {
        match column.data_type() {
            DataType::Utf8 => self.intern_values(column.as_string::<i32>().iter().map(as_bytes), groups),
            DataType::LargeUtf8 => self.intern_values(column.as_string::<i64>().iter().map(as_bytes), groups),
            DataType::Utf8View => self.intern_values(column.as_string_view().iter().map(as_bytes), groups),
            DataType::Binary => self.intern_values(column.as_binary::<i32>().iter(), groups),
            DataType::LargeBinary => self.intern_values(column.as_binary::<i64>().iter(), groups),
            DataType::BinaryView => self.intern_values(column.as_binary_view().iter(), groups),
            other => unreachable!("the table was made for text or bytes, not {other}"),
        }
    }

    fn intern_values<'a>(&mut self, values: impl Iterator<Item = Option<&'a [u8]>>, groups: &mut Vec<u32>) {
        groups.extend(values.map(|value| match value {
            Some(value) => self.keys.group_of(value),
            None => *self.null_group.get_or_insert_with(|| self.keys.push_null()),
        }));
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn keys(&self, groups: &[u32]) -> Result<ArrayRef, ArrowError> {
        let is_large = matches!(self.data_type, DataType::LargeUtf8 | DataType::LargeBinary);
        if is_large {
            let mut builder = GenericBinaryBuilder::<i64>::new();
            groups.iter().for_each(|group| builder.append_option(self.get(*group)));
            return compute::cast(&builder.finish(), &self.data_type);
        }
        let bytes: BinaryArray = groups.iter().map(|group| self.get(*group)).collect();
        match &self.data_type {
            DataType::Utf8 => Ok(Arc::new(StringArray::try_from_binary(bytes)?)),
            DataType::Binary => Ok(Arc::new(bytes)),
            other => compute::cast(&bytes, other),
        }
    }

    fn get(&self, group: u32) -> Option<&[u8]> {
        (Some(group) != self.null_group).then(|| self.keys.get(group))
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.null_group = None;
    }

    pub(super) fn memory_size(&self) -> usize {
        self.keys.memory_size()
    }
}

fn as_bytes(text: Option<&str>) -> Option<&[u8]> {
    text.map(str::as_bytes)
}
