use crate::ast::Statement;
use crate::parse_script;
use expect_test::{Expect, expect};

/// The queries as `sqlparser` understood them, then the diagnostics.
fn check(text: &str, expected: Expect) {
    let script = parse_script(text);
    let mut lines: Vec<String> = script
        .statements
        .iter()
        .map(|parsed| match &parsed.statement {
            Statement::Query(query) => query.to_string(),
            other => panic!("a query, not {other:?}"),
        })
        .collect();
    lines.extend(script.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn what_can_be_mended_is_parsed_on() {
    check(
        "SELECT \"a\", b, FROM 'my table'; SELECT f(a,)",
        expect![[r#"
            SELECT 'a', b FROM `my table`
            SELECT f(a)
            TM1003 double quotes have no meaning in Flink SQL
            TM1001 trailing comma
            TM1003 a name is expected here, not a string
            TM1001 trailing comma"#]],
    );
}

#[test]
fn an_error_before_a_finding_is_kept_and_one_after_it_is_taken_for_its_consequence() {
    check(
        "SELECT + FROM \"t\"; SELECT \"a\" b c",
        expect![[r#"
            TM1001 expected an expression, found `FROM`
            TM1003 double quotes have no meaning in Flink SQL
            TM1003 double quotes have no meaning in Flink SQL"#]],
    );
}

#[test]
fn from_is_not_always_the_clause() {
    check(
        "SELECT EXTRACT(DAY FROM '2026-01-01'), TRIM(BOTH 'x' FROM 'y'), SUBSTRING('abc' FROM 2), a IS DISTINCT FROM 'x' FROM t",
        expect![
            "SELECT EXTRACT(DAY FROM '2026-01-01'), TRIM(BOTH 'x' FROM 'y'), SUBSTRING('abc' FROM 2), a IS DISTINCT FROM 'x' FROM t"
        ],
    );
}

#[test]
fn words_that_only_look_like_clauses_are_names() {
    check(
        "SELECT emit, t.`from`, t.order FROM emit, t AS emit",
        expect!["SELECT emit, t.`from`, t.order FROM emit, t AS emit"],
    );
}
