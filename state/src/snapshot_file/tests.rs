use arrow::array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};

use super::*;
use crate::fs::{LocalFs, MemoryFs};
use crate::test_state::{counts, counts_schema, counts_table, small_state, timer_table};

/// Writes the bytes under a new name and gives the path.
fn write(directory: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.path().join(name);
    LocalFs.write_new(&path, bytes).unwrap();
    path
}

fn open(path: &Path) -> Result<SnapshotFile, CheckpointError> {
    SnapshotFile::open(Arc::new(LocalFs), path)
}

/// All that the file holds, read through and through.
fn read_all(fs: Arc<dyn FileSystem>, path: &Path) -> Result<Vec<(String, OperatorSnapshot)>, CheckpointError> {
    let file = SnapshotFile::open(fs, path)?;
    let mut operators = Vec::new();
    for operator in &file.footer.operators {
        let snapshot = file.read(&operator.uid, &StateShare::whole())?.expect("it is in the footer");
        operators.push((operator.uid.clone(), snapshot));
    }
    Ok(operators)
}

fn check_round_trip(operators: &[(String, OperatorSnapshot)]) {
    let directory = tempfile::tempdir().unwrap();
    let bytes = encode_snapshot_file(operators).unwrap();
    assert_eq!(bytes, encode_snapshot_file(operators).unwrap(), "the bytes are determined");
    assert_eq!(read_all(Arc::new(LocalFs), &write(&directory, "file", &bytes)).unwrap(), operators);
}

fn two_operators() -> Vec<(String, OperatorSnapshot)> {
    let second = OperatorSnapshot { tables: vec![timer_table(-5)] };
    vec![("agg-1".to_owned(), small_state()), ("sort-2".to_owned(), second)]
}

#[test]
fn states_come_back_as_they_were() {
    check_round_trip(&[]);
    check_round_trip(&two_operators());
    let no_tables = ("empty".to_owned(), OperatorSnapshot::default());
    let no_entries = ("new".to_owned(), OperatorSnapshot { tables: vec![counts_table(&[])] });
    let no_rows = ("idle".to_owned(), OperatorSnapshot { tables: vec![counts_table(&[(1, &[])])] });
    check_round_trip(&[no_tables, no_entries, no_rows]);
}

#[test]
fn rows_without_columns_are_counted() {
    let schema: SchemaRef = Arc::new(Schema::empty());
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let rows = RecordBatch::try_new_with_options(Arc::clone(&schema), vec![], &options).unwrap();
    let entries = vec![StateEntry { key_group: None, rows }];
    let table = TableSnapshot { name: "none".to_owned(), version: 0, schema, entries };
    check_round_trip(&[("op".to_owned(), OperatorSnapshot { tables: vec![table] })]);
}

/// Each entry has its own dictionary, and can be read without the others.
#[test]
fn dictionaries_come_with_each_entry() {
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("word", dictionary, true)]));
    let entry = |group, words: [&str; 2]| {
        let words: DictionaryArray<Int32Type> = words.into_iter().collect();
        let rows = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(words) as ArrayRef]).unwrap();
        StateEntry { key_group: Some(group), rows }
    };
    let entries = vec![entry(0, ["a", "b"]), entry(1, ["c", "c"]), entry(2, ["b", "a"])];
    let table = TableSnapshot { name: "words".to_owned(), version: 1, schema, entries };
    let operators = [("op".to_owned(), OperatorSnapshot { tables: vec![table.clone()] })];
    check_round_trip(&operators);

    let directory = tempfile::tempdir().unwrap();
    let file = open(&write(&directory, "file", &encode_snapshot_file(&operators).unwrap())).unwrap();
    let third = file.read("op", &StateShare::of(2, 3, 3)).unwrap().unwrap();
    assert_eq!(third.tables[0].entries, [table.entries[2].clone()]);
}

/// A slice is written as its rows, not as the whole that it was cut from.
#[test]
fn slices_are_written_as_rows() {
    let many: Vec<(String, Option<i64>)> = (0..10_000).map(|i| (format!("key {i}"), Some(i))).collect();
    let many: Vec<(&str, Option<i64>)> = many.iter().map(|(key, count)| (key.as_str(), *count)).collect();
    let rows = counts(&many).slice(5_000, 2);
    let mut table = counts_table(&[]);
    table.entries.push(StateEntry { key_group: Some(1), rows });
    let operators = [("op".to_owned(), OperatorSnapshot { tables: vec![table] })];
    let expected = [(1, [("key 5000", Some(5_000)), ("key 5001", Some(5_001))])];
    let expected = counts_table(&expected.each_ref().map(|(group, rows)| (*group, rows.as_slice())));
    let directory = tempfile::tempdir().unwrap();
    let bytes = encode_snapshot_file(&operators).unwrap();
    assert!(bytes.len() < 2_000, "{}", bytes.len());
    assert_eq!(read_all(Arc::new(LocalFs), &write(&directory, "file", &bytes)).unwrap()[0].1.tables, [expected]);
}

