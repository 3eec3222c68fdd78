use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema};

use super::super::Format;
use super::super::testing::{Decoded, decode, decode_columns, decode_in_pieces, instant, table, timestamp};
use super::super::zone::Zone;

const CSV: (&str, &str) = ("format", "csv");
const IGNORE: (&str, &str) = ("csv.ignore-parse-errors", "true");

fn abc() -> Vec<(&'static str, DataType)> {
    vec![("a", DataType::Int64), ("b", DataType::Utf8), ("c", DataType::Float64)]
}

fn check(options: &[(&str, &str)], text: &str, expect: &[&str]) {
    let mut all = vec![CSV];
    all.extend_from_slice(options);
    let outcome = decode(&table(&abc(), &all), text.as_bytes());
    assert_eq!(outcome, Decoded { rows: expect.iter().map(|s| s.to_string()).collect(), ..Decoded::default() });
}

fn fails(options: &[(&str, &str)], text: &[u8], rows_before: usize, expect: &str) {
    let mut all = vec![CSV];
    all.extend_from_slice(options);
    let outcome = decode(&table(&abc(), &all), text);
    assert_eq!(outcome.error.as_deref(), Some(expect));
    assert_eq!(outcome.rows.len(), rows_before, "rows before the bad one come first");
}

/// Rows 1 and 3 of three are good; the second is skipped and told as `expect`.
fn skips(second: &[u8], expect: &str) {
    let text = [b"1,x,1.5\n", second, b"\n3,z,3.5\n"].concat();
    let outcome = decode(&table(&abc(), &[CSV, IGNORE]), &text);
    assert_eq!(outcome.rows, ["1|x|1.5", "3|z|3.5"]);
    assert_eq!(outcome.skipped, 1);
    assert_eq!(outcome.examples, [expect]);
    assert_eq!(outcome.error, None);
}

#[test]
fn plain_rows() {
    check(&[], "1,x,1.5\n2,y,2\n", &["1|x|1.5", "2|y|2.0"]);
    check(&[], "1,x,1.5\n2,y,2", &["1|x|1.5", "2|y|2.0"]);
    check(&[], "1,x,1.5\r\n2,y,2\r\n", &["1|x|1.5", "2|y|2.0"]);
    check(&[], "1,x,1.5\r\n2,y,2\r", &["1|x|1.5", "2|y|2.0"]);
    check(&[], "\u{feff}1,x,1.5\n", &["1|x|1.5"]);
    check(&[], "\n\n1,x,1.5\n\r\n\n2,y,2\n\n", &["1|x|1.5", "2|y|2.0"]);
    check(&[], "", &[]);
    check(&[], "\n", &[]);
    check(&[], "1, x ,1.5\n 2 ,y, 2 \n", &["1| x |1.5", "2|y|2.0"]);
}

#[test]
fn a_compressed_file_is_told() {
    fails(&[], b"\x1f\x8b\x08\x00\x00", 0, "table `t`: f: it is compressed with gzip");
    fails(&[IGNORE], b"\x1f\x8b\n1,x,2\n", 0, "table `t`: f: it is compressed with gzip");
}

#[test]
fn quoted_fields() {
    check(&[], "1,\"x,y\",1.5\n", &["1|x,y|1.5"]);
    check(&[], "1,\"two\nlines\",1.5\n2,y,2\n", &["1|two\nlines|1.5", "2|y|2.0"]);
    check(&[], "1,\"say \"\"hi\"\"\",1.5\r\n", &["1|say \"hi\"|1.5"]);
    check(&[], "\"1\",\"\",\"1.5\"", &["1||1.5"]);
    check(&[], "1,in\"side,1.5\n", &["1|in\"side|1.5"]);
    check(&[], "1,\"ends\",\"2\"\r\n", &["1|ends|2.0"]);
    check(&[("csv.quote-character", "'")], "1,'x,\"',1.5\n", &["1|x,\"|1.5"]);
    check(&[("csv.disable-quote-character", "true")], "1,\"x,1.5\n", &["1|\"x|1.5"]);
}

