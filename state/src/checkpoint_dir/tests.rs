use super::*;
use crate::fs::{LocalFs, MemoryFs};
use crate::job_fingerprint::{JobFingerprint, OperatorFingerprint};
use crate::key_group::key_group_range;
use crate::manifest::{MANIFEST_VERSION, Manifest, OperatorState, StateFile};
use crate::rescale::{StateShare, merge_snapshots};
use crate::snapshot::{OperatorSnapshot, StateEntry};
use crate::test_state::{counts, counts_table, small_state, timer_table};

const MAX_PARALLELISM: u32 = 8;

pub(super) fn memory() -> (Arc<MemoryFs>, CheckpointDir) {
    let fs = Arc::new(MemoryFs::default());
    let dir = CheckpointDir::open(Arc::clone(&fs) as Arc<dyn FileSystem>, Path::new("dir")).unwrap();
    (fs, dir)
}

/// A manifest of job `job` with these files of one operator, `agg-1`.
pub(super) fn manifest(id: CheckpointId, job: &str, files: Vec<StateFile>) -> Manifest {
    let operator = OperatorFingerprint::new("agg-1", "aggregate", &small_state());
    let state = OperatorState {
        uid: operator.uid.clone(),
        kind: operator.kind.clone(),
        tables: operator.tables.clone(),
        parallelism: 1,
        files,
    };
    Manifest {
        format_version: MANIFEST_VERSION,
        checkpoint_id: id,
        created_at_ms: 0,
        is_savepoint: false,
        job: JobFingerprint::new(job, vec![operator]),
        max_parallelism: MAX_PARALLELISM,
        operators: vec![state],
        sources: vec![],
        sinks: vec![],
        watermarks: vec![],
        finished: vec![],
        is_complete: false,
    }
}

/// Commits a checkpoint of job `job` whose only file holds `small_state`.
fn commit_small(dir: &CheckpointDir, job: &str) -> Checkpoint {
    let writer = dir.begin(dir.next_id().unwrap()).unwrap();
    let file = writer.add_state("agg-0", &[("agg-1".to_owned(), small_state())], None).unwrap();
    let manifest = manifest(writer.id(), job, vec![file]);
    writer.commit(manifest).unwrap()
}

fn listed_ids(dir: &CheckpointDir) -> Vec<u64> {
    dir.list().unwrap().iter().map(|listed| listed.id.0).collect()
}

/// All files below the directory, sorted.
pub(super) fn files_below(fs: &dyn FileSystem, path: &Path) -> Vec<String> {
    let below = |entry: &crate::fs::DirEntry| {
        if entry.is_dir { files_below(fs, &entry.path) } else { vec![entry.path.display().to_string()] }
    };
    fs.list(path).unwrap().iter().flat_map(below).collect()
}

#[test]
fn a_checkpoint_is_there_once_it_is_committed() {
    let (fs, dir) = memory();
    assert!(dir.latest_valid().unwrap().checkpoint.is_none());
    assert_eq!(dir.next_id().unwrap(), CheckpointId(1));
    let first = commit_small(&dir, "job");
    let writer = dir.begin(CheckpointId(2)).unwrap();
    writer.add_state("agg-0", &[], None).unwrap();
    assert_eq!(listed_ids(&dir), [1]);
    assert_eq!(dir.next_id().unwrap(), CheckpointId(3));

    let found = dir.latest_valid().unwrap().checkpoint.unwrap();
    assert_eq!(found.manifest(), first.manifest());
    assert_eq!(found.path(), Path::new("dir/chk-1"));
    assert_eq!(found.read_operator("agg-1", &StateShare::whole()).unwrap(), Some(small_state()));
    assert_eq!(found.read_operator("agg-2", &StateShare::whole()).unwrap(), None);
    let tables: Vec<_> = found.tables().unwrap().into_iter().map(|table| (table.name, table.rows)).collect();
    assert_eq!(tables, [("counts".to_owned(), 3), ("timer".to_owned(), 1)]);
    assert!(
        matches!(dir.load(CheckpointId(2)), Err(CheckpointError::NotFound(path)) if path == dir.path_of(CheckpointId(2)))
    );

    writer.abort().unwrap();
    assert_eq!(files_below(fs.as_ref(), Path::new("dir")), ["dir/chk-1/agg-0.state", "dir/chk-1/manifest.json"]);
}

