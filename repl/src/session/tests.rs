use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::Int64Type;
use expect_test::{Expect, expect};

use super::*;
use crate::render::{Format, ResultMode, ResultPrinter, ResultShape, Style, Zone};

fn session() -> Session {
    let mut session = Session::new();
    let key: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), Some("a"), None]));
    let n: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
    let rows = RecordBatch::try_from_iter_with_nullable([("key", key, true), ("n", n, false)]).expect("rows");
    session.register_batches("facts", &rows.schema(), vec![rows]).expect("registered");
    session
}

/// What the last statement of a script gave, as CSV or as it is.
fn shown(session: &mut Session, sql: &str) -> String {
    let last = session.execute(sql).unwrap_or_else(|e| panic!("{sql}\n{e}")).pop().expect("a statement");
    match last {
        StatementResult::Changed(sentence) => sentence,
        StatementResult::Text(text) => text,
        StatementResult::Answer(rows) => csv(&ResultShape::append(rows.schema()), &[ChangeBatch::insert_only(rows)]),
        StatementResult::Rows { output, changes, .. } => {
            let shape = ResultShape {
                schema: output.schema.clone(),
                changelog: output.changelog,
                upsert_key: output.upsert_key.clone(),
            };
            csv(&shape, &changes)
        }
        StatementResult::Written(summary) => format!("{} rows written", summary.rows_out),
    }
}

fn csv(shape: &ResultShape, changes: &[ChangeBatch]) -> String {
    let style = Style { format: Format::Csv, zone: Zone::Utc, width: None };
    let mut printer = ResultPrinter::new(shape, ResultMode::Table, &style).expect("printer");
    let mut out = Vec::new();
    printer.begin(&mut out).expect("begin");
    changes.iter().for_each(|c| printer.write(c, &mut out).expect("write"));
    printer.end(&mut out).expect("end");
    String::from_utf8(out).expect("UTF-8")
}

fn check(sql: &str, expected: Expect) {
    expected.assert_eq(&shown(&mut session(), sql));
}

fn error(sql: &str) -> String {
    session().execute(sql).expect_err(sql).to_string()
}

