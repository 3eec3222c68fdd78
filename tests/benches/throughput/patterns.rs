//! Row patterns: what one thread finds.

use std::hint::black_box;

use tidemark::Session;
use tidemark_tests::match_operator::MatchOperator;

use crate::{BATCH_SIZE, Bench, Goal, bids, execute, limits};

const ROWS: usize = 5_000_000;

/// Rows of the run that must not grow, and what it may grow by.
const ONE_SHOT_ROWS: usize = 50_000_000;
const MAX_GROWTH_BYTES: usize = 256 << 20;

fn session(keys: u64) -> Session {
    let mut session = Session::new();
    session.hold_batches("bids", bids::in_memory(ROWS, keys, BATCH_SIZE));
    session.execute(DDL).expect("the tables are well declared");
    session
}

const DDL: &str = "CREATE TABLE bids (auction BIGINT NOT NULL, price BIGINT NOT NULL, ts TIMESTAMP(3) NOT NULL,
      WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'memory', 'table' = 'bids');
    CREATE TABLE matches (a BIGINT, b BIGINT, c BIGINT) WITH ('connector' = 'blackhole');";

fn bench(name: &'static str, goal: f64, keys: u64, clause: &'static str, limit: limits::Automaton) -> Bench {
    let mut session = session(keys);
    let batches = bids::in_memory(ROWS, keys, BATCH_SIZE);
    let sql = format!("INSERT INTO matches SELECT a, b, c FROM bids MATCH_RECOGNIZE ({clause}) AS m");
    Bench {
        name,
        rows: ROWS,
        goal: Goal::RowsPerSecond(goal),
        engine: Box::new(move || execute(&mut session, &sql)),
        limit: Box::new(move || {
            black_box(limits::matches(&batches, keys, limit));
        }),
    }
}

/// Conditions of the row alone, 10 thousand keys.
pub fn row_conditions() -> Bench {
    bench(
        "pattern A B+ C, 10 k keys",
        2e6,
        10_000,
        "PARTITION BY auction ORDER BY ts MEASURES A.price AS a, LAST(B.price) AS b, C.price AS c
         AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) WITHIN INTERVAL '1' HOUR
         DEFINE A AS price < 20000, B AS price BETWEEN 20000 AND 80000, C AS price > 80000",
        limits::Automaton::Funnel { low: 20_000, high: 80_000 },
    )
}

/// The price falls and rises again.
pub fn v_shape() -> Bench {
    bench(
        "pattern V with PREV, 10 k keys",
        1e6,
        10_000,
        "PARTITION BY auction ORDER BY ts MEASURES S.price AS a, LAST(D.price) AS b, LAST(U.price) AS c
         AFTER MATCH SKIP PAST LAST ROW PATTERN (S D+ U+) WITHIN INTERVAL '1' HOUR
         DEFINE D AS D.price < PREV(D.price), U AS U.price > PREV(U.price)",
        limits::Automaton::VShape,
    )
}

/// All rows are of one key.
pub fn hot_key() -> Bench {
    bench(
        "pattern A B* C, one hot key",
        1e6,
        1,
        "PARTITION BY auction ORDER BY ts MEASURES A.price AS a, LAST(B.price) AS b, C.price AS c
         AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) WITHIN INTERVAL '5' SECOND
         DEFINE A AS price < 20000, B AS price BETWEEN 20000 AND 99990, C AS price > 99990",
        limits::Automaton::Funnel { low: 20_000, high: 99_990 },
    )
}

/// Each key comes once: nothing may be left of it.
pub fn one_shot_keys() -> Bench {
    const CLAUSE: &str = "SELECT a FROM bids MATCH_RECOGNIZE (PARTITION BY auction ORDER BY ts MEASURES A.price AS a
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) WITHIN INTERVAL '1' SECOND DEFINE A AS price < 50000) AS m";
    let mut session = Session::new();
    session.hold_batches("bids", bids::in_memory(1, 1, 1));
    session.execute(DDL).expect("the tables are well declared");
    let mut operator = MatchOperator::plan_in(&session, CLAUSE).expect("the query is planned");
    let run = move || {
        operator.restart().expect("the operator opens");
        let mut after_a_tenth = 0;
        for (idx, batch) in bids::one_shot(ONE_SHOT_ROWS, BATCH_SIZE).enumerate() {
            let last_ms = bids::last_ms(&batch);
            let columns =
                operator.input().fields().iter().map(|field| {
                    batch.schema().index_of(field.name()).expect("the operator's columns are the table's")
                });
            let columns: Vec<usize> = columns.collect();
            operator.process(batch.project(&columns).expect("its columns")).expect("rows are taken");
            black_box(operator.advance(last_ms - 1_000).expect("the watermark is taken"));
            if idx * BATCH_SIZE >= ONE_SHOT_ROWS / 10 && after_a_tenth == 0 {
                after_a_tenth = resident_bytes();
            }
        }
        let growth = resident_bytes().saturating_sub(after_a_tenth);
        assert!(growth < MAX_GROWTH_BYTES, "memory has grown by {growth} bytes");
    };
    Bench {
        name: "pattern A B, 50 M one-shot keys",
        rows: ONE_SHOT_ROWS,
        goal: Goal::RowsPerSecond(5e5),
        engine: Box::new(run),
        limit: Box::new(|| bids::one_shot(ONE_SHOT_ROWS, BATCH_SIZE).for_each(|batch| drop(black_box(batch)))),
    }
}

/// Memory of the process; 0 where the system does not tell.
fn resident_bytes() -> usize {
    const PAGE_BYTES: usize = 4096;
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok()).map_or(0, |pages| pages * PAGE_BYTES)
}
