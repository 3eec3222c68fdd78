//! Checkpoints that are no good, or not this query's: exit code 5, a reason, and nothing is changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::binary::{Ended, Place};

const TABLES: &str = "
CREATE TABLE t (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'datagen', 'rows-per-second' = '20000', 'fields.k.length' = '2');
CREATE TABLE out (k STRING, n BIGINT, total BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');
CREATE TABLE other (k STRING, n BIGINT, total BIGINT) WITH ('connector' = 'blackhole');
";
const SUMS: &str = "INSERT INTO out SELECT k, COUNT(*), SUM(v)
    FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k;";

const DIR: [&str; 4] = ["--checkpoint-dir", "c", "--checkpoint-interval", "100ms"];

fn script(insert: &str) -> String {
    format!("{TABLES}{insert}")
}

fn run(place: &Place, insert: &str, more: &[&str]) -> Ended {
    let script = script(insert);
    place.run(&[&DIR, more, &["--timeout", "200ms", "-c", &script]].concat())
}

/// A place with two checkpoints of [`SUMS`], the older one first.
fn with_checkpoints() -> (Place, Vec<PathBuf>) {
    let place = Place::with(&[]);
    let ended = place.run(&[&DIR[..], &["--timeout", "900ms", "-c", &script(SUMS)]].concat());
    assert_eq!(ended.code, Some(124), "{}", ended.stderr);
    assert!(ended.stderr.contains("the job goes on from checkpoint c/chk-"), "{}", ended.stderr);
    let mut checkpoints: Vec<_> =
        fs::read_dir(place.path("c")).expect("a directory").map(|e| e.expect("it").path()).collect();
    checkpoints.retain(|path| path.is_dir());
    checkpoints.sort_by_key(|path| path.to_string_lossy().rsplit('-').next().and_then(|n| n.parse::<u64>().ok()));
    assert_eq!(checkpoints.len(), 2, "two are kept: {checkpoints:?}");
    (place, checkpoints)
}

/// Every file below, with its bytes.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = vec![];
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).expect("a file");
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

#[test]
fn a_damaged_file_is_named_and_the_checkpoint_before_is_offered() {
    let (place, checkpoints) = with_checkpoints();
    let (older, newer) = (&checkpoints[0], &checkpoints[1]);
    let name = |path: &Path| format!("c/{}", path.strip_prefix(place.path("c")).expect("below").display());
    for (path, bytes) in contents(newer) {
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        for damaged in [&flipped[..], &bytes[..bytes.len() - 1]] {
            fs::write(&path, damaged).expect("a file");
            let before = contents(&place.path("c"));
            let corrupt = format!("checkpoint file {} is corrupt", name(&path));
            let offer = format!("--restore {} goes on from there", name(older));
            run(&place, SUMS, &[]).assert_refused(5, &["error[TM3006]", &corrupt, &offer]);
            assert_eq!(contents(&place.path("c")), before, "nothing is changed");
        }
        fs::write(&path, bytes).expect("a file");
    }
    let from_older = run(&place, SUMS, &["--restore", &name(older)]);
    assert_eq!(from_older.code, Some(124), "{}", from_older.stderr);
    let anew = run(&place, SUMS, &["--restore", "none"]);
    assert_eq!(anew.code, Some(124), "{}", anew.stderr);
}

#[test]
fn another_query_is_refused_with_what_differs() {
    let (place, _) = with_checkpoints();
    let before = contents(&place.path("c"));
    let refused = |insert: &str, more: &[&str], texts: &[&str]| {
        run(&place, insert, more).assert_refused(5, texts);
        assert_eq!(contents(&place.path("c")), before, "nothing is changed");
    };
    refused(
        "INSERT INTO other SELECT k, v, v FROM t;",
        &[],
        &["holds checkpoints of the job 'INSERT INTO out', not of 'INSERT INTO other'"],
    );
    let by_value = SUMS.replace("SELECT k,", "SELECT 'x',").replace("window_end, k", "window_end, v");
    refused(
        &by_value,
        &[],
        &["does not fit this query", "operator 'out/window-aggregate-1' (window aggregate) has other state"],
    );
    let stateless = "INSERT INTO out SELECT k, v, v FROM t;";
    refused(stateless, &[], &["operator 'out/window-aggregate-1' (window aggregate) is gone", "--allow-dropped-state"]);
    refused(
        SUMS,
        &["-s", "pipeline.max-parallelism=64"],
        &["maximum parallelism of 128 and cannot be restored with 64"],
    );
    refused(SUMS, &["--restore", "nowhere"], &["there is no checkpoint at nowhere"]);
    let allowed = run(&place, stateless, &["--allow-dropped-state"]);
    assert_eq!(allowed.code, Some(124), "{}", allowed.stderr);
}

