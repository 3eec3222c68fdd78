use crate::functions::check::{check, check_constant, check_error, check_type, value_of};

#[test]
fn doubles() {
    for (sql, expected) in [
        ("POWER(2, 10)", "1024.0"),
        ("SQRT(-1)", "NaN"),
        ("LN(0)", "-inf"),
        ("LN(1)", "0.0"),
        ("LOG(1)", "0.0"),
        ("LOG(2, 8)", "3.0"),
        ("LOG2(8)", "3.0"),
        ("LOG10(1000)", "3.0"),
        ("EXP(0)", "1.0"),
        ("SIN(0)", "0.0"),
        ("COT(0)", "inf"),
        ("ATAN2(0, 1)", "0.0"),
        ("RADIANS(180)", "3.141592653589793"),
        ("PI()", "3.141592653589793"),
        ("E()", "2.718281828459045"),
        ("SQRT(CAST(NULL AS INT))", "NULL"),
    ] {
        check(sql, expected);
    }
    check_type("POWER(2, 10)", "DOUBLE");
}

#[test]
fn numbers_round_in_their_type() {
    for (sql, expected, data_type) in [
        ("ROUND(2.5)", "3", "DECIMAL(2, 0)"),
        ("ROUND(-2.5)", "-3", "DECIMAL(2, 0)"),
        ("ROUND(CAST(2.5 AS DOUBLE))", "3.0", "DOUBLE"),
        ("ROUND(CAST(1.005 AS DOUBLE), 2)", "1.01", "DOUBLE"),
        ("ROUND(CAST(1.2345 AS DECIMAL(10, 4)), 2)", "1.23", "DECIMAL(9, 2)"),
        ("ROUND(CAST(1.2345 AS DECIMAL(10, 4)), 6)", "1.2345", "DECIMAL(10, 4)"),
        ("ROUND(CAST(123.45 AS DECIMAL(10, 2)), -1)", "120", "DECIMAL(9, 0)"),
        ("ROUND(CAST(99.995 AS DECIMAL(5, 3)), 2)", "100.00", "DECIMAL(5, 2)"),
        ("ROUND(1250, -2)", "1300", "BIGINT"),
        ("ROUND(CAST(1234 AS INT))", "1234", "INT"),
        ("TRUNCATE(-1.9)", "-1", "DECIMAL(2, 0)"),
        ("TRUNCATE(CAST(42.345 AS DOUBLE), 2)", "42.34", "DOUBLE"),
        ("TRUNCATE(CAST(1.2345 AS DECIMAL(10, 4)), 2)", "1.23", "DECIMAL(9, 2)"),
        ("FLOOR(-1.5)", "-2", "DECIMAL(2, 0)"),
        ("FLOOR(CAST(-1.5 AS DOUBLE))", "-2.0", "DOUBLE"),
        ("FLOOR(CAST(5 AS INT))", "5", "INT"),
        ("CEIL(1.5)", "2", "DECIMAL(2, 0)"),
        ("CEILING(CAST(1.2 AS DOUBLE))", "2.0", "DOUBLE"),
        ("ROUND(CAST(NULL AS DECIMAL(5, 3)), 2)", "NULL", "DECIMAL(5, 2)"),
    ] {
        check_constant(sql, expected);
        check_type(sql, data_type);
    }
    check_error("ROUND(9223372036854775807, -1)", "does not fit into BIGINT");
    check("ROUND(CAST(2.5 AS DOUBLE), CAST(NULL AS INT))", "NULL");
}

#[test]
fn signs_and_digits() {
    for (sql, expected) in [
        ("ABS(-5)", "5"),
        ("ABS(CAST(-5.5 AS DOUBLE))", "5.5"),
        ("SIGN(-5)", "-1"),
        ("SIGN(-5.5)", "-1.0"),
        ("SIGN(CAST(0 AS DOUBLE))", "0.0"),
        ("BIN(4)", "100"),
        ("BIN(-1)", "1111111111111111111111111111111111111111111111111111111111111111"),
    ] {
        check(sql, expected);
    }
    check_type("SIGN(CAST(1 AS INT))", "INT");
}

#[test]
fn random_numbers_are_in_range() {
    let (random, _) = value_of("RAND()").unwrap();
    assert!((0.0..1.0).contains(&random.parse::<f64>().unwrap()), "{random}");
    for _ in 0..20 {
        let (random, data_type) = value_of("RAND_INTEGER(3)").unwrap();
        assert!(["0", "1", "2"].contains(&random.as_str()), "{random}");
        assert_eq!(data_type, "INT");
    }
    check_error("RAND_INTEGER(0)", "RAND_INTEGER takes a positive INT, not 0");
}
