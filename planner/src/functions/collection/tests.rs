use crate::functions::check::{check, check_constant, check_error, check_type};

#[test]
fn arrays() {
    for (sql, expected) in [
        ("CARDINALITY(ARRAY[1, 2, 3])", "3"),
        ("ELEMENT(ARRAY[1])", "1"),
        ("ARRAY_CONTAINS(ARRAY[1, 2], 2)", "true"),
        ("ARRAY_CONTAINS(ARRAY[1, 2], 3)", "false"),
        ("ARRAY_DISTINCT(ARRAY[1, 2, 1])", "[1, 2]"),
        ("ARRAY_POSITION(ARRAY[1, 2, 1], 2)", "2"),
        ("ARRAY_POSITION(ARRAY[1, 2, 1], 9)", "0"),
        ("ARRAY_REMOVE(ARRAY[1, 2, 1], 1)", "[2]"),
        ("ARRAY_REVERSE(ARRAY[1, 2, 3])", "[3, 2, 1]"),
        ("ARRAY_UNION(ARRAY[1, 2], ARRAY[2, 3])", "[1, 2, 3]"),
        ("ARRAY_CONCAT(ARRAY[1, 2], ARRAY[2, 3])", "[1, 2, 2, 3]"),
        ("ARRAY_INTERSECT(ARRAY[1, 2], ARRAY[2, 3])", "[2]"),
        ("ARRAY_EXCEPT(ARRAY[1, 2], ARRAY[2, 3])", "[1]"),
        ("ARRAY_MAX(ARRAY[1, 2])", "2"),
        ("ARRAY_MIN(ARRAY[1, 2])", "1"),
        ("ARRAY_JOIN(ARRAY['a', 'b', CAST(NULL AS STRING)], '-')", "a-b"),
        ("ARRAY_APPEND(ARRAY[1, 2], 3)", "[1, 2, 3]"),
        ("ARRAY_PREPEND(ARRAY[1, 2], 3)", "[3, 1, 2]"),
    ] {
        check_constant(sql, expected);
    }
    for (sql, expected) in [
        ("ARRAY_SLICE(ARRAY[1, 2, 3], 2)", "[2, 3]"),
        ("ARRAY_SLICE(ARRAY[1, 2, 3], 1, 2)", "[1, 2]"),
        ("ARRAY_SLICE(ARRAY[1, 2, 3], -2, -1)", "[2, 3]"),
        ("ARRAY_SORT(ARRAY[3, 1, CAST(NULL AS BIGINT), 2])", "[NULL, 1, 2, 3]"),
        ("ARRAY_SORT(ARRAY[3, 1, CAST(NULL AS BIGINT), 2], FALSE)", "[3, 2, 1, NULL]"),
        ("ARRAY_SORT(ARRAY[3, 1, CAST(NULL AS BIGINT), 2], TRUE, FALSE)", "[1, 2, 3, NULL]"),
    ] {
        check_constant(sql, expected);
    }
    check_type("CARDINALITY(ARRAY[1])", "INT");
    check_type("ARRAY_POSITION(ARRAY[1], 1)", "INT");
    check_error("ELEMENT(ARRAY[1, 2])", "ELEMENT takes an array of one element, not of 2");
}

#[test]
fn maps() {
    check("CARDINALITY(STR_TO_MAP('k1=v1,k2=v2'))", "2");
    check("STR_TO_MAP('k1=v1,k2')", "{k1: v1, k2: NULL}");
    check("STR_TO_MAP('a:1;a:2', ';', ':')", "{a: 2}");
    check("MAP_KEYS(STR_TO_MAP('k1=v1,k2=v2'))", "[k1, k2]");
    check("MAP_VALUES(STR_TO_MAP('k1=v1,k2=v2'))", "[v1, v2]");
    check_constant("MAP_FROM_ARRAYS(ARRAY['a', 'b'], ARRAY[1, 2])", "{a: 1, b: 2}");
    check_type("STR_TO_MAP('a=b')", "MAP<STRING, STRING>");
}
