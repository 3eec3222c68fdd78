use crate::functions::check::{check, check_constant, check_error, check_type};

const TS: &str = "CAST('2024-02-29 13:05:09.123456' AS TIMESTAMP(6))";
const MS: &str = "CAST('2024-02-29 13:05:09.123' AS TIMESTAMP(3))";
/// Eight o'clock in the morning of the tests' zone.
const EPOCH: &str = "TO_TIMESTAMP_LTZ(0, 3)";

#[test]
fn fields_of_times() {
    for (unit, expected) in [
        ("YEAR", "2024"),
        ("QUARTER", "1"),
        ("MONTH", "2"),
        ("WEEK", "9"),
        ("DAY", "29"),
        ("DOY", "60"),
        ("DOW", "5"),
        ("ISODOW", "4"),
        ("HOUR", "13"),
        ("MINUTE", "5"),
        ("SECOND", "9"),
        ("MILLISECOND", "123"),
        ("MICROSECOND", "123456"),
        ("NANOSECOND", "123456000"),
        ("EPOCH", "1709211909"),
        ("CENTURY", "21"),
        ("DECADE", "202"),
        ("MILLENNIUM", "3"),
    ] {
        check_constant(&format!("EXTRACT({unit} FROM {TS})"), expected);
    }
    check_constant("EXTRACT(ISOYEAR FROM DATE '2024-12-30')", "2025");
    check_constant("EXTRACT(WEEK FROM DATE '2024-12-30')", "1");
    check_constant("EXTRACT(HOUR FROM DATE '2024-02-29')", "0");
    check_type("EXTRACT(YEAR FROM DATE '2024-02-29')", "BIGINT");
    check("DAYOFWEEK(DATE '2024-03-03')", "1");
    check("DAYOFMONTH(DATE '2024-03-03')", "3");
    check("DAYOFYEAR(DATE '2024-12-31')", "366");
    check("QUARTER(DATE '2024-12-31')", "4");
    check("HOUR(CAST(NULL AS TIMESTAMP(3)))", "NULL");
    check_error("YEAR('2024-01-01')", "YEAR takes (DATE|TIME|TIMESTAMP), but argument 1 is STRING");
}

#[test]
fn times_before_1970_are_ordinary() {
    let before = "CAST('1969-12-31 23:59:58.500' AS TIMESTAMP(3))";
    check_constant(&format!("EXTRACT(HOUR FROM {before})"), "23");
    check_constant(&format!("EXTRACT(SECOND FROM {before})"), "58");
    check_constant(&format!("FLOOR({before} TO SECOND)"), "1969-12-31 23:59:58.000");
    check_constant(&format!("CEIL({before} TO DAY)"), "1970-01-01 00:00:00.000");
}

#[test]
fn fields_of_instants_are_those_of_the_zone() {
    check_constant(&format!("EXTRACT(HOUR FROM {EPOCH})"), "8");
    check_constant(&format!("EXTRACT(EPOCH FROM {EPOCH})"), "0");
    check_constant(&format!("FLOOR({EPOCH} TO DAY)"), "1970-01-01 00:00:00.000");
    check_constant(&format!("EXTRACT(EPOCH FROM FLOOR({EPOCH} TO DAY))"), "-28800");
}

