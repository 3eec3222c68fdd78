//! Queries without an end, and what ends them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command};

use super::binary::{Ended, Place};

/// One row a second, for ever.
const ENDLESS: &str =
    "CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1'); SELECT n FROM g";
/// As many rows as there is time for.
const FAST: &str =
    "CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000'); SELECT n FROM g";

#[test]
fn a_timeout_is_exit_code_124() {
    let ended = Place::with(&[]).run(&["--format", "csv", "--timeout", "200ms", "-c", ENDLESS]);
    assert_eq!(ended.code, Some(124), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("n\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("stopped: the timeout has passed\n"), "{}", ended.stderr);
    Place::with(&[]).run(&["--timeout", "1h", "--format", "csv", "-c", "SELECT 1 AS a"]).assert_rows("a\n1\n");
}

/// Starts a query without an end and reads its heading and first row.
fn started(place: &Place, script: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = place.command(&["--format", "csv", "-c", script]).spawn().expect("the binary starts");
    let mut stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a heading");
    assert_eq!(line, "n\n");
    stdout.read_line(&mut line).expect("a row, long before the query ends");
    (child, stdout)
}

#[test]
fn a_reader_that_goes_away_is_a_quiet_end() {
    let place = Place::with(&[]);
    for script in [ENDLESS, FAST] {
        let (child, stdout) = started(&place, script);
        drop(stdout);
        let ended = Ended::of(child.wait_with_output().expect("the binary ends"));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    }
}

#[cfg(unix)]
#[test]
fn signals_have_their_exit_codes() {
    let place = Place::with(&[]);
    for (signal, code, told) in
        [("-INT", 130, "stopped: the query was cancelled\n"), ("-TERM", 143, "stopped: the process was told to end\n")]
    {
        let (child, mut stdout) = started(&place, ENDLESS);
        let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(status.success());
        // Reading to the end keeps the pipe open until the process is gone.
        std::io::copy(&mut stdout, &mut std::io::sink()).expect("the rest");
        let ended = Ended::of(child.wait_with_output().expect("the binary ends"));
        assert_eq!((ended.code, ended.stderr.contains(told)), (Some(code), true), "{}", ended.stderr);
    }
}
