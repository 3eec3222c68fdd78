//! Where a key lives: a stable hash of key rows, key groups, and the subtasks that own them.
//!
//! **Invariant:** the hash of a row is part of the format of checkpoints and of how rows are spread. It depends on
//! nothing but the key's values, never on the machine, the batch or the build, and must not change.
//!
//! The hash of a row folds its columns from left to right, starting from 0:
//! `h = mix(h · 0x9FB21C651E98DF25 + word + 0x9E3779B97F4A7C15)` modulo 2⁶⁴, where `mix` is the finaliser of
//! SplitMix64 and a value's `word` is
//! - for integers, dates and times: the value, sign-extended (zero-extended when unsigned);
//! - for floats: the bits of the `f64`, with one zero and one NaN; for booleans: 0 or 1;
//! - for text and bytes: XXH3-64 of the bytes;
//! - for wider fixed-width values (decimals): each 64-bit limb is folded, low limb first;
//! - for a list or map: its length and then its elements, folded from 0; for a row: its fields, folded from 0;
//! - for NULL: `0x6E756C6C6E756C6C`.
//!
//! Types that no SQL key can have (unions, run ends) all have word 0: correct, only not spread.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, ListLikeArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalUnit,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::key_word::{KeyWord, with_word_type};

/// Number of key groups of a job unless it says otherwise: the most subtasks its state can be spread over.
pub const MAX_PARALLELISM_DEFAULT: u32 = 128;

const NULL_WORD: u64 = 0x6E75_6C6C_6E75_6C6C;
const COLUMN_FACTOR: u64 = 0x9FB2_1C65_1E98_DF25;
const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// Puts the hash of each row of the key columns into `out`, in row order. No columns, no hashes.
pub fn hash_keys(columns: &[ArrayRef], out: &mut Vec<u64>) {
    out.clear();
    out.resize(columns.first().map_or(0, |c| c.len()), 0);
    for column in columns {
        fold_column(column.as_ref(), out);
    }
}

/// The key group of a key with that hash: `hash mod max_parallelism`.
#[inline]
pub fn key_group(hash: u64, max_parallelism: u32) -> u32 {
    (hash % u64::from(max_parallelism)) as u32
}

/// The key groups that subtask `subtask` of `parallelism` owns.
pub fn key_group_range(subtask: usize, parallelism: usize, max_parallelism: u32) -> Range<u32> {
    let start_of = |subtask: usize| (subtask * max_parallelism as usize).div_ceil(parallelism) as u32;
    start_of(subtask)..start_of(subtask + 1)
}

/// The subtask of `parallelism` that owns the key group.
#[inline]
pub fn subtask_of(key_group: u32, parallelism: usize, max_parallelism: u32) -> usize {
    key_group as usize * parallelism / max_parallelism as usize
}

#[inline]
fn fold(hash: u64, word: u64) -> u64 {
    let mut z = hash.wrapping_mul(COLUMN_FACTOR).wrapping_add(word).wrapping_add(GOLDEN_GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Folds one column into the hashes of its rows.
fn fold_column(array: &dyn Array, out: &mut [u64]) {
    with_word_type!(array.data_type(), T => fold_words(array.as_primitive::<T>(), out), fold_other(array, out))
}

fn fold_words<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, out: &mut [u64])
where
    T::Native: KeyWord,
{
    let values = array.values().iter();
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => out.iter_mut().zip(values).for_each(|(hash, value)| *hash = fold(*hash, value.to_word())),
        Some(nulls) => {
            for ((hash, value), valid) in out.iter_mut().zip(values).zip(nulls) {
                *hash = fold(*hash, if valid { value.to_word() } else { NULL_WORD });
            }
        }
    }
}