#[test]
fn times_round_to_units() {
    for (unit, floor, ceil) in [
        ("MILLISECOND", "2024-02-29 13:05:09.123", "2024-02-29 13:05:09.123"),
        ("SECOND", "2024-02-29 13:05:09.000", "2024-02-29 13:05:10.000"),
        ("MINUTE", "2024-02-29 13:05:00.000", "2024-02-29 13:06:00.000"),
        ("HOUR", "2024-02-29 13:00:00.000", "2024-02-29 14:00:00.000"),
        ("DAY", "2024-02-29 00:00:00.000", "2024-03-01 00:00:00.000"),
        ("WEEK", "2024-02-25 00:00:00.000", "2024-03-03 00:00:00.000"),
        ("MONTH", "2024-02-01 00:00:00.000", "2024-03-01 00:00:00.000"),
        ("QUARTER", "2024-01-01 00:00:00.000", "2024-04-01 00:00:00.000"),
        ("YEAR", "2024-01-01 00:00:00.000", "2025-01-01 00:00:00.000"),
        ("CENTURY", "2001-01-01 00:00:00.000", "2101-01-01 00:00:00.000"),
        ("DECADE", "2020-01-01 00:00:00.000", "2030-01-01 00:00:00.000"),
    ] {
        check_constant(&format!("FLOOR({MS} TO {unit})"), floor);
        check_constant(&format!("CEIL({MS} TO {unit})"), ceil);
    }
    check_constant("CEIL(CAST('2024-02-29 13:00:00' AS TIMESTAMP(3)) TO HOUR)", "2024-02-29 13:00:00.000");
    check_constant("FLOOR(DATE '2024-02-29' TO MONTH)", "2024-02-01");
    check_constant("CEIL(DATE '2024-02-29' TO MONTH)", "2024-03-01");
    check_type(&format!("FLOOR({TS} TO HOUR)"), "TIMESTAMP(6)");
    check_type("FLOOR(DATE '2024-02-29' TO MONTH)", "DATE");
    check_error(&format!("FLOOR({MS} TO DOW)"), "times cannot be rounded to DOW");
}

#[test]
fn units_are_added() {
    for (sql, expected) in [
        ("TIMESTAMPADD(MINUTE, 5, CAST('2024-01-01 00:00:00' AS TIMESTAMP(3)))", "2024-01-01 00:05:00.000"),
        ("TIMESTAMPADD(MONTH, 1, CAST('2024-01-31 10:00:00' AS TIMESTAMP(3)))", "2024-02-29 10:00:00.000"),
        ("TIMESTAMPADD(MONTH, -1, DATE '2024-03-31')", "2024-02-29"),
        ("TIMESTAMPADD(DAY, 1, DATE '2024-02-28')", "2024-02-29"),
        ("TIMESTAMPADD(HOUR, 1, DATE '2024-02-28')", "2024-02-28 01:00:00.000"),
        ("TIMESTAMPADD(YEAR, 1, CAST('2024-02-29 00:00:00' AS TIMESTAMP(3)))", "2025-02-28 00:00:00.000"),
        ("TIMESTAMPADD(WEEK, 1, DATE '2024-02-29')", "2024-03-07"),
        ("TIMESTAMPADD(QUARTER, 1, DATE '2024-02-29')", "2024-05-29"),
        ("TIMESTAMPADD(SECOND, -1, CAST('1970-01-01 00:00:00' AS TIMESTAMP(3)))", "1969-12-31 23:59:59.000"),
        ("TIMESTAMPADD(DAY, CAST(NULL AS INT), DATE '2024-02-29')", "NULL"),
    ] {
        check_constant(sql, expected);
    }
    check_type("TIMESTAMPADD(HOUR, 1, DATE '2024-02-28')", "TIMESTAMP(6)");
    check_type(&format!("TIMESTAMPADD(MICROSECOND, 1, {MS})"), "TIMESTAMP(6)");
    check_type(&format!("TIMESTAMPADD(DAY, 1, {EPOCH})"), "TIMESTAMP_LTZ(3)");
    check_error("TIMESTAMPADD(FORTNIGHT, 1, DATE '2024-02-28')", "TIMESTAMPADD needs a unit of time");
    check_error(&format!("TIMESTAMPADD(DAY, 9223372036854775807, {MS})"), "timestamp out of range");
}

