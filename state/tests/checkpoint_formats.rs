//! Every format version of checkpoints that was ever released is still read.
//!
//! `checkpoints/vN` is a directory of checkpoints that version N wrote: [`write_checkpoints`] of its time, run into an
//! empty directory. Those files are never written again; a new format version adds a directory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, Int64Array, ListArray, RecordBatch, StringArray, StringViewArray,
    TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, TimeUnit};
use serde_json::json;
use tidemark_state::checkpoint_dir::{Checkpoint, CheckpointDir};
use tidemark_state::checksum::Xxh3;
use tidemark_state::fs::{FileSystem, LocalFs};
use tidemark_state::job_fingerprint::{JobFingerprint, OperatorFingerprint};
use tidemark_state::key_group::key_group_range;
use tidemark_state::manifest::{
    CheckpointId, Manifest, OperatorState, SinkState, SourceState, SplitState, StateFile, SubtaskWatermark,
};
use tidemark_state::rescale::{StateShare, merge_snapshots};
use tidemark_state::snapshot::{OperatorSnapshot, StateEntry, TableSnapshot};

const MAX_PARALLELISM: u32 = 8;
const PARALLELISM: usize = 2;
/// What a backend's own file holds, which the second checkpoint shares with the first.
const BACKEND_BYTES: &[u8] = b"sorted rows of a backend's own";

/// Rows of key group `group`: many like ones, which compress well, and NULLs.
fn rows(group: u32) -> RecordBatch {
    let (count, group) = (40, i64::from(group));
    let keys: StringArray = (0..count).map(|row| Some(format!("key-{group}-{}", row / 4))).collect();
    let words: StringViewArray = (0..count).map(|row| (row % 3 > 0).then_some("a text longer than twelve")).collect();
    let kinds: DictionaryArray<Int32Type> =
        (0..count).map(|row| ["north", "south"].get(row as usize % 3).copied()).collect();
    let sums: Decimal128Array = (0..count).map(|row| Some(i128::from(group * 1_000 - row))).collect();
    let sums = sums.with_precision_and_scale(20, 2).unwrap();
    let times: TimestampMillisecondArray = (0..count).map(|row| (row > 0).then_some(row * 60_000 - group)).collect();
    let lists = (0..count).map(|row| (row % 2 == 0).then(|| (0..row % 5).map(Some).collect::<Vec<_>>()));
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>(lists);
    let named: [(&str, ArrayRef, bool); 6] = [
        ("key", Arc::new(keys), false),
        ("word", Arc::new(words), true),
        ("kind", Arc::new(kinds), true),
        ("sum", Arc::new(sums), false),
        ("seen", Arc::new(times), true),
        ("last", Arc::new(lists), true),
    ];
    RecordBatch::try_from_iter_with_nullable(named).unwrap()
}

/// The state that a subtask of operator `agg-1` had.
fn state_of(subtask: usize) -> OperatorSnapshot {
    let groups = key_group_range(subtask, PARALLELISM, MAX_PARALLELISM).filter(|group| group % 3 == 0);
    let entries: Vec<_> = groups.map(|group| StateEntry { key_group: Some(group), rows: rows(group) }).collect();
    let groups = TableSnapshot { name: "groups".into(), version: 3, schema: rows(0).schema(), entries };
    let schema = Arc::new(Schema::new(vec![Field::new("next", DataType::Int64, false)]));
    let next = Int64Array::from(vec![subtask as i64 + 100]);
    let next = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(next)]).unwrap();
    let entries = vec![StateEntry { key_group: None, rows: next }];
    let timer = TableSnapshot { name: "timer".into(), version: 1, schema, entries };
    let unused_schema =
        Schema::new(vec![Field::new("at", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), true)]);
    let unused = TableSnapshot { name: "unused".into(), version: 1, schema: Arc::new(unused_schema), entries: vec![] };
    OperatorSnapshot { tables: vec![groups, timer, unused] }
}