#[test]
fn delimiters_escapes_and_comments() {
    check(&[("csv.field-delimiter", "\\t")], "1\tx,y\t1.5\n", &["1|x,y|1.5"]);
    check(&[("csv.field-delimiter", ";")], "1;x;1.5\n", &["1|x|1.5"]);
    check(&[("csv.escape-character", "\\")], "1,a\\,b,1.5\n2,\"q\\\"q\",2\n", &["1|a,b|1.5", "2|q\"q|2.0"]);
    check(&[("csv.allow-comments", "true")], "# a\n1,x,1.5\n#1,2\n2,#y,2\n#", &["1|x|1.5", "2|#y|2.0"]);
}

#[test]
fn nulls() {
    check(&[], "1,,\n,\"\",2\n", &["1||NULL", "NULL||2.0"]);
    check(&[("csv.null-literal", "NA")], "NA,NA,NA\n1,,2\n", &["NULL|NULL|NULL", "1||2.0"]);
    check(&[("csv.null-literal", "NA")], "1,\"NA\",NA\n2,\"\",\"2\"\n", &["1|NA|NULL", "2||2.0"]);
    check(&[("csv.null-literal", "NA")], "\"NA\",NA,\"NA\"\n", &["NULL|NULL|NULL"]);
    check(&[("csv.null-literal", "")], "1,,\n2,\"\",2\n", &["1|NULL|NULL", "2||2.0"]);
}

#[test]
fn a_header_maps_by_name() {
    let header = ("csv.header", "true");
    check(&[header], "c,skipped,a,b\n1.5,?,1,x\n", &["1|x|1.5"]);
    check(&[header], "\u{feff}\"a\",b,c\r\n1,x,1.5\r\n", &["1|x|1.5"]);
    check(&[header], "a,b,c\n", &[]);
    check(&[header], "a,b,c", &[]);
    check(&[header], "", &[]);
    fails(&[header], b"a,B,c\n1,x,1\n", 0, "table `t`: f, line 1: the header has no column 'b' (did you mean 'B'?)");
    fails(
        &[header, IGNORE],
        b"x,y\n1,x\n",
        0,
        "table `t`: f, line 1: the header has no column 'a' (did you mean 'x'?)",
    );
    fails(&[header], b"b,a1,c\n", 0, "table `t`: f, line 1: the header has no column 'a' (did you mean 'a1'?)");
    fails(&[header], b"b,c\n", 0, "table `t`: f, line 1: the header has no column 'a'");
    fails(&[header], b"a,b,c,a\n", 0, "table `t`: f, line 1: the header has more than one column 'a'");
    fails(&[header], b"a,b,c,d\n1,x,2\n", 0, "table `t`: f, line 2: 3 fields where the table has 4 columns");
}

#[test]
fn bad_rows_are_named() {
    fails(&[], b"1,x,1.5\n2,y,2\nabc,z,3\n", 2, "table `t`: f, line 3, column 'a': 'abc' is not a BIGINT");
    fails(&[], b"1,x,1,5\n", 0, "table `t`: f, line 1: 4 fields where the table has 3 columns");
    fails(&[], b"1,x,1\n\n2\n", 1, "table `t`: f, line 3: 1 field where the table has 3 columns");
    fails(&[], b"1,\"a\nb\",1\n2,x,?\n", 1, "table `t`: f, line 3, column 'c': '?' is not a DOUBLE");
    fails(&[], b"1,x,1\n2,\"open,2\n", 1, "table `t`: f, line 2: a quoted field is not closed");
    fails(&[], b"?,x,?\n", 0, "table `t`: f, line 1, column 'a': '?' is not a BIGINT");
    fails(
        &[],
        b"1,\"x\"y,2\n",
        0,
        "table `t`: f, line 1: behind a closing quote there is 'y' where ',' or the end of the line should be",
    );
    fails(&[], b"1,\xff\xfe,2\n", 0, "table `t`: f, line 1, column 'b': '\u{fffd}\u{fffd}' is not UTF-8");
}

