//! The folded output is the join of what is there, after every batch.

use std::sync::Arc;

use proptest::prelude::*;
use tidemark_planner::stream_plan::{JoinBound, JoinType};

use super::super::test_inputs::{Folded, On, Row, TYPES, batch_of, input_schema, join, node, output_schema};
use super::*;
use crate::change_batch::RowKind;
use crate::metrics::OperatorMetrics;
use crate::test_restore::{Step, Subject};

/// A batch of one side: rows that come, and rows that go by their place among those that are there.
type Changes = (bool, Vec<(Option<i64>, i64, Option<prop::sample::Index>)>);

/// Rows of one side that are there.
#[derive(Default)]
struct Side(Vec<Row>);

impl Side {
    /// The batch of these changes, which are applied.
    fn change(&mut self, changes: &Changes) -> ChangeBatch {
        let (mut rows, mut kinds) = (vec![], vec![]);
        for (key, value, gone) in &changes.1 {
            match gone {
                Some(index) if !self.0.is_empty() => {
                    let place = index.index(self.0.len());
                    rows.push(self.0.swap_remove(place));
                    kinds.push(RowKind::Delete);
                }
                _ => {
                    let row = Row { key: *key, value: *value, time: 0 };
                    self.0.push(row);
                    rows.push(row);
                    kinds.push(RowKind::Insert);
                }
            }
        }
        batch_of(&rows, Some(kinds), None)
    }
}

fn any_changes() -> impl Strategy<Value = Vec<Changes>> {
    let change =
        (prop::option::weighted(0.8, 0i64..3), 0i64..4, prop::option::weighted(0.4, any::<prop::sample::Index>()));
    prop::collection::vec((any::<bool>(), prop::collection::vec(change, 0..7)), 0..16)
}

fn regular(join_type: JoinType, on: On, updating: bool) -> RegularJoin {
    let node = node(join_type, on, JoinBound::None, updating);
    RegularJoin::new(&node, [&input_schema(), &input_schema()], &output_schema(join_type)).unwrap()
}

fn open(join: &mut RegularJoin, batch_size: usize) {
    join.open(&OperatorContext::single(batch_size, Arc::new(OperatorMetrics::new("join-1")))).unwrap();
}

fn process(join: &mut RegularJoin, input: usize, batch: ChangeBatch) -> Vec<ChangeBatch> {
    let mut out = Output::default();
    join.process(input, batch, 0, &mut out).unwrap();
    out.drain().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_output_is_the_join_after_every_batch(all in any_changes(), batch_size in 1usize..6, null_safe: bool, less: bool) {
        let on = On { null_safe, less };
        for join_type in TYPES {
            let mut operator = regular(join_type, on, true);
            open(&mut operator, batch_size);
            let mut sides = [Side::default(), Side::default()];
            let mut folded = Folded::default();
            for changes in &all {
                let input = usize::from(changes.0);
                let batch = sides[input].change(changes);
                process(&mut operator, input, batch).iter().for_each(|batch| folded.apply(batch));
                let [Side(left), Side(right)] = &sides;
                let expect = join(join_type, left, right, |l, r| on.holds(left[l], right[r]));
                prop_assert_eq!(&folded, &expect, "{:?}", join_type);
            }
        }
    }

    #[test]
    fn a_join_comes_back(all in any_changes(), cut in 0.0..=1.0, old in 1usize..=3, new in 1usize..=3, less: bool) {
        let mut sides = [Side::default(), Side::default()];
        let steps = all.iter().map(|changes| {
            let input = usize::from(changes.0);
            Step::RowsOf(input, sides[input].change(changes))
        });
        let steps: Vec<Step> = steps.collect();
        let cut = (steps.len() as f64 * cut) as usize;
        for join_type in [JoinType::Inner, JoinType::Full, JoinType::Semi, JoinType::Anti] {
            let on = On { null_safe: true, less };
            Subject { create: || regular(join_type, on, true), keys: vec![0] }.check(&steps, cut, old, new);
        }
    }
}

fn row(key: i64, value: i64) -> Row {
    Row { key: Some(key), value, time: 0 }
}

const ON: On = On { null_safe: false, less: false };

#[test]
fn what_is_taken_back_and_what_takes_its_place_are_one_batch() {
    let mut join = regular(JoinType::Left, ON, true);
    open(&mut join, 1);
    process(&mut join, 0, batch_of(&[row(1, 1)], None, None));
    process(&mut join, 1, batch_of(&[row(1, 7), row(1, 8)], None, None));
    let kinds = Some(vec![RowKind::UpdateBefore, RowKind::UpdateAfter]);
    let [changes] = process(&mut join, 0, batch_of(&[row(1, 1), row(1, 2)], kinds, None)).try_into().unwrap();
    let kinds: Vec<&str> = (0..4).map(|index| changes.kind(index).symbol()).collect();
    assert_eq!(kinds, ["-D", "-D", "+I", "+I"]);
    let first = process(&mut join, 1, batch_of(&[row(2, 7)], None, None));
    assert!(first.is_empty(), "a LEFT JOIN says nothing of right rows without a match");
}

#[test]
fn memory_of_rows_that_are_gone_is_given_back() {
    let mut join = regular(JoinType::Inner, ON, true);
    open(&mut join, 8192);
    for start in (0..40_000).step_by(1_000) {
        let rows: Vec<Row> = (start..start + 1_000).map(|n| row(n, n)).collect();
        process(&mut join, 0, batch_of(&rows, None, None));
        process(&mut join, 0, batch_of(&rows, Some(vec![RowKind::Delete; 1_000]), None));
    }
    assert_eq!(join.join.sides[0].len(), 0);
    assert!(join.join.sides[0].chunks().len() <= 2_048, "{} rows", join.join.sides[0].chunks().len());
    assert!(join.join.key_count() <= 4_096, "{} keys", join.join.key_count());
}

#[test]
fn many_matches_leave_in_batches_of_the_size_asked_for() {
    let mut join = regular(JoinType::Inner, ON, false);
    open(&mut join, 100);
    let rows: Vec<Row> = (0..700).map(|n| row(1, n)).collect();
    process(&mut join, 0, batch_of(&rows, None, None));
    let batches = process(&mut join, 1, batch_of(&rows[..100], None, None));
    assert!(batches.iter().all(|batch| batch.num_rows() <= 100 && batch.kinds.is_none()));
    assert_eq!(batches.iter().map(ChangeBatch::num_rows).sum::<usize>(), 70_000);
}

#[test]
fn the_tables_name_what_they_hold() {
    let join = regular(JoinType::Semi, On { null_safe: false, less: true }, false);
    let names = |table: &StateTableSchema| -> Vec<String> {
        table.schema.fields().iter().map(|field| field.name().clone()).collect()
    };
    let [left, right] = join.state_tables().try_into().unwrap();
    assert_eq!((left.name.as_str(), right.name.as_str()), ("left rows of SEMI", "right rows of SEMI"));
    assert_eq!(names(&left), ["number", "matches where l.v < r.v", "key: k", "k", "v", "ts"]);
    assert_eq!(names(&right), ["number", "matches where l.v < r.v", "key: k", "v"]);
}
