use expect_test::expect;

use super::super::Format;
use super::super::tests::{batch, numbers, printed_rows, texts};

#[test]
fn null_is_empty_and_an_empty_string_is_quoted() {
    let rows = batch(vec![("a", texts(&[Some(""), None, Some("x")])), ("b", numbers(&[None, Some(-1), Some(0)]))]);
    expect![[r#"
        a,b
        "",
        ,-1
        x,0
    "#]]
    .assert_eq(&printed_rows(Format::Csv, rows));
}

#[test]
fn only_what_needs_quotes_gets_them() {
    let rows = batch(vec![(
        "say \"hi\", all",
        texts(&[Some("a,b"), Some("say \"hi\""), Some("two\nlines"), Some("\r"), Some(" blank "), Some("日本")]),
    )]);
    expect![[r#"
        "say ""hi"", all"
        "a,b"
        "say ""hi"""
        "two
        lines"
        "␍"
         blank 
        日本
    "#]]
    .assert_eq(&printed_rows(Format::Csv, rows).replace('\r', "␍"));
}

#[test]
fn no_rows_leave_the_header() {
    let rows = batch(vec![("a", texts(&[])), ("b", numbers(&[]))]);
    assert_eq!(printed_rows(Format::Csv, rows), "a,b\n");
}