#[test]
fn a_bad_row_harms_no_other() {
    skips(b"abc,y,2", "table `t`: f, line 2, column 'a': 'abc' is not a BIGINT");
    skips(b"abc,y,def", "table `t`: f, line 2, column 'a': 'abc' is not a BIGINT");
    skips(b"2,y", "table `t`: f, line 2: 2 fields where the table has 3 columns");
    skips(b"2,\"open,2", "table `t`: f, line 2: a quoted field is not closed");
    skips(b"2,\xff,2", "table `t`: f, line 2, column 'b': '\u{fffd}' is not UTF-8");
}

#[test]
fn an_open_quote_does_not_swallow_the_quoted_rows_behind_it() {
    let outcome = decode(&table(&abc(), &[CSV, IGNORE]), b"1,\"x,1\n2,\"y\",2\n3,\"z\",3\n");
    assert_eq!(outcome.rows, ["2|y|2.0", "3|z|3.0"]);
    assert_eq!(outcome.skipped, 1);
}

#[test]
fn many_bad_rows_are_counted_and_few_are_told() {
    let text = "bad\n".repeat(5_000) + "1,x,1.5\n";
    let outcome = decode(&table(&abc(), &[CSV, IGNORE]), text.as_bytes());
    assert_eq!((outcome.rows.len(), outcome.skipped, outcome.examples.len()), (1, 5_000, 10));
}

#[test]
fn half_characters_do_not_make_a_whole_one() {
    // The two bytes of an e acute, one in each row: together they are UTF-8, alone they are not.
    let outcome = decode(&table(&[("s", DataType::Utf8)], &[CSV, IGNORE]), b"\xc3\n\xa9\nok\n\xc3\xa9\n");
    assert_eq!(outcome.rows, ["ok", "\u{e9}"]);
    assert_eq!(outcome.skipped, 2);
}

#[test]
fn not_null_columns_refuse_null() {
    let outcome = decode(&table(&[("a!", DataType::Int64), ("b", DataType::Utf8)], &[CSV]), b"1,x\n,y\n");
    assert_eq!(outcome.rows, ["1|x"]);
    assert_eq!(outcome.error.as_deref(), Some("table `t`: f, line 2, column 'a': NULL in a BIGINT NOT NULL column"));
}

#[test]
fn all_types() {
    let types = [
        ("bool", DataType::Boolean, "TRUE"),
        ("tiny", DataType::Int8, "-128"),
        ("small", DataType::Int16, "32767"),
        ("int", DataType::Int32, "-5"),
        ("big", DataType::Int64, "9223372036854775807"),
        ("float", DataType::Float32, "0.1"),
        ("double", DataType::Float64, "1e3"),
        ("dec", DataType::Decimal128(38, 10), "1234567890123456789012345678.0123456789"),
        ("str", DataType::Utf8, "\u{e4}"),
        ("bin", DataType::Binary, "00ff"),
        ("date", DataType::Date32, "2026-01-01"),
        ("time", DataType::Time32(arrow::datatypes::TimeUnit::Millisecond), "10:00:00.123"),
        ("ts", timestamp(), "2026-01-01T10:00:00.123Z"),
        ("ltz", instant(), "2026-01-01T10:00:00.123+02:00"),
    ];
    let columns: Vec<_> = types.iter().map(|(name, data_type, _)| (*name, data_type.clone())).collect();
    let row = types.iter().map(|(_, _, text)| *text).collect::<Vec<_>>().join(",");
    let outcome = decode(&table(&columns, &[CSV]), format!("{row}\n{}\n", ",".repeat(13)).as_bytes());
    let expect = [
        "true|-128|32767|-5|9223372036854775807|0.1|1000.0|1234567890123456789012345678.0123456789|\u{e4}|00ff|\
         2026-01-01|10:00:00.123|2026-01-01 10:00:00.123|2026-01-01 08:00:00.123",
        "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL||NULL|NULL|NULL|NULL|NULL",
    ];
    assert_eq!(outcome.rows, expect);
}

