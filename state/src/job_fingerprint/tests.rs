use super::*;
use crate::test_state::small_state;

fn operator(uid: &str, kind: &str, tables: &[(&str, u16, &[&str])]) -> OperatorFingerprint {
    let table = |(name, version, fields): &(&str, u16, &[&str])| TableFingerprint {
        name: (*name).to_owned(),
        version: *version,
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
    };
    OperatorFingerprint { uid: uid.to_owned(), kind: kind.to_owned(), tables: tables.iter().map(table).collect() }
}

fn counts(uid: &str) -> OperatorFingerprint {
    operator(uid, "aggregate", &[("counts", 1, &["key utf8", "count int64"])])
}

/// Compares jobs of these operators; each line of `expected` is the effect and the sentence of one difference.
fn check(old: &[OperatorFingerprint], new: &[OperatorFingerprint], expected: &[(Effect, &str)]) {
    let [old, new] = [old, new].map(|operators| JobFingerprint::new("job", operators.to_vec()));
    let found: Vec<_> = compare(&old, &new).iter().map(|d| (d.effect(), d.to_string())).collect();
    let expected: Vec<_> = expected.iter().map(|(effect, text)| (*effect, (*text).to_owned())).collect();
    assert_eq!(found, expected);
    let all_kept = expected.iter().all(|(effect, _)| *effect == Effect::Kept);
    assert_eq!(old.hash == new.hash, all_kept, "the hash says whether all is kept");
}

#[test]
fn tables_alone_make_the_same_fingerprint_as_their_rows() {
    let state = small_state();
    let schema_of = |table: &TableSnapshot| StateTableSchema {
        name: table.name.clone(),
        version: table.version,
        schema: table.schema.clone(),
    };
    let tables: Vec<StateTableSchema> = state.tables.iter().map(schema_of).collect();
    assert_eq!(OperatorFingerprint::of_tables("a", "agg", &tables), OperatorFingerprint::new("a", "agg", &state));
    let again = tables.iter().zip(&state.tables).map(|(schema, table)| schema.with_entries(table.entries.clone()));
    assert_eq!(again.collect::<Vec<_>>(), state.tables);
}

#[test]
fn identical_added_removed() {
    let join = operator("join-2", "join", &[("left", 1, &["key utf8"])]);
    check(&[], &[], &[]);
    check(
        &[counts("a")],
        &[counts("a")],
        &[(Effect::Kept, "operator 'a' (aggregate) is unchanged and keeps its state")],
    );
    check(
        &[counts("a"), join.clone()],
        &[join.clone(), counts("a")],
        &[
            (Effect::Kept, "operator 'a' (aggregate) is unchanged and keeps its state"),
            (Effect::Kept, "operator 'join-2' (join) is unchanged and keeps its state"),
        ],
    );
    check(
        &[counts("a")],
        &[join],
        &[
            (Effect::StartsEmpty, "operator 'join-2' (join) is new and starts without state"),
            (Effect::Dropped, "operator 'a' (aggregate) is gone; its state would be dropped"),
        ],
    );
}

#[test]
fn renamed_if_there_is_no_doubt() {
    check(
        &[counts("a")],
        &[counts("b")],
        &[
            (Effect::StartsEmpty, "operator 'b' (aggregate) is new and starts without state"),
            (
                Effect::Dropped,
                "operator 'a' (aggregate) seems to be 'b' now; under that uid it would start without its state",
            ),
        ],
    );
    let gone = (Effect::Dropped, "operator 'a' (aggregate) is gone; its state would be dropped");
    let new = |text| (Effect::StartsEmpty, text);
    check(
        &[counts("a")],
        &[counts("b"), counts("c")],
        &[
            new("operator 'b' (aggregate) is new and starts without state"),
            new("operator 'c' (aggregate) is new and starts without state"),
            gone,
        ],
    );
    check(
        &[counts("a"), counts("b")],
        &[counts("c")],
        &[
            new("operator 'c' (aggregate) is new and starts without state"),
            gone,
            (Effect::Dropped, "operator 'b' (aggregate) is gone; its state would be dropped"),
        ],
    );
}

#[test]
fn another_kind_is_refused() {
    let join = operator("a", "join", &[("counts", 1, &["key utf8", "count int64"])]);
    let text = "operator 'a' is of kind 'join' now and was of kind 'aggregate'; its state does not fit";
    check(&[counts("a")], &[join], &[(Effect::Refused, text)]);
}

#[test]
fn changed_state_names_table_and_field() {
    let check_tables = |new: &[(&str, u16, &[&str])], changes: &str| {
        let text = format!("operator 'a' (aggregate) has other state: {changes}");
        check(&[counts("a")], &[operator("a", "aggregate", new)], &[(Effect::Refused, &text)]);
    };
    check_tables(
        &[("counts", 1, &["key utf8", "count float64"])],
        "table 'counts': field 'count int64' is 'count float64' now",
    );
    check_tables(
        &[("counts", 1, &["key utf8", "total int64"])],
        "table 'counts': field 'total int64' is new; table 'counts': field 'count int64' is gone",
    );
    check_tables(&[("counts", 1, &["count int64", "key utf8"])], "table 'counts': its fields have another order");
    check_tables(
        &[("counts", 2, &["key utf8", "count int64"])],
        "table 'counts': its layout had version 1 and has version 2 now",
    );
    check_tables(&[("sums", 1, &["key utf8"])], "table 'sums' is new; table 'counts' is gone");
}

#[test]
fn a_state_gives_the_fingerprint_of_its_operator() {
    let job =
        JobFingerprint::new("orders", vec![OperatorFingerprint::new("agg-1", "window aggregate", &small_state())]);
    let expected = "job 'orders'\n  operator 'agg-1' (window aggregate)\n    \
                    table 'counts' version 2: key utf8 not null, count int64\n    \
                    table 'timer' version 1: next int64 not null\n";
    assert_eq!(job.to_string(), expected);
}
