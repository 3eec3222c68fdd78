use crate::functions::check::{check, check_error, check_type};

#[test]
fn parts_of_text() {
    for (sql, expected) in [
        ("SUBSTRING('hello', 2)", "ello"),
        ("SUBSTRING('hello' FROM 2 FOR 3)", "ell"),
        ("SUBSTRING('hello', 0, 2)", "he"),
        ("SUBSTRING('hello', -3, 2)", "ll"),
        ("SUBSTRING('hello', -9, 5)", ""),
        ("SUBSTRING('hello', 9)", ""),
        ("SUBSTRING('hello', 2, -1)", "NULL"),
        ("SUBSTRING('日本語', 2, 1)", "本"),
        ("SUBSTR('hello', 2)", "ello"),
        ("SUBSTR(CAST(NULL AS STRING), 2)", "NULL"),
        ("LEFT('hello', 2)", "he"),
        ("LEFT('hello', -2)", ""),
        ("LEFT('日本語', 9)", "日本語"),
        ("RIGHT('hello', 2)", "lo"),
        ("RIGHT('hello', -2)", ""),
        ("RIGHT('日本語', 1)", "語"),
        ("SPLIT_INDEX('a,b,,c', ',', 0)", "a"),
        ("SPLIT_INDEX('a,b,,c', ',', 2)", ""),
        ("SPLIT_INDEX('a,b,,c', ',', 9)", "NULL"),
        ("SPLIT_INDEX('a,b,,c', ',', -1)", "NULL"),
        ("SPLIT_INDEX('a,b,,c', 44, 1)", "b"),
        ("SPLIT_INDEX('a||b', '||', 1)", "b"),
        ("SPLIT_INDEX('abc', '', 0)", "abc"),
        ("SPLIT_INDEX('', ',', 0)", "NULL"),
        ("SPLIT('a,b,,c', ',')", "[a, b, , c]"),
        ("SPLIT('abc', '')", "[a, b, c]"),
        ("SPLIT('', ',')", "[]"),
        ("SPLIT(CAST(NULL AS STRING), ',')", "NULL"),
    ] {
        check(sql, expected);
    }
    check_type("SPLIT('a', ',')", "ARRAY<STRING>");
}

#[test]
fn text_is_put_together() {
    for (sql, expected) in [
        ("CONCAT('a', 'b', 'c')", "abc"),
        ("CONCAT('a', CAST(NULL AS STRING))", "NULL"),
        ("CONCAT_WS('-', 'a', CAST(NULL AS STRING), 'b')", "a-b"),
        ("CONCAT_WS(CAST(NULL AS STRING), 'a', 'b')", "NULL"),
        ("'a' || CAST(NULL AS STRING)", "NULL"),
        ("LPAD('hi', 4, '??')", "??hi"),
        ("LPAD('hi', 5, 'abc')", "abchi"),
        ("LPAD('hi', 1, '??')", "h"),
        ("LPAD('hi', -1, '??')", "NULL"),
        ("LPAD('hi', 4, '')", "NULL"),
        ("RPAD('hi', 5, 'abc')", "hiabc"),
        ("REPEAT('ab', 3)", "ababab"),
        ("REPEAT('ab', -1)", ""),
        ("OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6)", "xxxxxxxxx"),
        ("OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6 FOR 2)", "xxxxxxxxxst"),
        ("OVERLAY('abc' PLACING 'X' FROM 0)", "abc"),
        ("OVERLAY('abc' PLACING 'X' FROM 9)", "abc"),
        // SQL inserts here; Flink drops the rest.
        ("OVERLAY('abc' PLACING 'X' FROM 2 FOR 0)", "aXbc"),
        ("OVERLAY('abc' PLACING 'X' FROM 2 FOR 99)", "aX"),
        ("REPLACE('hello', 'l', 'L')", "heLLo"),
        ("TRANSLATE('hello', 'el', 'ip')", "hippo"),
        ("TRANSLATE('hello', 'el', 'i')", "hio"),
        ("TRANSLATE('hello', 'll', 'xy')", "hexxo"),
        ("REVERSE('日本語')", "語本日"),
        ("INITCAP('hello wORLD-foo_bar 1abc')", "Hello World-Foo_Bar 1abc"),
        ("UPPER('straße')", "STRASSE"),
        ("LOWER('ÀB')", "àb"),
        ("TRIM('  a ')", "a"),
        ("TRIM(BOTH 'xy' FROM 'xyaxy')", "a"),
        ("TRIM(LEADING 'xy' FROM 'yxaxy')", "axy"),
        ("LTRIM('xxa', 'x')", "a"),
        ("RTRIM('a  ')", "a"),
        ("BTRIM('xax', 'x')", "a"),
    ] {
        check(sql, expected);
    }
    check_error("CONCAT('a', 1)", "CONCAT takes (STRING, ...), but argument 2 is BIGINT");
}

#[test]
fn text_is_searched_and_measured() {
    for (sql, expected) in [
        ("POSITION('l' IN 'hello')", "3"),
        ("POSITION('' IN 'hello')", "1"),
        ("POSITION('z' IN 'hello')", "0"),
        ("INSTR('hello', 'l')", "3"),
        ("LOCATE('l', 'hello', 4)", "4"),
        ("LOCATE('l', 'hello', 0)", "3"),
        ("LOCATE('l', 'hello', 99)", "0"),
        ("LOCATE('語', '日本語')", "3"),
        ("LOCATE(CAST(NULL AS STRING), 'hello')", "NULL"),
        ("STARTSWITH('hello', 'he')", "true"),
        ("ENDSWITH('hello', 'x')", "false"),
        ("CHAR_LENGTH('日本語')", "3"),
        ("CHARACTER_LENGTH('')", "0"),
        ("ASCII('abc')", "97"),
        ("ASCII('')", "0"),
        ("ASCII('é')", "-61"),
        ("CHR(97)", "a"),
        ("CHR(353)", "a"),
        ("CHR(228)", "ä"),
        ("CHR(-1)", ""),
        ("CHR(0)", "\0"),
    ] {
        check(sql, expected);
    }
    check_type("POSITION('l' IN 'hello')", "INT");
    check_type("CHAR_LENGTH('x')", "INT");
}

#[test]
fn urls_have_parts() {
    let url = "http://user@facebook.com:80/path1/p.php?k1=v1&k2=v2#Ref1";
    for (part, expected) in [
        ("HOST", "facebook.com"),
        ("PATH", "/path1/p.php"),
        ("QUERY", "k1=v1&k2=v2"),
        ("REF", "Ref1"),
        ("PROTOCOL", "http"),
        ("AUTHORITY", "user@facebook.com:80"),
        ("FILE", "/path1/p.php?k1=v1&k2=v2"),
        ("USERINFO", "user"),
        ("NOPE", "NULL"),
    ] {
        check(&format!("PARSE_URL('{url}', '{part}')"), expected);
    }
    for (sql, expected) in [
        (format!("PARSE_URL('{url}', 'QUERY', 'k2')"), "v2"),
        (format!("PARSE_URL('{url}', 'QUERY', 'zz')"), "NULL"),
        ("PARSE_URL('http://facebook.com', 'PATH')".into(), ""),
        ("PARSE_URL('http://facebook.com', 'QUERY')".into(), "NULL"),
        ("PARSE_URL('garbage', 'HOST')".into(), "NULL"),
        ("URL_ENCODE('a b&c')".into(), "a+b%26c"),
        ("URL_DECODE('a+b%26c')".into(), "a b&c"),
        ("URL_DECODE('%zz')".into(), "NULL"),
    ] {
        check(&sql, expected);
    }
}