#[test]
fn what_does_not_concern_the_state_may_change() {
    let (place, _) = with_checkpoints();
    let filtered = SUMS.replace("GROUP BY", "WHERE v <> 7 GROUP BY");
    let with_filter = run(&place, &filtered, &["-p", "3"]);
    assert_eq!(with_filter.code, Some(124), "{}", with_filter.stderr);
    assert!(with_filter.stderr.contains("the job goes on from checkpoint"), "{}", with_filter.stderr);
    for set in [
        format!("{SUMS} INSERT INTO other SELECT k, v, v FROM t;"),
        format!("INSERT INTO other SELECT k, v, v FROM t; {SUMS}"),
    ] {
        let with_more = run(&place, &format!("EXECUTE STATEMENT SET BEGIN {set} END;"), &[]);
        assert_eq!(with_more.code, Some(124), "{}", with_more.stderr);
        let shown = place.run(&["--format", "csv", "state", "ls", "c"]);
        assert!(shown.stdout.lines().skip(1).all(|line| line.contains(",INSERT INTO out,")), "{}", shown.stdout);
    }
    let named = run(&place, &format!("INSERT INTO other SELECT k, v, v FROM t; {SUMS}"), &["-s", "pipeline.name=mine"]);
    named.assert_refused(5, &["not of 'mine'"]);
}

#[test]
fn one_directory_serves_the_jobs_of_one_script() {
    let place = Place::with(&[("a.csv", "1\n2\n"), ("b.csv", "3\n")]);
    let table = |name: &str, path: &str| {
        format!("CREATE TABLE {name} (n INT) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv');")
    };
    let tables = [table("a", "a.csv"), table("b", "b.csv"), table("x", "x"), table("y", "y")].concat();
    let script = format!(
        "{tables} INSERT INTO x SELECT n FROM a; INSERT INTO y SELECT n FROM b; INSERT INTO x SELECT n FROM b;"
    );
    let lines = |dir: &str| {
        let files = contents(&place.path(dir)).into_iter().map(|(_, bytes)| String::from_utf8(bytes).expect("text"));
        files.collect::<String>()
    };
    for _ in 0..2 {
        place.run(&["--checkpoint-dir", "c", "-c", &script]).assert_rows("");
        assert_eq!((lines("x").as_str(), lines("y").as_str()), ("1\n2\n3\n", "3\n"), "each is written once");
    }
}

#[test]
fn the_standard_input_cannot_be_gone_back_to() {
    let script = "CREATE TABLE i (n INT) WITH ('connector' = 'stdin', 'format' = 'csv');
        CREATE TABLE o (n INT) WITH ('connector' = 'blackhole');
        INSERT INTO o SELECT n FROM i;";
    let place = Place::with(&[]);
    let texts = ["the standard input cannot be read a second time", "run it without a checkpoint directory"];
    place.run(&["--checkpoint-dir", "c", "-c", script]).assert_refused(1, &texts);
    let in_vain = "'execution.checkpointing.interval' means nothing without a directory for checkpoints";
    place.run(&["--checkpoint-interval", "1s", "-c", script]).assert_refused(1, &[in_vain]);
}

#[cfg(unix)]
#[test]
fn a_signal_stops_a_job_with_a_last_checkpoint() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let place = Place::with(&[]);
        let script = script(SUMS);
        let mut child = place
            .command(&["--checkpoint-dir", "c", "--checkpoint-interval", "1h", "-c", &script])
            .spawn()
            .expect("the binary starts");
        drop(child.stdin.take());
        // The directory is locked once signals are heard and the job is about to run.
        while !place.path("c/lock").exists() {
            assert!(child.try_wait().expect("a process").is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
        assert!(status.success());
        let ended = Ended::of(child.wait_with_output().expect("the binary ends"));
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        assert!(ended.stderr.contains("the job goes on from checkpoint c/chk-1\n"), "{}", ended.stderr);
        let again = run(&place, SUMS, &[]);
        assert_eq!(again.code, Some(124), "{}", again.stderr);
        assert!(again.stderr.contains("c/chk-"), "{}", again.stderr);
    }
}

