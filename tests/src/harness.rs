//! Runs SQL scripts in sqllogictest's format under a matrix of batch sizes, parallelisms and crashes.
//!
//! A script's records go to a fresh [`tidemark::Session`] in a fresh directory. Besides SQL, a record may hold a
//! directive (see [`database`]); `${dir}` stands for the directory and `${root}` for the repository's root.
//!
//! ```text
//! statement ok
//! FEED bids
//! 2026-01-01 10:00:01,a,3
//!
//! query TI rowsort
//! SELECT k, SUM(v) FROM bids GROUP BY k
//! ----
//! a  3
//! ```
//!
//! **Invariant:** one script has one expectation, whatever the cell of the matrix it runs in. What is true of some cells
//! only (an order that parallelism 1 gives) says so with `onlyif p1`, `skipif p3`, `onlyif b7`.

mod answer;
pub mod crash;
pub mod database;
mod expectation;
mod feed;
mod finding;
pub mod fold;
mod values;

use std::path::{Path, PathBuf};

use sqllogictest::{Record, Runner, strict_column_validator};

use crate::workspace;
use database::Database;
pub use values::rows as rows_of;

/// One way to run a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Rows of a batch.
    pub batch_size: usize,
    /// Subtasks of each operator.
    pub parallelism: usize,
    /// Queries crash at a seeded point and go on, from their last checkpoint, with so many subtasks of each operator.
    pub after_crash: Option<usize>,
}

impl Cell {
    /// The whole matrix.
    pub fn all() -> Vec<Cell> {
        let sizes = [1, 7, 8192];
        let straight = |b: &usize| [1, 3].map(|p| Cell { batch_size: *b, parallelism: p, after_crash: None });
        let mut cells: Vec<Cell> = sizes.iter().flat_map(straight).collect();
        // A batch of 8192 rows holds most scripts' files whole: no barrier would come between two rows.
        for (batch_size, parallelism, after) in [(1, 1, 3), (1, 3, 2), (7, 3, 1)] {
            cells.push(Cell { batch_size, parallelism, after_crash: Some(after) });
        }
        cells
    }

    /// What `onlyif` and `skipif` may ask for.
    pub fn labels(self) -> Vec<String> {
        let mut labels = vec![format!("b{}", self.batch_size), format!("p{}", self.parallelism)];
        labels.extend(self.after_crash.map(|_| "crash".to_owned()));
        labels
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b{} p{}", self.batch_size, self.parallelism)?;
        self.after_crash.map_or(Ok(()), |after| write!(f, " crash p{after}"))
    }
}

/// All scripts, by path below `tests/sql`.
pub fn scripts() -> Vec<PathBuf> {
    let mut found = vec![];
    add_scripts(&workspace::root().join("tests/sql"), &mut found);
    found.sort();
    found
}

fn add_scripts(dir: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("cannot list {}: {e}", dir.display()));
    for entry in entries {
        let path = entry.expect("an entry of a directory that was just listed").path();
        if path.is_dir() {
            add_scripts(&path, found);
        } else if path.extension().is_some_and(|e| e == "slt") {
            found.push(path);
        }
    }
}

/// Failing records of a script that are told; it ends there.
const MAX_FAILURES: usize = 10;

/// Runs a script in one cell. The error names the place of each record that fails and shows what was expected and
/// what came.
pub fn run(script: &Path, cell: Cell) -> Result<(), String> {
    let records = sqllogictest::parse_file(script).map_err(|e| e.to_string())?;
    let mut runner = Runner::new(|| async { Database::new(cell) });
    cell.labels().iter().for_each(|label| runner.add_label(label));
    runner.with_normalizer(Clone::clone);
    runner.with_validator(expectation::is_met);
    runner.with_column_validator(strict_column_validator);
    // What a run counts belongs to that run: one that goes on counts what is left.
    let is_told_of_one_run = |record: &Record<_>| match record {
        Record::Query { sql, .. } => cell.after_crash.is_some() && sql.starts_with("SUMMARY"),
        _ => false,
    };
    let parallelism = cell.parallelism.max(cell.after_crash.unwrap_or(1));
    let records = records.into_iter().filter(|record| !is_told_of_one_run(record));
    let results = records.map(|record| runner.run(expectation::prepare(record, parallelism)));
    let failures: Vec<String> =
        results.filter_map(|result| result.err()).take(MAX_FAILURES).map(|e| e.to_string()).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures_of(script: &str) -> usize {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("script.slt");
        std::fs::write(&path, script).unwrap();
        let ran = run(&path, Cell { batch_size: 1, parallelism: 1, after_crash: None });
        ran.err().map_or(0, |told| told.matches("query result mismatch").count())
    }

    #[test]
    fn a_script_tells_several_failing_records() {
        let record = |value: usize| format!("query I\nSELECT 1 AS one\n----\n{value}\n\n");
        assert_eq!(failures_of(&record(1)), 0);
        assert_eq!(failures_of(&(record(2) + &record(1) + &record(3))), 2);
        assert_eq!(failures_of(&record(2).repeat(MAX_FAILURES + 5)), MAX_FAILURES);
    }
}
