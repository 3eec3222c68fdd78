//! Rows for the tests of the formats, and what is common to them.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, Decimal128Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use tidemark_runtime::change_batch::RowKind::{self, Delete, Insert, UpdateAfter, UpdateBefore};

use super::*;

/// A batch from named columns; all columns may hold NULL.
pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|(n, a)| Field::new(*n, a.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, a)| a).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("columns of equal length")
}

/// Texts, `None` for NULL.
pub fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

/// Numbers, `None` for NULL.
pub fn numbers(values: &[Option<i64>]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

/// Changes of `(origin, n)`.
pub fn changes(rows: &[(RowKind, Option<&str>, i64)]) -> ChangeBatch {
    let origins: Vec<_> = rows.iter().map(|r| r.1).collect();
    let counts: Vec<_> = rows.iter().map(|r| Some(r.2)).collect();
    ChangeBatch {
        batch: batch(vec![("origin", texts(&origins)), ("n", numbers(&counts))]),
        kinds: Some(rows.iter().map(|r| r.0 as i8).collect()),
        row_watermarks: None,
    }
}

/// Of `(origin, n)`.
pub fn shape(changelog: ChangelogMode, upsert_key: Vec<usize>) -> ResultShape {
    let fields = vec![Field::new("origin", DataType::Utf8, true), Field::new("n", DataType::Int64, true)];
    ResultShape { schema: Arc::new(Schema::new(fields)), changelog, upsert_key }
}

/// The result as printed, batch by batch.
pub fn printed(shape: &ResultShape, mode: ResultMode, style: &Style, batches: &[ChangeBatch]) -> String {
    let mut out = Vec::new();
    let mut printer = ResultPrinter::new(shape, mode, style).expect("printer");
    printer.begin(&mut out).expect("begin");
    for batch in batches {
        printer.write(batch, &mut out).expect("write");
    }
    printer.end(&mut out).expect("end");
    String::from_utf8(out).expect("UTF-8")
}

/// Final rows in `format`, off a terminal.
pub fn printed_rows(format: Format, rows: RecordBatch) -> String {
    let shape = ResultShape::append(rows.schema());
    let style = Style { format, zone: Zone::Utc, width: None };
    printed(&shape, ResultMode::Table, &style, &[ChangeBatch::insert_only(rows)])
}

#[test]
fn default_mode_is_table_for_a_query_that_ends_before_a_person() {
    use ResultMode::{Changelog, Table};
    let cases = [
        (Format::Table, true, false, Table),
        (Format::Table, true, true, Table),
        (Format::Table, false, true, Changelog),
        (Format::Csv, true, true, Table),
        (Format::Csv, true, false, Changelog),
        (Format::Jsonl, false, false, Changelog),
    ];
    for (format, bounded, on_terminal, expected) in cases {
        assert_eq!(
            ResultMode::default_for(format, bounded, on_terminal),
            expected,
            "{format:?} {bounded} {on_terminal}"
        );
    }
}

fn updates() -> [ChangeBatch; 2] {
    [
        changes(&[(Insert, Some("JFK"), 1), (Insert, None, 1)]),
        changes(&[(UpdateBefore, Some("JFK"), 1), (UpdateAfter, Some("JFK"), 2), (Delete, None, 1)]),
    ]
}

fn printed_updates(format: Format, mode: ResultMode) -> String {
    let style = Style { format, zone: Zone::Utc, width: None };
    printed(&shape(ChangelogMode::Retract, vec![0]), mode, &style, &updates())
}

#[test]
fn changelog_has_the_kind_in_front() {
    expect_test::expect![[r#"
        op,origin,n
        +I,JFK,1
        +I,,1
        -U,JFK,1
        +U,JFK,2
        -D,,1
    "#]]
    .assert_eq(&printed_updates(Format::Csv, ResultMode::Changelog));
    expect_test::expect![[r#"
        {"op":"+I","origin":"JFK","n":1}
        {"op":"+I","origin":null,"n":1}
        {"op":"-U","origin":"JFK","n":1}
        {"op":"+U","origin":"JFK","n":2}
        {"op":"-D","origin":null,"n":1}
    "#]]
    .assert_eq(&printed_updates(Format::Jsonl, ResultMode::Changelog));
    expect_test::expect![[r#"
        ┌────┬────────┬───┐
        │ op │ origin │ n │
        ├────┼────────┼───┤
        │ +I │ JFK    │ 1 │
        │ +I │ NULL   │ 1 │
        │ -U │ JFK    │ 1 │
        │ +U │ JFK    │ 2 │
        │ -D │ NULL   │ 1 │
        └────┴────────┴───┘
    "#]]
    .assert_eq(&printed_updates(Format::Table, ResultMode::Changelog));
}

#[test]
fn table_mode_shows_what_is_left_without_the_kind() {
    assert_eq!(printed_updates(Format::Csv, ResultMode::Table), "origin,n\nJFK,2\n");
    assert_eq!(printed_updates(Format::Json, ResultMode::Table), "[\n{\"origin\":\"JFK\",\"n\":2}\n]\n");
}

#[test]
fn an_append_only_changelog_has_no_kind() {
    let style = Style { format: Format::Csv, zone: Zone::Utc, width: None };
    let rows = [changes(&[(Insert, Some("JFK"), 1)])];
    let text = printed(&shape(ChangelogMode::Append, vec![]), ResultMode::Changelog, &style, &rows);
    assert_eq!(text, "origin,n\nJFK,1\n");
}

#[test]
fn rows_are_counted() {
    for (mode, expected) in [(ResultMode::Changelog, 5), (ResultMode::Table, 1)] {
        let style = Style { format: Format::Csv, zone: Zone::Utc, width: None };
        let mut printer = ResultPrinter::new(&shape(ChangelogMode::Retract, vec![0]), mode, &style).expect("printer");
        let mut out = Vec::new();
        for batch in updates() {
            printer.write(&batch, &mut out).expect("write");
        }
        assert_eq!(printer.end(&mut out).expect("end"), expected);
    }
}

#[test]
fn streaming_formats_hold_nothing_back() {
    for format in [Format::Table, Format::Csv, Format::Json, Format::Jsonl, Format::Markdown] {
        let style = Style { format, zone: Zone::Utc, width: None };
        let shape = shape(ChangelogMode::Append, vec![]);
        let mut printer = ResultPrinter::new(&shape, ResultMode::Changelog, &style).expect("printer");
        let mut out = Vec::new();
        printer.begin(&mut out).expect("begin");
        printer.write(&changes(&[(Insert, Some("LaGuardia"), 7)]), &mut out).expect("write");
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(text.contains("LaGuardia") && text.contains('7'), "{format:?}: {text}");
    }
}

/// One row of values that only this engine's formats agree on how to write.
fn odd_values() -> RecordBatch {
    let instant = TimestampMillisecondArray::from(vec![1_767_225_600_000]).with_timezone("UTC");
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None])]);
    let note: ArrayRef = Arc::new(StringArray::from(vec!["say \"hi\""]));
    let row = StructArray::from(vec![(Arc::new(Field::new("note", DataType::Utf8, true)), note)]);
    let decimal = Decimal128Array::from(vec![1250]).with_precision_and_scale(10, 2).expect("precision");
    batch(vec![
        ("instant", Arc::new(instant)),
        ("list", Arc::new(list)),
        ("row", Arc::new(row)),
        ("price", Arc::new(decimal)),
        ("bytes", Arc::new(BinaryArray::from(vec![&b"\x00\xff"[..]]))),
    ])
}

#[test]
fn nested_values_are_json_everywhere() {
    let zone = Zone::parse("Europe/Berlin").expect("zone");
    let shape = ResultShape::append(odd_values().schema());
    let printed_in = |format| {
        let style = Style { format, zone, width: None };
        printed(&shape, ResultMode::Table, &style, &[ChangeBatch::insert_only(odd_values())])
    };
    expect_test::expect![[r#"
        instant,list,row,price,bytes
        2026-01-01 01:00:00.000,"[1,null]","{""note"":""say \""hi\""""}",12.50,00ff
    "#]]
    .assert_eq(&printed_in(Format::Csv));
    expect_test::expect![[r#"
        {"instant":"2026-01-01 01:00:00.000","list":[1,null],"row":{"note":"say \"hi\""},"price":12.50,"bytes":"00ff"}
    "#]]
    .assert_eq(&printed_in(Format::Jsonl));
    expect_test::expect![[r#"
        ┌─────────────────────────┬──────────┬───────────────────────┬───────┬───────┐
        │ instant                 │ list     │ row                   │ price │ bytes │
        ├─────────────────────────┼──────────┼───────────────────────┼───────┼───────┤
        │ 2026-01-01 01:00:00.000 │ [1,null] │ {"note":"say \"hi\""} │ 12.50 │ 00ff  │
        └─────────────────────────┴──────────┴───────────────────────┴───────┴───────┘
    "#]]
    .assert_eq(&printed_in(Format::Table));
}
