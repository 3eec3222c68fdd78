//! States that are lists: one list a group, in a list column.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Field;
use arrow::error::ArrowError;

/// `elements`, none of which is NULL, as lists that end at `ends`.
pub(super) fn list_column(elements: ArrayRef, ends: &[usize]) -> Result<ArrayRef, ArrowError> {
    let lengths = ends.iter().scan(0, |start, end| Some(end - std::mem::replace(start, *end)));
    let field = Field::new_list_field(elements.data_type().clone(), false);
    Ok(Arc::new(ListArray::try_new(Arc::new(field), OffsetBuffer::from_lengths(lengths), elements, None)?))
}

/// The elements of all lists one after the other, and the group of each; list `i` belongs to `groups[i]`.
pub(super) fn elements_of(lists: &ArrayRef, groups: &[u32]) -> (ArrayRef, Vec<u32>) {
    let lists = lists.as_list::<i32>();
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0] as usize, offsets[lists.len()] as usize);
    let lengths = offsets.windows(2).map(|bounds| (bounds[1] - bounds[0]) as usize);
    let groups = lengths.zip(groups).flat_map(|(length, group)| std::iter::repeat_n(*group, length)).collect();
    (lists.values().slice(first, last - first), groups)
}