/// Nobody reads what the job prints: it cannot even take its last checkpoint.
#[cfg(unix)]
#[test]
fn a_second_signal_does_not_wait_for_the_checkpoint() {
    let place = Place::with(&[]);
    let script = "CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000');
        CREATE TABLE p (n BIGINT) WITH ('connector' = 'print');
        INSERT INTO p SELECT n FROM g;";
    let mut child = place.command(&["--checkpoint-dir", "c", "-c", script]).spawn().expect("the binary starts");
    drop(child.stdin.take());
    while !place.path("c/lock").exists() {
        assert!(child.try_wait().expect("a process").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    while child.try_wait().expect("a process").is_none() {
        Command::new("kill").args(["-INT", &id]).output().expect("kill runs");
    }
    assert_eq!(child.wait().expect("a process").code(), Some(130));
}

#[test]
fn two_processes_do_not_share_a_directory() {
    let place = Place::with(&[]);
    let script = script(SUMS);
    let mut child = place.command(&["--checkpoint-dir", "c", "-c", &script]).spawn().expect("the binary starts");
    while !place.path("c/lock").exists() {
        assert!(child.try_wait().expect("a process").is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    let refused = run(&place, SUMS, &[]);
    child.kill().expect("a process");
    child.wait().expect("a process");
    // Whoever comes first between the file and its lock has it.
    if refused.code == Some(1) {
        refused.assert_refused(1, &["another process takes checkpoints in c"]);
    }
    let free = run(&place, SUMS, &[]);
    assert_eq!(free.code, Some(124), "{}", free.stderr);
}

#[test]
fn checkpoints_can_be_looked_at() {
    let (place, checkpoints) = with_checkpoints();
    let listed = place.run(&["--format", "csv", "state", "ls", "c"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!(lines[0], "checkpoint,job,created,complete,rows,bytes,status");
    assert_eq!(lines.len(), 3, "{}", listed.stdout);
    let newest = checkpoints[1].file_name().expect("a name").to_string_lossy().into_owned();
    assert!(lines[1].starts_with(&format!("c/{newest},INSERT INTO out,20")), "{}", lines[1]);
    assert!(lines[1].ends_with(",good") && lines[1].contains(",false,"), "{}", lines[1]);
    for path in ["c".to_owned(), format!("c/{newest}")] {
        let shown = place.run(&["--format", "csv", "state", "show", &path]);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        for text in ["state,out/window-aggregate-1,table '", "split,out/source-1,", "generator", "watermark,out/"] {
            assert!(shown.stdout.contains(text), "{text} in {}", shown.stdout);
        }
    }
    place.run(&["state", "ls", "nowhere"]).assert_refused(1, &["there is no checkpoint at nowhere"]);
}

#[test]
fn a_changed_script_says_what_becomes_of_the_state() {
    let counts = SUMS.replace("SUM(v)", "MAX(v)");
    let files = [
        ("old.sql", script(SUMS)),
        ("same.sql", script(&format!("INSERT INTO other SELECT k, v, v FROM t; {SUMS}"))),
        ("new.sql", script(&counts)),
    ];
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let place = Place::with(&files);
    let same = place.run(&["state", "diff", "old.sql", "same.sql"]);
    same.assert_rows(
        "job 'INSERT INTO other' is new\njob 'INSERT INTO out'\n  \
        operator 'out/window-aggregate-1' (window aggregate) is unchanged and keeps its state\n",
    );
    let changed = place.run(&["state", "diff", "old.sql", "new.sql"]);
    assert_eq!(changed.code, Some(5), "{}", changed.stderr);
    assert!(changed.stdout.contains("has other state: ") && changed.stdout.contains(": refused"), "{}", changed.stdout);
    assert!(changed.stdout.contains("sum(t.v)"), "the field is named: {}", changed.stdout);
}
