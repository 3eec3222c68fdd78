//! Row patterns where there is much of something: keys, rows of a key, open matches, states, ways to match.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, TimestampMillisecondArray};
use tidemark_tests::match_operator::{MatchOperator, Row};

const CREATE: &str = "CREATE TABLE t (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) \
                      WITH ('connector' = 'memory', 'table' = 'rows')";

/// Rows (k, v, ts in ms) as a batch of these columns.
fn batch(rows: &[(i32, i32, i64)], columns: &[String]) -> RecordBatch {
    let times = TimestampMillisecondArray::from_iter_values(rows.iter().map(|row| row.2));
    let column = |name: &String| -> (String, ArrayRef) {
        let values: ArrayRef = match name.as_str() {
            "k" => Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.0))),
            "v" => Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.1))),
            _ => Arc::new(times.clone()),
        };
        (name.clone(), values)
    };
    RecordBatch::try_from_iter(columns.iter().map(column)).expect("columns of one length")
}

struct Query {
    operator: MatchOperator,
    columns: Vec<String>,
}

impl Query {
    fn new(select: &str, clause: &str) -> Self {
        let sql = format!("SELECT {select} FROM t MATCH_RECOGNIZE ({clause}) AS m");
        let all = ["k", "v", "ts"].map(String::from);
        let operator = MatchOperator::plan(CREATE, &[], &sql, &batch(&[], &all)).expect("a query that can be planned");
        let columns = operator.input().fields().iter().map(|field| field.name().clone()).collect();
        Self { operator, columns }
    }

    fn take(&mut self, rows: &[(i32, i32, i64)], watermark: i64) -> Result<Vec<Row>, String> {
        self.operator.process(batch(rows, &self.columns))?;
        self.operator.advance(watermark)
    }
}

fn number(row: &Row, column: usize) -> i64 {
    row[column].as_ref().expect("a number").parse().expect("a number")
}

#[test]
fn nothing_is_left_of_keys_that_come_once() {
    let clause = "PARTITION BY k ORDER BY ts MEASURES A.v AS a AFTER MATCH SKIP PAST LAST ROW \
                  PATTERN (A B) WITHIN INTERVAL '0.100' SECOND DEFINE A AS v = 1";
    let mut query = Query::new("k, a", clause);
    for hundred in 0..600 {
        let first = hundred * 100;
        let rows: Vec<_> = (first..first + 100).map(|k| (k, i32::from(k % 3 == 0), i64::from(k))).collect();
        assert!(query.take(&rows, i64::from(first) + 99).unwrap().is_empty());
        // A third of the keys of the last 100 ms are open: a row and a header each.
        let kept = query.operator.kept_rows().unwrap();
        assert!(kept <= 2 * 35, "{kept} rows are kept after {} keys", first + 100);
    }
    query.operator.advance(60_000 + 99).unwrap();
    assert_eq!(query.operator.kept_rows().unwrap(), 0);
}

#[test]
fn keys_and_rows_are_moved_together_while_matches_are_open() {
    // Of each batch of 5,000 keys one is open for long: what it waits in is copied, and keys get new numbers.
    let clause = "PARTITION BY k ORDER BY ts MEASURES A.v AS a, B.v AS b AFTER MATCH SKIP PAST LAST ROW \
                  PATTERN (A B) WITHIN INTERVAL '1' HOUR DEFINE A AS v > 0, B AS v < 0";
    let mut query = Query::new("k, a, b", clause);
    for thousand in 0..20 {
        let first = thousand * 5_000;
        let time = i64::from(thousand);
        let rows: Vec<_> = (first..first + 5_000).map(|k| (k, if k == first { k + 1 } else { 0 }, time)).collect();
        assert!(query.take(&rows, time).unwrap().is_empty());
    }
    assert_eq!(query.operator.kept_rows().unwrap(), 2 * 20);
    let ends: Vec<_> = (0..20).map(|thousand| (thousand * 5_000, -1 - thousand, 100)).collect();
    let found = query.take(&ends, 100).unwrap();
    let expected: Vec<Row> = (0..20)
        .map(|t| vec![Some((t * 5_000).to_string()), Some((t * 5_000 + 1).to_string()), Some((-1 - t).to_string())])
        .collect();
    assert_eq!(found, expected);
    assert_eq!(query.operator.kept_rows().unwrap(), 0);
}

