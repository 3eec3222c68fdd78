//! Rows that wait come back from a snapshot in their order.

use arrow::array::{Int8Array, Int64Array};
use proptest::prelude::*;
use tidemark_planner::stream_plan::{SortKey, SortNode};

use super::{FoldInput, SortAtEnd, SortByWatermark};
use crate::change_batch::{ChangeBatch, RowKind};
use crate::test_restore::{Step, Subject};
use crate::test_rows::{event_schema, events};

fn node(keys: &[(usize, bool)], by_watermark: bool, offset: u64, fetch: Option<u64>) -> SortNode {
    let keys = keys.iter().map(|&(column, descending)| SortKey { column, descending, nulls_first: false }).collect();
    SortNode { keys, by_watermark, offset, fetch }
}

fn rows_of(batch: &[(Option<i64>, i64)]) -> ChangeBatch {
    ChangeBatch::insert_only(events(batch.iter().copied()))
}

/// Changes to a relation of few rows, none of which takes back what is not there.
fn changes_of(rows: &[(Option<i64>, i64, bool)], key_only: bool) -> Vec<((Option<i64>, i64), RowKind)> {
    let mut present: Vec<(Option<i64>, i64)> = Vec::new();
    let mut changes = Vec::new();
    for &(key, value, is_addition) in rows {
        let row = (key, value);
        let place = present.iter().position(|other| if key_only { other.0 == key } else { *other == row });
        match (is_addition, place) {
            (true, Some(place)) if key_only => {
                present[place] = row;
                changes.push((row, RowKind::UpdateAfter));
            }
            (true, _) => {
                present.push(row);
                changes.push((row, RowKind::Insert));
            }
            (false, Some(place)) => changes.push((present.swap_remove(place), RowKind::Delete)),
            (false, None) => {}
        }
    }
    changes
}

fn steps_of_changes(changes: &[((Option<i64>, i64), RowKind)], batch: usize) -> Vec<Step> {
    let steps = changes.chunks(batch).map(|changes| {
        let rows: Vec<_> = changes.iter().map(|change| change.0).collect();
        let kinds = Int8Array::from_iter_values(changes.iter().map(|change| change.1 as i8));
        Step::Rows(ChangeBatch { kinds: Some(kinds), ..rows_of(&rows) })
    });
    steps.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_sort_at_the_end(
        rows in prop::collection::vec((prop::option::of(0i64..6), 0i64..4, prop::bool::weighted(0.7)), 0..50),
        (batch, cut) in (1usize..9, 0.0..=1.0),
        (offset, fetch) in (0u64..4, prop::option::of(0u64..9)),
    ) {
        let check = |fold: FoldInput, steps: &[Step]| {
            let node = node(&[(0, true)], false, offset, fetch);
            let create = || SortAtEnd::new(&node, fold.clone(), &event_schema()).unwrap();
            Subject { create, keys: vec![] }.check(steps, (steps.len() as f64 * cut) as usize, 1, 1);
        };
        let plain: Vec<_> = rows.iter().map(|row| (row.0, row.1)).collect();
        check(FoldInput::Append, &plain.chunks(batch).map(|rows| Step::Rows(rows_of(rows))).collect::<Vec<_>>());
        check(FoldInput::Retract, &steps_of_changes(&changes_of(&rows, false), batch));
        check(FoldInput::Upsert(vec![0]), &steps_of_changes(&changes_of(&rows, true), batch));
    }

    #[test]
    fn a_sort_by_the_watermark(
        steps in prop::collection::vec(
            (prop::collection::vec((prop::option::weighted(0.9, 0i64..30), 0i64..4), 0..6), 0i64..4, any::<bool>()),
            0..20,
        ),
        cut in 0.0..=1.0,
        (offset, fetch) in (0u64..4, prop::option::of(0u64..20)),
    ) {
        let mut watermark = 0;
        let steps: Vec<Step> = steps
            .into_iter()
            .flat_map(|(rows, step, has_met)| {
                let mut batch = rows_of(&rows);
                batch.row_watermarks = has_met.then(|| Int64Array::from_value(watermark + 1, rows.len()));
                watermark += step;
                [Step::Rows(batch), Step::Watermark(watermark)]
            })
            .collect();
        let cut = (steps.len() as f64 * cut) as usize;
        for keys in [&[(0, false)][..], &[(0, false), (1, true)]] {
            let node = node(keys, true, offset, fetch);
            let create = || SortByWatermark::new(&node, &event_schema()).unwrap();
            Subject { create, keys: vec![] }.check(&steps, cut, 1, 1);
        }
    }
}
