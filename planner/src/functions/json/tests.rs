use crate::functions::check::{check, check_error};

#[test]
fn json_value_gives_scalars_as_text() {
    for (json, path, expected) in [
        (r#"{"a": true}"#, "$.a", "true"),
        (r#"{"a": 1.50}"#, "$.a", "1.50"),
        (r#"{"a": 12345678901234567890123}"#, "$.a", "12345678901234567890123"),
        (r#"{"a": "x\ny"}"#, "lax $.a", "x\ny"),
        (r#"{"a": null}"#, "$.a", "NULL"),
        (r#"{"a": {"b": 1}}"#, "$.a", "NULL"),
        (r#"{"a": [1, 2]}"#, "$.a[1]", "2"),
        (r#"{"a": [1, 2]}"#, "$.a[*]", "NULL"),
        (r#"{"a": 1}"#, "strict $.b", "NULL"),
        (r#"{"a": 1}"#, "lax $.b", "NULL"),
        (r#"{"a b": 1}"#, "$[\"a b\"]", "1"),
        ("garbage", "$.a", "NULL"),
        (r#""x""#, "$", "x"),
    ] {
        check(&format!("JSON_VALUE('{json}', '{path}')"), expected);
    }
    check("JSON_VALUE('{\"a b\": 1}', '$[''a b'']')", "1");
    check("JSON_VALUE(CAST(NULL AS STRING), '$.a')", "NULL");
    check_error("JSON_VALUE('{}', 'nonsense[')", "'nonsense[' is not a JSON path");
}

#[test]
fn json_query_gives_objects_and_arrays() {
    for (json, path, expected) in [
        (r#"{"a": {"b": 1}}"#, "$.a", r#"{"b":1}"#),
        (r#"{"a": [1, 2, {"c": "x y"}]}"#, "$.a", r#"[1,2,{"c":"x y"}]"#),
        (r#"{"a": 1}"#, "$.a", "NULL"),
        (r#"{"a": null}"#, "$.a", "NULL"),
        (r#"{"a": 1}"#, "strict $.b", "NULL"),
        ("garbage", "$.b", "NULL"),
        (r#"{"a": [1, 2]}"#, "$.a[*]", "[1,2]"),
        (r#"{"z": 1, "a": {"z": 1, "b": 2}}"#, "$", r#"{"a":{"b":2,"z":1},"z":1}"#),
    ] {
        check(&format!("JSON_QUERY('{json}', '{path}')"), expected);
    }
}

#[test]
fn json_exists_finds_what_is_not_null() {
    for (json, path, expected) in [
        (r#"{"a": true}"#, "$.a", "true"),
        (r#"{"a": null}"#, "$.a", "false"),
        (r#"{"a": true}"#, "$.b", "false"),
        (r#"{"a": [{"b": 5}]}"#, "$.a[?(@.b > 4)]", "true"),
        (r#"{"a": [{"b": 5}]}"#, "$.a[?(@.b > 5)]", "false"),
        ("garbage", "$.b", "false"),
    ] {
        check(&format!("JSON_EXISTS('{json}', '{path}')"), expected);
    }
    check("JSON_EXISTS(CAST(NULL AS STRING), '$.b')", "NULL");
}

#[test]
fn json_string_quotes_text() {
    check("JSON_STRING('a\"b')", r#""a\"b""#);
    check("JSON_STRING(1)", "1");
    check("JSON_STRING(CAST(NULL AS STRING))", "NULL");
    check_error("JSON_STRING(DATE '2024-01-01')", "JSON_STRING takes text, numbers and booleans, not DATE");
}