#[test]
fn a_share_is_read_alone() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = encode_snapshot_file(&two_operators()).unwrap();
    let path = write(&directory, "whole", &bytes);
    let file = open(&path).unwrap();
    let first = file.read("agg-1", &StateShare::of(0, 2, 4)).unwrap().unwrap();
    assert_eq!(first.tables, [counts_table(&[(0, &[("ann", Some(3)), ("bob", None)])]), timer_table(1_000)]);
    let second = file.read("agg-1", &StateShare::of(1, 2, 4)).unwrap().unwrap();
    let no_timer = TableSnapshot { entries: vec![], ..timer_table(0) };
    assert_eq!(second.tables, [counts_table(&[(3, &[("cyd", Some(-1))])]), no_timer]);
    assert_eq!(file.read("agg-9", &StateShare::whole()).unwrap(), None);

    // Damage in the first half of the state does not stop the second half from being read.
    let section = &file.footer.operators[0].tables[0].entries[0].section;
    let mut damaged = bytes.clone();
    damaged[section.offset as usize] ^= 1;
    let path = write(&directory, "damaged", &damaged);
    let file = open(&path).unwrap();
    assert_eq!(file.read("agg-1", &StateShare::of(1, 2, 4)).unwrap().unwrap(), second);
    let error = file.read("agg-1", &StateShare::of(0, 2, 4)).unwrap_err();
    let reason = "the checksum of key group 0 of table 'counts' of operator 'agg-1' does not match";
    assert_eq!(error.to_string(), format!("checkpoint file {} is corrupt: {reason}", path.display()));
}

#[test]
fn tables_are_listed_with_their_sizes() {
    let directory = tempfile::tempdir().unwrap();
    let file = open(&write(&directory, "file", &encode_snapshot_file(&two_operators()).unwrap())).unwrap();
    let listed: Vec<_> = file.tables().into_iter().map(|t| (t.operator, t.name, t.version, t.rows)).collect();
    let expected = [("agg-1", "counts", 2, 3), ("agg-1", "timer", 1, 1), ("sort-2", "timer", 1, 1)];
    assert_eq!(listed, expected.map(|(operator, name, version, rows)| (operator.into(), name.into(), version, rows)));
    assert!(file.tables().iter().all(|table| table.bytes > 0));
}

#[test]
fn every_changed_byte_and_every_truncation_is_found() {
    let bytes = encode_snapshot_file(&two_operators()).unwrap();
    let path = Path::new("file");
    let read = |bytes: &[u8]| {
        let fs = MemoryFs::default();
        fs.create_dir_all(Path::new("")).unwrap();
        fs.write_new(path, bytes).unwrap();
        read_all(Arc::new(fs), path)
    };
    let check = |damaged: &[u8], how: &str| {
        let error = read(damaged).expect_err(how);
        assert!(matches!(error, CheckpointError::Corrupt { .. } | CheckpointError::NewerFormat { .. }), "{error:?}");
        assert!(error.to_string().starts_with("checkpoint file file "), "{error}");
    };
    for at in 0..bytes.len() {
        for mask in [0x01, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[at] ^= mask;
            check(&damaged, &format!("byte {at} ^ {mask:#x}"));
        }
        check(&bytes[..at], &format!("truncated to {at}"));
        check(&bytes[at + 1..], &format!("without the first {at} bytes"));
    }
    check(&[bytes.as_slice(), b"\0"].concat(), "one byte more");
    assert_eq!(read(&bytes).unwrap(), two_operators());
}

#[test]
fn a_missing_file_is_corruption() {
    let error = open(Path::new("no/such/file")).unwrap_err();
    assert_eq!(error.to_string(), "checkpoint file no/such/file is corrupt: it is missing");
}

#[test]
fn a_later_format_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let mut bytes = encode_snapshot_file(&[]).unwrap();
    bytes[8..12].copy_from_slice(&(SNAPSHOT_FILE_VERSION + 1).to_le_bytes());
    let path = write(&directory, "later", &bytes);
    let expected =
        format!("checkpoint file {} has format version 2, but this version reads no later one than 1", path.display());
    assert_eq!(open(&path).unwrap_err().to_string(), expected);
}

/// What cannot be read again is not written.
#[test]
fn rows_must_have_the_columns_of_their_table() {
    let mut table = timer_table(1);
    table.entries.push(StateEntry { key_group: Some(0), rows: counts(&[("a", None)]) });
    let error = encode_snapshot_file(&[("op".to_owned(), OperatorSnapshot { tables: vec![table] })]).unwrap_err();
    assert_eq!(error.to_string(), "cannot encode table 'timer' of operator 'op'");

    let nullable = Schema::new(vec![Field::new("key", DataType::Utf8, true), counts_schema().field(1).clone()]);
    let columns = vec![arrow::array::new_null_array(&DataType::Utf8, 1), Arc::new(Int64Array::from(vec![1]))];
    let rows = RecordBatch::try_new(Arc::new(nullable), columns).unwrap();
    let table = TableSnapshot { entries: vec![StateEntry { key_group: None, rows }], ..counts_table(&[]) };
    assert!(encode_snapshot_file(&[("op".to_owned(), OperatorSnapshot { tables: vec![table] })]).is_err());
}