#[test]
fn differences_are_whole_units_towards_zero() {
    let time = |text: &str| format!("CAST('{text}' AS TIMESTAMP(3))");
    for (unit, from, to, expected) in [
        ("SECOND", "2024-01-01 00:00:00", "2024-01-01 00:01:00.900", "60"),
        ("MINUTE", "2024-01-01 00:00:00", "2023-12-31 23:58:01", "-1"),
        ("DAY", "2024-01-01 12:00:00", "2024-01-03 11:59:59", "1"),
        ("MONTH", "2024-01-31 00:00:00", "2024-02-29 00:00:00", "1"),
        ("MONTH", "2024-02-29 00:00:00", "2024-01-31 00:00:00", "-1"),
        ("MONTH", "2024-01-15 10:00:00", "2024-03-15 09:00:00", "1"),
        ("YEAR", "2020-02-29 00:00:00", "2024-02-28 00:00:00", "3"),
        ("QUARTER", "2020-02-29 00:00:00", "2024-02-28 00:00:00", "15"),
        ("WEEK", "2020-02-29 00:00:00", "2024-02-28 00:00:00", "208"),
        ("MILLISECOND", "2024-01-01 00:00:00", "2024-01-01 00:00:01", "1000"),
    ] {
        check_constant(&format!("TIMESTAMPDIFF({unit}, {}, {})", time(from), time(to)), expected);
    }
    check_constant("TIMESTAMPDIFF(DAY, DATE '2024-01-01', DATE '2024-03-01')", "60");
    check_constant(&format!("TIMESTAMPDIFF(HOUR, DATE '2024-01-01', {})", time("2024-01-02 01:30:00")), "25");
    check_constant("TIMESTAMPDIFF(DAY, DATE '2024-01-01', CAST(NULL AS DATE))", "NULL");
    check_type("TIMESTAMPDIFF(DAY, DATE '2024-01-01', DATE '2024-03-01')", "INT");
    // Flink's INT wraps around here.
    check_error("TIMESTAMPDIFF(SECOND, DATE '1900-01-01', DATE '2024-01-01')", "does not fit into INT");
}

#[test]
fn text_shows_times() {
    for (sql, expected) in [
        ("TO_TIMESTAMP('2024-02-29 13:05:09')", "2024-02-29 13:05:09.000"),
        ("TO_TIMESTAMP('2024-02-29 13:05:09.123456')", "2024-02-29 13:05:09.123"),
        ("TO_TIMESTAMP('2024-02-29')", "2024-02-29 00:00:00.000"),
        ("TO_TIMESTAMP('2024-2-9 3:5:9')", "2024-02-09 03:05:09.000"),
        ("TO_TIMESTAMP('2024-02-29 13:05')", "NULL"),
        ("TO_TIMESTAMP('2024-02-29T13:05:09')", "NULL"),
        ("TO_TIMESTAMP(' 2024-02-29 13:05:09 ')", "NULL"),
        // As in Flink, a day that the month lacks is its last.
        ("TO_TIMESTAMP('2023-02-29 13:05:09')", "2023-02-28 13:05:09.000"),
        ("TO_TIMESTAMP('2023-02-32 13:05:09')", "NULL"),
        ("TO_TIMESTAMP('garbage')", "NULL"),
        ("TO_TIMESTAMP(CAST(NULL AS STRING))", "NULL"),
        ("TO_TIMESTAMP('29/02/2024 13.05', 'dd/MM/yyyy HH.mm')", "2024-02-29 13:05:00.000"),
        ("TO_TIMESTAMP('2024', 'yyyy')", "2024-01-01 00:00:00.000"),
        ("TO_TIMESTAMP('2024-02-29 1:05:09 PM', 'yyyy-MM-dd h:mm:ss a')", "2024-02-29 13:05:09.000"),
        ("TO_TIMESTAMP('29 Feb 2024', 'dd MMM yyyy')", "2024-02-29 00:00:00.000"),
        ("TO_TIMESTAMP('20240229', 'yyyyMMdd')", "2024-02-29 00:00:00.000"),
        ("TO_TIMESTAMP('2024-02-29 13:05:09.1234567', 'yyyy-MM-dd HH:mm:ss.SSSSSSS')", "2024-02-29 13:05:09.123"),
        // What does not follow the pattern is read as SQL writes it.
        ("TO_TIMESTAMP('2024-02-29 13:05:09', 'yyyy-MM-dd')", "2024-02-29 13:05:09.000"),
        ("TO_DATE('2024-02-29')", "2024-02-29"),
        ("TO_DATE('2024-2-9')", "2024-02-09"),
        ("TO_DATE('2024-02-29 13:05:09')", "2024-02-29"),
        ("TO_DATE('2023-02-29')", "NULL"),
        ("TO_DATE('2024-02-29xyz')", "NULL"),
        ("TO_DATE('29.02.2024', 'dd.MM.yyyy')", "2024-02-29"),
        // With a pattern Flink carries over.
        ("TO_DATE('30.02.2024', 'dd.MM.yyyy')", "2024-03-01"),
    ] {
        check(sql, expected);
    }
    check_type("TO_TIMESTAMP('2024-02-29')", "TIMESTAMP(3)");
    check_error("TO_TIMESTAMP('2024', 'jjjj')", "the pattern 'jjjj' has 'jjjj', which has no meaning");
}

