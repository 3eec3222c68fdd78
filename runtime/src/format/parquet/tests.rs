use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Field, Int32Type, TimeUnit};

use super::super::testing::{instant, lines, table, timestamp};
use super::super::zone::Zone;
use super::super::{Encoder, TextContext, UnreadableRows};
use super::{ParquetEncoder, ParquetOptions, ParquetPosition, ParquetReader};
use crate::metrics::SourceMetrics;

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap();
    let options = ParquetOptions::of(&[("parquet.compression", "ZSTD")].into_iter().collect()).unwrap();
    let mut encoder = ParquetEncoder::new(&options, Box::new(File::create(path).unwrap()), batch.schema()).unwrap();
    encoder.write(&batch).unwrap();
    encoder.flush().unwrap();
    encoder.finish().unwrap();
}

fn read_in(path: &Path, columns: &[(&str, DataType)], zone: &str) -> Result<Vec<String>, String> {
    let table = table(columns, &[]);
    let ctx = TextContext {
        table: "t".into(),
        place: "f".into(),
        declared: vec![],
        projection: table.physical_schema(),
        batch_size: 2,
        zone: Zone::parse(zone).unwrap(),
        unreadable: UnreadableRows::Fail,
        metrics: Arc::new(SourceMetrics::default()),
    };
    let open = |at| ParquetReader::open(File::open(path).unwrap(), ctx.clone(), at).map_err(|e| e.to_string());
    let mut reader = open(ParquetPosition::default())?.unwrap();
    let mut rows = vec![];
    while let Some(batch) = reader.next_batch().map_err(|e| e.to_string())? {
        assert!(batch.num_rows() <= 2);
        assert_eq!(batch.schema(), table.physical_schema());
        rows.extend(lines(&batch));
    }
    Ok(rows)
}

fn read(path: &Path, columns: &[(&str, DataType)]) -> Result<Vec<String>, String> {
    read_in(path, columns, "UTC")
}

fn sample() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.parquet");
    write(
        &path,
        vec![
            ("id", Arc::new(Int32Array::from(vec![1, 2, 3]))),
            ("name", Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]))),
            ("at", Arc::new(TimestampMicrosecondArray::from(vec![1_500, 0, -1]))),
            ("tag", Arc::new(["x", "y", "x"].into_iter().collect::<DictionaryArray<Int32Type>>())),
        ],
    );
    (dir, path)
}

#[test]
fn columns_by_name_in_any_order() {
    let (_dir, path) = sample();
    let columns = [("name", DataType::Utf8), ("id", DataType::Int32)];
    assert_eq!(read(&path, &columns).unwrap(), ["a|1", "NULL|2", "c|3"]);
    assert_eq!(read(&path, &[("tag", DataType::Utf8)]).unwrap(), ["x", "y", "x"]);
    assert_eq!(read(&path, &[]).unwrap(), ["", "", ""]);
}

#[test]
fn values_move_to_wider_types_and_other_units() {
    let (_dir, path) = sample();
    let columns = [("id", DataType::Int64), ("at", timestamp())];
    let expect = ["1|1970-01-01 00:00:00.001", "2|1970-01-01 00:00:00.000", "3|1970-01-01 00:00:00.000"];
    assert_eq!(read(&path, &columns).unwrap()[..2], expect[..2]);
    let nanos = [("at", DataType::Timestamp(TimeUnit::Nanosecond, None))];
    assert_eq!(read(&path, &nanos).unwrap()[2], "1969-12-31 23:59:59.999999000");
}

#[test]
fn wall_times_become_instants_in_the_sessions_zone() {
    let (_dir, path) = sample();
    assert_eq!(read(&path, &[("at", instant())]).unwrap()[1], "1970-01-01 00:00:00.000");
    assert_eq!(read_in(&path, &[("at", instant())], "Europe/Berlin").unwrap()[1], "1969-12-31 23:00:00.000");
}

#[test]
fn what_does_not_fit_is_refused_when_opened() {
    let (dir, path) = sample();
    let error = |columns: &[(&str, DataType)]| read(&path, columns).unwrap_err();
    assert_eq!(
        error(&[("name", DataType::Int64)]),
        "table `t`: f: column 'name' is declared BIGINT but the file holds STRING"
    );
    assert_eq!(
        error(&[("id", DataType::Int16)]),
        "table `t`: f: column 'id' is declared SMALLINT but the file holds INT"
    );
    assert_eq!(error(&[("nam", DataType::Utf8)]), "table `t`: f: the file has no column 'nam' (did you mean 'name'?)");
    assert_eq!(
        error(&[("name!", DataType::Utf8)]),
        "table `t`: f: column 'name': NULL in a column declared STRING NOT NULL"
    );
    let text = dir.path().join("g.parquet");
    std::fs::write(&text, "not parquet at all").unwrap();
    let error = read(&text, &[]).unwrap_err();
    assert!(error.starts_with("table `t`: f: this is not a readable Parquet file: "), "{error}");
}

#[test]
fn nested_values_survive() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.parquet");
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None]);
    let row = StructArray::from(vec![(
        Arc::new(Field::new("x", DataType::Int32, true)),
        Arc::new(Int32Array::from(vec![Some(7), None])) as ArrayRef,
    )]);
    write(&path, vec![("list", Arc::new(list)), ("row", Arc::new(row))]);
    let long = DataType::List(Arc::new(Field::new("element", DataType::Int64, true)));
    let row = DataType::Struct(vec![Field::new("x", DataType::Int32, true)].into());
    assert_eq!(read(&path, &[("row", row), ("list", long)]).unwrap(), ["{\"x\":7}|[1,null]", "{\"x\":null}|NULL"]);
}