fn fold_other(array: &dyn Array, out: &mut [u64]) {
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            fold_rows(array, out, |hash, row| fold(hash, u64::from(values.value(row))));
        }
        DataType::Utf8 => fold_bytes(array, out, |row| array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => fold_bytes(array, out, |row| array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => fold_bytes(array, out, |row| array.as_string_view().value(row).as_bytes()),
        DataType::Binary => fold_bytes(array, out, |row| array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => fold_bytes(array, out, |row| array.as_binary::<i64>().value(row)),
        DataType::BinaryView => fold_bytes(array, out, |row| array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => fold_bytes(array, out, |row| array.as_fixed_size_binary().value(row)),
        DataType::Decimal128(_, _) => {
            let values = array.as_primitive::<Decimal128Type>();
            fold_rows(array, out, |hash, row| fold_limbs(hash, &values.value(row).to_le_bytes()));
        }
        DataType::Decimal256(_, _) => {
            let values = array.as_primitive::<Decimal256Type>();
            fold_rows(array, out, |hash, row| fold_limbs(hash, &values.value(row).to_le_bytes()));
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let values = array.as_primitive::<IntervalDayTimeType>();
            fold_rows(array, out, |hash, row| {
                let value = values.value(row);
                fold(fold(hash, value.days.to_word()), value.milliseconds.to_word())
            });
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>();
            fold_rows(array, out, |hash, row| {
                let value = values.value(row);
                let hash = fold(fold(hash, value.months.to_word()), value.days.to_word());
                fold(hash, value.nanoseconds.to_word())
            });
        }
        _ => fold_nested(array, out),
    }
}

fn fold_nested(array: &dyn Array, out: &mut [u64]) {
    match array.data_type() {
        DataType::List(_) => fold_elements(array.as_list::<i32>(), out),
        DataType::LargeList(_) => fold_elements(array.as_list::<i64>(), out),
        DataType::FixedSizeList(_, _) => fold_elements(array.as_fixed_size_list(), out),
        DataType::Map(_, _) => {
            let map = array.as_map();
            let offsets = map.offsets();
            fold_ranges(array, map.entries(), |row| offsets[row] as usize..offsets[row + 1] as usize, out);
        }
        DataType::Struct(_) => {
            let mut words = vec![0; array.len()];
            for field in array.as_struct().columns() {
                fold_column(field.as_ref(), &mut words);
            }
            fold_rows(array, out, |hash, row| fold(hash, words[row]));
        }
        DataType::Dictionary(_, _) => {
            let plain = array.as_any_dictionary();
            match arrow::compute::take(plain.values(), plain.keys(), None) {
                Ok(plain) => fold_column(plain.as_ref(), out),
                Err(_) => fold_rows(array, out, |hash, _| fold(hash, 0)),
            }
        }
        DataType::Null => out.iter_mut().for_each(|hash| *hash = fold(*hash, NULL_WORD)),
        _ => fold_rows(array, out, |hash, _| fold(hash, 0)),
    }
}

fn fold_elements<L: ListLikeArray>(array: &L, out: &mut [u64]) {
    fold_ranges(array, array.values().as_ref(), |row| array.element_range(row), out);
}

/// Folds lists whose row `row` holds the elements `range(row)` of `elements`.
fn fold_ranges(array: &dyn Array, elements: &dyn Array, range: impl Fn(usize) -> Range<usize>, out: &mut [u64]) {
    let mut words = vec![0; elements.len()];
    fold_column(elements, &mut words);
    fold_rows(array, out, |hash, row| {
        let range = range(row);
        let list = words[range.clone()].iter().fold(fold(0, range.len() as u64), |list, word| fold(list, *word));
        fold(hash, list)
    });
}

fn fold_bytes<'a>(array: &dyn Array, out: &mut [u64], bytes: impl Fn(usize) -> &'a [u8]) {
    fold_rows(array, out, |hash, row| fold(hash, xxh3_64(bytes(row))));
}

fn fold_limbs(hash: u64, little_endian: &[u8]) -> u64 {
    little_endian
        .chunks_exact(8)
        .fold(hash, |hash, limb| fold(hash, u64::from_le_bytes(limb.try_into().expect("chunks of eight bytes"))))
}

fn fold_rows(array: &dyn Array, out: &mut [u64], value: impl Fn(u64, usize) -> u64) {
    let nulls = array.nulls();
    for (row, hash) in out.iter_mut().enumerate() {
        let valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
        *hash = if valid { value(*hash, row) } else { fold(*hash, NULL_WORD) };
    }
}

#[cfg(test)]
mod tests;
