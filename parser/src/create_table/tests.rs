use crate::ast::{ColumnKind, CreateTable, OptionEntry, Statement};
use crate::parse_script;
use expect_test::{Expect, expect};
use std::fmt::Write;

fn parse(text: &str) -> CreateTable {
    let script = parse_script(text);
    assert!(script.diagnostics.is_empty(), "{:?}", script.diagnostics);
    match script.statements.into_iter().next().map(|parsed| parsed.statement) {
        Some(Statement::CreateTable(table)) => *table,
        other => panic!("a CREATE TABLE, not {other:?}"),
    }
}

/// A line for each part of the statement; what stands in brackets is cut from the text by the part's span.
fn outline(text: &str) -> String {
    let table = parse(text);
    let mut out = format!("{} [{}]", table.name.display(), table.name.span.slice(text));
    for (flag, name) in [(table.temporary, "temporary"), (table.if_not_exists, "if not exists")] {
        if flag {
            write!(out, ", {name}").expect("a string can be written to");
        }
    }
    let mut line = |line: String| {
        out.push('\n');
        out.push_str(&line);
    };
    for column in &table.columns {
        let null = |not_null| if not_null { " NOT NULL" } else { "" };
        let kind = match &column.kind {
            ColumnKind::Physical { data_type, not_null } => {
                format!("{data_type} [{}]{}", data_type.span.slice(text), null(*not_null))
            }
            ColumnKind::Computed { expr, span } => format!("AS {expr} [{}]", span.slice(text)),
            ColumnKind::Metadata { data_type, not_null, from, is_virtual } => format!(
                "{data_type}{} METADATA from {:?} virtual {is_virtual}",
                null(*not_null),
                from.as_ref().map(|from| from.value.as_str())
            ),
        };
        let comment = column.comment.as_ref().map(|comment| format!(" -- {comment}")).unwrap_or_default();
        line(format!("column {} {kind}{comment} [{}]", column.name.value, column.span.slice(text)));
    }
    for mark in &table.watermarks {
        line(format!(
            "watermark {} AS {} [{}] [{}]",
            mark.column.value,
            mark.expr,
            mark.expr_span.slice(text),
            mark.span.slice(text)
        ));
    }
    if let Some(key) = &table.primary_key {
        let columns: Vec<&str> = key.columns.iter().map(|column| column.value.as_str()).collect();
        line(format!("key {columns:?} not enforced {} [{}]", key.not_enforced, key.span.slice(text)));
    }
    for column in &table.partitioned_by {
        line(format!("partition {} [{}]", column.value, column.span.slice(text)));
    }
    table.comment.iter().for_each(|comment| line(format!("comment {comment}")));
    for OptionEntry { key, value } in &table.options {
        line(format!("option {}={} [{}] [{}]", key.value, value.value, key.span.slice(text), value.span.slice(text)));
    }
    if let Some(like) = &table.like {
        line(format!("like {} {:?}", like.source.display(), like.rules));
    }
    table.query.iter().for_each(|query| line(format!("as {query}")));
    out
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&outline(text));
}

#[test]
fn columns_of_all_kinds() {
    check(
        "CREATE TABLE db.`my table` (
           a INT, b STRING NOT NULL COMMENT 'it''s b', `c d` ROW<x INT>,
           e AS a + 1 COMMENT 'next', f AS PROCTIME(), g AS 'x',
           h BIGINT METADATA, i TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'timestamp' VIRTUAL COMMENT 'when',
           comment STRING NULL
         )",
        expect![[r#"
            db.my table [db.`my table`]
            column a INT [INT] [a INT]
            column b STRING [STRING] NOT NULL -- it's b [b STRING NOT NULL COMMENT 'it''s b']
            column c d ROW<`x` INT> [ROW<x INT>] [`c d` ROW<x INT>]
            column e AS a + 1 [a + 1] -- next [e AS a + 1 COMMENT 'next']
            column f AS PROCTIME() [PROCTIME()] [f AS PROCTIME()]
            column g AS 'x' ['x'] [g AS 'x']
            column h BIGINT METADATA from None virtual false [h BIGINT METADATA]
            column i TIMESTAMP_LTZ(3) NOT NULL METADATA from Some("timestamp") virtual true -- when [i TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'timestamp' VIRTUAL COMMENT 'when']
            column comment STRING [STRING] [comment STRING NULL]"#]],
    );
}

#[test]
fn watermarks() {
    check(
        "CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, watermark INT)",
        expect![[r#"
            t [t]
            column ts TIMESTAMP(3) [TIMESTAMP(3)] [ts TIMESTAMP(3)]
            column watermark INT [INT] [watermark INT]
            watermark ts AS ts - INTERVAL '5' SECOND [ts - INTERVAL '5' SECOND] [WATERMARK FOR ts AS ts - INTERVAL '5' SECOND]"#]],
    );
}

#[test]
fn primary_keys_of_the_table_and_of_a_column() {
    check(
        "CREATE TABLE t (a INT, b INT, CONSTRAINT pk PRIMARY KEY (a, `b`) NOT ENFORCED)",
        expect![[r#"
            t [t]
            column a INT [INT] [a INT]
            column b INT [INT] [b INT]
            key ["a", "b"] not enforced true [CONSTRAINT pk PRIMARY KEY (a, `b`) NOT ENFORCED]"#]],
    );
    check(
        "CREATE TABLE t (a INT NOT NULL CONSTRAINT pk PRIMARY KEY NOT ENFORCED COMMENT 'x')",
        expect![[r#"
            t [t]
            column a INT [INT] NOT NULL -- x [a INT NOT NULL CONSTRAINT pk PRIMARY KEY NOT ENFORCED COMMENT 'x']
            key ["a"] not enforced true [CONSTRAINT pk PRIMARY KEY NOT ENFORCED]"#]],
    );
}

#[test]
fn a_key_that_claims_to_be_enforced_is_reported_and_still_parsed() {
    let script = parse_script("CREATE TABLE t (a INT PRIMARY KEY)");
    assert_eq!(script.diagnostics.len(), 1);
    let Statement::CreateTable(table) = &script.statements[0].statement else { panic!("a table") };
    assert!(!table.primary_key.as_ref().expect("a key").not_enforced);
}

#[test]
fn clauses_after_the_columns() {
    check(
        "CREATE TEMPORARY TABLE IF NOT EXISTS t (a INT) COMMENT 'c' PARTITIONED BY (a, `b`)
           WITH ('connector' = 'filesystem', 'path' = '/x;y') LIKE db.base (EXCLUDING ALL INCLUDING GENERATED OVERWRITING OPTIONS)",
        expect![[r#"
            t [t], temporary, if not exists
            column a INT [INT] [a INT]
            partition a [a]
            partition b [`b`]
            comment c
            option connector=filesystem ['connector'] ['filesystem']
            option path=/x;y ['path'] ['/x;y']
            like db.base [LikeRule { action: Excluding, feature: All }, LikeRule { action: Including, feature: Generated }, LikeRule { action: Overwriting, feature: Options }]"#]],
    );
    check(
        "CREATE TABLE t LIKE u",
        expect![[r#"
            t [t]
            like u []"#]],
    );
    check(
        "CREATE TABLE t () WITH ('a' = 'b') AS SELECT * FROM u /*+ OPTIONS('x' = 'y') */ WHERE a > 1",
        expect![[r#"
            t [t]
            option a=b ['a'] ['b']
            as SELECT * FROM u WITH (OPTIONS('x' = 'y')) WHERE a > 1"#]],
    );
}
