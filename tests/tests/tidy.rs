//! Rules of the house that no compiler checks.

use tidemark_tests::workspace::{self, CRATES, SourceFile};

/// Lines of a production file above which nobody finds anything any more.
const MAX_LINES: usize = 600;
/// Bytes of a tracked file.
const MAX_FILE_BYTES: u64 = 1 << 20;

fn all_files() -> Vec<SourceFile> {
    CRATES.iter().flat_map(|folder| workspace::rust_files(folder)).collect()
}

fn production() -> Vec<SourceFile> {
    all_files().into_iter().filter(|f| !f.is_test() && !f.path.contains("/examples/")).collect()
}

fn assert_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

fn lines_with(files: &[SourceFile], is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = vec![];
    for file in files {
        for (number, line) in file.production_lines() {
            if is_wrong(line) {
                found.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    found
}

#[test]
fn production_code_does_not_unwrap() {
    let marks = [".unwrap()", "todo!(", "unimplemented!(", "dbg!("];
    let found = lines_with(&production(), |line| marks.iter().any(|mark| line.contains(mark)));
    assert_none(&found, "say why it holds (`expect`), or handle it");
}

#[test]
fn every_expect_says_why() {
    let is_bare = |line: &str| line.contains(".expect(\"\")") || line.contains(".expect(\"failed");
    assert_none(&lines_with(&production(), is_bare), "an `expect` states why it holds");
}

#[test]
fn files_are_short() {
    let long = |file: &SourceFile| {
        let lines = file.production_lines().len();
        (lines > MAX_LINES).then(|| format!("{}: {lines} lines", file.path))
    };
    let found: Vec<_> = production().iter().filter_map(long).collect();
    assert_none(&found, "one concept, one file");
}

#[test]
fn modules_are_named_for_what_they_are() {
    let vague = ["utils", "util", "common", "helpers", "helper", "misc", "manager", "mod"];
    let is_vague = |file: &&SourceFile| {
        let stem = file.path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"));
        stem.is_some_and(|stem| vague.contains(&stem))
    };
    let found: Vec<_> = all_files().iter().filter(is_vague).map(|f| f.path.clone()).collect();
    assert_none(&found, "name what it does");
}

#[test]
fn tests_neither_sleep_nor_hide() {
    // Put together here, so that this file does not find itself.
    let marks = [["thread::", "sleep("].concat(), ["#[", "ignore"].concat()];
    let is_test = |file: &SourceFile| file.is_test();
    let mut found = vec![];
    for file in all_files().iter().filter(|f| is_test(f)) {
        let lines =
            file.text.lines().enumerate().filter(|(_, line)| marks.iter().any(|mark| line.contains(mark.as_str())));
        found.extend(lines.map(|(i, line)| format!("{}:{}: {}", file.path, i + 1, line.trim())));
    }
    assert_none(&found, "a test neither waits nor is left out");
}

#[test]
fn nothing_knows_the_machine_it_was_written_on() {
    let marks = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat()];
    let Some(files) = workspace::tracked_files() else { return };
    let mut found = vec![];
    for path in files {
        let Ok(text) = std::fs::read_to_string(workspace::root().join(&path)) else { continue };
        let lines = text.lines().enumerate().filter(|(_, line)| marks.iter().any(|mark| line.contains(mark.as_str())));
        found.extend(lines.map(|(i, line)| format!("{path}:{}: {}", i + 1, line.trim())));
    }
    assert_none(&found, "no paths of a machine");
}

#[test]
fn tracked_files_are_small() {
    let Some(files) = workspace::tracked_files() else { return };
    let size = |path: &str| std::fs::metadata(workspace::root().join(path)).map_or(0, |m| m.len());
    let found: Vec<_> = files.iter().filter(|path| size(path) > MAX_FILE_BYTES).cloned().collect();
    assert_none(&found, "no tracked file is larger than 1 MB");
}
