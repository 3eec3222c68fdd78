use crate::ast::Statement;
use crate::parse_script;
use expect_test::{Expect, expect};

/// Each statement in Debug form without spans, then the diagnostics.
fn check(text: &str, expected: Expect) {
    let script = parse_script(text);
    let name = |name: &crate::ast::Name| format!("{} [{}]", name.value, name.span.slice(text));
    let mut lines: Vec<String> = script
        .statements
        .iter()
        .map(|parsed| match &parsed.statement {
            Statement::Set(Some((key, value))) => format!("SET {} = {}", name(key), name(value)),
            Statement::Set(None) => "SET".to_owned(),
            Statement::Reset(Some(key)) => format!("RESET {}", name(key)),
            Statement::Reset(None) => "RESET".to_owned(),
            Statement::Describe(table) => format!("DESCRIBE {}", table.display()),
            Statement::Drop(drop) => {
                format!(
                    "DROP {:?} {} temporary {} if exists {}",
                    drop.object,
                    drop.name.display(),
                    drop.temporary,
                    drop.if_exists
                )
            }
            Statement::Show(show) => {
                let show = format!("{show:?}");
                format!("SHOW {}", show.split(", span").next().unwrap_or_default())
            }
            Statement::CreateView(view) => format!(
                "VIEW {} {:?} temporary {} if not exists {} comment {:?} AS {} [{}]",
                view.name.display(),
                view.columns.iter().map(|column| column.value.as_str()).collect::<Vec<_>>(),
                view.temporary,
                view.if_not_exists,
                view.comment,
                view.query,
                view.query_span.slice(text)
            ),
            Statement::Explain(explain) => format!(
                "EXPLAIN {:?} [{}]",
                explain.details.iter().map(|detail| detail.value.as_str()).collect::<Vec<_>>(),
                explain.statement.span.slice(text)
            ),
            Statement::Insert(insert) => format!(
                "INSERT {} {:?} {:?} {} [{}]",
                insert.table.display(),
                insert.columns.iter().map(|column| column.value.as_str()).collect::<Vec<_>>(),
                insert.options.iter().map(|o| format!("{}={}", name(&o.key), name(&o.value))).collect::<Vec<_>>(),
                insert.query,
                insert.span.slice(text)
            ),
            other => format!("{other:?}"),
        })
        .collect();
    lines.extend(script.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn set_takes_strings_and_bare_words() {
    check(
        "SET 'a.b' = 'c d'; SET table.local-time-zone = Europe/Berlin; SET execution.checkpointing.interval=10s;
         SET pipeline.name = my  job; SET parallelism.default = 4; SET 'x' = ''",
        expect![[r#"
            SET a.b ['a.b'] = c d ['c d']
            SET table.local-time-zone [table.local-time-zone] = Europe/Berlin [Europe/Berlin]
            SET execution.checkpointing.interval [execution.checkpointing.interval] = 10s [10s]
            SET pipeline.name [pipeline.name] = my  job [my  job]
            SET parallelism.default [parallelism.default] = 4 [4]
            SET x ['x'] =  ['']"#]],
    );
}

#[test]
fn reset_one_or_all() {
    check(
        "RESET; RESET 'a.b'; RESET a.b-c; RESET a b",
        expect![[r#"
            RESET
            RESET a.b ['a.b']
            RESET a.b-c [a.b-c]
            TM1001 expected the end of the statement, found `b`"#]],
    );
}

#[test]
fn show_and_describe() {
    check(
        "SHOW TABLES; SHOW VIEWS; SHOW FUNCTIONS; SHOW CREATE TABLE a.b; SHOW CREATE VIEW v; SHOW COLUMNS FROM t;
         SHOW COLUMNS IN t; DESCRIBE a.`b c`; DESC job; SHOW TABLES LIKE 'a%'",
        expect![[r#"
            SHOW Tables
            SHOW Views
            SHOW Functions
            SHOW CreateTable(TableName { parts: ["a", "b"]
            SHOW CreateView(TableName { parts: ["v"]
            SHOW Columns(TableName { parts: ["t"]
            SHOW Columns(TableName { parts: ["t"]
            DESCRIBE a.b c
            DESCRIBE job
            TM1004 SHOW … LIKE is not supported yet"#]],
    );
}

#[test]
fn drop_tables_and_views() {
    check(
        "DROP TABLE t; DROP TEMPORARY VIEW IF EXISTS db.v; drop table if exists t",
        expect![[r#"
            DROP Table t temporary false if exists false
            DROP View db.v temporary true if exists true
            DROP Table t temporary false if exists true"#]],
    );
}

#[test]
fn views_keep_the_text_of_their_query() {
    check(
        "CREATE VIEW v AS SELECT 1 /* one */ AS a;
         CREATE TEMPORARY VIEW IF NOT EXISTS w (x COMMENT 'c', `y`) COMMENT 'd' AS (VALUES (1, 2))",
        expect![[r#"
            VIEW v [] temporary false if not exists false comment None AS SELECT 1 AS a [SELECT 1 /* one */ AS a]
            VIEW w ["x", "y"] temporary true if not exists true comment Some("d") AS (VALUES (1, 2)) [(VALUES (1, 2))]"#]],
    );
}

#[test]
fn explain_with_and_without_details() {
    check(
        "EXPLAIN SELECT 1; EXPLAIN PLAN FOR SELECT 1; EXPLAIN changelog_mode, JSON_EXECUTION_PLAN INSERT INTO t SELECT 1;
         EXPLAIN WATERMARK WITH a AS (SELECT 1) SELECT * FROM a; EXPLAIN ESTIMATED_COST (SELECT 1);
         EXPLAIN EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END; EXPLAIN VALUES (1)",
        expect![[r#"
            EXPLAIN [] [SELECT 1]
            EXPLAIN [] [SELECT 1]
            EXPLAIN ["CHANGELOG_MODE", "JSON_EXECUTION_PLAN"] [INSERT INTO t SELECT 1]
            EXPLAIN ["WATERMARK"] [WITH a AS (SELECT 1) SELECT * FROM a]
            EXPLAIN ["ESTIMATED_COST"] [(SELECT 1)]
            EXPLAIN [] [EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; END]
            EXPLAIN [] [VALUES (1)]"#]],
    );
}

#[test]
fn inserts_with_columns_and_options() {
    check(
        "INSERT INTO t SELECT 1; INSERT INTO TABLE a.b (x, `y`) VALUES (1, 2);
         INSERT INTO t /*+ OPTIONS('k' = 'v', 'l' = 'w') */ (x) (SELECT 1); INSERT INTO t (SELECT 1) UNION ALL (SELECT 2);
         INSERT INTO t WITH q AS (SELECT 1) SELECT * FROM q; INSERT INTO t ((SELECT 1))",
        expect![[r#"
            INSERT t [] [] SELECT 1 [INSERT INTO t SELECT 1]
            INSERT a.b ["x", "y"] [] VALUES (1, 2) [INSERT INTO TABLE a.b (x, `y`) VALUES (1, 2)]
            INSERT t ["x"] ["k ['k']=v ['v']", "l ['l']=w ['w']"] (SELECT 1) [INSERT INTO t /*+ OPTIONS('k' = 'v', 'l' = 'w') */ (x) (SELECT 1)]
            INSERT t [] [] (SELECT 1) UNION ALL (SELECT 2) [INSERT INTO t (SELECT 1) UNION ALL (SELECT 2)]
            INSERT t [] [] WITH q AS (SELECT 1) SELECT * FROM q [INSERT INTO t WITH q AS (SELECT 1) SELECT * FROM q]
            INSERT t [] [] ((SELECT 1)) [INSERT INTO t ((SELECT 1))]"#]],
    );
}
