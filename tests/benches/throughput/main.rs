//! Rows per CPU second of whole queries on one thread, next to a hand-written loop over the same arrays.
//!
//! ```sh
//! cargo bench --no-default-features -p tidemark-tests              # all
//! cargo bench --no-default-features -p tidemark-tests -- csv       # those whose name contains "csv"
//! ```
//!
//! Each measurement is the best of several rounds in which engine and limit alternate; the ratio is what counts, as
//! machines differ and are noisy. Time is the CPU time of the process, user and system.

mod bids;
mod cpu_clock;
mod limits;
mod patterns;

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::RecordBatch;
use cpu_clock::cpu_seconds;
use tidemark::Session;

const ROUNDS: usize = 5;
const ROWS: usize = 10_000_000;
const BATCH_SIZE: usize = 8192;

/// A query, what it is held against, and what it should reach.
struct Bench {
    name: &'static str,
    rows: usize,
    /// At least so many rows per CPU second, or so large a share of the limit's speed.
    goal: Goal,
    engine: Box<dyn FnMut()>,
    limit: Box<dyn FnMut()>,
}

enum Goal {
    RowsPerSecond(f64),
    ShareOfLimit(f64),
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut missed = false;
    println!("{:<34} {:>14} {:>14} {:>8}   goal", "query", "rows/s", "limit rows/s", "share");
    for (name, make) in BENCHES {
        if wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str())) {
            missed |= !run(make());
        }
    }
    if missed {
        std::process::exit(1);
    }
}

type MakeBench = fn() -> Bench;

const BENCHES: &[(&str, MakeBench)] = &[
    ("tumble count, 10 k keys", || tumble_count(10_000, Goal::RowsPerSecond(15e6))),
    ("tumble count, 1 M keys", || tumble_count(1_000_000, Goal::ShareOfLimit(0.2))),
    ("filter and projection", filter_project),
    ("csv, all columns", csv_all_columns),
    ("pattern A B+ C, 10 k keys", patterns::row_conditions),
    ("pattern V with PREV, 10 k keys", patterns::v_shape),
    ("pattern A B* C, one hot key", patterns::hot_key),
    ("pattern A B, 50 M one-shot keys", patterns::one_shot_keys),
];

fn run(mut bench: Bench) -> bool {
    let (mut engine, mut limit) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        engine = engine.min(cpu_seconds(&mut bench.engine));
        limit = limit.min(cpu_seconds(&mut bench.limit));
    }
    let (speed, bound) = (bench.rows as f64 / engine, bench.rows as f64 / limit);
    let (met, goal) = match bench.goal {
        Goal::RowsPerSecond(goal) => (speed >= goal, format!("{:.0} M rows/s", goal / 1e6)),
        Goal::ShareOfLimit(goal) => (speed / bound >= goal, format!("{goal:.2} of the limit")),
    };
    let verdict = if met { "met" } else { "MISSED" };
    println!(
        "{:<34} {:>12.1} M {:>12.1} M {:>8.2}   {goal}: {verdict}",
        bench.name,
        speed / 1e6,
        bound / 1e6,
        speed / bound
    );
    met
}

/// A session with `batches` as the table `bids`, on one thread.
fn session(batches: Vec<RecordBatch>) -> Session {
    let mut session = Session::new();
    session.hold_batches("bids", batches);
    let ddl = "CREATE TABLE bids (auction BIGINT NOT NULL, price BIGINT NOT NULL, ts TIMESTAMP(3) NOT NULL,
                 WATERMARK FOR ts AS ts - INTERVAL '4' SECOND)
               WITH ('connector' = 'memory', 'table' = 'bids');
               CREATE TABLE counts (window_end TIMESTAMP(3), auction BIGINT, n BIGINT) WITH ('connector' = 'blackhole');
               CREATE TABLE prices (auction BIGINT, price BIGINT) WITH ('connector' = 'blackhole');";
    session.execute(ddl).expect("the tables are well declared");
    session
}

fn execute(session: &mut Session, sql: &str) {
    black_box(session.execute(sql).expect("the query runs"));
}

fn tumble_count(keys: u64, goal: Goal) -> Bench {
    let batches = bids::in_memory(ROWS, keys, BATCH_SIZE);
    let mut session = session(batches.clone());
    let sql = "INSERT INTO counts SELECT window_end, auction, COUNT(*)
               FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' SECOND))
               GROUP BY window_start, window_end, auction";
    Bench {
        name: if keys == 10_000 { "tumble count, 10 k keys" } else { "tumble count, 1 M keys" },
        rows: ROWS,
        goal,
        engine: Box::new(move || execute(&mut session, sql)),
        limit: Box::new(move || {
            black_box(limits::tumble_count(&batches, 10_000));
        }),
    }
}

fn filter_project() -> Bench {
    let batches = bids::in_memory(ROWS, 10_000, BATCH_SIZE);
    let mut session = session(batches.clone());
    let sql = "INSERT INTO prices SELECT auction, price * 2 FROM bids WHERE price > 50000";
    Bench {
        name: "filter and projection",
        rows: ROWS,
        goal: Goal::RowsPerSecond(50e6),
        engine: Box::new(move || execute(&mut session, sql)),
        limit: Box::new(move || drop(black_box(limits::filter_project(&batches, 50_000)))),
    }
}

fn csv_all_columns() -> Bench {
    const CSV_ROWS: usize = 1_000_000;
    let file = bids::csv_file(CSV_ROWS);
    let path = file.path().to_path_buf();
    let mut session = Session::new();
    let columns =
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, ts TIMESTAMP(3), extra STRING";
    let ddl = format!(
        "CREATE TABLE bids ({columns}) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv');
         CREATE TABLE nowhere ({columns}) WITH ('connector' = 'blackhole');",
        path.display()
    );
    session.execute(&ddl).expect("the tables are well declared");
    let keep = Arc::new(file);
    Bench {
        name: "csv, all columns",
        rows: CSV_ROWS,
        // Within 1.5 times of what arrow-csv alone needs.
        goal: Goal::ShareOfLimit(1.0 / 1.5),
        engine: Box::new(move || {
            execute(&mut session, "INSERT INTO nowhere SELECT * FROM bids");
            black_box(&keep);
        }),
        limit: Box::new(move || {
            black_box(limits::arrow_csv(&path, BATCH_SIZE));
        }),
    }
}
