use sqlparser::ast::{Expr, Spanned, VisitMut, VisitorMut};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

use super::rewrite_expr;

struct Rewrite;

impl VisitorMut for Rewrite {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        rewrite_expr(expr);
        ControlFlow::Continue(())
    }
}

fn rewritten(sql: &str) -> Expr {
    let mut expr = Parser::new(&GenericDialect {}).try_with_sql(sql).unwrap().parse_expr().unwrap();
    assert!(expr.visit(&mut Rewrite).is_continue());
    expr
}

fn check(sql: &str, expected: &str) {
    assert_eq!(rewritten(sql).to_string(), expected, "{sql}");
}

#[test]
fn units_become_text() {
    check("FLOOR(ts TO HOUR)", "floor_to(ts, 'HOUR')");
    check("ceil(ts to day)", "ceil_to(ts, 'DAY')");
    check("FLOOR(x)", "FLOOR(x)");
    check("EXTRACT(YEAR FROM ts)", "extract('YEAR', ts)");
    check("TIMESTAMPADD(MINUTE, n + 1, ts)", "TIMESTAMPADD('MINUTE', n + 1, ts)");
    check("TimestampDiff(second, a, b)", "TimestampDiff('SECOND', a, b)");
    check("FLOOR(TIMESTAMPADD(DAY, 1, ts) TO MONTH)", "floor_to(TIMESTAMPADD('DAY', 1, ts), 'MONTH')");
}

#[test]
fn text_syntax_becomes_calls() {
    check("POSITION('a' IN s)", "position('a', s)");
    check("SUBSTRING(s FROM 2 FOR 3)", "substring(s, 2, 3)");
    check("SUBSTRING(s, 2)", "substring(s, 2)");
    check("TRIM(s)", "btrim(s)");
    check("TRIM(BOTH 'x' FROM s)", "btrim(s, 'x')");
    check("TRIM(LEADING 'x' FROM s)", "ltrim(s, 'x')");
    check("TRIM(TRAILING 'x' FROM s)", "rtrim(s, 'x')");
    check("OVERLAY(s PLACING 'x' FROM 3)", "overlay(s, 'x', 3)");
    check("OVERLAY(s PLACING 'x' FROM 3 FOR 2)", "overlay(s, 'x', 3, 2)");
    check("s SIMILAR TO '%(b|d)%'", "similar_to(s, '%(b|d)%')");
    check("s NOT SIMILAR TO 'x!%' ESCAPE '!'", "NOT similar_to(s, 'x!%', '!')");
}

#[test]
fn conditionals_stay_lazy() {
    check("IF(a > 1, b, c)", "CASE WHEN a > 1 THEN b ELSE c END");
    check("IFNULL(a, b)", "coalesce(a, b)");
    check("MOD(a + 1, b)", "((a + 1) % (b))");
}

#[test]
fn a_wrong_number_of_arguments_is_left_for_the_planner() {
    check("IF(a, b)", "IF(a, b)");
    check("MOD(a)", "MOD(a)");
    check("IFNULL(a)", "IFNULL(a)");
    check("UNIX_TIMESTAMP(s)", "UNIX_TIMESTAMP(s)");
}

#[test]
fn the_clock_is_asked_through_now() {
    check("UNIX_TIMESTAMP()", "unix_timestamp(now())");
}

#[test]
fn a_replacement_has_the_span_of_what_it_replaces() {
    let sql = "1 + FLOOR(ts TO HOUR)";
    let Expr::BinaryOp { right, .. } = rewritten(sql) else { panic!("{sql}") };
    let span = right.span();
    assert_eq!(span.start.line, 1);
    assert!(span.start.column >= 5, "{span:?}");
}

#[test]
fn array_functions_get_the_arguments_that_datafusion_takes() {
    check("ARRAY_SLICE(a, 2)", "array_slice(a, 2, -1)");
    check("ARRAY_SLICE(a, 2, 3)", "ARRAY_SLICE(a, 2, 3)");
    check("ARRAY_PREPEND(a, 1)", "array_prepend(1, a)");
    check("ARRAY_SORT(a)", "ARRAY_SORT(a, 'ASC', 'NULLS FIRST')");
    check("ARRAY_SORT(a, FALSE)", "ARRAY_SORT(a, 'DESC', 'NULLS LAST')");
    check("ARRAY_SORT(a, TRUE, FALSE)", "ARRAY_SORT(a, 'ASC', 'NULLS LAST')");
}
