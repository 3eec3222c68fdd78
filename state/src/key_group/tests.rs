use std::sync::Arc;

use arrow::array::{
    BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array, ListArray,
    StringArray, StringViewArray, StructArray, TimestampMillisecondArray, new_null_array,
};
use arrow::datatypes::{Field, Fields, Int32Type};
use proptest::prelude::*;

use super::*;

fn hashes(columns: &[ArrayRef]) -> Vec<u64> {
    let mut out = vec![99; 3];
    hash_keys(columns, &mut out);
    out
}

fn hash_one(column: impl Array + 'static) -> u64 {
    hashes(&[Arc::new(column)])[0]
}

/// SplitMix64 from seed 0 yields `mix(γ), mix(2γ), mix(3γ)`: its published first numbers are the hashes of 0, γ, 2γ.
#[test]
fn integers_hash_as_splitmix64() {
    let gamma = GOLDEN_GAMMA as i64;
    assert_eq!(
        hashes(&[Arc::new(Int64Array::from(vec![0, gamma, gamma.wrapping_mul(2)]))]),
        [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]
    );
}

/// Pinned: checkpoints depend on them. The words of texts are XXH3-64's published values for "" and "abc".
#[test]
fn vectors() {
    let text = |s: &str| hash_one(StringArray::from(vec![s]));
    assert_eq!(text(""), fold(0, 0x2D06_8005_38D3_94C2));
    assert_eq!(text("abc"), fold(0, 0x78AF_5F94_892F_3950));
    assert_eq!(hash_one(Int64Array::from(vec![None])), fold(0, NULL_WORD));
    assert_eq!(hash_one(BooleanArray::from(vec![true])), hash_one(Int32Array::from(vec![1])));
    let decimal = Decimal128Array::from(vec![-1]);
    assert_eq!(hash_one(decimal), fold(fold(0, u64::MAX), u64::MAX));
    let two = hashes(&[Arc::new(Int64Array::from(vec![1])), Arc::new(StringArray::from(vec!["abc"]))]);
    assert_eq!(two, [fold(fold(0, 1), 0x78AF_5F94_892F_3950)]);
    // The formula of the module, computed in another language.
    assert_eq!(two, [0xDE54_74D0_E270_352E]);
}

#[test]
fn equal_values_of_different_layouts_hash_alike() {
    let plain = hash_one(StringArray::from(vec!["event"]));
    assert_eq!(plain, hash_one(StringViewArray::from(vec!["event"])));
    let dictionary: DictionaryArray<Int32Type> = vec!["event"].into_iter().collect();
    assert_eq!(plain, hash_one(dictionary));
    assert_eq!(hash_one(Int32Array::from(vec![-5])), hash_one(Int64Array::from(vec![-5])));
    assert_eq!(hash_one(TimestampMillisecondArray::from(vec![7])), hash_one(Int64Array::from(vec![7])));
    assert_eq!(hash_one(Float32Array::from(vec![-0.0])), hash_one(Float64Array::from(vec![0.0])));
    assert_eq!(hash_one(Float64Array::from(vec![f64::NAN])), hash_one(Float64Array::from(vec![-f64::NAN])));
}

#[test]
fn the_order_of_columns_and_elements_matters() {
    let (a, b): (ArrayRef, ArrayRef) = (Arc::new(Int64Array::from(vec![1])), Arc::new(Int64Array::from(vec![2])));
    assert_ne!(hashes(&[Arc::clone(&a), Arc::clone(&b)]), hashes(&[b, a]));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
        Some(vec![Some(1), Some(2)]),
        Some(vec![Some(2), Some(1)]),
        Some(vec![]),
        None,
        Some(vec![Some(1), Some(2)]),
    ]);
    let hashed = hashes(&[Arc::new(lists.clone())]);
    assert_eq!(hashed[0], hashed[4]);
    assert_eq!(hashed[0], fold(0, fold(fold(fold(0, 2), fold(0, 1)), fold(0, 2))));
    assert_eq!(hashed[3], fold(0, NULL_WORD));
    assert_eq!(hashed[2], fold(0, fold(0, 0)));
    assert_eq!(hashes(&[Arc::new(lists.slice(4, 1))]), [hashed[0]], "a slice hashes as its rows do");
}

#[test]
fn rows_hash_by_their_fields() {
    let fields = Fields::from(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8, true)]);
    let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![1])), Arc::new(StringArray::from(vec!["x"]))];
    let expected = fold(0, hashes(&columns)[0]);
    assert_eq!(hash_one(StructArray::new(fields, columns, None)), expected);
    let nothing = new_null_array(&DataType::Null, 2);
    assert_eq!(hashes(&[nothing]), [fold(0, NULL_WORD); 2]);
}

#[test]
fn no_columns_no_hashes() {
    assert!(hashes(&[]).is_empty());
}

proptest! {
    /// Ranges of all subtasks cover every key group once, and agree with `subtask_of`.
    #[test]
    fn ranges_partition_the_key_groups(parallelism in 1usize..40, max_parallelism in 1u32..300) {
        let mut next = 0;
        for subtask in 0..parallelism {
            let range = key_group_range(subtask, parallelism, max_parallelism);
            prop_assert_eq!(range.start, next);
            next = range.end;
            for group in range {
                prop_assert_eq!(subtask_of(group, parallelism, max_parallelism), subtask);
            }
        }
        prop_assert_eq!(next, max_parallelism);
    }

    #[test]
    fn a_row_hashes_the_same_in_every_batch(values in prop::collection::vec(prop::option::of(any::<i64>()), 1..50)) {
        let whole = hashes(&[Arc::new(Int64Array::from(values.clone()))]);
        for (row, value) in values.iter().enumerate() {
            prop_assert_eq!(hash_one(Int64Array::from(vec![*value])), whole[row]);
            prop_assert!(key_group(whole[row], 128) < 128);
        }
    }
}
