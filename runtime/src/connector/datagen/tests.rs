use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use tidemark_planner::catalog::connector::ConnectorFactory;
use tidemark_planner::catalog::options::OptionSpec;

use super::super::testing::{read_batches, read_rows, request};
use super::super::{Connector, SourcePoll};
use super::DatagenConnector;
use crate::format::testing::{table, timestamp};

fn rows(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> Vec<String> {
    let table = table(columns, options);
    DatagenConnector.check_table(&table).unwrap();
    read_rows(&DatagenConnector, &table).unwrap()
}

fn refused(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> String {
    DatagenConnector.check_table(&table(columns, options)).unwrap_err().message
}

const ID: (&str, DataType) = ("id", DataType::Int64);

#[test]
fn a_sequence_ends_the_table() {
    let sequence = [("fields.id.kind", "sequence"), ("fields.id.start", "3"), ("fields.id.end", "6")];
    assert_eq!(rows(&[ID], &sequence), ["3", "4", "5", "6"]);
    assert_eq!(rows(&[ID], &[&sequence[..], &[("number-of-rows", "2")]].concat()), ["3", "4"]);
    let money = [("fields.d.kind", "sequence"), ("fields.d.start", "-1"), ("fields.d.end", "1")];
    assert_eq!(rows(&[("d", DataType::Decimal128(5, 2))], &money), ["-1.00", "0.00", "1.00"]);
}

#[test]
fn times_advance_row_by_row() {
    let options =
        [("number-of-rows", "3"), ("fields.ts.start", "2026-01-01 10:00:00"), ("fields.ts.interval", "1500 ms")];
    let expect = ["2026-01-01 10:00:00.000", "2026-01-01 10:00:01.500", "2026-01-01 10:00:03.000"];
    assert_eq!(rows(&[("ts", timestamp())], &options), expect);
    let paced = [("number-of-rows", "2"), ("rows-per-second", "1000000")];
    assert_eq!(
        rows(&[("ts", DataType::Timestamp(TimeUnit::Microsecond, None))], &paced)[1],
        "2020-01-01 00:00:00.000001"
    );
    let days = [("number-of-rows", "2"), ("fields.d.start", "2026-02-28")];
    assert_eq!(rows(&[("d", DataType::Date32)], &days), ["2026-02-28", "2026-03-01"]);
}

#[test]
fn times_may_lie_behind_their_place() {
    let options = [("number-of-rows", "1000"), ("fields.ts.interval", "1 s"), ("fields.ts.max-past", "10 s")];
    let table = table(&[("ts", timestamp())], &options);
    let batches = read_batches(&DatagenConnector, request(&table, 1000, &[])).unwrap();
    let start = 1_577_836_800_000;
    let times = batches[0].column(0).as_primitive::<arrow::datatypes::TimestampMillisecondType>();
    let behind: Vec<i64> = times.values().iter().enumerate().map(|(i, t)| start + 1_000 * i as i64 - t).collect();
    assert!(behind.iter().all(|b| (0..=10_000).contains(b)));
    assert!(behind.iter().any(|b| *b > 9_000) && behind.iter().any(|b| *b < 1_000));
}

#[test]
fn a_row_depends_on_the_seed_and_its_number() {
    let columns = [ID, ("name", DataType::Utf8), ("x", DataType::Float64), ("b", DataType::Boolean)];
    let of = |seed| rows(&columns, &[("number-of-rows", "50"), ("seed", seed)]);
    assert_eq!(of("1"), of("1"));
    assert_ne!(of("1"), of("2"));
    let longer = rows(&columns, &[("number-of-rows", "100"), ("seed", "1")]);
    assert_eq!(longer[..50], of("1"));
    // A column does not depend on which others are asked for.
    let table = table(&columns, &[("number-of-rows", "50"), ("seed", "1")]);
    let mut only_name = request(&table, 100, &[]);
    only_name.projection = Arc::new(only_name.projection.project(&[1]).unwrap());
    let batch = read_batches(&DatagenConnector, only_name).unwrap().remove(0);
    assert_eq!(of("1")[0].split('|').nth(1), Some(batch.column(0).as_string::<i32>().value(0)));
}

#[test]
fn bounds_lengths_and_nulls() {
    let options = [
        ("number-of-rows", "1000"),
        ("fields.id.min", "-2"),
        ("fields.id.max", "2"),
        ("fields.id.null-rate", "0.5"),
        ("fields.name.length", "7"),
    ];
    let table = table(&[ID, ("name", DataType::Utf8)], &options);
    let batch = read_batches(&DatagenConnector, request(&table, 1000, &[])).unwrap().remove(0);
    let ids = batch.column(0).as_primitive::<Int64Type>();
    assert!((400..600).contains(&ids.null_count()));
    let mut seen: Vec<i64> = ids.iter().flatten().collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [-2, -1, 0, 1, 2]);
    assert!(batch.column(1).as_string::<i32>().iter().flatten().all(|name| name.len() == 7));
}

#[test]
fn every_scalar_type_has_values() {
    let columns = [
        ("a", DataType::Int8),
        ("b", DataType::Int16),
        ("c", DataType::Int32),
        ("d", DataType::Float32),
        ("e", DataType::Decimal128(38, 4)),
        ("f", DataType::Binary),
        ("g", DataType::Time32(TimeUnit::Second)),
        ("h", DataType::Time64(TimeUnit::Microsecond)),
        ("i", DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))),
        ("j!", DataType::Utf8),
    ];
    assert_eq!(rows(&columns, &[("number-of-rows", "10")]).len(), 10);
}