#[test]
fn a_row_costs_the_same_however_many_matches_are_open() {
    // 20 thousand starts, none of which ends before the last row: tried one by one that is 200 million steps.
    let clause = "ORDER BY ts MEASURES COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B+ C) \
                  DEFINE A AS v = 1, B AS v <= 2, C AS v = 3";
    let mut query = Query::new("n", clause);
    let rows: Vec<_> = (0..20_000).map(|i| (0, if i < 10_000 { 1 } else { 2 }, i64::from(i))).collect();
    assert!(query.take(&rows, 30_000).unwrap().is_empty());
    let found = query.take(&[(0, 3, 40_000)], 40_000).unwrap();
    assert_eq!(found, [vec![Some("20001".to_string())]]);
}

#[test]
fn a_pattern_that_backtracks_for_ever_elsewhere_does_not_here() {
    let clause = "ORDER BY ts MEASURES COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW \
                  PATTERN ((A?){20} A{20} Z) DEFINE A AS v = 5, Z AS v = 1";
    let mut query = Query::new("n", clause);
    let rows: Vec<_> = (0..3_000).map(|i| (0, if i == 2_999 { 1 } else { 5 }, i64::from(i))).collect();
    assert_eq!(query.take(&rows, 3_000).unwrap(), [vec![Some("41".to_string())]]);
}

#[test]
fn states_that_nobody_is_in_are_forgotten() {
    // Which of the last 16 rows are A: 65 thousand states, of which 16 thousand are remembered.
    const ROWS: i64 = 40_000;
    const WITHIN: i64 = 20;
    let clause = "ORDER BY ts MEASURES FIRST(ts) AS f, COUNT(*) AS n AFTER MATCH SKIP TO NEXT ROW \
                  PATTERN ((A | B)* A (A | B){15}) WITHIN INTERVAL '0.020' SECOND DEFINE A AS v = 1";
    let mut query = Query::new("n", clause);
    let mut random = 7u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 40) as i32 & 1
    };
    let rows: Vec<(i32, i32, i64)> = (0..ROWS).map(|i| (0, next(), i)).collect();
    let mut found = vec![];
    for rows in rows.chunks(500) {
        found.extend(query.take(rows, rows[rows.len() - 1].2).unwrap());
    }
    found.extend(query.operator.finish().unwrap());
    // The longest match from a row: the last A with 15 rows behind it, all within 20 ms.
    let longest = |start: i64| {
        let last = (start + WITHIN - 1).min(ROWS - 1);
        (start..=last - 15).rev().find(|row| rows[*row as usize].1 == 1).map(|row| row + 16 - start)
    };
    let expected: Vec<i64> = (0..ROWS).filter_map(longest).collect();
    let found: Vec<i64> = found.iter().map(|row| number(row, 0)).collect();
    assert_eq!(found, expected);
}

#[test]
fn too_many_ways_to_match_are_an_error() {
    let clause = "ORDER BY ts MEASURES COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW \
                  PATTERN ((A | B)* X) DEFINE X AS SUM(A.v) = SUM(B.v) AND v = 9";
    let mut query = Query::new("n", clause);
    let rows: Vec<_> = (0..14).map(|i| (0, 1, i64::from(i))).collect();
    let error = query.take(&rows, 100).unwrap_err();
    assert!(error.starts_with("MATCH_RECOGNIZE: more than 10000 partial matches from one row"), "{error}");
}
