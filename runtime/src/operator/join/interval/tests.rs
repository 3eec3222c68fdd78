//! The output is the join of the rows, late ones apart, whichever input is read first.

use std::sync::Arc;

use proptest::prelude::*;
use tidemark_planner::stream_plan::{JoinBound, JoinType};

use super::super::test_inputs::{Folded, On, Row, TYPES, batch_of, input_schema, join, node, output_schema, pairs_of};
use super::*;
use crate::test_restore::{Step, Subject};

/// The watermark of each input is so far behind its largest time.
const DELAY_MS: i64 = 3;

const ON: On = On { null_safe: false, less: false };

/// A row with the watermark that it meets.
type Met = (Row, i64);

/// One input: its rows in batches, each with the watermark behind it.
type Stream = Vec<(Vec<Met>, i64)>;

fn interval_join(join_type: JoinType, on: On, (lower_ms, upper_ms): (i64, i64)) -> IntervalJoin {
    let bound = JoinBound::Interval { times: [2, 2], lower_ms, upper_ms };
    let node = node(join_type, on, bound, false);
    let inputs = [&input_schema(), &input_schema()];
    IntervalJoin::new(&node, [2, 2], (lower_ms, upper_ms), inputs, &output_schema(join_type)).unwrap()
}

/// Rows whose times go up by and large, in batches.
fn any_stream() -> impl Strategy<Value = Stream> {
    let row = (prop::option::weighted(0.9, 0i64..2), 0i64..3, -9i64..6);
    prop::collection::vec(prop::collection::vec(row, 0..4), 0..12).prop_map(|batches| {
        let (mut now, mut watermark) = (20, i64::MIN);
        let batches = batches.into_iter().map(|rows| {
            let rows = rows.into_iter().map(|(key, value, ahead)| {
                now = now.max(now + ahead);
                let row = Row { key, value, time: now.min(now + ahead) };
                let met = watermark;
                watermark = watermark.max(row.time - DELAY_MS);
                (row, met)
            });
            let rows: Vec<Met> = rows.collect();
            (rows, watermark)
        });
        batches.collect()
    })
}

/// The steps of reading two inputs, the next batch from the right where `turns` says so.
fn interleave(streams: &[Stream; 2], turns: &[bool]) -> Vec<Step> {
    let mut next = [0; 2];
    let mut watermarks = [i64::MIN; 2];
    let mut told = i64::MIN;
    let mut steps = vec![];
    let mut turns = turns.iter().cycle();
    while (0..2).any(|side| next[side] < streams[side].len()) {
        let wanted = usize::from(*turns.next().unwrap());
        let side = if next[wanted] < streams[wanted].len() { wanted } else { 1 - wanted };
        let (rows, watermark) = &streams[side][next[side]];
        next[side] += 1;
        let (rows, met): (Vec<Row>, Vec<i64>) = rows.iter().copied().unzip();
        // As the watermark assigner does: only when some row is behind.
        let is_behind = rows.iter().zip(&met).any(|(row, met)| row.time <= *met);
        steps.push(Step::RowsOf(side, batch_of(&rows, None, is_behind.then_some(met))));
        watermarks[side] = *watermark;
        let ended = |side: usize| next[side] == streams[side].len();
        let lowest = (0..2).map(|side| if ended(side) { i64::MAX } else { watermarks[side] }).min().unwrap();
        if lowest > told && lowest < i64::MAX {
            told = lowest;
            steps.push(Step::Watermark(told));
        }
    }
    steps
}

/// What the operator puts out, and how many rows were late.
fn run(mut operator: IntervalJoin, steps: &[Step]) -> (Folded, u64) {
    let metrics = Arc::new(OperatorMetrics::new("interval-join-1"));
    operator.open(&OperatorContext::single(3, Arc::clone(&metrics))).unwrap();
    let mut folded = Folded::default();
    let mut told = Watermark::MIN;
    for step in steps.iter().chain([&Step::Watermark(i64::MAX)]) {
        let mut out = Output::default();
        let given = match step {
            Step::RowsOf(side, rows) => {
                operator.process(*side, rows.clone(), 0, &mut out).unwrap();
                told
            }
            Step::Watermark(ms) => operator.on_watermark(Watermark(*ms), &mut out).unwrap(),
            other => panic!("{other:?}"),
        };
        for batch in out.drain() {
            assert!(batch.kinds.is_none(), "nothing is ever taken back");
            for row in pairs_of(&batch.batch).into_iter().flat_map(|(left, right)| [left, right]).flatten() {
                assert!(row.time > told.0, "{row:?} comes behind the watermark {told:?} of the output");
            }
            folded.apply(&batch);
        }
        assert!(given >= told);
        told = given;
    }
    assert_eq!(operator.join.sides.iter().map(|side| side.len()).sum::<usize>(), 0, "nothing is kept in the end");
    (folded, metrics.late_rows.load(Ordering::Relaxed))
}