#[test]
fn nothing_is_overwritten() {
    let (_fs, dir) = memory();
    commit_small(&dir, "job");
    let error = dir.begin(CheckpointId(1)).unwrap_err();
    assert_eq!(error.to_string(), "there is something at dir/chk-1 already; a checkpoint needs a new place");
    let writer = dir.begin(CheckpointId(2)).unwrap();
    writer.add_state("agg-0", &[], None).unwrap();
    assert!(writer.add_state("agg-0", &[], None).is_err());
}

#[test]
fn a_manifest_without_its_files_is_not_committed() {
    let (_fs, dir) = memory();
    let missing = StateFile { path: "gone.state".into(), bytes: 1, xxh3: crate::checksum::Xxh3(0), key_groups: None };
    let error =
        dir.begin(CheckpointId(1)).unwrap().commit(manifest(CheckpointId(1), "job", vec![missing])).unwrap_err();
    assert_eq!(error.to_string(), "checkpoint file dir/chk-1/gone.state is corrupt: it is missing");
    assert!(listed_ids(&dir).is_empty());
}

#[test]
fn other_names_are_left_alone() {
    let (fs, dir) = memory();
    for name in ["dir/chk-01", "dir/chk-", "dir/other", "dir/chk-2x"] {
        fs.create_dir_all(Path::new(name)).unwrap();
        fs.write_new(&Path::new(name).join("file"), b"").unwrap();
    }
    fs.write_new(Path::new("dir/chk-7"), b"a file, not a directory").unwrap();
    dir.remove_leftovers().unwrap();
    assert_eq!(files_below(fs.as_ref(), Path::new("dir")).len(), 5);
    assert_eq!(dir.next_id().unwrap(), CheckpointId(1));
}

#[test]
fn a_directory_to_look_at_must_be_there() {
    let (fs, _) = memory();
    let open = |path| CheckpointDir::open_existing(Arc::clone(&fs) as Arc<dyn FileSystem>, Path::new(path));
    assert!(open("dir").is_ok());
    assert_eq!(open("no/dir").unwrap_err().to_string(), "there is no checkpoint at no/dir");
}

/// A checkpoint moved elsewhere is still one, if no file of it was shared.
#[test]
fn a_checkpoint_is_read_wherever_it_is() {
    let root = tempfile::tempdir().unwrap();
    let fs: Arc<dyn FileSystem> = Arc::new(LocalFs);
    let dir = CheckpointDir::open(Arc::clone(&fs), &root.path().join("a/b")).unwrap();
    commit_small(&dir, "job");
    let elsewhere = root.path().join("savepoint of monday");
    std::fs::rename(root.path().join("a/b/chk-1"), &elsewhere).unwrap();
    let checkpoint = Checkpoint::open(fs, &elsewhere).unwrap();
    checkpoint.verify().unwrap();
    assert_eq!(checkpoint.read_operator("agg-1", &StateShare::whole()).unwrap(), Some(small_state()));
}

/// Written by 3 subtasks, read by each of 1, 2, … 5: all that was written, and to each its own.
#[test]
fn state_is_read_at_any_parallelism() {
    let (_fs, dir) = memory();
    let writer = dir.begin(CheckpointId(1)).unwrap();
    let (mut files, mut written) = (vec![], vec![]);
    for subtask in 0..3 {
        let groups = key_group_range(subtask, 3, MAX_PARALLELISM);
        let mut table = counts_table(&[]);
        for group in groups.clone() {
            let rows = counts(&[(&format!("k{group}"), Some(i64::from(group)))]);
            table.entries.push(StateEntry { key_group: Some(group), rows });
        }
        let state = OperatorSnapshot { tables: vec![table, timer_table(subtask as i64)] };
        let file = writer.add_state(
            &format!("agg-{subtask}"),
            &[("agg-1".into(), state.clone())],
            Some((groups.start, groups.end)),
        );
        files.push(file.unwrap());
        written.push(state);
    }
    let manifest = manifest(CheckpointId(1), "job", files);
    let checkpoint = writer.commit(manifest).unwrap();
    for parallelism in 1..=5 {
        for subtask in 0..parallelism {
            let share = StateShare::of(subtask, parallelism, MAX_PARALLELISM);
            let read = checkpoint.read_operator("agg-1", &share).unwrap().unwrap();
            assert_eq!(read, merge_snapshots(written.clone(), &share).unwrap(), "{subtask} of {parallelism}");
            let groups = key_group_range(subtask, parallelism, MAX_PARALLELISM);
            assert_eq!(read.tables[0].entries.len(), groups.len());
            assert_eq!(read.tables[1].entries.len(), if subtask == 0 { 3 } else { 0 });
        }
    }
}

