use std::time::Duration;

use expect_test::{Expect, expect};

use super::*;

fn check(summary: &JobSummary, expected: Expect) {
    expected.assert_eq(&describe(summary, false));
}

fn source(table: &str, rows: u64) -> SourceSummary {
    SourceSummary { table: table.into(), rows, bytes: 0, unreadable_rows: 0, examples: vec![] }
}

fn window(windows_fired: u64, late_rows: u64, delay_ms: Option<i64>, window_delay_ms: Option<i64>) -> WindowSummary {
    WindowSummary {
        uid: "window-aggregate-3".into(),
        windows_fired,
        late_rows,
        sufficient_delay_ms: delay_ms,
        sufficient_window_delay_ms: window_delay_ms,
    }
}

fn summary(sources: Vec<SourceSummary>, windows: Vec<WindowSummary>) -> JobSummary {
    JobSummary {
        sources,
        windows,
        null_rowtime_rows: 0,
        rows_out: 33,
        elapsed: Duration::from_millis(41),
        recovery: None,
    }
}

const HOUR_MS: i64 = 3_600_000;

#[test]
fn nothing_read_says_nothing() {
    check(&summary(vec![], vec![]), expect![""]);
}

#[test]
fn nothing_left_out_is_one_line() {
    check(
        &summary(vec![source("flights", 6_099)], vec![window(133, 0, None, None)]),
        expect![[r#"
            read 6,099 rows from flights, 133 windows fired, in 0.041 seconds
        "#]],
    );
    check(
        &summary(vec![source("orders", 1), source("rates", 2_000)], vec![]),
        expect![[r#"
            read 1 row from orders, 2,000 rows from rates, in 0.041 seconds
        "#]],
    );
}

#[test]
fn late_rows_come_with_the_delay_that_would_have_kept_them() {
    let late = window(22, 5_403, Some(18 * HOUR_MS), Some(17 * HOUR_MS + 1));
    check(
        &summary(vec![source("flights", 6_099)], vec![late]),
        expect![[r#"
            read 6,099 rows from flights, 22 windows fired, in 0.041 seconds
            5,403 rows came too late and were left out: all their windows had fired; a watermark delay of 18 hours would have kept them all
        "#]],
    );
    check(
        &summary(vec![source("t", 2)], vec![window(1, 1, None, None)]),
        expect![[r#"
            read 2 rows from t, 1 window fired, in 0.041 seconds
            1 row came too late and was left out: all its windows had fired
        "#]],
    );
}

#[test]
fn a_much_shorter_delay_for_long_windows_is_named() {
    let late = window(2, 7, Some(14 * HOUR_MS), Some(300_001));
    check(
        &summary(vec![source("t", 9)], vec![late]),
        expect![[r#"
            read 9 rows from t, 2 windows fired, in 0.041 seconds
            7 rows came too late and were left out: all their windows had fired; a watermark delay of 14 hours would have kept them all, and so would 5 minutes 0.001 seconds for these windows
        "#]],
    );
}

#[test]
fn several_window_operators_are_told_apart() {
    let text =
        describe(&summary(vec![source("t", 9)], vec![window(2, 7, None, None), window(1, 0, None, None)]), false);
    assert!(text.contains("3 windows fired"), "{text}");
    assert!(text.contains("7 rows came too late for window-aggregate-3 and were left out"), "{text}");
}

#[test]
fn unreadable_rows_come_with_examples() {
    let mut orders = source("orders", 40);
    orders.unreadable_rows = 12_000;
    orders.examples = vec!["orders.csv, line 3, column 'price': 'abc' is not a BIGINT".into()];
    let mut summary = summary(vec![orders], vec![]);
    summary.null_rowtime_rows = 1;
    check(
        &summary,
        expect![[r#"
            read 40 rows from orders, in 0.041 seconds
            12,000 rows of orders could not be read and were left out:
              orders.csv, line 3, column 'price': 'abc' is not a BIGINT
              and 11,999 more
            1 row had no event time (NULL) and was left out
        "#]],
    );
}

#[test]
fn an_insert_says_what_it_wrote() {
    let text = describe(&summary(vec![source("flights", 6_099)], vec![window(11, 0, None, None)]), true);
    assert_eq!(text, "read 6,099 rows from flights, 11 windows fired, wrote 33 rows, in 0.041 seconds\n");
}
