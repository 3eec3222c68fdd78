use super::options_of;
use crate::ast::Statement;
use crate::{LineIndex, parse_script};
use expect_test::{Expect, expect};
use sqlparser::ast::{Query, TableFactor, Visit, Visitor};
use std::ops::ControlFlow;

/// Tables with their alias, version and hints, in the order of the text.
#[derive(Default)]
struct Tables(Vec<String>);

impl Visitor for Tables {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table_factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, with_hints, version, partitions, .. } = table_factor {
            assert!(partitions.is_empty(), "no marker stays behind");
            let alias = alias.as_ref().map(|alias| format!(" AS {}", alias.name)).unwrap_or_default();
            let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            let hints: Vec<String> = with_hints.iter().map(ToString::to_string).collect();
            self.0.push(format!("{name}{version}{alias} {hints:?}"));
        }
        ControlFlow::Continue(())
    }
}

fn query(text: &str) -> Box<Query> {
    let script = parse_script(text);
    assert!(script.diagnostics.is_empty(), "{:?}", script.diagnostics);
    match script.statements.into_iter().next().map(|parsed| parsed.statement) {
        Some(Statement::Query(query)) => query,
        other => panic!("a query, not {other:?}"),
    }
}

fn check(text: &str, expected: Expect) {
    let mut tables = Tables::default();
    let _ = query(text).visit(&mut tables);
    expected.assert_eq(&tables.0.join("\n"));
}

#[test]
fn hints_stand_between_a_tables_name_and_what_follows() {
    check("SELECT * FROM t /*+ OPTIONS('k' = 'v') */", expect![[r#"t ["OPTIONS('k' = 'v')"]"#]]);
    check(
        "SELECT * FROM a.b /*+ OPTIONS('k' = 'v'), X(y) */ AS x, `c` /*+ Z(1) */ d JOIN e ON TRUE",
        expect![[r#"
            a.b AS x ["OPTIONS('k' = 'v')", "X(y)"]
            `c` AS d ["Z(1)"]
            e []"#]],
    );
    check(
        "SELECT * FROM o JOIN r /*+ OPTIONS('k' = 'v') */ FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c",
        expect![[r#"
            o []
            r FOR SYSTEM_TIME AS OF o.ts AS r ["OPTIONS('k' = 'v')"]"#]],
    );
}

#[test]
fn hints_of_subqueries_and_common_table_expressions() {
    check(
        "WITH c AS (SELECT * FROM t /*+ A(1) */) SELECT * FROM (SELECT * FROM u /*+ B(2) */ WHERE x IN (SELECT y FROM v /*+ C(3) */)), c",
        expect![[r#"
            t ["A(1)"]
            u ["B(2)"]
            v ["C(3)"]
            c []"#]],
    );
}

#[test]
fn a_select_keeps_its_hints_and_no_other_comments() {
    let query = query("SELECT /*+ STATE_TTL('t' = '1d') */ /* a+b */ a --+ c\n FROM t");
    let hints = &query.body.as_select().expect("a select").optimizer_hints;
    let texts: Vec<&str> = hints.iter().map(|hint| hint.text.trim()).collect();
    assert_eq!(texts, ["STATE_TTL('t' = '1d')"]);
}

#[test]
fn options_have_places_in_the_script() {
    let text = "SELECT 1;\nSELECT * FROM t /*+ OPTIONS('k' = 'v',\n  'é' = 'w') */, u /*+ STATE_TTL('u' = '1d') */, w /*+ OPTIONS(k) */";
    let script = parse_script(text);
    let lines = LineIndex::new(text);
    let Statement::Query(query) = &script.statements[1].statement else { panic!("a query") };
    let from = &query.body.as_select().expect("a select").from;
    let options: Vec<_> = from
        .iter()
        .map(|table| match &table.relation {
            TableFactor::Table { with_hints, .. } => options_of(&with_hints[0], &lines),
            other => panic!("a table, not {other}"),
        })
        .collect();
    let [Some(Ok(entries)), None, Some(Err(error))] = options.as_slice() else { panic!("{options:?}") };
    let places: Vec<_> = entries.iter().map(|e| (e.key.span.slice(text), e.value.span.slice(text))).collect();
    assert_eq!(places, [("'k'", "'v'"), ("'é'", "'w'")]);
    assert_eq!(entries[1].key.value, "é");
    assert!(error.span.expect("a place").slice(text).starts_with("OPTIONS(k"));
}