#[test]
fn the_number_of_key_groups_stays() {
    let (_fs, dir) = memory();
    let checkpoint = commit_small(&dir, "job");
    let error = checkpoint.read_operator("agg-1", &StateShare::of(0, 1, 16)).unwrap_err();
    let expected = "the checkpoint at dir/chk-1 was written with a maximum parallelism of 8 \
                    and cannot be restored with 16";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn files_are_linked_or_copied_and_shared() {
    let root = tempfile::tempdir().unwrap();
    let fs: Arc<dyn FileSystem> = Arc::new(LocalFs);
    let dir = CheckpointDir::open(Arc::clone(&fs), &root.path().join("dir")).unwrap();
    let existing = root.path().join("000012.sst");
    fs.write_new(&existing, b"sorted").unwrap();
    let first = dir.begin(CheckpointId(1)).unwrap();
    let file = first.add_file("000012.sst", &existing, None).unwrap();
    let manifest_1 = manifest(CheckpointId(1), "job", vec![file.clone()]);
    let first = first.commit(manifest_1).unwrap();
    fs.remove_file(&existing).unwrap();
    first.verify().unwrap();

    let mut earlier = first;
    for id in 2..=4 {
        let writer = dir.begin(CheckpointId(id)).unwrap();
        let shared = writer.share_file(&earlier, &earlier.manifest().operators[0].files[0]);
        assert_eq!(shared.path, "../chk-1/000012.sst");
        assert_eq!((shared.bytes, shared.xxh3), (file.bytes, file.xxh3));
        let manifest = manifest(CheckpointId(id), "job", vec![shared]);
        earlier = writer.commit(manifest).unwrap();
        dir.retain("job", 2).unwrap();
        earlier.verify().unwrap();
    }
    assert_eq!(listed_ids(&dir), [4, 3]);
    let left = ["chk-1/000012.sst", "chk-3/manifest.json", "chk-4/manifest.json"];
    let root = root.path().join("dir");
    assert_eq!(files_below(fs.as_ref(), &root), left.map(|name| root.join(name).display().to_string()));

    // Nobody shares it any more.
    for _ in 5..=6 {
        commit_small(&dir, "job");
        dir.retain("job", 2).unwrap();
    }
    assert_eq!(listed_ids(&dir), [6, 5]);
    assert!(!fs.exists(&root.join("chk-1")).unwrap());
}

#[test]
fn only_the_jobs_own_checkpoints_expire() {
    let (fs, dir) = memory();
    commit_small(&dir, "other");
    let writer = dir.begin(CheckpointId(2)).unwrap();
    let savepoint = Manifest { is_savepoint: true, ..manifest(CheckpointId(2), "job", vec![]) };
    writer.commit(savepoint).unwrap();
    for _ in 3..=6 {
        commit_small(&dir, "job");
    }
    fs.remove_file(Path::new("dir/chk-6/agg-0.state")).unwrap();
    let in_flight = dir.begin(CheckpointId(7)).unwrap();
    dir.retain("job", 1).unwrap();
    assert_eq!(listed_ids(&dir), [6, 5, 2, 1], "6 is corrupt and does not count as the newest");
    dir.retain("job", 9).unwrap();
    dir.retain("nobody", 1).unwrap();
    assert_eq!(listed_ids(&dir), [6, 5, 2, 1]);
    in_flight.commit(manifest(CheckpointId(7), "job", vec![])).unwrap();
}

/// What a later version wrote may share any file: nothing is removed.
#[test]
fn nothing_is_removed_next_to_a_later_format() {
    let (fs, dir) = memory();
    for _ in 1..=3 {
        commit_small(&dir, "job");
    }
    let later = Manifest { format_version: MANIFEST_VERSION + 1, ..manifest(CheckpointId(4), "job", vec![]) };
    fs.create_dir_all(Path::new("dir/chk-4")).unwrap();
    fs.write_new(Path::new("dir/chk-4/manifest.json"), &later.encode()).unwrap();
    dir.begin(CheckpointId(5)).unwrap();
    let before = files_below(fs.as_ref(), Path::new("dir"));
    dir.retain("job", 1).unwrap();
    dir.remove_leftovers().unwrap();
    assert_eq!(files_below(fs.as_ref(), Path::new("dir")), before);
    let latest = dir.latest_valid().unwrap();
    assert_eq!(latest.checkpoint.unwrap().manifest().checkpoint_id, CheckpointId(3));
    assert!(matches!(latest.refused.as_slice(), [CheckpointError::NewerFormat { .. }]), "{:?}", latest.refused);
}

/// Any damage to any file of the newest checkpoint is found and named, and the one before is offered.
#[test]
fn damage_leads_to_the_checkpoint_before() {
    let (fs, dir) = memory();
    commit_small(&dir, "job");
    commit_small(&dir, "job");
    let check = |name: &str, damaged: Option<&[u8]>| {
        let path = Path::new("dir/chk-2").join(name);
        let whole = fs.read(&path).unwrap();
        fs.remove_file(&path).unwrap();
        if let Some(damaged) = damaged {
            fs.write_new(&path, damaged).unwrap();
        }
        let latest = dir.latest_valid().unwrap();
        assert_eq!(latest.checkpoint.unwrap().manifest().checkpoint_id, CheckpointId(1));
        let refused: Vec<String> = latest.refused.iter().map(ToString::to_string).collect();
        let expected = format!("checkpoint file dir/chk-2/{name} is corrupt: ");
        assert!(refused.len() == 1 && refused[0].starts_with(&expected), "{refused:?}");
        if damaged.is_some() {
            fs.remove_file(&path).unwrap();
        }
        fs.write_new(&path, &whole).unwrap();
    };
    check("agg-0.state", None);
    for name in ["agg-0.state", "manifest.json"] {
        let whole = fs.read(&Path::new("dir/chk-2").join(name)).unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            check(name, Some(&flipped));
            check(name, Some(&whole[..at]));
        }
    }
    let first = fs.read(Path::new("dir/chk-1/manifest.json")).unwrap();
    check("manifest.json", Some(&first));
    assert!(dir.latest_valid().unwrap().refused.is_empty());
}

/// A manifest cannot lead anywhere but into checkpoints.
#[test]
fn paths_stay_in_checkpoints() {
    let (_fs, dir) = memory();
    let checkpoint = commit_small(&dir, "job");
    let resolve = |path: &str| {
        let file = StateFile { path: path.to_owned(), ..checkpoint.manifest().operators[0].files[0].clone() };
        checkpoint.file_path(&file).map(|path| path.display().to_string())
    };
    assert_eq!(resolve("a.state").unwrap(), "dir/chk-1/a.state");
    assert_eq!(resolve("a/b").unwrap(), "dir/chk-1/a/b");
    assert_eq!(resolve("../chk-7/b").unwrap(), "dir/chk-7/b");
    for path in
        ["", "/etc/x", "..", "../x", "../x/y", "../chk-7", "../chk-7/", "../../chk-7/x", "a/../b", "a//b", "./a"]
    {
        let error = resolve(path).unwrap_err().to_string();
        let reason = format!("is corrupt: it names a file '{path}' that is in no checkpoint");
        assert_eq!(error, format!("checkpoint file dir/chk-1/manifest.json {reason}"));
    }
}
