use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema};

use super::super::testing::{Decoded, decode, decode_columns, table, timestamp};

const JSON: (&str, &str) = ("format", "json");
const IGNORE: (&str, &str) = ("json.ignore-parse-errors", "true");

fn abc() -> Vec<(&'static str, DataType)> {
    vec![("a", DataType::Int64), ("b", DataType::Utf8), ("c", DataType::Float64)]
}

fn nested() -> Vec<(&'static str, DataType)> {
    let list = |item| DataType::List(Arc::new(Field::new("item", item, true)));
    let row = |fields: Vec<(&str, DataType)>| {
        DataType::Struct(fields.into_iter().map(|(n, t)| Field::new(n, t, true)).collect::<Fields>())
    };
    let entries =
        Fields::from(vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Int64, true)]);
    vec![
        ("tags", list(DataType::Utf8)),
        ("point", row(vec![("x", DataType::Int64), ("y", list(row(vec![("z", DataType::Boolean)])))])),
        ("counts", DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)),
    ]
}

fn check(text: &str, expect: &[&str]) {
    let outcome = decode(&table(&abc(), &[JSON]), text.as_bytes());
    assert_eq!(outcome, Decoded { rows: expect.iter().map(|s| s.to_string()).collect(), ..Decoded::default() });
}

/// The text's second line is bad: it ends the reading, or is skipped and harms no other.
fn bad(second: &str, expect: &str) {
    let text = format!("{{\"a\":1,\"b\":\"x\",\"c\":1.5}}\n{second}\n{{\"a\":3,\"b\":\"z\",\"c\":3.5}}\n");
    let expect = format!("table `t`: f, line 2{expect}");
    let outcome = decode(&table(&abc(), &[JSON]), text.as_bytes());
    assert_eq!(outcome.rows, ["1|x|1.5"]);
    assert_eq!(outcome.error.as_deref(), Some(expect.as_str()));
    let outcome = decode(&table(&abc(), &[JSON, IGNORE]), text.as_bytes());
    assert_eq!(outcome.rows, ["1|x|1.5", "3|z|3.5"]);
    assert_eq!((outcome.skipped, outcome.examples), (1, vec![expect]));
}

#[test]
fn objects_one_a_line() {
    check("{\"a\":1,\"b\":\"x\",\"c\":1.5}\n{\"a\":2,\"b\":\"y\",\"c\":2}\n", &["1|x|1.5", "2|y|2.0"]);
    check(
        "\u{feff}{\"a\":1}\r\n\r\n  \n { \"b\" : \"x\" , \"a\" : 2 } \r\n{}",
        &["1|NULL|NULL", "2|x|NULL", "NULL|NULL|NULL"],
    );
    check("", &[]);
}

#[test]
fn fields_by_name() {
    check("{\"c\":1,\"extra\":{\"deep\":[1,{\"a\":9}]},\"a\":1}\n", &["1|NULL|1.0"]);
    check("{\"A\":9,\"a\":1,\"B\":\"no\"}\n", &["1|NULL|NULL"]);
    check(
        "{\"a\":1,\"a\":2}\n{\"a\":null,\"a\":3}\n{\"a\":4,\"a\":null}\n",
        &["2|NULL|NULL", "3|NULL|NULL", "NULL|NULL|NULL"],
    );
    check("{\"\\u0061\":1}\n", &["1|NULL|NULL"]);
    check("{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n{\"c\":3}\n", &["1|x|NULL", "2|y|NULL", "NULL|NULL|3.0"]);
}

#[test]
fn values_in_other_clothes() {
    check("{\"a\":\"1\",\"b\":2.50,\"c\":\"3.5\"}\n", &["1|2.50|3.5"]);
    check("{\"a\":1.0,\"b\":true,\"c\":1e2}\n", &["1|true|100.0"]);
    check("{\"b\":{\"x\":[1, 2]}}\n{\"b\":\"\"}\n", &["NULL|{\"x\":[1, 2]}|NULL", "NULL||NULL"]);
}

