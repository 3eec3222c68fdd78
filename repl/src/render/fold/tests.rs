use expect_test::expect;
use tidemark_runtime::change_batch::RowKind::{Delete, Insert, UpdateAfter, UpdateBefore};

use super::super::tests::{changes, shape};
use super::*;

type Change = (RowKind, Option<&'static str>, i64);

/// The rows that are left as `(origin, n)`, whatever the cuts into batches.
fn folded(shape: &ResultShape, rows: &[Change]) -> Result<Vec<String>, FoldError> {
    let whole = fold_batches(shape, &[changes(rows)]);
    let single: Vec<_> = rows.iter().map(|r| changes(&[*r])).collect();
    let one_by_one = fold_batches(shape, &single);
    assert_eq!(whole.as_ref().ok(), one_by_one.as_ref().ok(), "the cuts into batches do not matter");
    whole
}

fn fold_batches(shape: &ResultShape, batches: &[ChangeBatch]) -> Result<Vec<String>, FoldError> {
    let mut fold = Fold::new(shape)?;
    for batch in batches {
        fold.apply(batch)?;
    }
    let batches = fold.into_batches()?;
    Ok(batches.iter().flat_map(|b| (0..b.num_rows()).map(|row| describe_row(b, row))).collect())
}

fn retract() -> ResultShape {
    shape(ChangelogMode::Retract, vec![])
}

#[test]
fn an_update_keeps_the_place_of_its_row() {
    let rows = [
        (Insert, Some("JFK"), 1),
        (Insert, Some("EWR"), 1),
        (UpdateBefore, Some("JFK"), 1),
        (UpdateAfter, Some("JFK"), 2),
    ];
    assert_eq!(folded(&retract(), &rows).expect("fold"), ["(JFK, 2)", "(EWR, 1)"]);
}

#[test]
fn equal_rows_are_counted() {
    let rows = [(Insert, None, 1), (Insert, Some("EWR"), 1), (Insert, None, 1), (Delete, None, 1)];
    assert_eq!(folded(&retract(), &rows).expect("fold"), ["(NULL, 1)", "(EWR, 1)"]);
}

#[test]
fn a_deleted_row_that_returns_comes_last() {
    let rows = [(Insert, Some("A"), 1), (Insert, Some("B"), 1), (Delete, Some("A"), 1), (Insert, Some("A"), 1)];
    assert_eq!(folded(&retract(), &rows).expect("fold"), ["(B, 1)", "(A, 1)"]);
}

#[test]
fn the_place_of_a_filtered_update_is_not_given_away() {
    let rows = [
        (Insert, Some("A"), 1),
        (Insert, Some("B"), 1),
        (UpdateBefore, Some("A"), 1),
        (Insert, Some("C"), 1),
        (UpdateAfter, Some("D"), 1),
    ];
    assert_eq!(folded(&retract(), &rows).expect("fold"), ["(B, 1)", "(C, 1)", "(D, 1)"]);
}

#[test]
fn taking_back_an_absent_row_is_an_error_that_names_it() {
    let error = folded(&retract(), &[(Insert, Some("JFK"), 1), (UpdateBefore, Some("JFK"), 2)]).expect_err("absent");
    expect!["internal error: the changelog takes back a row that is not there: -U (JFK, 2)"]
        .assert_eq(&error.to_string());
    let twice = [(Insert, None, 1), (Delete, None, 1), (Delete, None, 1)];
    let error = folded(&retract(), &twice).expect_err("absent");
    expect!["internal error: the changelog takes back a row that is not there: -D (NULL, 1)"]
        .assert_eq(&error.to_string());
}

#[test]
fn an_upsert_replaces_the_row_of_its_key() {
    let rows = [
        (Insert, Some("JFK"), 1),
        (Insert, Some("EWR"), 1),
        (UpdateAfter, Some("JFK"), 2),
        (Insert, Some("JFK"), 3),
        (Delete, Some("EWR"), 0),
    ];
    let upsert = shape(ChangelogMode::Upsert, vec![0]);
    assert_eq!(folded(&upsert, &rows).expect("fold"), ["(JFK, 3)"]);
    assert!(folded(&upsert, &[(Delete, Some("EWR"), 0)]).is_err());
}

#[test]
fn nothing_is_left_of_nothing() {
    assert_eq!(folded(&retract(), &[]).expect("fold"), Vec::<String>::new());
}
