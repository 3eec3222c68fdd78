//! Keys of one fixed-width column: integers, floats, dates, times, booleans.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowPrimitiveType, DataType};

use super::word_slots::WordSlots;
use crate::key_word::{KeyWord, with_word_type};

#[derive(Debug)]
pub(super) struct WordKeys {
    data_type: DataType,
    slots: WordSlots,
    /// By group; 0 for the group of NULL.
    words: Vec<u64>,
    null_group: Option<u32>,
}

impl WordKeys {
    pub(super) fn supports(data_type: &DataType) -> bool {
        *data_type == DataType::Boolean || with_word_type!(data_type, T => is_word::<T>(), false)
    }

    pub(super) fn new(data_type: DataType) -> Self {
        Self { data_type, slots: WordSlots::new(), words: Vec::new(), null_group: None }
    }

    pub(super) fn intern(&mut self, column: &dyn Array, groups: &mut Vec<u32>) {
        if let Some(column) = column.as_boolean_opt() {
            groups.extend(column.iter().map(|value| match value {
                Some(value) => self.group_of(u64::from(value)),
                None => self.group_of_null(),
            }));
            return;
        }
        with_word_type!(
            column.data_type(),
            T => self.intern_values(column.as_primitive::<T>(), groups),
            unreachable!("the table was made for a fixed-width column, not {}", column.data_type())
        );
    }

    fn intern_values<T: ArrowPrimitiveType>(&mut self, column: &PrimitiveArray<T>, groups: &mut Vec<u32>)
    where
        T::Native: KeyWord,
    {
        match column.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => groups.extend(column.values().iter().map(|value| self.group_of(value.to_word()))),
            Some(nulls) => {
                groups.extend(
                    column.values().iter().zip(nulls).map(|(value, valid)| {
                        if valid { self.group_of(value.to_word()) } else { self.group_of_null() }
                    }),
                )
            }
        }
    }

    #[inline]
    fn group_of(&mut self, word: u64) -> u32 {
        let next = self.words.len() as u32;
        let group = self.slots.find_or_insert(word, next);
        if group == next {
            self.words.push(word);
        }
        group
    }

    fn group_of_null(&mut self) -> u32 {
        *self.null_group.get_or_insert_with(|| {
            self.words.push(0);
            self.words.len() as u32 - 1
        })
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn keys(&self, groups: &[u32]) -> ArrayRef {
        let words = groups.iter().map(|group| self.words[*group as usize]);
        let nulls = self.null_group.map(|null| groups.iter().map(|group| *group != null).collect());
        column_of_words(&self.data_type, words, nulls)
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.words.clear();
        self.null_group = None;
    }

    pub(super) fn memory_size(&self) -> usize {
        self.slots.memory_size() + self.words.capacity() * size_of::<u64>()
    }
}

/// A column of a supported type from words.
pub(super) fn column_of_words(
    data_type: &DataType,
    words: impl ExactSizeIterator<Item = u64>,
    valid: Option<Vec<bool>>,
) -> ArrayRef {
    let nulls = valid.map(NullBuffer::from);
    if *data_type == DataType::Boolean {
        let values = BooleanBuffer::from_iter(words.map(|word| word != 0));
        return Arc::new(BooleanArray::new(values, nulls));
    }
    with_word_type!(
        data_type,
        T => Arc::new(primitive_of_words::<T>(words, nulls).with_data_type(data_type.clone())),
        unreachable!("the table was made for a fixed-width column, not {data_type}")
    )
}

fn primitive_of_words<T: ArrowPrimitiveType>(
    words: impl Iterator<Item = u64>,
    nulls: Option<NullBuffer>,
) -> PrimitiveArray<T>
where
    T::Native: KeyWord,
{
    let values: ScalarBuffer<T::Native> = words.map(T::Native::from_word).collect();
    PrimitiveArray::new(values, nulls)
}

fn is_word<T: ArrowPrimitiveType>() -> bool
where
    T::Native: KeyWord,
{
    true
}
