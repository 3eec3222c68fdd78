use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int16Array, Int64Array,
    LargeStringArray, StringArray, StringViewArray, TimestampMillisecondArray,
};
use arrow::datatypes::Int32Type;
use proptest::prelude::*;

use super::*;

fn table(columns: &[ArrayRef]) -> KeyTable {
    KeyTable::new(&columns.iter().map(|c| c.data_type().clone()).collect::<Vec<_>>()).unwrap()
}

fn intern(table: &mut KeyTable, columns: &[ArrayRef]) -> Vec<u32> {
    let mut groups = Vec::new();
    table.intern(columns, columns[0].len(), &mut groups).unwrap();
    groups
}

/// The rows must get `groups`, and reading all groups back must give the rows of first arrival.
fn check(columns: &[ArrayRef], groups: &[u32], first_rows: &[u32]) {
    let mut table = table(columns);
    assert_eq!(intern(&mut table, columns), groups);
    assert_eq!(intern(&mut table, columns), groups, "known keys keep their groups");
    assert_eq!(table.len(), first_rows.len());
    let all: Vec<u32> = (0..table.len() as u32).collect();
    let keys = table.keys(&all).unwrap();
    for (key, column) in keys.iter().zip(columns) {
        let expected = compute::take(column, &arrow::array::UInt32Array::from(first_rows.to_vec()), None).unwrap();
        assert_eq!(key, &expected);
    }
    table.clear();
    assert!(table.is_empty());
    assert_eq!(intern(&mut table, columns), groups, "an emptied table starts again at 0");
}

#[test]
fn one_fixed_width_key() {
    check(&[Arc::new(Int64Array::from(vec![7, -1, 7, 0, i64::MIN, -1]))], &[0, 1, 0, 2, 3, 1], &[0, 1, 3, 4]);
    check(&[Arc::new(Int64Array::from(vec![None, Some(0), None, Some(5)]))], &[0, 1, 0, 2], &[0, 1, 3]);
    check(&[Arc::new(Int16Array::from(vec![-300, 300, -300]))], &[0, 1, 0], &[0, 1]);
    check(&[Arc::new(Date32Array::from(vec![3, 3, -4]))], &[0, 0, 1], &[0, 2]);
    let times = TimestampMillisecondArray::from(vec![1, 2, 1]).with_timezone("Europe/Berlin");
    check(&[Arc::new(times)], &[0, 1, 0], &[0, 1]);
    check(&[Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))], &[0, 1, 2, 0], &[0, 1, 2]);
}

#[test]
fn floats_that_are_equal_share_a_group() {
    let values = Float64Array::from(vec![0.0, -0.0, f64::NAN, -f64::NAN, 1.5]);
    let groups = [0, 0, 1, 1, 2];
    assert_eq!(intern(&mut table(&[Arc::new(values.clone())]), &[Arc::new(values.clone())]), groups);
    let with_text: Vec<ArrayRef> = vec![Arc::new(values), Arc::new(StringArray::from(vec!["x"; 5]))];
    assert_eq!(intern(&mut table(&with_text), &with_text), groups);
}

#[test]
fn one_text_key_of_any_length() {
    let long = "a text that is longer than sixteen bytes";
    let other = "a text that is longer than sixteen bytez";
    let texts = vec![Some(""), Some("a"), None, Some("aa"), Some(long), Some(""), Some(other), Some(long), None];
    let groups = [0, 1, 2, 3, 4, 0, 5, 4, 2];
    let first = [0, 1, 2, 3, 4, 6];
    check(&[Arc::new(StringArray::from(texts.clone()))], &groups, &first);
    check(&[Arc::new(StringViewArray::from(texts.clone()))], &groups, &first);
    check(&[Arc::new(LargeStringArray::from(texts.clone()))], &groups, &first);
    let bytes: BinaryArray = texts.iter().map(|t| t.map(str::as_bytes)).collect();
    check(&[Arc::new(bytes)], &groups, &first);
}

