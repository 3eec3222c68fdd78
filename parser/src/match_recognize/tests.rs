use super::{MatchRecognize, Pattern};
use crate::ast::Statement;
use crate::{Script, parse_script};
use sqlparser::ast::{AfterMatchSkip, SetExpr, TableFactor};

fn clause_of(script: &Script) -> (MatchRecognize, TableFactor, Option<String>) {
    assert_eq!(script.diagnostics, []);
    let Statement::Query(query) = &script.statements[0].statement else { panic!("a query") };
    let SetExpr::Select(select) = query.body.as_ref() else { panic!("a select") };
    let (clause, table, alias) = MatchRecognize::of(&select.from[0].relation).expect("a clause in FROM");
    (clause, table.clone(), alias.map(|alias| alias.name.value.clone()))
}

fn parse(clause: &str) -> MatchRecognize {
    clause_of(&parse_script(&format!("SELECT * FROM t MATCH_RECOGNIZE ({clause}) AS m"))).0
}

fn pattern(text: &str) -> Pattern {
    parse(&format!("PATTERN ({text}) DEFINE A AS TRUE")).pattern
}

/// The pattern is read and carried through `sqlparser`'s tree without loss, and printed as `expect`.
fn check(text: &str, expect: &str) {
    let read = pattern(text);
    assert_eq!(read.to_string(), expect);
    assert_eq!(pattern(expect).to_string(), expect, "what is printed says the same");
}

#[test]
fn patterns_keep_their_structure() {
    check("A", "A");
    check("A B+ C", "A B+ C");
    check("A (B | C)* D?", "A (B | C)* D?");
    check("A | B C | D", "A | B C | D");
    check("A*? B+? C?? D{2}? E{2,}? F{,3}? G{1,2}?", "A*? B+? C?? D{2}? E{2,}? F{,3}? G{1,2}?");
    check("A{0} B{,} C{1,}", "A{0} B* C+");
    check("^ A $", "^ A $");
    check("()", "()");
    check("(B ()*)*", "(B ()*)*");
    check("A {- B+ (C | D) -} E", "A {- B+ (C | D) -} E");
    check("PERMUTE(A, B+, (C D))", "PERMUTE(A, B+, C D)");
    check("`x y` `b` C", "`x y` `b` C");
    check("(A+){2}", "(A+){2}");
}

#[test]
fn a_reluctant_optional_is_not_a_quantifier_of_a_quantifier() {
    let reluctant = |pattern| matches!(pattern, Pattern::Repeat { reluctant: true, min: 0, max: Some(1), .. });
    assert!(reluctant(pattern("A??")));
    let Pattern::Repeat { pattern: inner, reluctant: false, .. } = pattern("(A?)?") else { panic!("a repetition") };
    assert!(matches!(*inner, Pattern::Repeat { reluctant: false, .. }));
}

#[test]
fn all_clauses_are_carried() {
    let clause = parse(
        "PARTITION BY a, b ORDER BY ts, k DESC MEASURES A.x AS x, RUNNING LAST(B.y, 1) AS y, COUNT(A.*) AS n \
         ALL ROWS PER MATCH OMIT EMPTY MATCHES AFTER MATCH SKIP TO FIRST B PATTERN (A B) WITHIN INTERVAL '1' HOUR \
         SUBSET U = (A, B), V = (B) DEFINE A AS A.x > 1, B AS FINAL SUM(x) > PREV(B.x)",
    );
    assert_eq!(clause.partition_by.len(), 2);
    assert_eq!(clause.order_by[1].options.asc, Some(false));
    let measures: Vec<String> = clause.measures.iter().map(ToString::to_string).collect();
    assert_eq!(measures, ["A.x AS x", "RUNNING(LAST(B.y, 1)) AS y", "COUNT(A.*) AS n"]);
    assert_eq!(clause.rows_per_match.to_string(), "ALL ROWS PER MATCH OMIT EMPTY MATCHES");
    assert!(matches!(clause.after_match_skip, Some(AfterMatchSkip::ToFirst(v)) if v.value == "B"));
    assert_eq!(clause.within.expect("a bound").to_string(), "INTERVAL '1' HOUR");
    let members: Vec<usize> = clause.subsets.iter().map(|subset| subset.members.len()).collect();
    assert_eq!(members, [2, 1]);
    let define: Vec<String> = clause.define.iter().map(ToString::to_string).collect();
    assert_eq!(define, ["A AS A.x > 1", "B AS FINAL(SUM(x)) > PREV(B.x)"]);
}