fn manifest(id: u64, files: Vec<StateFile>) -> Manifest {
    let operator = OperatorFingerprint::new("agg-1", "group aggregate", &state_of(0));
    let OperatorFingerprint { uid, kind, tables } = operator.clone();
    let position = json!({"byte": 1_234_567_890_123_u64, "line": 17});
    let split = SplitState { split: "orders.csv".into(), position, watermark: Some(-5) };
    Manifest {
        format_version: 1,
        checkpoint_id: CheckpointId(id),
        created_at_ms: 1_767_225_600_000,
        is_savepoint: false,
        job: JobFingerprint::new("sums per key", vec![operator]),
        max_parallelism: MAX_PARALLELISM,
        operators: vec![OperatorState { uid, kind, tables, parallelism: PARALLELISM as u32, files }],
        sources: vec![SourceState { uid: "source-0".into(), splits: vec![split] }],
        sinks: vec![SinkState { uid: "sink-2".into(), subtask: 1, token: json!({"pending": ["part-1-7"]}) }],
        watermarks: vec![SubtaskWatermark { uid: "agg-1".into(), subtask: 0, watermark: Some(-5) }],
        finished: vec![],
        is_complete: false,
    }
}

/// Writes two checkpoints, of which the second shares a file with the first, and drops the first.
fn write_checkpoints(root: &Path, backend_file: &Path) {
    let fs: Arc<dyn FileSystem> = Arc::new(LocalFs);
    let dir = CheckpointDir::open(fs, root).unwrap();
    let writer = dir.begin(CheckpointId(1)).unwrap();
    let backend = writer.add_file("000001.sst", backend_file, None).unwrap();
    let first = writer.commit(manifest(1, vec![backend.clone()])).unwrap();
    let writer = dir.begin(CheckpointId(2)).unwrap();
    let mut files = vec![writer.share_file(&first, &backend)];
    for subtask in 0..PARALLELISM {
        let groups = key_group_range(subtask, PARALLELISM, MAX_PARALLELISM);
        let operators = [("agg-1".to_owned(), state_of(subtask))];
        let file = writer.add_state(&format!("agg-{subtask}"), &operators, Some((groups.start, groups.end)));
        files.push(file.unwrap());
    }
    writer.commit(manifest(2, files)).unwrap();
    dir.retain("sums per key", 1).unwrap();
}

/// Reads all that [`write_checkpoints`] has written.
fn check_checkpoints(root: &Path) {
    let fs: Arc<dyn FileSystem> = Arc::new(LocalFs);
    let dir = CheckpointDir::open_existing(fs, root).unwrap();
    assert_eq!(dir.list().unwrap().len(), 1);
    let latest = dir.latest_valid().unwrap();
    assert!(latest.refused.is_empty(), "{:?}", latest.refused);
    let checkpoint = latest.checkpoint.unwrap();
    check_manifest(&checkpoint);

    let written = || (0..PARALLELISM).map(state_of);
    for parallelism in 1..=3 {
        for subtask in 0..parallelism {
            let share = StateShare::of(subtask, parallelism, MAX_PARALLELISM);
            let read = checkpoint.read_operator("agg-1", &share).unwrap().unwrap();
            assert_eq!(read, merge_snapshots(written(), &share).unwrap());
        }
    }
    let whole = checkpoint.read_operator("agg-1", &StateShare::whole()).unwrap().unwrap();
    let groups: Vec<_> = whole.table("groups").unwrap().entries.iter().map(|entry| entry.key_group).collect();
    assert_eq!(groups, [Some(0), Some(3), Some(6)]);
}

fn check_manifest(checkpoint: &Checkpoint) {
    let found = checkpoint.manifest();
    assert_eq!(*found, manifest(2, found.operators[0].files.clone()), "but for the lengths and checksums of files");
    let paths: Vec<_> = found.files().map(|file| (file.path.as_str(), file.key_groups)).collect();
    assert_eq!(paths, [("../chk-1/000001.sst", None), ("agg-0.state", Some((0, 4))), ("agg-1.state", Some((4, 8)))]);
    assert_eq!(found.operators[0].files[0].xxh3, Xxh3::of(BACKEND_BYTES));
    let fields = &found.job.operators[0].tables[0].fields;
    let expected = [
        "key utf8 not null",
        "word utf8_view",
        "kind dictionary<int32, utf8>",
        "sum decimal128(20, 2) not null",
        "seen timestamp[ms]",
        "last list<item int64>",
    ];
    assert_eq!(fields.as_slice(), expected);
}

#[test]
fn what_is_written_now_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let backend_file = directory.path().join("000001.sst");
    LocalFs.write_new(&backend_file, BACKEND_BYTES).unwrap();
    let root = directory.path().join("checkpoints");
    write_checkpoints(&root, &backend_file);
    check_checkpoints(&root);
}

#[test]
fn version_1_is_read() {
    check_checkpoints(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints/v1"));
}