#[test]
fn strings_with_escapes() {
    check(r#"{"b":"q\"b\\s\/n\nu\u00e9p\ud83d\ude00"}"#, &["NULL|q\"b\\s/n\nu\u{e9}p\u{1F600}|NULL"]);
    check(r#"{"b":"half \ud83d pair"}"#, &["NULL|half \u{fffd} pair|NULL"]);
}

#[test]
fn malformed_lines_harm_no_other() {
    bad("{\"a\":1", ", character 7: not JSON: expected ',' or '}'");
    bad("{\"a\":", ", character 6: not JSON: the line ends within a value");
    bad("{\"a\" 1}", ", character 6: not JSON: expected ':'");
    bad("{\"a\":1,}", ", character 8: not JSON: expected a key in quotes");
    bad("{a:1}", ", character 2: not JSON: expected a key in quotes");
    bad("{\"b\":\"open}", ", character 6: not JSON: a string is not closed");
    bad("{\"a\":1}}", ", character 8: not JSON: expected the line to end behind the object");
    bad("[1,2]", ", character 1: not JSON: expected a JSON object");
    bad("hello", ", character 1: not JSON: expected a JSON object");
    bad("{\"x\":tru}", ", character 6: not JSON: expected a value");
    bad("{\"x\":01}", ", character 7: not JSON: expected ',' or '}'");
    bad("{\"x\":1.}", ", character 8: not JSON: expected a digit");
    bad("{\"x\":\"\\q\"}", ", character 7: not JSON: this is no escape sequence");
    bad("{\"x\":\"a\tb\"}", ", character 8: not JSON: a control character in a string must be escaped");
    bad("{\"\u{e9}\":?}", ", character 6: not JSON: expected a value");
}

#[test]
fn values_that_do_not_fit_are_named() {
    bad("{\"a\":\"abc\"}", ", column 'a': 'abc' is not a BIGINT");
    bad("{\"a\":1.5}", ", column 'a': '1.5' is not a BIGINT");
    bad("{\"a\":\"\"}", ", column 'a': '' is not a BIGINT");
    bad("{\"a\":9223372036854775808}", ", column 'a': '9223372036854775808' is not a BIGINT");
    bad("{\"c\":[1]}", ", column 'c': '[1]' is not a DOUBLE");
    bad("{\"c\":true,\"a\":false}", ", column 'a': 'false' is not a BIGINT");
}

#[test]
fn nesting_has_a_limit() {
    let deep = |n: usize| format!("{{\"x\":{}{}}}", "[".repeat(n), "]".repeat(n));
    check(&deep(super::scan::MAX_DEPTH - 1), &["NULL|NULL|NULL"]);
    bad(&deep(100_000), ", character 133: not JSON: nested too deeply");
}

#[test]
fn decimals_are_exact() {
    let table = table(&[("d", DataType::Decimal128(38, 18)), ("t", timestamp()), ("f", DataType::Boolean)], &[JSON]);
    let text = b"{\"d\":12345678901234567890.123456789012345678,\"t\":\"2026-01-01T10:00:00Z\",\"f\":true}\n\
        {\"d\":\"0.1\",\"t\":\"2026-01-01 10:00:00.5\",\"f\":\"false\"}\n";
    let expect = [
        "12345678901234567890.123456789012345678|2026-01-01 10:00:00.000|true",
        "0.100000000000000000|2026-01-01 10:00:00.500|false",
    ];
    assert_eq!(decode(&table, text).rows, expect);
}

#[test]
fn nested_values() {
    let text = concat!(
        r#"{"tags":["a",null,"b\n"],"point":{"y":[{"z":true},null,{}],"x":"1"},"counts":{"k":1,"l":null}}"#,
        "\n{}\n",
        r#"{"tags":[],"point":{},"counts":{}}"#,
        "\n",
        r#"{"tags":null,"point":null,"counts":null}"#,
        "\n"
    );
    let expect = [
        r#"["a",null,"b\n"]|{"x":1,"y":[{"z":true},null,{"z":null}]}|{"k":1,"l":null}"#,
        "NULL|NULL|NULL",
        r#"[]|{"x":null,"y":null}|{}"#,
        "NULL|NULL|NULL",
    ];
    assert_eq!(decode(&table(&nested(), &[JSON]), text.as_bytes()).rows, expect);
}

#[test]
fn nested_faults_are_named() {
    let fault = |text: &str, expect: &str| {
        let good = "{\"tags\":[\"x\",\"y\"],\"point\":{\"y\":[{},{}]},\"counts\":{\"j\":1}}\n";
        let text = [good, text, "\n", good].concat();
        let outcome = decode(&table(&nested(), &[JSON]), text.as_bytes());
        assert_eq!(outcome.error, Some(format!("table `t`: f, line 2, column '{expect}")));
        let outcome = decode(&table(&nested(), &[JSON, IGNORE]), text.as_bytes());
        assert_eq!((outcome.rows.len(), outcome.skipped), (2, 1));
    };
    fault(r#"{"tags":{"a":1}}"#, r#"tags': '{"a":1}' is not an ARRAY<STRING>"#);
    fault(r#"{"point":[]}"#, "point': '[]' is not a ROW<`x` BIGINT, `y` ARRAY<ROW<`z` BOOLEAN>>>");
    fault(r#"{"point":{"x":"q"}}"#, "point.x': 'q' is not a BIGINT");
    fault(r#"{"point":{"y":[{},{"z":7}]}}"#, "point.y[2].z': '7' is not a BOOLEAN");
    fault(r#"{"counts":{"k":1,"l":"m"}}"#, r#"counts["l"]': 'm' is not a BIGINT"#);
}

#[test]
fn missing_fields_may_be_refused() {
    let table = table(&abc(), &[JSON, ("json.fail-on-missing-field", "true")]);
    let outcome = decode(&table, b"{\"a\":1,\"b\":null,\"c\":1}\n{\"a\":1,\"c\":1}\n");
    assert_eq!(outcome.rows, ["1|NULL|1.0"]);
    assert_eq!(outcome.error.as_deref(), Some("table `t`: f, line 2: the field 'b' is missing"));
}

#[test]
fn only_wanted_columns_are_read() {
    let table = table(&abc(), &[JSON]);
    let projection = Arc::new(Schema::new(vec![table.physical_schema().field(1).clone()]));
    assert_eq!(decode_columns(&table, b"{\"a\":\"?\",\"b\":\"x\"}\n", &projection).rows, ["x"]);
    assert_eq!(decode_columns(&table, b"{\"a\":1}\n{}\n", &Arc::new(Schema::empty())).rows, ["", ""]);
}

#[test]
fn more_rows_than_a_block_or_a_batch() {
    let text: String = (0..5_000).map(|i| format!("{{\"a\":{i},\"b\":\"row {i}\",\"c\":{i}}}\n")).collect();
    let expect: Vec<String> = (0..5_000).map(|i| format!("{i}|row {i}|{i}.0")).collect();
    assert_eq!(decode(&table(&abc(), &[JSON]), text.as_bytes()).rows, expect);
}
