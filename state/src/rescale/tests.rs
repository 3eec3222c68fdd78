use proptest::prelude::*;

use super::*;
use crate::snapshot::StateEntry;
use crate::test_state::{counts, counts_table, small_state, timer_table};

const MAX_PARALLELISM: u32 = 12;

/// The state of each of `parallelism` subtasks: a row named after its key group, and a timer in the first.
fn written_at(parallelism: usize) -> Vec<OperatorSnapshot> {
    let of_subtask = |subtask| {
        let mut table = counts_table(&[]);
        for group in key_group_range(subtask, parallelism, MAX_PARALLELISM) {
            let rows = counts(&[(&format!("k{group}"), Some(i64::from(group)))]);
            table.entries.push(StateEntry { key_group: Some(group), rows });
        }
        let timer = if subtask == 0 { timer_table(7) } else { TableSnapshot { entries: vec![], ..timer_table(0) } };
        OperatorSnapshot { tables: vec![table, timer] }
    };
    (0..parallelism).map(of_subtask).collect()
}

proptest! {
    /// To whatever parallelism state goes, it is what subtasks of that parallelism would have written.
    #[test]
    fn any_parallelism_to_any_other(old in 1..=12usize, new in 1..=12usize) {
        for (subtask, expected) in written_at(new).into_iter().enumerate() {
            let share = StateShare::of(subtask, new, MAX_PARALLELISM);
            prop_assert_eq!(merge_snapshots(written_at(old), &share).unwrap(), expected);
        }
    }
}

#[test]
fn the_whole_is_all_there_is() {
    let merged = merge_snapshots(written_at(3), &StateShare::whole()).unwrap();
    assert_eq!(merged, merge_snapshots(written_at(1), &StateShare::of(0, 1, MAX_PARALLELISM)).unwrap());
}

#[test]
fn entries_keep_the_order_of_the_subtasks_within_a_key_group() {
    let of = |count| OperatorSnapshot { tables: vec![counts_table(&[(5, &[("a", Some(count))])])] };
    let merged = merge_snapshots([of(2), of(1)], &StateShare::whole()).unwrap();
    assert_eq!(merged.tables, [counts_table(&[(5, &[("a", Some(2))]), (5, &[("a", Some(1))])])]);
}

#[test]
fn a_subtask_without_tables_adds_nothing() {
    let old = [OperatorSnapshot::default(), small_state(), OperatorSnapshot::default()];
    let merged = merge_snapshots(old, &StateShare::whole()).unwrap();
    assert_eq!(merged, small_state());
    assert_eq!(merge_snapshots([], &StateShare::whole()).unwrap(), OperatorSnapshot::default());
}

#[test]
fn subtasks_that_disagree_are_refused() {
    let timer = |table: TableSnapshot| OperatorSnapshot { tables: vec![table] };
    let newer = timer(TableSnapshot { version: 2, ..timer_table(1) });
    let error = merge_snapshots([timer(timer_table(1)), newer], &StateShare::whole()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state of table 'timer' cannot be put together: it has version 1 in one subtask and 2 in another"
    );
    let other = timer(TableSnapshot { name: "timer".into(), version: 1, ..counts_table(&[]) });
    let error = merge_snapshots([timer(timer_table(1)), other], &StateShare::whole()).unwrap_err();
    assert!(error.to_string().contains("its columns are"), "{error}");
}

/// Rows of a key group that nobody owns would be lost without a word.
#[test]
fn fewer_key_groups_are_refused() {
    let error = merge_snapshots(written_at(1), &StateShare::of(0, 2, MAX_PARALLELISM - 1)).unwrap_err();
    let reason = "it has rows of key group 11, but there are only 11 key groups";
    assert_eq!(error.to_string(), format!("the state of table 'counts' cannot be put together: {reason}"));
}

#[test]
fn files_are_read_only_where_the_share_may_be() {
    let second = StateShare::of(1, 3, MAX_PARALLELISM);
    assert!(!second.may_be_in(Some((0, 4))) && second.may_be_in(Some((0, 5))) && second.may_be_in(Some((7, 9))));
    assert!(!second.may_be_in(Some((8, 12))) && second.may_be_in(None));
    assert!(StateShare::of(0, 3, MAX_PARALLELISM).may_be_in(Some((8, 12))), "unkeyed state may be anywhere");
}
