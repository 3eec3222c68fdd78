use crate::functions::check::{check, check_error, check_type};

#[test]
fn regular_expressions() {
    for (sql, expected) in [
        ("REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)", "bar"),
        ("REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)')", "foothebar"),
        ("REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 3)", "NULL"),
        ("REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', -1)", "NULL"),
        ("REGEXP_EXTRACT('foothebar', 'zzz', 0)", "NULL"),
        ("REGEXP_EXTRACT('ab', '(x)?ab', 1)", "NULL"),
        ("REGEXP_EXTRACT(CAST(NULL AS STRING), 'x')", "NULL"),
        ("REGEXP_EXTRACT_ALL('100-200, 300-400', '(\\d+)-(\\d+)')", "[100, 300]"),
        ("REGEXP_EXTRACT_ALL('100-200, 300-400', '(\\d+)-(\\d+)', 2)", "[200, 400]"),
        ("REGEXP_REPLACE('foobar', 'oo|ar', '')", "fb"),
        // The replacement is taken as it stands, as Flink does.
        ("REGEXP_REPLACE('foobar', 'o(b)', '[$1]')", "fo[$1]ar"),
        ("REGEXP_REPLACE('foobar', CAST(NULL AS STRING), 'x')", "NULL"),
        ("REGEXP('foobar', 'o+b')", "true"),
        ("REGEXP('foobar', '^o')", "false"),
        ("REGEXP_COUNT('foobarfoo', 'o')", "4"),
        ("REGEXP_INSTR('日本語語', '語+')", "3"),
        ("REGEXP_INSTR('hello', 'z')", "0"),
        ("REGEXP_SUBSTR('hello', 'l+')", "ll"),
        ("REGEXP_SUBSTR('hello', 'z')", "NULL"),
    ] {
        check(sql, expected);
    }
    check_type("REGEXP_COUNT('foo', 'o')", "INT");
    check_error("REGEXP('foobar', '(')", "the regular expression '(' is not valid: unclosed group");
    check_error("REGEXP('foobar', 'a(?=b)')", "the regular expression 'a(?=b)' is not valid: look-around");
}

#[test]
fn similar_to_matches_the_whole_text() {
    for (sql, expected) in [
        ("'abc' SIMILAR TO 'a%'", "true"),
        ("'abc' SIMILAR TO 'b%'", "false"),
        ("'abc' SIMILAR TO '(b|d)%'", "false"),
        ("'abc' SIMILAR TO '%(b|d)%'", "true"),
        ("'abc' SIMILAR TO 'a_c'", "true"),
        ("'abc' SIMILAR TO '[a-c]+'", "true"),
        ("'abc' SIMILAR TO 'a.c'", "true"),
        ("'a$c' SIMILAR TO 'a$c'", "true"),
        ("'a%c' SIMILAR TO 'a!%c' ESCAPE '!'", "true"),
        ("'abc' SIMILAR TO 'a!%c' ESCAPE '!'", "false"),
        ("'abc' NOT SIMILAR TO 'a%'", "false"),
        ("CAST(NULL AS STRING) SIMILAR TO 'a%'", "NULL"),
    ] {
        check(sql, expected);
    }
    check_error("'abc' SIMILAR TO '(a'", "the pattern '(a' of SIMILAR TO is not valid");
    check_error("'abc' SIMILAR TO 'a!' ESCAPE '!'", "the pattern 'a!' ends with its escape character");
}
