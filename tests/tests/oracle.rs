//! A folded stream equals the same SQL as a batch, whatever the batch size and the parallelism.
//!
//! `TIDEMARK_ORACLE_CASES` sets how many queries are tried, `TIDEMARK_ORACLE_SEED` where the random numbers begin: a
//! failure names the seed that shows it again as the first case.

use tidemark_tests::harness::Cell;
use tidemark_tests::oracle::chance::Chance;
use tidemark_tests::oracle::events::Events;
use tidemark_tests::oracle::joins::JoinCase;
use tidemark_tests::oracle::query::Query;
use tidemark_tests::oracle::{batch, difference, stream};

const CASES: u64 = 150;
const SEED: u64 = 20_130_101;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Rows of the batch.
fn check(seed: u64) -> usize {
    let mut chance = Chance::new(seed);
    let events = Events::random(&mut chance);
    let query = Query::random(&mut chance);
    let sql = query.stream();
    let cell = chance.pick(&Cell::all());
    let context = format!("seed {seed}, {cell}, {} events\n{sql}\n{}", events.rows.num_rows(), query.batch());
    let batch = batch::run(&query, &events.rows).unwrap_or_else(|e| panic!("{context}\nthe batch fails: {e}"));
    let (stream, late) =
        stream::run(&sql, &events, cell).unwrap_or_else(|e| panic!("{context}\nthe stream fails: {e}"));
    assert_eq!(late, 0, "{context}\nthe delay is larger than the disorder: no row is late");
    let rows = batch.len();
    if let Some(told) = difference(stream, batch) {
        panic!("{context}\n{told}");
    }
    rows
}

#[test]
fn a_stream_is_a_batch() {
    let (cases, seed) = (number("TIDEMARK_ORACLE_CASES", CASES), number("TIDEMARK_ORACLE_SEED", SEED));
    let rows: usize = (seed..seed + cases).map(check).sum();
    assert!(rows as u64 >= cases, "{cases} cases gave {rows} rows: they test nothing");
}

/// Rows of the batch.
fn check_join(seed: u64) -> usize {
    let mut chance = Chance::new(seed);
    let case = JoinCase::random(&mut chance);
    let cell = chance.pick(&Cell::all());
    let context = format!("seed {seed}, {cell}\n{}\n{}", case.sql, case.describe());
    let batch = case.batch().unwrap_or_else(|e| panic!("{context}\nthe batch fails: {e}"));
    let stream = case.stream(cell).unwrap_or_else(|e| panic!("{context}\nthe stream fails: {e}"));
    let stream = stream.unwrap_or_else(|what| panic!("{context}\nthe changelog makes no sense: {what}"));
    let rows = batch.len();
    if let Some(told) = difference(stream, batch) {
        panic!("{context}\n{told}");
    }
    rows
}

#[test]
fn joins_of_what_changes_are_joins_of_what_is_left() {
    let (cases, seed) = (number("TIDEMARK_ORACLE_CASES", 2 * CASES), number("TIDEMARK_ORACLE_SEED", SEED));
    let rows: usize = (seed..seed + cases).map(check_join).sum();
    assert!(rows as u64 >= cases, "{cases} cases gave {rows} rows: they test nothing");
}