#[test]
fn instants_come_from_numbers_and_text() {
    for (sql, expected) in [
        ("TO_TIMESTAMP_LTZ(1000, 0)", "1970-01-01 08:16:40.000"),
        ("TO_TIMESTAMP_LTZ(1000, 3)", "1970-01-01 08:00:01.000"),
        ("TO_TIMESTAMP_LTZ(1000)", "1970-01-01 08:00:01.000"),
        ("TO_TIMESTAMP_LTZ(1000.5, 3)", "1970-01-01 08:00:01.000"),
        ("TO_TIMESTAMP_LTZ(1000000, 6)", "1970-01-01 08:00:01.000"),
        ("TO_TIMESTAMP_LTZ(1000000000, 9)", "1970-01-01 08:00:01.000"),
        ("TO_TIMESTAMP_LTZ(CAST(NULL AS BIGINT), 3)", "NULL"),
        ("TO_TIMESTAMP_LTZ(253402300800000, 3)", "NULL"),
        // Text without a zone is UTC's.
        ("TO_TIMESTAMP_LTZ('2024-02-29 13:05:09')", "2024-02-29 21:05:09.000"),
        ("TO_TIMESTAMP_LTZ('29.2.2024', 'd.M.yyyy')", "2024-02-29 08:00:00.000"),
        ("TO_TIMESTAMP_LTZ('29.2.2024', 'd.M.yyyy', 'Asia/Shanghai')", "2024-02-29 00:00:00.000"),
        ("TO_TIMESTAMP_LTZ('garbage')", "NULL"),
    ] {
        check_constant(sql, expected);
    }
    check_type("TO_TIMESTAMP_LTZ(1000, 0)", "TIMESTAMP_LTZ(3)");
    check_type("TO_TIMESTAMP_LTZ(1000, 6)", "TIMESTAMP_LTZ(6)");
    check_error("TO_TIMESTAMP_LTZ(1000, 4)", "TO_TIMESTAMP_LTZ takes a precision of 0 (seconds), 3 (milliseconds)");
    check_error("TO_TIMESTAMP_LTZ('29.2.2024', 'd.M.yyyy', 'Nowhere')", "unknown time zone 'Nowhere'");
}

#[test]
fn times_are_written() {
    check_constant(&format!("DATE_FORMAT({MS}, 'yyyy-MM-dd HH:mm:ss.SSS')"), "2024-02-29 13:05:09.123");
    check_constant(&format!("DATE_FORMAT({EPOCH}, 'yyyy-MM-dd HH:mm')"), "1970-01-01 08:00");
    check("DATE_FORMAT('2024-02-29 13:05:09', 'yyyyMMdd')", "20240229");
    check("DATE_FORMAT('2024-02-29', 'yyyyMMdd')", "NULL");
    check("DATE_FORMAT('garbage', 'yyyyMMdd')", "NULL");
    check("DATE_FORMAT(CAST(NULL AS STRING), 'yyyyMMdd')", "NULL");
    check_error(&format!("DATE_FORMAT({MS}, 'yyyy z')"), "the pattern 'yyyy z' has 'z', which has no meaning");
    check_error("DATE_FORMAT(1, 'yyyy')", "DATE_FORMAT takes (TIMESTAMP|STRING, STRING), but argument 1 is BIGINT");
}

