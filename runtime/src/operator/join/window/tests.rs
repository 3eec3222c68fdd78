//! The output is the join of the rows of each window, late ones apart.

use std::sync::Arc;

use proptest::prelude::*;
use tidemark_planner::stream_plan::{JoinBound, JoinType};

use super::super::test_inputs::{
    Folded, On, Row, TYPES, WINDOW_MS, batch_of, input_schema, join, node, output_schema, window_of,
};
use super::*;
use crate::metrics::OperatorMetrics;
use crate::test_restore::{Step, Subject};

fn windows() -> WindowColumns {
    WindowColumns { starts: [3, 3], ends: [4, 4], zone: None }
}

fn window_join(join_type: JoinType, on: On) -> WindowJoin {
    let WindowColumns { starts, ends, zone } = windows();
    let node = node(join_type, on, JoinBound::Window { starts, ends, zone }, false);
    WindowJoin::new(&node, &windows(), [&input_schema(), &input_schema()], &output_schema(join_type)).unwrap()
}

/// Rows of an input, and how far the watermark goes behind them.
type Batch = (bool, Vec<(Option<i64>, i64, i64)>, i64);

fn any_batches() -> impl Strategy<Value = Vec<Batch>> {
    let row = (prop::option::weighted(0.8, 0i64..3), 0i64..4, -15i64..25);
    prop::collection::vec((any::<bool>(), prop::collection::vec(row, 0..6), 0i64..9), 0..16)
}

/// The steps, and the rows of both inputs that are not late.
fn steps_of(batches: &[Batch]) -> (Vec<Step>, [Vec<Row>; 2]) {
    let mut watermark = 0;
    let mut steps = vec![];
    let mut kept = [vec![], vec![]];
    for (is_right, rows, advance) in batches {
        let side = usize::from(*is_right);
        let rows: Vec<Row> =
            rows.iter().map(|(key, value, ahead)| Row { key: *key, value: *value, time: watermark + ahead }).collect();
        steps.push(Step::RowsOf(side, batch_of(&rows, None, None)));
        let is_open = |row: &Row| window_of(*row) + WINDOW_MS - 1 > watermark;
        kept[side].extend(rows.iter().copied().filter(|row| watermark == 0 || is_open(row)));
        watermark += advance;
        if *advance > 0 {
            steps.push(Step::Watermark(watermark));
        }
    }
    (steps, kept)
}

fn run(mut operator: WindowJoin, steps: &[Step]) -> (Folded, Arc<OperatorMetrics>) {
    let metrics = Arc::new(OperatorMetrics::new("window-join-1"));
    operator.open(&OperatorContext::single(3, Arc::clone(&metrics))).unwrap();
    let mut folded = Folded::default();
    for step in steps.iter().chain([&Step::Watermark(i64::MAX)]) {
        let mut out = Output::default();
        match step {
            Step::RowsOf(side, rows) => {
                operator.process(*side, rows.clone(), 0, &mut out).unwrap();
                assert!(out.is_empty(), "nothing is put out before the window's end");
            }
            Step::Watermark(ms) => {
                assert_eq!(operator.on_watermark(Watermark(*ms), &mut out).unwrap(), Watermark(*ms));
            }
            other => panic!("{other:?}"),
        }
        for batch in out.drain() {
            assert!(batch.kinds.is_none() && batch.num_rows() <= 3);
            folded.apply(&batch);
        }
    }
    assert!(operator.windows.is_empty(), "nothing is kept in the end");
    (folded, metrics)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_output_is_the_join_of_each_window(batches in any_batches(), null_safe: bool, less: bool) {
        let on = On { null_safe, less };
        let (steps, [left, right]) = steps_of(&batches);
        let all: usize = batches.iter().map(|(_, rows, _)| rows.len()).sum();
        for join_type in TYPES {
            let matches = |l: usize, r: usize| on.holds(left[l], right[r]) && window_of(left[l]) == window_of(right[r]);
            let (folded, metrics) = run(window_join(join_type, on), &steps);
            prop_assert_eq!(&folded, &join(join_type, &left, &right, matches), "{:?}", join_type);
            prop_assert_eq!(metrics.late_rows.load(Ordering::Relaxed) as usize, all - left.len() - right.len());
        }
    }

    #[test]
    fn a_join_comes_back(batches in any_batches(), cut in 0.0..=1.0, old in 1usize..=3, new in 1usize..=3, less: bool) {
        let (steps, _) = steps_of(&batches);
        let cut = (steps.len() as f64 * cut) as usize;
        for join_type in [JoinType::Inner, JoinType::Full, JoinType::Semi, JoinType::Anti] {
            let on = On { null_safe: true, less };
            Subject { create: || window_join(join_type, on), keys: vec![3, 0, 4] }.check(&steps, cut, old, new);
        }
    }
}
