//! What goes wrong, and what its author reads on stderr.

use super::binary::{Ended, Place, csv_table};

fn run_on(csv: &str, script: &str) -> Ended {
    Place::with(&[("t.csv", csv)]).run(&["--format", "csv", "-p", "1", "-c", script])
}

#[test]
fn a_malformed_row_is_named() {
    let script = csv_table("a BIGINT, b STRING", "") + "\nSELECT a FROM t";
    let ended = run_on("1,x\n2,y\nthree,z\n", &script);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), "a\n1\n2\n"), "the rows before it were good");
    let expected = "error[TM3001]: table `t`: t.csv, line 3, column 'a': 'three' is not a BIGINT\n --> -c:2:1\n";
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
    let script = csv_table("a BIGINT, b STRING", "") + "SELECT b FROM t";
    let expected = "error[TM3001]: table `t`: t.csv, line 1: 3 fields where the table has 2 columns\n";
    assert!(run_on("1,x,y\n", &script).stderr.starts_with(expected));
}

#[test]
fn unreadable_rows_are_left_out_on_request_and_counted() {
    let script = csv_table("a BIGINT, b STRING", ", 'csv.ignore-parse-errors' = 'true'") + "SELECT a FROM t";
    let ended = run_on("1,x\n2\nthree,z\n4,w\n", &script);
    ended.assert_rows("a\n1\n4\n");
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert!(lines[0].starts_with("read 2 rows from t, in "), "{}", ended.stderr);
    let expected = [
        "2 rows of t could not be read and were left out:",
        "  table `t`: t.csv, line 2: 1 field where the table has 2 columns",
        "  table `t`: t.csv, line 3, column 'a': 'three' is not a BIGINT",
    ];
    assert_eq!(lines[1..], expected);
}

#[test]
fn a_million_bad_rows_are_not_a_million_lines() {
    let script = csv_table("a BIGINT", ", 'csv.ignore-parse-errors' = 'true'") + "SELECT a FROM t";
    let ended = run_on(&"bad\n".repeat(20_000), &script);
    ended.assert_rows("a\n");
    assert_eq!(ended.stderr.lines().count(), 13, "a headline, ten examples and what is left: {}", ended.stderr);
    assert!(ended.stderr.ends_with("  and 19,990 more\n"), "{}", ended.stderr);
}

#[test]
fn late_rows_are_counted_with_the_delay_that_would_have_kept_them() {
    let table = csv_table("ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", "");
    let query = "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
        GROUP BY window_start, window_end";
    let ended = run_on("2026-01-01 00:00:01\n2026-01-01 00:00:20\n2026-01-01 00:00:02\n", &(table + query));
    ended.assert_rows("window_start,n\n2026-01-01 00:00:00.000,1\n2026-01-01 00:00:20.000,1\n");
    assert!(ended.stderr.starts_with("read 3 rows from t, 2 windows fired, in "), "{}", ended.stderr);
    // 00:02 is 18 s behind 00:20; its window, which ends at 00:10, is still open with a delay of more than 10 s.
    let told = "1 row came too late and was left out: all its windows had fired; a watermark delay of 18 seconds would \
        have kept it";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn quiet_leaves_rows_and_errors() {
    let script = csv_table("a BIGINT", "") + "SELECT a FROM t";
    let ended = Place::with(&[("t.csv", "1\n")]).run(&["--quiet", "-c", &script]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let ended = Place::with(&[("t.csv", "x\n")]).run(&["-q", "-c", &script]);
    assert!(ended.stderr.starts_with("error[TM3001]: table `t`: t.csv, line 1"), "{}", ended.stderr);
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let place = Place::with(&[("s.sql", "SELECT 1 AS a")]);
    place.run(&["--bogus"]).assert_refused(2, &["error: unexpected argument '--bogus' found"]);
    place.run(&["missing.sql"]).assert_refused(2, &["error: cannot read `missing.sql`: there is no such file"]);
    place.run(&["s.sql", "-c", "SELECT 1"]).assert_refused(2, &["error: give either files or `-c`, not both"]);
    place.run(&["-p", "0", "s.sql"]).assert_refused(2, &["'0'"]);
    place.run(&["--format", "xml", "s.sql"]).assert_refused(2, &["'xml'", "csv"]);
    place.run(&["--timeout", "30", "s.sql"]).assert_refused(2, &["expected a duration with its unit, such as 30s"]);
    place.run(&["-s", "parallelism", "s.sql"]).assert_refused(2, &["expected KEY=VALUE"]);
    let unknown = "error: there is no setting 'paralelism.default'; did you mean 'parallelism.default'?";
    place.run(&["-s", "paralelism.default=2", "s.sql"]).assert_refused(2, &[unknown]);
    let bad = "error: 'Mars' is not a value of 'table.local-time-zone'";
    place.run(&["-s", "table.local-time-zone=Mars", "s.sql"]).assert_refused(2, &[bad]);
}

#[test]
fn what_is_not_there_yet_is_refused() {
    let place = Place::with(&[]);
    let state_dir = "--state-dir: the state of operators stays in memory in this version";
    place.run(&["--state-dir", "s", "-c", "SELECT 1"]).assert_refused(2, &[state_dir]);
    place.run(&["--state-backend", "rocksdb", "-c", "SELECT 1"]).assert_refused(2, &["--state-backend rocksdb: "]);
}

#[test]
fn messages_are_coloured_on_request_only() {
    let place = Place::with(&[]);
    let wrong = ["-c", "SELECT a FROM nowhere"];
    assert!(!place.run(&wrong).stderr.contains('\u{1b}'), "stderr is no terminal");
    let mut always = wrong.to_vec();
    always.extend(["--color", "always"]);
    assert!(place.run(&always).stderr.contains('\u{1b}'));
    let mut no_color = place.command(&wrong);
    let ended = Ended::of(no_color.env("NO_COLOR", "1").output().expect("the binary runs"));
    assert_eq!((ended.code, ended.stderr.contains('\u{1b}')), (Some(1), false));
}

#[test]
fn help_and_version_are_asked_for_not_errors() {
    let place = Place::with(&[]);
    for arguments in [["--help"], ["--version"]] {
        let ended = place.run(&arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(ended.stdout.contains("tidemark"));
    }
}
