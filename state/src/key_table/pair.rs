//! Keys of two fixed-width columns, 128 bits in all.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType};

use super::wide_slots::{WideKey, WideSlots};
use super::word::column_of_words;
use crate::key_word::{KeyWord, with_word_type};

/// The tag of a key is a mask: bit 0 is set when the first column is NULL, bit 1 for the second. Their word is 0 then.
#[derive(Debug)]
pub(super) struct PairKeys {
    types: [DataType; 2],
    slots: WideSlots,
    /// By group.
    keys: Vec<WideKey>,
    /// The words of the batch at hand, and whether each is NULL.
    words: [Vec<u64>; 2],
    is_null: [Vec<bool>; 2],
}

impl PairKeys {
    pub(super) fn new(first: DataType, second: DataType) -> Self {
        Self {
            types: [first, second],
            slots: WideSlots::new(),
            keys: Vec::new(),
            words: Default::default(),
            is_null: Default::default(),
        }
    }

    pub(super) fn intern(&mut self, columns: &[ArrayRef], groups: &mut Vec<u32>) {
        for (column, (words, is_null)) in columns.iter().zip(self.words.iter_mut().zip(&mut self.is_null)) {
            widen(column.as_ref(), words, is_null);
        }
        let [low, high] = &self.words;
        let [low_null, high_null] = &self.is_null;
        let has_nulls = !(low_null.is_empty() && high_null.is_empty());
        let null = |mask: &[bool], row: usize| u32::from(mask.get(row).copied().unwrap_or(false));
        let (slots, keys) = (&mut self.slots, &mut self.keys);
        groups.extend(low.iter().zip(high).enumerate().map(|(row, (low, high))| {
            let tag = if has_nulls { null(low_null, row) | null(high_null, row) << 1 } else { 0 };
            let key = WideKey { low: *low, high: *high, tag };
            let next = keys.len() as u32;
            let group = slots.find_or_insert(key, next, |_| true);
            if group == next {
                keys.push(key);
            }
            group
        }));
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn keys(&self, groups: &[u32]) -> Vec<ArrayRef> {
        let key = |group: &u32| self.keys[*group as usize];
        let valid = |bit: u32| {
            let valid: Vec<bool> = groups.iter().map(|group| key(group).tag & bit == 0).collect();
            valid.contains(&false).then_some(valid)
        };
        vec![
            column_of_words(&self.types[0], groups.iter().map(|group| key(group).low), valid(1)),
            column_of_words(&self.types[1], groups.iter().map(|group| key(group).high), valid(2)),
        ]
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.keys.clear();
    }

    pub(super) fn memory_size(&self) -> usize {
        let scratch: usize = self.words.iter().map(|words| words.capacity() * size_of::<u64>()).sum();
        self.slots.memory_size() + self.keys.capacity() * size_of::<WideKey>() + scratch
    }
}

/// The column's values as words; `is_null` stays empty when there is no NULL.
fn widen(column: &dyn Array, words: &mut Vec<u64>, is_null: &mut Vec<bool>) {
    words.clear();
    is_null.clear();
    if let Some(column) = column.as_boolean_opt() {
        words.extend(column.values().iter().map(u64::from));
    } else {
        with_word_type!(
            column.data_type(),
            T => extend_words(column.as_primitive::<T>(), words),
            unreachable!("the table was made for fixed-width columns, not {}", column.data_type())
        );
    }
    if let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0) {
        is_null.extend(nulls.iter().map(|valid| !valid));
        words.iter_mut().zip(is_null).for_each(|(word, is_null)| *word &= u64::from(*is_null).wrapping_sub(1));
    }
}

fn extend_words<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, words: &mut Vec<u64>)
where
    T::Native: KeyWord,
{
    words.extend(column.values().iter().map(|value| value.to_word()));
}
