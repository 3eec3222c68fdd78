use crate::functions::check::{check, check_error, check_type};

#[test]
fn hexadecimal() {
    for (sql, expected) in [
        ("HEX(255)", "FF"),
        ("HEX(-1)", "FFFFFFFFFFFFFFFF"),
        ("HEX('hello')", "68656C6C6F"),
        ("HEX(CAST(NULL AS BIGINT))", "NULL"),
        ("UNHEX('68656C6C6F')", "68656c6c6f"),
        ("UNHEX('6')", "00"),
        ("UNHEX('zz')", "NULL"),
    ] {
        check(sql, expected);
    }
    check_type("UNHEX('68')", "BYTES");
}

#[test]
fn base64() {
    for (text, encoded) in
        [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("hello world", "aGVsbG8gd29ybGQ=")]
    {
        check(&format!("TO_BASE64('{text}')"), encoded);
        check(&format!("FROM_BASE64('{encoded}')"), text);
    }
    check("FROM_BASE64('Zm8')", "fo");
    check_error("FROM_BASE64('***')", "'***' is not Base64");
    check_error("FROM_BASE64('Zm8==')", "'Zm8==' is not Base64");
}

#[test]
fn character_sets() {
    for (sql, expected) in [
        ("ENCODE('hé', 'UTF-8')", "68c3a9"),
        ("ENCODE('hé', 'iso-8859-1')", "68e9"),
        ("ENCODE('hé', 'US-ASCII')", "683f"),
        ("ENCODE('h', 'UTF-16')", "feff0068"),
        ("ENCODE('h', 'UTF-16LE')", "6800"),
        ("DECODE(ENCODE('hé', 'UTF-16BE'), 'UTF-16BE')", "hé"),
        ("DECODE(ENCODE('h😀', 'UTF-16'), 'UTF-16')", "h😀"),
        ("DECODE(UNHEX('ff'), 'UTF-8')", "\u{fffd}"),
        ("ENCODE(CAST(NULL AS STRING), 'UTF-8')", "NULL"),
    ] {
        check(sql, expected);
    }
    check_error("ENCODE('h', 'NOPE')", "unknown character set 'NOPE'");
}