/// All strings over a two-letter alphabet up to length 17: overlapping loads must not make two of them equal.
#[test]
fn short_texts_are_told_apart() {
    let mut texts = vec![String::new()];
    for length in 1..=17usize {
        for set in 0..length {
            let text: String = (0..length).map(|i| if i == set { '\0' } else { 'z' }).collect();
            texts.push(text);
        }
    }
    let column: ArrayRef = Arc::new(StringArray::from(texts));
    let expected: Vec<u32> = (0..column.len() as u32).collect();
    assert_eq!(intern(&mut table(&[Arc::clone(&column)]), &[column]), expected);
}

#[test]
fn two_fixed_width_keys() {
    let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(1), Some(0), None]));
    let b: ArrayRef = Arc::new(Date32Array::from(vec![Some(2), Some(1), Some(0), Some(2), None, Some(0)]));
    check(&[a, b], &[0, 1, 2, 0, 3, 2], &[0, 1, 2, 4]);
}

#[test]
fn composite_keys() {
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("ab"), Some("a"), None, None]));
    let rest: ArrayRef = Arc::new(StringArray::from(vec![Some("bc"), Some("c"), Some("bc"), None, Some("")]));
    let decimal: ArrayRef =
        Arc::new(Decimal128Array::from(vec![1, 1, 1, 1, 1]).with_precision_and_scale(38, 2).unwrap());
    check(&[Arc::clone(&text), rest], &[0, 1, 0, 2, 3], &[0, 1, 3, 4]);
    check(&[decimal, text], &[0, 1, 0, 2, 2], &[0, 1, 3]);
}

#[test]
fn dictionaries_are_unpacked() {
    let dictionary: DictionaryArray<Int32Type> = vec!["x", "y", "x"].into_iter().collect();
    let column: ArrayRef = Arc::new(dictionary);
    let mut table = table(&[Arc::clone(&column)]);
    assert_eq!(intern(&mut table, &[column]), [0, 1, 0]);
    assert_eq!(table.keys(&[1]).unwrap()[0].as_string::<i32>().value(0), "y");
}

#[test]
fn without_key_columns_there_is_one_group() {
    let mut table = KeyTable::new(&[]).unwrap();
    assert_eq!(table.len(), 0);
    let mut groups = Vec::new();
    table.intern(&[], 3, &mut groups).unwrap();
    assert_eq!((groups, table.len()), (vec![0, 0, 0], 1));
    assert!(table.keys(&[0]).unwrap().is_empty());
}

proptest! {
    /// As a hash map from key to order of arrival, whatever the batches and however often the table grows.
    #[test]
    fn ids_are_the_order_of_first_arrival(
        batches in prop::collection::vec(prop::collection::vec((-40i64..40, "[ab]{0,20}"), 0..60), 0..6),
    ) {
        let mut tables: Vec<Option<KeyTable>> = vec![None, None, None];
        let mut models: Vec<HashMap<(i64, String), u32>> = vec![HashMap::new(); 3];
        for batch in batches {
            let ints: ArrayRef = Arc::new(Int64Array::from_iter_values(batch.iter().map(|r| r.0 << 33)));
            let texts: ArrayRef = Arc::new(StringArray::from_iter_values(batch.iter().map(|r| r.1.as_str())));
            let variants = [vec![Arc::clone(&ints)], vec![Arc::clone(&texts)], vec![ints, texts]];
            for (which, columns) in variants.iter().enumerate() {
                let groups = intern(tables[which].get_or_insert_with(|| table(columns)), columns);
                for ((int, text), group) in batch.iter().zip(groups) {
                    let key = match which {
                        0 => (*int, String::new()),
                        1 => (0, text.clone()),
                        _ => (*int, text.clone()),
                    };
                    let next = models[which].len() as u32;
                    prop_assert_eq!(*models[which].entry(key).or_insert(next), group);
                }
            }
        }
    }
}
