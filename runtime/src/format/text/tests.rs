use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Field, Int32Type, IntervalMonthDayNano, TimeUnit};

use super::super::zone::Zone;
use super::{JsonFormatter, TextFormatter, TimestampStyle};

fn check_in(zone: Zone, array: impl Array + 'static, expect: &[&str]) {
    let array: ArrayRef = Arc::new(array);
    let formatter = TextFormatter::new(&array, zone).unwrap();
    for (row, expect) in expect.iter().enumerate() {
        let mut text = String::new();
        formatter.write(row, &mut text);
        assert_eq!(text, *expect);
    }
}

fn check(array: impl Array + 'static, expect: &[&str]) {
    check_in(Zone::Utc, array, expect);
}

fn json(array: impl Array + 'static, style: TimestampStyle) -> String {
    let array: ArrayRef = Arc::new(array);
    let formatter = JsonFormatter::new(&array, Zone::Utc, style).unwrap();
    let mut text = String::new();
    for row in 0..array.len() {
        formatter.write(row, &mut text);
        text.push(' ');
    }
    text
}

/// 2026-01-01 10:00:00 UTC in seconds
const TEN: i64 = 1_767_261_600;

#[test]
fn numbers() {
    check(BooleanArray::from(vec![true, false]), &["true", "false"]);
    check(Int8Array::from(vec![-128]), &["-128"]);
    check(Int64Array::from(vec![i64::MIN, 0]), &["-9223372036854775808", "0"]);
    check(UInt64Array::from(vec![u64::MAX]), &["18446744073709551615"]);
    check(
        Float64Array::from(vec![1.0, 0.1, -0.0, 1e16, 1.5e-7, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        &["1.0", "0.1", "-0.0", "1e16", "1.5e-7", "NaN", "Infinity", "-Infinity"],
    );
    check(Float32Array::from(vec![0.1, 16_777_216.0]), &["0.1", "16777216.0"]);
    let decimals =
        |values: Vec<i128>, scale| Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap();
    check(decimals(vec![1, -5, 12_345, 0, -100], 2), &["0.01", "-0.05", "123.45", "0.00", "-1.00"]);
    check(decimals(vec![7, -7], 0), &["7", "-7"]);
}

#[test]
fn strings_and_bytes() {
    check(StringArray::from(vec!["a\"b", ""]), &["a\"b", ""]);
    check(
        StringViewArray::from(vec!["a string that does not fit in a view"]),
        &["a string that does not fit in a view"],
    );
    check(BinaryArray::from(vec![&[0_u8, 255, 16][..], &[]]), &["00ff10", ""]);
    check(["x", "y", "x"].into_iter().collect::<DictionaryArray<Int32Type>>(), &["x", "y", "x"]);
}

#[test]
fn dates_and_times() {
    check(Date32Array::from(vec![0, -1, 20_454, -719_529]), &["1970-01-01", "1969-12-31", "2026-01-01", "-0001-12-31"]);
    check(Time32MillisecondArray::from(vec![36_000_123]), &["10:00:00.123"]);
    check(Time32SecondArray::from(vec![36_000]), &["10:00:00"]);
    check(Time64NanosecondArray::from(vec![1]), &["00:00:00.000000001"]);
    check(TimestampSecondArray::from(vec![TEN]), &["2026-01-01 10:00:00"]);
    check(
        TimestampMillisecondArray::from(vec![TEN * 1_000 + 5, -1]),
        &["2026-01-01 10:00:00.005", "1969-12-31 23:59:59.999"],
    );
    check(TimestampMicrosecondArray::from(vec![TEN * 1_000_000 + 5]), &["2026-01-01 10:00:00.000005"]);
    check(TimestampNanosecondArray::from(vec![TEN * 1_000_000_000 + 5]), &["2026-01-01 10:00:00.000000005"]);
}

#[test]
fn instants_are_shown_on_the_sessions_clock() {
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    let instants = || TimestampMillisecondArray::from(vec![TEN * 1_000]).with_timezone("UTC");
    check_in(berlin, instants(), &["2026-01-01 11:00:00.000"]);
    check_in(berlin, TimestampMillisecondArray::from(vec![TEN * 1_000]), &["2026-01-01 10:00:00.000"]);
    assert_eq!(json(instants(), TimestampStyle::SQL_UTC), "\"2026-01-01 10:00:00.000Z\" ");
    assert_eq!(json(instants(), TimestampStyle::ISO_UTC), "\"2026-01-01T10:00:00.000Z\" ");
    let walls = TimestampMillisecondArray::from(vec![TEN * 1_000]);
    assert_eq!(json(walls, TimestampStyle::ISO_UTC), "\"2026-01-01T10:00:00.000\" ");
}

#[test]
fn intervals() {
    let day_ms = 86_400_000;
    check(
        DurationMillisecondArray::from(vec![0, 3 * day_ms + 3_661_005, -1]),
        &["+0 00:00:00.000", "+3 01:01:01.005", "-0 00:00:00.001"],
    );
    let interval = IntervalMonthDayNano::new;
    check(
        IntervalMonthDayNanoArray::from(vec![
            interval(14, 0, 0),
            interval(-1, 0, 0),
            interval(0, 2, 5_000_000),
            interval(1, 1, 0),
        ]),
        &["+1-02", "-0-01", "+2 00:00:00.005", "+0-01 +1 00:00:00.000"],
    );
}

#[test]
fn json_values() {
    let style = TimestampStyle::SQL;
    assert_eq!(json(Float64Array::from(vec![Some(1.5), None, Some(f64::NAN)]), style), "1.5 null \"NaN\" ");
    assert_eq!(json(Int32Array::from(vec![Some(1), None]), style), "1 null ");
    assert_eq!(json(StringArray::from(vec!["a\"\\\n\u{1}\u{e9}"]), style), "\"a\\\"\\\\\\n\\u0001\u{e9}\" ");
    assert_eq!(json(BinaryArray::from(vec![&[255_u8][..]]), style), "\"ff\" ");
    assert_eq!(json(Date32Array::from(vec![0]), style), "\"1970-01-01\" ");
    let decimal = Decimal128Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap();
    assert_eq!(json(decimal, style), "1.50 ");
}

#[test]
fn nested_values_are_json() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None, Some(vec![])]);
    check(list.clone(), &["[1,null]"]);
    assert_eq!(json(list.slice(1, 2), TimestampStyle::SQL), "null [] ");
    let row = StructArray::from(vec![
        (
            Arc::new(Field::new("a\"", DataType::Int32, true)),
            Arc::new(Int32Array::from(vec![Some(1), None])) as ArrayRef,
        ),
        (
            Arc::new(Field::new("t", DataType::Timestamp(TimeUnit::Second, None), true)),
            Arc::new(TimestampSecondArray::from(vec![0, 1])) as ArrayRef,
        ),
    ]);
    check(row, &["{\"a\\\"\":1,\"t\":\"1970-01-01 00:00:00\"}", "{\"a\\\"\":null,\"t\":\"1970-01-01 00:00:01\"}"]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    map.keys().append_value("k");
    map.values().append_value(1);
    map.keys().append_value("l");
    map.values().append_null();
    map.append(true).unwrap();
    check(map.finish(), &["{\"k\":1,\"l\":null}"]);
}
