use expect_test::{Expect, expect};
use tidemark_runtime::change_batch::{ChangeBatch, RowKind::Insert};

use super::super::tests::{batch, changes, numbers, printed, printed_rows, shape, texts};
use super::super::{Format, ResultShape, Style};
use super::*;
use tidemark_planner::changelog::ChangelogMode;

fn check(rows: RecordBatch, expected: Expect) {
    expected.assert_eq(&printed_rows(Format::Table, rows));
}

fn printed_at(width: usize, rows: RecordBatch) -> String {
    let style = Style { format: Format::Table, zone: Zone::Utc, width: Some(width) };
    let shape = ResultShape::append(rows.schema());
    printed(&shape, ResultMode::Table, &style, &[ChangeBatch::insert_only(rows)])
}

#[test]
fn numbers_stand_at_the_right() {
    let rows = batch(vec![("origin", texts(&[Some("EWR"), None])), ("flights", numbers(&[Some(120), Some(-3)]))]);
    check(
        rows,
        expect![[r#"
            ┌────────┬─────────┐
            │ origin │ flights │
            ├────────┼─────────┤
            │ EWR    │     120 │
            │ NULL   │      -3 │
            └────────┴─────────┘
        "#]],
    );
}

#[test]
fn no_rows_leave_an_empty_box() {
    check(
        batch(vec![("a", texts(&[])), ("b", numbers(&[]))]),
        expect![[r#"
            ┌───┬───┐
            │ a │ b │
            ├───┼───┤
            └───┴───┘
        "#]],
    );
}

#[test]
fn wide_and_combining_characters_take_their_room() {
    let rows = batch(vec![("名前", texts(&[Some("東京"), Some("e\u{301}te\u{301}"), Some("🚲")]))]);
    expect![[r#"
        ┌──────┐
        │ 名前 │
        ├──────┤
        │ 東京 │
        │ <e>t<e>  │
        │ 🚲   │
        └──────┘
    "#]]
    .assert_eq(&printed_rows(Format::Table, rows).replace("e\u{301}", "<e>"));
}

#[test]
fn control_characters_are_spelled_out() {
    check(
        batch(vec![("t", texts(&[Some("two\nlines\t"), Some("\u{1b}[31mred")]))]),
        expect![[r#"
            ┌───────────────┐
            │ t             │
            ├───────────────┤
            │ two\nlines\t  │
            │ \u{1b}[31mred │
            └───────────────┘
        "#]],
    );
}

#[test]
fn a_terminal_cuts_the_widest_texts_and_no_numbers() {
    let rows = || {
        batch(vec![
            ("short", texts(&[Some("abc")])),
            ("n", numbers(&[Some(1234567890123)])),
            ("long", texts(&[Some("the quick brown fox jumps over the lazy dog")])),
        ])
    };
    expect![[r#"
        ┌───────┬───────────────┬─────────────┐
        │ short │             n │ long        │
        ├───────┼───────────────┼─────────────┤
        │ abc   │ 1234567890123 │ the quick … │
        └───────┴───────────────┴─────────────┘
    "#]]
    .assert_eq(&printed_at(39, rows()));
    let narrow = printed_at(10, rows());
    assert!(narrow.contains("1234567890123") && narrow.contains("the qui…"), "{narrow}");
}

#[test]
fn a_cut_respects_wide_characters() {
    expect![[r#"
        ┌────────────┐
        │ t          │
        ├────────────┤
        │ 東京都千…  │
        └────────────┘
    "#]]
    .assert_eq(&printed_at(14, batch(vec![("t", texts(&[Some("東京都千代田区")]))])));
}

#[test]
fn nothing_is_cut_off_a_terminal() {
    let long = "x".repeat(100_000);
    let text = printed_rows(Format::Table, batch(vec![("t", texts(&[Some(&long), Some("y")]))]));
    assert!(text.contains(&long));
}

#[test]
fn a_later_change_widens_its_column() {
    let style = Style { format: Format::Table, zone: Zone::Utc, width: None };
    let batches = [changes(&[(Insert, Some("JFK"), 1)]), changes(&[(Insert, Some("LaGuardia"), 1)])];
    expect![[r#"
        ┌────────┬───┐
        │ origin │ n │
        ├────────┼───┤
        │ JFK    │ 1 │
        │ LaGuardia │ 1 │
        └───────────┴───┘
    "#]]
    .assert_eq(&printed(&shape(ChangelogMode::Append, vec![]), ResultMode::Changelog, &style, &batches));
}

#[test]
fn more_rows_than_the_sample_are_all_printed() {
    let values: Vec<_> = (0..WIDTH_SAMPLE_ROWS as i64 + 5).map(Some).collect();
    let style = Style { format: Format::Table, zone: Zone::Utc, width: None };
    let rows = batch(vec![("n", numbers(&values))]);
    let shape = ResultShape::append(rows.schema());
    let batches = [0, 4000, 8000].map(|o| ChangeBatch::insert_only(rows.slice(o, 4000.min(values.len() - o))));
    let text = printed(&shape, ResultMode::Table, &style, &batches);
    assert_eq!(text.lines().count(), values.len() + 4);
}
