use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow::datatypes::DataType;
use tempfile::TempDir;
use tidemark_planner::catalog::connector::{ConnectorFactory, OptionError};
use tidemark_planner::catalog::table::TableDef;

use super::super::testing::{error, open_sink, read_batches, read_rows, request, write};
use super::FilesystemConnector;
use crate::change_batch::ChangeBatch;
use crate::format::testing::{instant, lines, table, timestamp};

fn files(names: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in names {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn csv(path: impl AsRef<Path>) -> TableDef {
    table(&[("a", DataType::Utf8)], &[("path", path.as_ref().to_str().unwrap()), ("format", "csv")])
}

fn read(path: impl AsRef<Path>) -> Vec<String> {
    read_rows(&FilesystemConnector::default(), &csv(path)).unwrap()
}

fn refused(path: impl AsRef<Path>) -> OptionError {
    FilesystemConnector::default().source(&csv(path)).unwrap_err()
}

#[test]
fn a_file_a_directory_a_pattern() {
    let dir = files(&[("b.csv", "2\n"), ("a.csv", "1\n"), ("c/x.csv", "3\n"), ("c/d/y.csv", "4\n"), ("e.csv", "5\n")]);
    let path = dir.path();
    assert_eq!(read(path.join("b.csv")), ["2"]);
    assert_eq!(read(format!("file://{}/b.csv", path.display())), ["2"]);
    assert_eq!(read(path), ["1", "2", "4", "3", "5"], "in byte-wise order of names: c/d comes before c/x.csv");
    assert_eq!(read(path.join("[ab].csv")), ["1", "2"]);
    assert_eq!(read(path.join("**/*.csv")), ["1", "2", "4", "3", "5"]);
}

#[test]
fn hidden_files_are_passed_over() {
    let dir =
        files(&[("a.csv", "1\n"), (".b.csv", "2\n"), ("_SUCCESS", ""), (".git/c.csv", "3\n"), ("_tmp/d.csv", "4\n")]);
    assert_eq!(read(dir.path()), ["1"]);
    assert_eq!(read(dir.path().join("*")), ["1"]);
    assert_eq!(read(dir.path().join(".b.csv")), ["2"], "but not when they are asked for");
}

#[test]
fn a_name_may_look_like_a_pattern() {
    let dir = files(&[("a[1].csv", "1\n"), ("a1.csv", "2\n")]);
    assert_eq!(read(dir.path().join("a[1].csv")), ["1"]);
}

#[test]
fn an_empty_directory_has_no_rows() {
    let dir = files(&[]);
    assert_eq!(read(dir.path()), Vec::<String>::new());
}

#[test]
fn a_missing_path_is_refused_with_what_is_like_it() {
    let dir = files(&[("flights.csv", "")]);
    let path = dir.path().display();
    let flight = refused(dir.path().join("flight.csv"));
    assert_eq!(flight.key.as_deref(), Some("path"));
    assert_eq!(flight.message, format!("there is no file or directory '{path}/flight.csv'"));
    assert_eq!(flight.help, Some(format!("did you mean '{path}/flights.csv'?")));
    assert_eq!(refused(dir.path().join("zzzzzzzzz")).help, None);
    let deep = refused(dir.path().join("no/such.csv"));
    assert_eq!(deep.help, Some(format!("there is no directory '{path}/no' either")));
    let pattern = refused(dir.path().join("*.json"));
    assert_eq!(pattern.message, format!("no file matches '{path}/*.json'"));
}

#[test]
fn a_file_is_a_split_and_messages_name_it() {
    let dir = files(&[("a.csv", "1\n2\n"), ("b.csv", "3\nx\n")]);
    let table = table(&[("a", DataType::Int64)], &[("path", dir.path().to_str().unwrap()), ("format", "csv")]);
    let message = error(read_batches(&FilesystemConnector::default(), request(&table, 10, &[])));
    let path = dir.path().display();
    assert_eq!(message, format!("table `t`: {path}/b.csv, line 2, column 'a': 'x' is not a BIGINT"));
}

#[test]
fn a_file_that_vanishes_is_named() {
    let dir = files(&[("a.csv", "1\n")]);
    let source =
        super::super::Connector::open_source(&FilesystemConnector::default(), request(&csv(dir.path()), 10, &[]))
            .unwrap();
    fs::remove_file(dir.path().join("a.csv")).unwrap();
    let message = error(source.open_split(0, None, Arc::default()));
    assert_eq!(message, format!("table `t`: cannot read {}/a.csv", dir.path().display()));
}

#[test]
fn metadata_columns() {
    let dir = files(&[("a.csv", "1\n22\n")]);
    let keys = ["file.name", "file.size", "file.path", "file.modification-time"];
    let batches = read_batches(&FilesystemConnector::default(), request(&csv(dir.path()), 10, &keys)).unwrap();
    let rows = lines(&batches[0]);
    let path = dir.path().join("a.csv").canonicalize().unwrap();
    assert!(rows[0].starts_with(&format!("1|a.csv|5|{}|20", path.display())), "{rows:?}");
    assert!(rows[1].starts_with("22|a.csv|5|"));
    assert_eq!(batches[0].schema_ref().field(4).data_type(), &instant());
}

fn sample() -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
        ("s", Arc::new(StringArray::from(vec![Some("say \"hi\", you\nthere"), Some(""), None]))),
        ("x", Arc::new(Float64Array::from(vec![Some(1.0), Some(0.1), None]))),
        ("b", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("t", Arc::new(TimestampMillisecondArray::from(vec![Some(0), None, Some(1_500)]))),
        ("z", Arc::new(TimestampMillisecondArray::from(vec![Some(0), None, Some(1_500)]).with_timezone("UTC"))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

fn sample_table(path: &Path, options: &[(&str, &str)]) -> TableDef {
    let columns = [
        ("n", DataType::Int64),
        ("s", DataType::Utf8),
        ("x", DataType::Float64),
        ("b", DataType::Boolean),
        ("t", timestamp()),
        ("z", instant()),
    ];
    let mut all = vec![("path", path.to_str().unwrap())];
    all.extend_from_slice(options);
    table(&columns, &all)
}

#[test]
fn what_is_written_reads_back() {
    let csv = [("format", "csv"), ("csv.null-literal", ""), ("csv.header", "true")];
    let tab =
        [("format", "csv"), ("csv.null-literal", "NA"), ("csv.field-delimiter", "\\t"), ("csv.escape-character", "\\")];
    let iso = [("format", "json"), ("json.timestamp-format.standard", "ISO-8601")];
    for options in [&csv[..], &tab, &[("format", "json")], &iso, &[("format", "parquet")]] {
        let dir = tempfile::tempdir().unwrap();
        let table = sample_table(&dir.path().join("out"), options);
        write(&FilesystemConnector::default(), &table, &[sample(), sample()]).unwrap();
        let rows = read_rows(&FilesystemConnector::default(), &table).unwrap();
        assert_eq!(rows, [lines(&sample()), lines(&sample())].concat(), "{options:?}");
    }
}

#[test]
fn texts_as_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.csv");
    write(
        &FilesystemConnector::default(),
        &sample_table(&file, &[("format", "csv"), ("csv.header", "true")]),
        &[sample()],
    )
    .unwrap();
    let expect = "n,s,x,b,t,z\n1,\"say \"\"hi\"\", you\nthere\",1.0,true,1970-01-01 00:00:00.000,1970-01-01 00:00:00.000\n\
        ,\"\",0.1,,,\n3,,,false,1970-01-01 00:00:01.500,1970-01-01 00:00:01.500\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expect);
    let file = dir.path().join("out.json");
    write(&FilesystemConnector::default(), &sample_table(&file, &[("format", "json")]), &[sample().slice(1, 2)])
        .unwrap();
    let expect = "{\"n\":null,\"s\":\"\",\"x\":0.1,\"b\":null,\"t\":null,\"z\":null}\n{\"n\":3,\"s\":null,\"x\":null,\"b\":false,\
        \"t\":\"1970-01-01 00:00:01.500\",\"z\":\"1970-01-01 00:00:01.500Z\"}\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expect);
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn one_row(text: &str) -> ChangeBatch {
    let column: ArrayRef = Arc::new(StringArray::from(vec![text]));
    ChangeBatch::insert_only(RecordBatch::try_from_iter([("a", column)]).unwrap())
}

#[test]
fn a_reader_never_sees_half_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("deep/out");
    let table = csv(&out);
    let mut writer = open_sink(&FilesystemConnector::default(), &table, 0, 2).unwrap();
    let mut other = open_sink(&FilesystemConnector::default(), &table, 1, 2).unwrap();
    writer.write(&one_row("1")).unwrap();
    writer.flush().unwrap();
    assert_eq!(read(&out), Vec::<String>::new());
    writer.finish().unwrap();
    assert_eq!(read(&out), ["1"]);
    other.write(&one_row("2")).unwrap();
    drop(other);
    assert_eq!(names(&out), ["part-0-0.csv"], "the file of a failed run is gone");
}

#[test]
fn a_directory_keeps_what_is_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    for text in ["1", "2"] {
        write(&FilesystemConnector::default(), &csv(&out), &[one_row(text).batch]).unwrap();
    }
    assert_eq!(names(&out), ["part-0-0.csv", "part-0-1.csv"]);
    assert_eq!(read(&out), ["1", "2"]);
}

#[test]
fn a_path_may_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.csv");
    for text in ["1", "2"] {
        write(&FilesystemConnector::default(), &csv(&out), &[one_row(text).batch]).unwrap();
    }
    assert_eq!(names(dir.path()), ["out.csv"]);
    assert_eq!(read(&out), ["1", "2"], "rows are added");
    assert!(FilesystemConnector::default().writes_alone(&csv(&out)));
    assert!(!FilesystemConnector::default().writes_alone(&csv(dir.path())));
}

#[test]
fn a_job_that_reads_what_it_replaces_is_known() {
    let dir = files(&[("in/a.csv", "1\n"), ("out.csv", "2\n")]);
    let reads = |source: &str, sink: &str| {
        FilesystemConnector::default().reads_its_output(&csv(dir.path().join(source)), &csv(dir.path().join(sink)))
    };
    assert!(reads("out.csv", "out.csv"));
    assert!(reads("in", "in/../in/a.csv"));
    assert!(reads("*.csv", "out.csv"));
    assert!(!reads("in", "out.csv"));
    assert!(!reads("in", "in"), "a directory's files are listed before new ones appear");
    assert!(!reads("in", "new.csv"));
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let dir = files(&[("file", "")]);
    let message = error(open_sink(&FilesystemConnector::default(), &csv(dir.path().join("file/out")), 0, 1));
    assert_eq!(message, format!("table `t`: cannot create {}/file/out", dir.path().display()));
    assert_eq!(
        FilesystemConnector::default().sink(&csv(dir.path().join("*.csv"))).unwrap_err().message,
        "a pattern can be read but not written"
    );
}

#[test]
fn tables_are_checked_when_they_are_created() {
    assert_eq!(FilesystemConnector::default().check_table(&csv("")).unwrap_err().message, "the path is empty");
    let mut partitioned = csv("x");
    partitioned.partitioned_by = vec!["a".into()];
    assert_eq!(
        FilesystemConnector::default().check_table(&partitioned).unwrap_err().message,
        "'filesystem' does not know PARTITIONED BY"
    );
    let keys: Vec<_> = FilesystemConnector::default().options().iter().map(|o| o.key).collect();
    for key in ["path", "format", "csv.header", "json.ignore-parse-errors", "parquet.compression"] {
        assert!(keys.contains(&key), "{key}");
    }
}
