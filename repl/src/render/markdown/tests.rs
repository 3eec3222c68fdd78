use expect_test::expect;

use super::super::Format;
use super::super::tests::{batch, numbers, printed_rows, texts};

#[test]
fn cells_cannot_break_the_table() {
    let rows = batch(vec![
        ("a|b", texts(&[Some("x | y"), Some("two\r\nlines"), Some("\\"), None, Some("")])),
        ("n", numbers(&[Some(1), Some(22), None, Some(3), Some(4)])),
    ]);
    expect![[r#"
        | a\|b | n |
        | --- | ---: |
        | x \| y | 1 |
        | two<br>lines | 22 |
        | \\ | NULL |
        | NULL | 3 |
        |  | 4 |
    "#]]
    .assert_eq(&printed_rows(Format::Markdown, rows));
}

#[test]
fn no_rows_leave_the_heading() {
    let rows = batch(vec![("a", texts(&[]))]);
    assert_eq!(printed_rows(Format::Markdown, rows), "| a |\n| --- |\n");
}
