//! Random patterns over random rows: the engine finds what trying every way finds, whatever the order of delivery, the
//! batches and the watermarks.
//!
//! `TIDEMARK_PATTERN_CASES` sets how many cases are tried, `TIDEMARK_PATTERN_SEED` where the random numbers begin.

use tidemark::Session;
use tidemark_tests::match_operator::MatchOperator;
use tidemark_tests::oracle::chance::Chance;
use tidemark_tests::oracle::row_pattern::cases::{CREATE, Checked, batch, check, rows};
use tidemark_tests::oracle::row_pattern::statement::Statement;

const CASES: u64 = 10_000;
const SEED: u64 = 20_160_101;
/// Cases of one statement: planning it takes longer than running it.
const CASES_A_STATEMENT: u64 = 25;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Output rows, cases that fail as they should, cases left out.
fn check_statement(session: &Session, seed: u64) -> (usize, usize, usize) {
    let mut chance = Chance::new(seed);
    let statement = Statement::random(&mut chance);
    let sql = statement.sql();
    let mut operator = MatchOperator::plan_in(session, &sql).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let (mut out, mut failures, mut skipped) = (0, 0, 0);
    for case in 0..CASES_A_STATEMENT {
        let disorder_ms = if case % 2 == 0 { 0 } else { 5 };
        let rows = rows(&mut chance, disorder_ms);
        match check(&statement, &mut operator, &rows, disorder_ms, &mut chance) {
            Ok(Checked::Rows(rows)) => out += rows,
            Ok(Checked::Failure) => failures += 1,
            Ok(Checked::Skipped) => skipped += 1,
            Err(told) => panic!("seed {seed}, case {case}\n{sql}\n{rows:#?}\n{told}"),
        }
    }
    (out, failures, skipped)
}

#[test]
fn the_engine_finds_what_trying_every_way_finds() {
    let (cases, seed) = (number("TIDEMARK_PATTERN_CASES", CASES), number("TIDEMARK_PATTERN_SEED", SEED));
    let mut session = Session::new();
    session.hold_batches("rows", vec![batch(&[], None)]);
    session.execute(CREATE).expect("the table is well declared");
    let statements = cases.div_ceil(CASES_A_STATEMENT);
    let (mut out, mut failures, mut skipped) = (0, 0, 0);
    for seed in seed..seed + statements {
        let (more, failed, left_out) = check_statement(&session, seed);
        (out, failures, skipped) = (out + more, failures + failed, skipped + left_out);
    }
    let cases = usize::try_from(cases).expect("a number of cases");
    assert!(out >= cases, "{cases} cases gave {out} rows: they test nothing");
    assert!(failures > 0 || cases < 1_000, "no skip has failed: that is not tested");
    assert!(skipped * 20 < cases, "{skipped} of {cases} cases are left out: patterns are too large");
}
