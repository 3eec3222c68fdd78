//! Where scripts come from, and what of them runs.

use super::binary::{Place, csv_table};

#[test]
fn a_query_on_the_command_line() {
    let place = Place::with(&[]);
    let ended = place.run(&["-c", "SELECT 1 AS one", "--format", "csv"]);
    ended.assert_rows("one\n1\n");
    assert_eq!(ended.stderr, "");
    place.run(&["--format", "csv", "-c", "SELECT 1 AS a; SELECT 2 AS b"]).assert_rows("a\n1\nb\n2\n");
    place.run(&["--format", "csv", "-c", "SELECT 1 AS a", "-c", "SELECT 2 AS b"]).assert_rows("a\n1\nb\n2\n");
}

#[test]
fn a_script_on_stdin() {
    let place = Place::with(&[]);
    place.run_with(&["--format", "csv"], "SELECT 'a;b' AS x -- no; end\n;").assert_rows("x\na;b\n");
    place.run_with(&["--format", "csv", "run", "-"], "SELECT 1 AS a").assert_rows("a\n1\n");
    place.run_with(&["--format", "csv"], "").assert_rows("");
}

#[test]
fn scripts_in_files() {
    let place = Place::with(&[
        ("define.sql", "CREATE VIEW v AS SELECT 3 AS n;"),
        ("use.sql", "SELECT n FROM v;\n"),
        ("only_comments.sql", "-- nothing\n/* at; all */\n"),
    ]);
    place.run(&["--format", "csv", "define.sql", "use.sql"]).assert_rows("n\n3\n");
    place.run(&["run", "define.sql", "use.sql", "--format", "csv"]).assert_rows("n\n3\n");
    place.run(&["define.sql"]).assert_rows("");
    place.run(&["only_comments.sql"]).assert_rows("");
}

#[test]
fn a_script_stops_at_its_first_error() {
    let place = Place::with(&[("s.sql", "SELECT 1 AS a;\nSELECT b FROM nowhere;\nSELECT 2 AS c;")]);
    let ended = place.run(&["--format", "csv", "s.sql"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), "a\n1\n"));
    let expected = "error[TM2001]: there is no table or view `nowhere`\n --> s.sql:2:15\n";
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
}

#[test]
fn nothing_runs_when_a_statement_cannot_be_read() {
    let place = Place::with(&[("s.sql", "SELECT 1 AS a;\nSELEC 2;\nSELECT FROM x")]);
    let expected = ["error[TM1006]: no statement starts with `SELEC`", "s.sql:2:1", "error[TM1001]: ", "s.sql:3:8"];
    place.run(&["s.sql"]).assert_refused(1, &expected);
    place.run(&["check", "s.sql"]).assert_refused(1, &expected);
    place.run(&["explain", "s.sql"]).assert_refused(1, &expected);
}

#[test]
fn explain_of_a_wrong_script_tells_all_errors_and_shows_no_plan() {
    let place = Place::with(&[("s.sql", "SELECT 1 AS a;\nSELECT b FROM nowhere;\nSELEC 2;\nSELECT 2 AS c;")]);
    let expected =
        ["there is no table or view `nowhere`", "s.sql:2:15", "no statement starts with `SELEC`", "s.sql:3:1"];
    place.run(&["explain", "s.sql"]).assert_refused(1, &expected);
}

#[test]
fn check_reports_all_errors_and_runs_nothing() {
    let script = "CREATE TABLE a (n BIGINT) WITH ('connector' = 'nope');
        CREATE VIEW v AS SELECT 1 AS n;
        SELECT m FROM v;
        SELECT n, UPER('x') FROM v;
        SELECT n FROM v;";
    let place = Place::with(&[("s.sql", script)]);
    let expected = [
        "error[TM2003]: there is no connector 'nope'",
        "s.sql:1:47",
        "error[TM2001]: there is no column `m`",
        "s.sql:3:16",
        "did you mean `UPPER`?",
        "s.sql:4:19",
    ];
    place.run(&["check", "s.sql"]).assert_refused(1, &expected);
    let place = Place::with(&[("good.sql", "CREATE VIEW v AS SELECT 1 AS n; SELECT n FROM v")]);
    place.run(&["check", "good.sql"]).assert_rows("");
}

#[test]
fn explain_shows_plans_and_writes_nothing() {
    let script = csv_table("n BIGINT", "") + "INSERT INTO t SELECT 1";
    let place = Place::with(&[("s.sql", &script)]);
    let ended = place.run(&["explain", "s.sql"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for part in ["== Logical plan ==", "== Stream plan ==", "== Job graph ==", "`t` (filesystem)"] {
        assert!(ended.stdout.contains(part), "{part} is missing: {}", ended.stdout);
    }
    assert!(!place.path("t.csv").exists(), "EXPLAIN has run the INSERT");
    place.run(&["s.sql"]).assert_rows("");
    assert_eq!(std::fs::read_to_string(place.path("t.csv")).ok().as_deref(), Some("1\n"));
}

#[test]
fn settings_come_before_the_script() {
    let place = Place::with(&[("t.csv", "0\n")]);
    let script = csv_table("ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3)", "") + "SELECT ts FROM t";
    let zone = ["-s", "table.local-time-zone=Asia/Shanghai", "--format", "csv", "-c", &script];
    place.run(&zone).assert_rows("ts\n1970-01-01 08:00:00.000\n");
    place.run(&["--format", "csv", "-c", &script]).assert_rows("ts\n1970-01-01 00:00:00.000\n");
    for arguments in [["-p", "3"], ["--batch-size", "1"], ["--set", "parallelism.default=2"]] {
        let mut all = vec!["--format", "csv", "-c", script.as_str()];
        all.extend(arguments);
        place.run(&all).assert_rows("ts\n1970-01-01 00:00:00.000\n");
    }
}