#[test]
fn skip_to_a_variable_is_to_its_last_row() {
    let skip = |text: &str| parse(&format!("AFTER MATCH SKIP {text} PATTERN (A) DEFINE A AS TRUE")).after_match_skip;
    let to = |text: &str| match skip(text) {
        Some(AfterMatchSkip::ToFirst(v)) => format!("first {v}"),
        Some(AfterMatchSkip::ToLast(v)) => format!("last {v}"),
        other => format!("{other:?}"),
    };
    assert_eq!(to("TO A"), "last A");
    assert_eq!(to("TO LAST A"), "last A");
    assert_eq!(to("TO FIRST A"), "first A");
    assert_eq!(to("TO FIRST"), "last FIRST");
    assert_eq!(skip("TO NEXT ROW"), Some(AfterMatchSkip::ToNextRow));
}

#[test]
fn any_table_factor_may_be_matched_over() {
    let clause = "MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS TRUE)";
    for (input, alias) in [
        (format!("t {clause}"), None),
        (format!("db.t {clause} m"), Some("m")),
        (format!("(SELECT * FROM t WHERE x > 1) {clause} AS m"), Some("m")),
        (format!("TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) {clause}"), None),
        (format!("t /*+ OPTIONS('a' = 'b') */ {clause} WHERE x = 1"), None),
        (format!("(SELECT * FROM t {clause}) {clause} m"), Some("m")),
    ] {
        let (_, _, found) = clause_of(&parse_script(&format!("SELECT * FROM {input}")));
        assert_eq!(found.as_deref(), alias, "{input}");
    }
}

/// The first diagnostic's message and the text that it points at.
fn check_error(sql: &str, message: &str, place: &str) {
    let script = parse_script(sql);
    let first = script.diagnostics.first().unwrap_or_else(|| panic!("no diagnostic for {sql}"));
    assert_eq!(first.message, message, "{sql}");
    assert_eq!(first.span.expect("a place").slice(sql), place, "{sql}");
    assert_eq!(script.diagnostics.len(), 1, "{sql}: {:?}", script.diagnostics);
}

#[test]
fn errors_stand_where_the_mistake_is() {
    let pattern = |text: &str| format!("SELECT * FROM t MATCH_RECOGNIZE (PATTERN ({text}) DEFINE A AS TRUE) AS m");
    check_error(&pattern("A{3,2}"), "the bounds of this quantifier are the wrong way round: 3 > 2", "{3,2}");
    check_error(&pattern("A{0,0}"), "the upper bound of a quantifier is at least 1", "{0,0}");
    check_error(
        &pattern("A{99999999999}"),
        "the bound of a quantifier is a whole number up to 4294967295",
        "99999999999",
    );
    check_error(&pattern("A+*"), "a part of a pattern takes one quantifier", "+*");
    check_error(&pattern("A |"), "expected a pattern variable, `(`, `{-`, `^` or `$`, found `)`", ")");
    check_error(&pattern("A, B"), "expected a pattern variable, a quantifier, `|` or `)`, found `,`", ",");
    check_error(&pattern("{- A"), "expected `-}`, found `)`", ")");
    let clause = |text: &str| format!("SELECT * FROM t MATCH_RECOGNIZE ({text}) AS m WHERE x = 1");
    check_error(&clause("PATTERN (A) WITHIN 5 DEFINE A AS TRUE"), "WITHIN takes an interval", "5");
    check_error(&clause("PATTERN (A)"), "expected `DEFINE`, found `)`", ")");
    check_error(&clause("PATTERN (A) DEFINE A AS TRUE ORDER BY ts"), "expected `,` or `)`, found `ORDER`", "ORDER");
    check_error(
        &clause("MEASURES A.x PATTERN (A) DEFINE A AS TRUE"),
        "expected `AS` and the measure's name, found `PATTERN`",
        "PATTERN",
    );
    check_error(
        "SELECT x MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS TRUE) FROM t",
        "MATCH_RECOGNIZE stands behind a table or subquery in FROM",
        "MATCH_RECOGNIZE",
    );
}

#[test]
fn a_mistake_inside_does_not_hide_the_next_statement() {
    let script = parse_script("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A DEFINE A AS 1) AS m; SELECT 1");
    assert!(!script.diagnostics.is_empty());
    assert_eq!(script.statements.len(), 2);
}
