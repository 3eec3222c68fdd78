//! Rows on the move: an Arrow batch, what kind of change each row is, and the watermark each row met.

use arrow::array::{Array, ArrayRef, BooleanArray, Int8Array, Int64Array, RecordBatch, UInt32Array};
use arrow::compute;
use arrow::error::ArrowError;

/// What a row does to the relation it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i8)]
pub enum RowKind {
    /// `+I`
    Insert = 0,
    /// `-U`: the row before an update
    UpdateBefore = 1,
    /// `+U`: the row after an update
    UpdateAfter = 2,
    /// `-D`
    Delete = 3,
}

impl RowKind {
    /// From its number in a kinds array.
    pub fn from_i8(value: i8) -> RowKind {
        match value {
            0 => RowKind::Insert,
            1 => RowKind::UpdateBefore,
            2 => RowKind::UpdateAfter,
            _ => RowKind::Delete,
        }
    }

    /// `+I`, `-U`, `+U` or `-D`
    pub fn symbol(self) -> &'static str {
        match self {
            RowKind::Insert => "+I",
            RowKind::UpdateBefore => "-U",
            RowKind::UpdateAfter => "+U",
            RowKind::Delete => "-D",
        }
    }

    /// Does it add a row (`+I`, `+U`) rather than take one back?
    pub fn is_addition(self) -> bool {
        matches!(self, RowKind::Insert | RowKind::UpdateAfter)
    }
}

/// An Arrow batch plus optional row kinds and row watermarks.
#[derive(Clone, Debug)]
pub struct ChangeBatch {
    /// The rows.
    pub batch: RecordBatch,
    /// One [`RowKind`] a row; `None` means every row is `+I`.
    pub kinds: Option<Int8Array>,
    /// Per row, the watermark (ms) that the earlier rows of its split had produced, [`i64::MIN`] for none.
    /// `None` means that no row is behind the watermark: the in-order path carries nothing.
    pub row_watermarks: Option<Int64Array>,
}

impl ChangeBatch {
    /// Rows that are all `+I` and none behind the watermark.
    pub fn insert_only(batch: RecordBatch) -> Self {
        Self { batch, kinds: None, row_watermarks: None }
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The kind of row `row`.
    pub fn kind(&self, row: usize) -> RowKind {
        self.kinds.as_ref().map_or(RowKind::Insert, |k| RowKind::from_i8(k.value(row)))
    }

    /// The same rows with other columns.
    pub fn with_columns(&self, batch: RecordBatch) -> Self {
        debug_assert_eq!(batch.num_rows(), self.num_rows(), "columns change, rows do not");
        Self { batch, kinds: self.kinds.clone(), row_watermarks: self.row_watermarks.clone() }
    }

    /// The rows where `mask` is true (NULL counts as false).
    pub fn filter(&self, mask: &BooleanArray) -> Result<Self, ArrowError> {
        let by_mask = |a: &dyn Array| compute::filter(a, mask);
        Ok(Self {
            batch: compute::filter_record_batch(&self.batch, mask)?,
            kinds: self.kinds.as_ref().map(|k| by_mask(k).map(downcast_copy)).transpose()?,
            row_watermarks: self.row_watermarks.as_ref().map(|w| by_mask(w).map(downcast_copy)).transpose()?,
        })
    }

    /// The rows of `indices`, in that order.
    pub fn take(&self, indices: &UInt32Array) -> Result<Self, ArrowError> {
        let by_index = |a: &dyn Array| compute::take(a, indices, None);
        Ok(Self {
            batch: compute::take_record_batch(&self.batch, indices)?,
            kinds: self.kinds.as_ref().map(|k| by_index(k).map(downcast_copy)).transpose()?,
            row_watermarks: self.row_watermarks.as_ref().map(|w| by_index(w).map(downcast_copy)).transpose()?,
        })
    }

    /// `length` rows from `offset`, without copying.
    pub fn slice(&self, offset: usize, length: usize) -> Self {
        Self {
            batch: self.batch.slice(offset, length),
            kinds: self.kinds.as_ref().map(|k| k.slice(offset, length)),
            row_watermarks: self.row_watermarks.as_ref().map(|w| w.slice(offset, length)),
        }
    }

    /// Bytes of the rows, approximately. A slice counts as what it shows, not as the whole that it keeps alive: other
    /// slices of the same rows would count that again.
    pub fn memory_size(&self) -> usize {
        let shown = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
        self.batch.columns().iter().map(shown).sum()
    }
}

fn downcast_copy<T: Array + Clone + 'static>(array: ArrayRef) -> T {
    let array: &dyn std::any::Any = array.as_any();
    array.downcast_ref::<T>().expect("filter and take keep the array's type").clone()
}

/// Kinds of a batch whose rows all have the same kind.
pub fn uniform_kinds(kind: RowKind, rows: usize) -> Int8Array {
    Int8Array::from_value(kind as i8, rows)
}
