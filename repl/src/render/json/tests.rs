use std::sync::Arc;

use arrow::array::{BooleanArray, Float64Array};
use expect_test::expect;

use super::super::Format;
use super::super::tests::{batch, numbers, printed_rows, texts};

#[test]
fn values_keep_their_json_kind() {
    let rows = batch(vec![
        ("text", texts(&[Some("a"), None])),
        ("whole", numbers(&[Some(i64::MAX), None])),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("float", Arc::new(Float64Array::from(vec![Some(0.5), Some(f64::NAN)]))),
    ]);
    expect![[r#"
        {"text":"a","whole":9223372036854775807,"flag":true,"float":0.5}
        {"text":null,"whole":null,"flag":null,"float":"NaN"}
    "#]]
    .assert_eq(&printed_rows(Format::Jsonl, rows));
}

#[test]
fn every_string_reads_back() {
    let texts_in = ["", "\"q\"", "back\\slash", "tab\tnew\nline\r", "\u{0}\u{1b}\u{1f}", "日本 🚲", "NULL"];
    let rows = batch(vec![("key \"1\"", texts(&texts_in.map(Some)))]);
    let printed = printed_rows(Format::Jsonl, rows);
    let read: Vec<serde_json::Value> = printed.lines().map(|l| serde_json::from_str(l).expect(l)).collect();
    assert_eq!(read.iter().map(|v| v["key \"1\""].as_str().expect("text")).collect::<Vec<_>>(), texts_in);
}

#[test]
fn an_array_is_one_document() {
    let rows = || batch(vec![("n", numbers(&[Some(1), Some(2)]))]);
    assert_eq!(printed_rows(Format::Json, rows()), "[\n{\"n\":1},\n{\"n\":2}\n]\n");
    assert_eq!(printed_rows(Format::Json, rows().slice(0, 0)), "[]\n");
    assert_eq!(printed_rows(Format::Jsonl, rows().slice(0, 0)), "");
}

#[test]
fn a_repeated_name_gets_a_number() {
    let n = || numbers(&[Some(1)]);
    let rows = batch(vec![("a", n()), ("a", n()), ("a_2", n()), ("a", n())]);
    assert_eq!(printed_rows(Format::Jsonl, rows), "{\"a\":1,\"a_3\":1,\"a_2\":1,\"a_4\":1}\n");
}