#[test]
fn without_an_end_it_is_unbounded_and_paced() {
    let table = table(&[ID], &[("rows-per-second", "1")]);
    assert!(!DatagenConnector.source(&table).unwrap().bounded);
    let source = DatagenConnector.open_source(request(&table, 100, &[])).unwrap();
    let mut reader = source.open_split(0, None, Arc::default()).unwrap();
    assert!(matches!(reader.poll().unwrap(), SourcePoll::Batch(batch) if batch.num_rows() == 1));
    let SourcePoll::Pending { retry_after_ms: Some(wait_ms) } = reader.poll().unwrap() else {
        panic!("a second is long")
    };
    assert!((10..=1_000).contains(&wait_ms));
}

#[test]
fn mistakes_are_refused_when_the_table_is_created() {
    let id = |options: &[(&str, &str)]| refused(&[ID], options);
    assert_eq!(id(&[("fields.ids.min", "1")]), "the table has no column 'ids' (did you mean 'id'?)");
    assert_eq!(id(&[("fields.id.min", "x")]), "'x' is not a value of BIGINT");
    assert_eq!(id(&[("fields.id.min", "2"), ("fields.id.max", "1")]), "'max' is less than 'min'");
    assert_eq!(
        id(&[("fields.id.kind", "sequence"), ("fields.id.start", "1")]),
        "the sequence of column 'id' needs 'fields.id.end'"
    );
    assert_eq!(
        id(&[("fields.id.length", "3")]),
        "'length' has no meaning for column 'id' of type BIGINT and kind 'random'"
    );
    assert_eq!(id(&[("fields.id.null-rate", "2")]), "'2' is not a number from 0 to 1");
    assert_eq!(id(&[("rows-per-second", "0")]), "the pace must not be 0");
    assert_eq!(refused(&[("id!", DataType::Int64)], &[("fields.id.null-rate", "0.1")]), "column 'id' is NOT NULL");
    assert_eq!(refused(&[("t", DataType::Int8)], &[("fields.t.max", "128")]), "'128' is not a value of TINYINT");
    let list = DataType::List(Arc::new(arrow::datatypes::Field::new("item", DataType::Int64, true)));
    assert_eq!(refused(&[("l", list)], &[]), "'datagen' knows no random values for column 'l' of type ARRAY<BIGINT>");
    let specs: Vec<OptionSpec> = DatagenConnector.options();
    assert!(specs.iter().any(|s| s.matches("fields.id.max-past")));
    assert!(!specs.iter().any(|s| s.matches("fields.id.mx")));
}