#[test]
fn unix_time_follows_the_session_zone() {
    check("UNIX_TIMESTAMP('1970-01-01 08:00:01')", "1");
    check("UNIX_TIMESTAMP('01.02.1970 10', 'dd.MM.yyyy HH')", "2685600");
    check("UNIX_TIMESTAMP('2024-02-30 00:00:00')", "1709222400");
    check("UNIX_TIMESTAMP('1970-01-01 08:00:01xx')", "1");
    check("UNIX_TIMESTAMP('garbage')", "-9223372036854775808");
    check("UNIX_TIMESTAMP(CAST(NULL AS STRING))", "NULL");
    check("FROM_UNIXTIME(44)", "1970-01-01 08:00:44");
    check("FROM_UNIXTIME(0, 'yyyyMMdd HH')", "19700101 08");
    check("FROM_UNIXTIME(0, 'u E D w')", "4 Thu 1 1");
    check("FROM_UNIXTIME(CAST(NULL AS BIGINT))", "NULL");
    check("CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')", "1969-12-31 16:00:00");
    check("CONVERT_TZ('1970-01-01', 'UTC', 'America/Los_Angeles')", "NULL");
    check_error("CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'Nowhere')", "unknown time zone 'Nowhere'");
}

/// Times of a zone whose clocks change: Berlin shows 02:30 twice on 2024-10-27, first two hours ahead of UTC.
#[test]
fn hours_of_a_zone_are_counted_on_the_line_of_instants() {
    use std::sync::Arc;

    use arrow::array::{AsArray, TimestampMillisecondArray};
    use arrow::datatypes::{Field, TimestampMillisecondType};
    use datafusion_common::ScalarValue;
    use datafusion_expr::ColumnarValue;

    use crate::functions::FunctionRegistry;
    use crate::functions::adapted::invoke;

    const HOUR: i64 = 3_600_000;
    const SECOND_HALF_PAST_TWO: i64 = 1_729_992_600_000;
    let run = |name: &str, args: Vec<ColumnarValue>| {
        let fields = args.iter().map(|a| Arc::new(Field::new("x", a.data_type(), true))).collect();
        let udf = FunctionRegistry::new("Europe/Berlin").scalar(name).unwrap();
        let result = invoke(&udf, args, fields, 1, Arc::default()).unwrap();
        (result.as_primitive::<TimestampMillisecondType>().value(0) - SECOND_HALF_PAST_TWO) as f64 / HOUR as f64
    };
    let at = |hours: i64| {
        let times = TimestampMillisecondArray::from(vec![SECOND_HALF_PAST_TWO + hours * HOUR]);
        ColumnarValue::Array(Arc::new(times.with_timezone("Europe/Berlin")))
    };
    let text = |value: &str| ColumnarValue::from(ScalarValue::from(value));
    assert_eq!(run("floor_to", vec![at(0), text("HOUR")]), -0.5);
    assert_eq!(run("ceil_to", vec![at(-1), text("HOUR")]), -0.5);
    // The day has 25 hours.
    assert_eq!(run("floor_to", vec![at(0), text("DAY")]), -3.5);
    assert_eq!(run("ceil_to", vec![at(0), text("DAY")]), 21.5);
    let one = || ColumnarValue::from(ScalarValue::Int64(Some(1)));
    assert_eq!(run("timestampadd", vec![text("HOUR"), one(), at(-1)]), 0.0);
    assert_eq!(run("timestampadd", vec![text("DAY"), one(), at(-25)]), -1.0);
}