#[test]
fn nested_columns_are_json() {
    let item = Arc::new(Field::new("item", DataType::Int64, true));
    let row = Fields::from(vec![Field::new("x", DataType::Int64, true), Field::new("y", DataType::Utf8, true)]);
    let table = table(&[("list", DataType::List(item)), ("row", DataType::Struct(row))], &[CSV]);
    let outcome = decode(&table, b"\"[1,null,2]\",\"{\"\"x\"\":1,\"\"y\"\":\"\"z\"\"}\"\n,\n[],{}\n");
    assert_eq!(outcome.rows, ["[1,null,2]|{\"x\":1,\"y\":\"z\"}", "NULL|NULL", "[]|{\"x\":null,\"y\":null}"]);
    let outcome = decode(&table, b"[1],\"{\"\"x\"\":\"\"q\"\"}\"\n");
    assert_eq!(outcome.error.as_deref(), Some("table `t`: f, line 1, column 'row.x': 'q' is not a BIGINT"));
    let outcome = decode(&table, b"[1,{}\n");
    assert_eq!(
        outcome.error.as_deref(),
        Some("table `t`: f, line 1, column 'list': '[1' is not an ARRAY<BIGINT> in JSON")
    );
}

#[test]
fn only_wanted_columns_are_read() {
    let table = table(&abc(), &[CSV]);
    let schema = table.physical_schema();
    let projection = Arc::new(Schema::new(vec![schema.field(2).clone(), schema.field(0).clone()]));
    assert_eq!(decode_columns(&table, b"1,x,1.5\n", &projection).rows, ["1.5|1"]);
    let b = Arc::new(Schema::new(vec![schema.field(1).clone()]));
    assert_eq!(decode_columns(&table, b"?,x,?\n", &b).rows, ["x"]);
    let none = Arc::new(Schema::empty());
    assert_eq!(decode_columns(&table, b"1,x,1\n2,y,2\n", &none).rows, ["", ""]);
}

#[test]
fn more_rows_than_a_block_or_a_batch() {
    let text: String = (0..5_000).map(|i| format!("{i},row {i},{i}\n")).collect();
    let expect: Vec<String> = (0..5_000).map(|i| format!("{i}|row {i}|{i}.0")).collect();
    assert_eq!(decode(&table(&abc(), &[CSV]), text.as_bytes()).rows, expect);
}

#[test]
fn a_text_without_offset_is_in_the_sessions_zone() {
    let table = table(&[("ltz", instant()), ("ts", timestamp())], &[CSV]);
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let text = b"2026-07-01 10:00:00,2026-07-01 10:00:00\n";
    let outcome = decode_in_pieces(&table, text, &table.physical_schema(), 10, 1_000, zone);
    assert_eq!(outcome.rows, ["2026-07-01 08:00:00.000|2026-07-01 10:00:00.000"]);
}

#[test]
fn options_are_checked() {
    let error = |key, value| Format::of(&table(&abc(), &[CSV, (key, value)])).unwrap_err();
    let long = error("csv.field-delimiter", ",,");
    assert_eq!(long.message, "expected a single ASCII character, found ',,'");
    assert_eq!(long.key.as_deref(), Some("csv.field-delimiter"));
    assert_eq!(
        error("csv.quote-character", ",").message,
        "the delimiter must differ from the quote and escape characters"
    );
    assert_eq!(
        error("json.ignore-parse-errors", "true").message,
        "'json.ignore-parse-errors' has no meaning with 'format' = 'csv'"
    );
}
