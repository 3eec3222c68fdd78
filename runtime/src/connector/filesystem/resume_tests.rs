//! Reading goes on where an earlier reader was left.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::DataType;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use serde_json::json;
use tidemark_planner::catalog::table::TableDef;

use super::super::testing::{error, next_batch, read_rows, request};
use super::super::{Connector, Source, SplitPosition};
use super::FilesystemConnector;
use crate::format::testing::{lines, table};

fn numbers(path: &Path, options: &[(&str, &str)]) -> TableDef {
    let mut all = vec![("path", path.to_str().unwrap())];
    all.extend_from_slice(options);
    table(&[("n", DataType::Int64)], &all)
}

fn open(table: &TableDef, batch_size: usize) -> Box<dyn Source> {
    FilesystemConnector::default().open_source(request(table, batch_size, &[])).unwrap()
}

/// The rows of one batch from `position` on, and where that leaves the reader; the error when there is one.
fn read_on(
    table: &TableDef,
    batch_size: usize,
    position: Option<&SplitPosition>,
) -> Result<(Vec<String>, SplitPosition), String> {
    let mut reader = open(table, batch_size).open_split(0, position, Arc::default()).map_err(|e| e.to_string())?;
    let batch = next_batch(reader.as_mut()).map_err(|e| e.to_string())?;
    Ok((batch.iter().flat_map(lines).collect(), reader.position()))
}

#[test]
fn a_csv_position_is_the_byte_and_the_line_behind_the_last_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    // Blank lines, a comment, CR LF, a quoted newline, no newline at the end.
    fs::write(&path, "\u{feff}m,n\r\n\r\n1,10\n# no\n\"2\n\",20\r\n3,30").unwrap();
    let options = [("format", "csv"), ("csv.header", "true"), ("csv.allow-comments", "true")];
    let table = table(
        &[("n", DataType::Int64), ("m", DataType::Utf8)],
        &[&[("path", path.to_str().unwrap())], &options[..]].concat(),
    );
    assert_eq!(read_rows(&FilesystemConnector::default(), &table).unwrap(), ["10|1", "20|2\n", "30|3"]);
    let (rows, position) = read_on(&table, 1, None).unwrap();
    assert_eq!(rows, ["10|1"]);
    assert_eq!(position.0, json!({"byte": 15, "lines": 3, "header": ["m", "n"]}));
    let (rows, position) = read_on(&table, 1, Some(&position)).unwrap();
    assert_eq!(rows, ["20|2\n"]);
    assert_eq!(position.0, json!({"byte": 29, "lines": 6, "header": ["m", "n"]}));
}

#[test]
fn messages_name_the_same_line_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    for (name, format, text) in
        [("t.csv", "csv", "1\n\n2\nx\n"), ("t.json", "json", "{\"n\":1}\n\n{\"n\":2}\n{\"n\":x}\n")]
    {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let table = numbers(&path, &[("format", format)]);
        let (rows, position) = read_on(&table, 1, None).unwrap();
        assert_eq!(rows, ["1"]);
        let (rows, position) = read_on(&table, 1, Some(&position)).unwrap();
        assert_eq!(rows, ["2"]);
        let message = read_on(&table, 1, Some(&position)).unwrap_err();
        assert!(message.contains(&format!("{}, line 4", path.display())), "{message}");
    }
}

/// The rows before an unreadable one come first, then the error. A restart between the two must not lose the error,
/// nor give the rows again.
#[test]
fn an_unreadable_row_still_ends_the_reading_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    fs::write(&path, "1\n2\n3\nx\n5\n").unwrap();
    let table = numbers(&path, &[("format", "csv")]);
    let (rows, position) = read_on(&table, 8, None).unwrap();
    assert_eq!(rows, ["1", "2", "3"]);
    for batch_size in [1, 2, 3, 8] {
        let message = read_on(&table, batch_size, Some(&position)).unwrap_err();
        assert!(message.contains("line 4"), "batches of {batch_size}: {message}");
    }
    // Once the row is mended, what follows is read, and nothing twice.
    fs::write(&path, "1\n2\n3\n4\n5\n").unwrap();
    for batch_size in [1, 2, 3, 8] {
        let (mut rows, mut position) = read_on(&table, batch_size, Some(&position)).unwrap();
        while let (more, behind) = read_on(&table, batch_size, Some(&position)).unwrap()
            && !more.is_empty()
        {
            rows.extend(more);
            position = behind;
        }
        assert_eq!(rows, ["4", "5"], "batches of {batch_size}");
    }
}

#[test]
fn skipped_rows_are_not_met_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    fs::write(&path, "1\nx\n2\ny\nz\n3\n").unwrap();
    let table = numbers(&path, &[("format", "csv"), ("csv.ignore-parse-errors", "true")]);
    assert_eq!(read_rows(&FilesystemConnector::default(), &table).unwrap(), ["1", "2", "3"]);
}

#[test]
fn a_file_that_has_become_shorter_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    fs::write(&path, "1\n2\n").unwrap();
    let table = numbers(&path, &[("format", "csv")]);
    let (_, position) = read_on(&table, 8, None).unwrap();
    fs::write(&path, "1\n").unwrap();
    let message = read_on(&table, 8, Some(&position)).unwrap_err();
    let expected =
        format!("table `t`: cannot go on reading {}: the file has 2 bytes, but 4 had been read", path.display());
    assert_eq!(message, expected);
    let other = SplitPosition(json!({"row": "x"}));
    assert!(error(open(&table, 8).open_split(0, Some(&other), Arc::default())).contains("is no position"));
}

#[test]
fn a_header_that_comes_or_goes_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    fs::write(&path, "n\n1\n2\n").unwrap();
    let with = numbers(&path, &[("format", "csv"), ("csv.header", "true")]);
    let without = numbers(&path, &[("format", "csv"), ("csv.ignore-parse-errors", "true")]);
    let (_, position) = read_on(&with, 1, None).unwrap();
    assert!(read_on(&without, 1, Some(&position)).unwrap_err().contains("had a header when it was read"));
    let (_, position) = read_on(&without, 1, None).unwrap();
    assert!(read_on(&with, 1, Some(&position)).unwrap_err().contains("had no header when it was read"));
}

#[test]
fn a_parquet_position_is_row_group_and_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10));
    let batch = RecordBatch::try_from_iter_with_nullable([("n", column, true)]).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(4)).build();
    let mut writer = ArrowWriter::try_new(fs::File::create(&path).unwrap(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let table = numbers(&path, &[("format", "parquet")]);
    let all: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    assert_eq!(read_rows(&FilesystemConnector::default(), &table).unwrap(), all);
    let (rows, position) = read_on(&table, 3, None).unwrap();
    assert_eq!((rows.as_slice(), &position.0), (&all[..3], &json!({"row_group": 0, "row": 3})));
    let (rows, position) = read_on(&table, 3, Some(&position)).unwrap();
    assert_eq!((rows.as_slice(), &position.0), (&all[3..6], &json!({"row_group": 1, "row": 2})));
    let beyond = SplitPosition(json!({"row_group": 3, "row": 1}));
    let message = read_on(&table, 3, Some(&beyond)).unwrap_err();
    assert!(message.ends_with("the file has no row 1 in row group 3, which was to be read next"), "{message}");
}