#[test]
fn registered_rows_are_a_table() {
    check(
        "SELECT n, key FROM facts WHERE n <> 2",
        expect![[r#"
            n,key
            1,a
            3,a
            4,
        "#]],
    );
}

#[test]
fn a_name_can_hold_anything() {
    let mut session = Session::new();
    let n: ArrayRef = Arc::new(Int64Array::from(vec![7]));
    let rows = RecordBatch::try_from_iter([("odd `name`", n)]).expect("rows");
    session.register_batches("it's `odd`", &rows.schema(), vec![rows]).expect("registered");
    assert_eq!(shown(&mut session, "SELECT `odd ``name``` + 1 AS n FROM `it's ``odd```"), "n\n8\n");
}

#[test]
fn an_updating_query_folds_to_its_last_rows() {
    check(
        "SELECT key, SUM(n) AS total FROM facts GROUP BY key",
        expect![[r#"
            key,total
            a,4
            b,2
            ,4
        "#]],
    );
}

#[test]
fn a_query_streams_its_changes_and_then_its_summary() {
    let mut session = session();
    let mut rows = session.query("CREATE VIEW v AS SELECT n FROM facts; SELECT n FROM v").expect("query");
    let mut sum = 0;
    for changes in rows.by_ref() {
        let batch = changes.expect("changes").batch;
        sum += batch.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
    }
    assert_eq!(sum, 10);
    assert_eq!(rows.summary().map(|s| s.sources[0].rows), Some(4));
    assert!(session.query("SHOW TABLES").is_err_and(|e| e.to_string() == "the script does not end in a query"));
}

#[test]
fn a_dropped_query_does_not_hold_the_session() {
    let mut session = session();
    drop(session.query("SELECT n FROM facts").expect("query"));
    assert_eq!(shown(&mut session, "SELECT COUNT(*) AS n FROM facts"), "n\n4\n");
}

#[test]
fn inserts_are_waited_for() {
    let sink = "CREATE TABLE sink (n BIGINT) WITH ('connector' = 'blackhole');";
    check(&format!("{sink} INSERT INTO sink SELECT n FROM facts"), expect!["4 rows written"]);
    let set = "EXECUTE STATEMENT SET BEGIN
        INSERT INTO sink SELECT n FROM facts;
        INSERT INTO sink SELECT n FROM facts WHERE n > 2;
    END";
    check(&format!("{sink} {set}"), expect!["6 rows written"]);
}

#[test]
fn tables_and_views_are_listed_and_described() {
    let define = "CREATE VIEW big AS SELECT key, n * 2 AS twice FROM facts WHERE n > 1;
        CREATE TABLE events (
            id BIGINT NOT NULL,
            raw STRING COMMENT 'as received',
            ts AS TO_TIMESTAMP(raw),
            WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
            PRIMARY KEY (id) NOT ENFORCED
        ) WITH ('connector' = 'datagen');";
    let mut session = session();
    session.execute(define).expect("definitions");
    assert_eq!(shown(&mut session, "SHOW TABLES"), "table name\nbig\nevents\nfacts\n");
    assert_eq!(shown(&mut session, "SHOW VIEWS"), "view name\nbig\n");
    expect![[r#"
        name,type,null,key,extras,watermark,comment
        id,BIGINT,false,PRI(id),,,
        raw,STRING,true,,,,as received
        ts,TIMESTAMP(3) *ROWTIME*,true,,AS TO_TIMESTAMP(raw),ts - INTERVAL '5' SECOND,
    "#]]
    .assert_eq(&shown(&mut session, "DESCRIBE events"));
    expect![[r#"
        name,type,null,key,extras,watermark
        key,STRING,true,,,
        twice,BIGINT,false,,,
    "#]]
    .assert_eq(&shown(&mut session, "SHOW COLUMNS FROM big"));
    let created = shown(&mut session, "SHOW CREATE VIEW big");
    assert_eq!(created, "CREATE VIEW big AS SELECT key, n * 2 AS twice FROM facts WHERE n > 1");
}

#[test]
fn definitions_say_what_they_did() {
    let mut session = session();
    assert_eq!(shown(&mut session, "CREATE VIEW v AS SELECT n FROM facts"), "view `v` created");
    let again = "CREATE VIEW IF NOT EXISTS v AS SELECT n FROM facts";
    assert_eq!(shown(&mut session, again), "`v` exists already, nothing to create");
    assert_eq!(shown(&mut session, "DROP VIEW v"), "view `v` dropped");
    assert_eq!(shown(&mut session, "DROP VIEW IF EXISTS v"), "there is no view `v`, nothing to drop");
}

#[test]
fn settings_are_set_listed_and_reset() {
    let mut session = session();
    assert_eq!(shown(&mut session, "SET 'parallelism.default' = '2'"), "'parallelism.default' is now '2'");
    assert_eq!(session.settings().parallelism(), 2);
    assert!(shown(&mut session, "SET").contains("\nparallelism.default,2,"));
    shown(&mut session, "RESET 'parallelism.default'");
    assert_eq!(session.settings().parallelism(), 1);
    let wrong = error("SET 'paralelism.default' = '2'");
    assert!(
        wrong.contains("there is no setting 'paralelism.default'") && wrong.contains("parallelism.default'?"),
        "{wrong}"
    );
    let refused = error("SET 'state.backend.type' = 'rocksdb'");
    assert!(refused.contains(ROCKSDB_REFUSAL), "{refused}");
}

#[test]
fn explain_shows_the_plan_and_runs_nothing() {
    let mut session = session();
    let plan = session.explain("CREATE VIEW v AS SELECT n FROM facts; SELECT n FROM v WHERE n > 1").expect("plan");
    assert!(plan.contains("Stream plan") && plan.contains("facts"), "{plan}");
    assert_eq!(shown(&mut session, "EXPLAIN SELECT n FROM v WHERE n > 1"), plan);
    let json = shown(&mut session, "EXPLAIN JSON_EXECUTION_PLAN SELECT n FROM v");
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok_and(|j| j["vertices"].is_array()), "{json}");
    let refused = error("EXPLAIN ESTIMATED_COST SELECT n FROM facts");
    assert!(refused.contains("EXPLAIN cannot show ESTIMATED_COST"), "{refused}");
}

#[test]
fn nothing_runs_when_the_syntax_is_wrong_and_the_first_error_ends_a_script() {
    let mut session = session();
    assert!(session.execute("CREATE VIEW v AS SELECT n FROM facts; SELEC 1").is_err());
    assert_eq!(shown(&mut session, "SHOW VIEWS"), "view name\n");
    assert!(session.execute("CREATE VIEW v AS SELECT n FROM facts; SELECT m FROM v; DROP VIEW v").is_err());
    assert_eq!(shown(&mut session, "SHOW VIEWS"), "view name\nv\n");
}

#[test]
fn a_failing_job_names_its_expression() {
    let sentence = error("SELECT 1 / (n - 1) AS x FROM facts");
    assert!(sentence.contains("division by zero"), "{sentence}");
}
