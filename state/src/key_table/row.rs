//! Keys of any columns, in arrow's row format.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};

use super::byte_keys::ByteKeys;
use crate::key_word::canonical_f64;

#[derive(Debug)]
pub(super) struct RowKeys {
    converter: RowConverter,
    /// The rows of the batch at hand.
    rows: Rows,
    keys: ByteKeys,
}

impl RowKeys {
    pub(super) fn new(types: &[DataType]) -> Result<Self, ArrowError> {
        let converter = RowConverter::new(types.iter().cloned().map(SortField::new).collect())?;
        let rows = converter.empty_rows(0, 0);
        Ok(Self { converter, rows, keys: ByteKeys::new() })
    }

    pub(super) fn intern(&mut self, columns: &[ArrayRef], groups: &mut Vec<u32>) -> Result<(), ArrowError> {
        let columns: Vec<ArrayRef> = columns.iter().map(canonical_floats).collect();
        self.rows.clear();
        self.converter.append(&mut self.rows, &columns)?;
        groups.extend(self.rows.iter().map(|row| self.keys.group_of(row.as_ref())));
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn keys(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, ArrowError> {
        let parser = self.converter.parser();
        self.converter.convert_rows(groups.iter().map(|group| parser.parse(self.keys.get(*group))))
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
    }

    pub(super) fn memory_size(&self) -> usize {
        self.keys.memory_size() + self.rows.size()
    }
}

/// Makes floats that SQL calls equal the same bits.
fn canonical_floats(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float64 => {
            let canonical: PrimitiveArray<Float64Type> = column.as_primitive::<Float64Type>().unary(canonical_f64);
            Arc::new(canonical)
        }
        DataType::Float32 => {
            let canonical: PrimitiveArray<Float32Type> =
                column.as_primitive::<Float32Type>().unary(|value| canonical_f64(f64::from(value)) as f32);
            Arc::new(canonical)
        }
        _ => ArrayRef::clone(column),
    }
}