/// The same by definition: late rows left out, a pair matches if neither was done with when the other came.
fn model(join_type: JoinType, on: On, (lower, upper): (i64, i64), streams: &[Stream; 2]) -> (Folded, u64) {
    let rows = |side: usize| streams[side].iter().flat_map(|(rows, _)| rows.iter().copied());
    let expires = |side: usize, row: Row| if side == 0 { row.time - lower } else { row.time + upper };
    let is_late = |side: usize, (row, met): &Met| expires(side, *row).max(row.time) <= *met;
    let kept = |side: usize| -> (Vec<Row>, Vec<i64>) { rows(side).filter(|row| !is_late(side, row)).unzip() };
    let late = (0..2).map(|side| rows(side).filter(|row| is_late(side, row)).count() as u64).sum();
    let ((left, left_met), (right, right_met)) = (kept(0), kept(1));
    let matches = |l: usize, r: usize| {
        let difference = left[l].time - right[r].time;
        on.holds(left[l], right[r])
            && (lower..=upper).contains(&difference)
            && expires(0, left[l]) > right_met[r]
            && expires(1, right[r]) > left_met[l]
    };
    (join(join_type, &left, &right, matches), late)
}

fn any_interval() -> impl Strategy<Value = (i64, i64)> {
    prop::sample::select(vec![(0, 0), (-5, 5), (-4, 0), (0, 6), (2, 7), (-8, -3), (-20, 1)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_output_is_the_join_whichever_input_is_read_first(
        left in any_stream(),
        right in any_stream(),
        interval in any_interval(),
        turns in prop::collection::vec(any::<bool>(), 1..9),
        less: bool,
    ) {
        let streams = [left, right];
        let on = On { null_safe: false, less };
        for join_type in TYPES {
            let expect = model(join_type, on, interval, &streams);
            for turns in [&turns[..], &[false], &[true]] {
                let actual = run(interval_join(join_type, on, interval), &interleave(&streams, turns));
                prop_assert_eq!(&actual, &expect, "{:?} within {:?}", join_type, interval);
            }
        }
    }

    #[test]
    fn a_join_comes_back(
        left in any_stream(),
        right in any_stream(),
        interval in any_interval(),
        turns in prop::collection::vec(any::<bool>(), 1..9),
        cut in 0.0..=1.0,
        old in 1usize..=3,
        new in 1usize..=3,
    ) {
        let steps = interleave(&[left, right], &turns);
        let cut = (steps.len() as f64 * cut) as usize;
        for join_type in [JoinType::Inner, JoinType::Full, JoinType::Semi, JoinType::Anti] {
            Subject { create: || interval_join(join_type, ON, interval), keys: vec![0] }.check(&steps, cut, old, new);
        }
    }
}

#[test]
fn state_is_let_go_as_the_watermark_passes() {
    let mut operator = interval_join(JoinType::Left, ON, (-10, 0));
    operator.open(&OperatorContext::single(64, Arc::new(OperatorMetrics::new("interval-join-1")))).unwrap();
    let mut out = Output::default();
    for time in 0..50_000 {
        let row = Row { key: Some(time % 700), value: 0, time };
        operator.process((time % 2) as usize, batch_of(&[row], None, None), 0, &mut out).unwrap();
        assert_eq!(operator.on_watermark(Watermark(time), &mut out).unwrap(), Watermark(time - 10));
    }
    assert!(operator.join.sides.iter().all(|side| side.len() <= 11));
    assert!(operator.join.sides.iter().all(|side| side.chunks().len() <= 1_100), "what is gone is cleared away");
}

#[test]
fn a_row_without_a_time_matches_nothing() {
    let mut operator = interval_join(JoinType::Left, ON, (-10, 0));
    operator.open(&OperatorContext::single(64, Arc::new(OperatorMetrics::new("interval-join-1")))).unwrap();
    let mut batch = batch_of(&[Row { key: Some(1), value: 2, time: 0 }], None, None);
    let mut columns = batch.batch.columns().to_vec();
    columns[2] = arrow::array::new_null_array(columns[2].data_type(), 1);
    batch.batch = arrow::array::RecordBatch::try_new(input_schema(), columns).unwrap();
    let mut out = Output::default();
    operator.process(0, batch, 0, &mut out).unwrap();
    assert_eq!(out.drain().map(|batch| batch.num_rows()).sum::<usize>(), 1, "an outer row is put out at once");
}
