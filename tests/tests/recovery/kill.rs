//! SIGKILL, for real.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::mpsc;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::binary::{Ended, Place};

/// Rows that pass through, and windows that are open when the process dies.
const SCRIPT: &str = "
CREATE TABLE bids (auction BIGINT, bidder BIGINT, price BIGINT, `dateTime` TIMESTAMP(3),
    WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '1' SECOND)
    WITH ('connector' = 'nexmark', 'type' = 'bid', 'events' = '1500000');
CREATE TABLE sums (start TIMESTAMP(3), bidder BIGINT, bids BIGINT, total BIGINT, highest BIGINT)
    WITH ('connector' = 'filesystem', 'path' = 'sums', 'format' = 'csv');
CREATE TABLE dear (auction BIGINT, bidder BIGINT, price BIGINT, `at` TIMESTAMP(3))
    WITH ('connector' = 'filesystem', 'path' = 'dear', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
    INSERT INTO sums SELECT window_start, bidder, COUNT(*), SUM(price), MAX(price)
        FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
        GROUP BY window_start, window_end, bidder;
    INSERT INTO dear SELECT auction, bidder, price, `dateTime` FROM bids WHERE price > 95000000;
END;";

const KILLS: u32 = 10;

/// The lines of all published files, sorted. Nothing else may be there.
fn published(place: &Place) -> Vec<String> {
    let mut lines = vec![];
    for table in ["sums", "dear"] {
        for entry in fs::read_dir(place.path(table)).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            assert!(name.starts_with("part-"), "{table}/{name} is left behind");
            let text = fs::read_to_string(&path).expect("a text");
            lines.extend(text.lines().map(|line| format!("{table}: {line}")));
        }
    }
    lines.sort_unstable();
    lines
}

/// Waits for a random time, or until the process has ended.
fn wait(child: &mut Child, millis: u64) {
    // Nobody sends: the receiver is a timer.
    let (_sender, timer) = mpsc::channel::<()>();
    let _ = timer.recv_timeout(Duration::from_millis(millis));
    let _ = child.try_wait();
}

fn committed(place: &Place) -> usize {
    let exists = |dir: &Path| dir.join("manifest.json").exists();
    let entries = fs::read_dir(place.path("checkpoints")).into_iter().flatten();
    entries.filter(|entry| entry.as_ref().is_ok_and(|entry| exists(&entry.path()))).count()
}

#[test]
fn a_process_that_is_killed_at_any_moment_loses_nothing_and_repeats_nothing() {
    let clean = Place::with(&[("q.sql", SCRIPT)]);
    clean.run(&["q.sql"]).assert_rows("");
    // Without checkpoints, too, the files are complete at the end.
    let expected = published(&clean);
    assert!(expected.len() > 10_000, "{} rows", expected.len());

    let place = Place::with(&[("q.sql", SCRIPT)]);
    let mut random = ChaCha8Rng::seed_from_u64(20_130_101);
    let (mut killed, mut restored) = (0, 0);
    for attempt in 0..KILLS * 3 {
        let parallelism = (1 + attempt % 3).to_string();
        let arguments =
            ["q.sql", "--checkpoint-dir", "checkpoints", "--checkpoint-interval", "200ms", "-p", &parallelism];
        let mut child = place.command(&arguments).spawn().expect("the binary starts");
        drop(child.stdin.take());
        if killed < KILLS {
            wait(&mut child, 150 + random.next_u64() % 650);
            // SIGKILL, unless it has ended.
            let _ = child.kill();
        }
        let ended = Ended::of(child.wait_with_output().expect("the binary ends"));
        restored += u32::from(ended.stderr.contains("went on from checkpoint"));
        match ended.code {
            None => killed += 1,
            Some(0) => break,
            Some(code) => panic!("exit code {code} after {killed} kills: {}", ended.stderr),
        }
    }
    assert!(killed >= 3, "the job was too quick to be killed more than {killed} times");
    assert!(committed(&place) > 0 && restored == 1, "the last attempt went on from a checkpoint");
    let found = published(&place);
    assert_eq!(found.len(), expected.len(), "rows were lost or repeated");
    assert!(found == expected, "rows are different");
    place.run(&["q.sql", "--checkpoint-dir", "checkpoints", "-q"]).assert_rows("");
    assert!(published(&place) == expected, "a job that has ended writes nothing more");
}
