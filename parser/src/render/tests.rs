use super::render;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use expect_test::{Expect, expect};

fn check(diagnostics: &[Diagnostic], text: &str, expected: Expect) {
    expected.assert_eq(&render(diagnostics, "q.sql", text, false));
}

fn at(start: usize, end: usize) -> Diagnostic {
    Diagnostic::error("TM1001", "something is wrong").at(Span::new(start, end))
}

#[test]
fn headline_place_caret_labels_and_help() {
    let diagnostic = at(11, 12).labelled("this one").label(Span::new(7, 8), "the other").help("choose one");
    check(
        &[diagnostic],
        "SELECT\n a, b\nFROM t",
        expect![[r#"
            error[TM1001]: something is wrong
             --> q.sql:2:5
              |
            2 |  a, b
              | -   ^ this one
              | |
              | the other
              |
              = help: choose one
        "#]],
    );
}

#[test]
fn severities_are_named_and_several_are_set_apart() {
    let without_place = Diagnostic::warning("TM2001", "the state grows without bound").help("set a TTL");
    check(
        &[without_place, at(0, 6)],
        "SELECT 1",
        expect![[r#"
            warning[TM2001]: the state grows without bound
             |
             = help: set a TTL

            error[TM1001]: something is wrong
             --> q.sql:1:1
              |
            1 | SELECT 1
              | ^^^^^^
        "#]],
    );
    check(&[], "SELECT 1", expect![""]);
}

#[test]
fn an_empty_span_gets_one_caret() {
    check(
        &[at(8, 8)],
        "SELECT 1",
        expect![[r#"
            error[TM1001]: something is wrong
             --> q.sql:1:9
              |
            1 | SELECT 1
              |         ^
        "#]],
    );
}

#[test]
fn tabs_wide_characters_and_carriage_returns_keep_the_caret_in_place() {
    check(
        &[at(14, 15)],
        "SELECT\r\n\t漢, b\r\nFROM t",
        expect![[r#"
            error[TM1001]: something is wrong
             --> q.sql:2:5
              |
            2 |     漢, b
              |         ^
        "#]],
    );
}

#[test]
fn color_is_ansi_escapes() {
    let rendered = render(&[at(0, 6)], "q.sql", "SELECT 1", true);
    assert!(rendered.contains("\u{1b}["));
    assert!(!render(&[at(0, 6)], "q.sql", "SELECT 1", false).contains('\u{1b}'));
}

#[test]
fn no_span_and_no_text_panics() {
    for text in ["", "\n", "é", "漢字\r\n\tx", "a\n\nb", "SELECT '\u{1F600}'", "\u{7f}\u{0}"] {
        for start in 0..text.len() + 3 {
            for end in start..text.len() + 3 {
                let diagnostic = at(start, end).label(Span::new(end, start), "x").labelled("y\nz").help("h\ni");
                for color in [false, true] {
                    render(std::slice::from_ref(&diagnostic), "", text, color);
                }
            }
        }
        render(&[at(usize::MAX, usize::MAX), Diagnostic::error("", "")], "n", text, false);
    }
}
