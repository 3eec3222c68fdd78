//! A crash at every call that changes something, and a loss of power at every one.

use super::tests::{files_below, manifest, memory};
use super::*;
use crate::fs::{Fault, FaultyFs, MemoryFs};
use crate::manifest::{Manifest, StateFile};
use crate::rescale::StateShare;
use crate::snapshot::OperatorSnapshot;
use crate::test_state::timer_table;

const RETAINED: usize = 2;
const CHECKPOINTS: u64 = 6;
/// How many of the files of earlier checkpoints each checkpoint shares.
const SHARED: usize = 3;

/// The state that checkpoint `id` holds.
fn state(id: CheckpointId) -> OperatorSnapshot {
    OperatorSnapshot { tables: vec![timer_table(id.0 as i64)] }
}

/// A file of a backend's own, new in checkpoint `id`.
fn backend_file(root: &Path, id: CheckpointId) -> PathBuf {
    root.join(format!("{id:0>6}.sst"))
}

/// How far a run came.
#[derive(Default)]
struct Progress {
    begun: u64,
    committed: u64,
}

/// One run of a job: clean up, take checkpoints that share files, drop old ones. Ends at the first error.
fn run(fs: &Arc<dyn FileSystem>, checkpoints: u64, progress: &mut Progress) -> Result<(), CheckpointError> {
    let dir = CheckpointDir::open(Arc::clone(fs), Path::new("dir"))?;
    dir.remove_leftovers()?;
    let mut latest = dir.latest_valid()?.checkpoint;
    for _ in 0..checkpoints {
        let id = dir.next_id()?;
        progress.begun = id.0;
        let committed = take_checkpoint(fs, &dir, id, latest.as_ref())?;
        progress.committed = id.0;
        dir.retain("job", RETAINED)?;
        latest = Some(committed);
    }
    Ok(())
}

fn take_checkpoint(
    fs: &Arc<dyn FileSystem>,
    dir: &CheckpointDir,
    id: CheckpointId,
    latest: Option<&Checkpoint>,
) -> Result<Checkpoint, CheckpointError> {
    let writer = dir.begin(id)?;
    let mut files = vec![writer.add_state("agg-0", &[("agg-1".into(), state(id))], None)?];
    let name = backend_file(Path::new(""), id);
    // What is linked is the backend's business and outlasts crashes in its own way.
    fs.write_new(&backend_file(Path::new("dir"), id), b"rows")
        .or_else(|error| if fs.exists(&backend_file(Path::new("dir"), id))? { Ok(()) } else { Err(error) })?;
    files.push(writer.add_file(name.to_str().unwrap(), &backend_file(Path::new("dir"), id), None)?);
    if let Some(latest) = latest {
        let is_backend_file = |file: &&StateFile| file.path.ends_with(".sst");
        let earlier = latest.manifest().files().filter(is_backend_file).take(SHARED);
        files.extend(earlier.map(|file| writer.share_file(latest, file)));
    }
    let manifest: Manifest = manifest(id, "job", files);
    writer.commit(manifest)
}

/// What must be true of the directory after a crash, before and after the job goes on.
fn check_after_restart(fs: &Arc<dyn FileSystem>, crashed: &Progress, at: &str) {
    let dir = CheckpointDir::open(Arc::clone(fs), Path::new("dir")).unwrap();
    check_is_whole(&dir, at);
    let latest = dir.latest_valid().unwrap();
    let id = latest.checkpoint.map_or(0, |checkpoint| checkpoint.manifest().checkpoint_id.0);
    assert!(id == crashed.committed || id == crashed.begun, "{at}: {id} is the latest");

    let mut progress = Progress::default();
    run(fs, 1, &mut progress).unwrap();
    check_is_whole(&dir, at);
    assert_eq!(progress.committed, id + 1, "{at}");
    let ids: Vec<u64> = dir.list().unwrap().iter().map(|listed| listed.id.0).collect();
    let expected: Vec<u64> = (1..=id + 1).rev().take(RETAINED).collect();
    assert_eq!(ids, expected, "{at}");
    check_nothing_is_left_over(fs.as_ref(), &dir, at);
}

/// Every checkpoint in the directory can be restored.
fn check_is_whole(dir: &CheckpointDir, at: &str) {
    for listed in dir.list().unwrap() {
        let checkpoint = listed.checkpoint.unwrap_or_else(|error| panic!("{at}: {error}"));
        checkpoint.verify().unwrap_or_else(|error| panic!("{at}: {error}"));
        let found = checkpoint.read_operator("agg-1", &StateShare::whole()).unwrap();
        assert_eq!(found, Some(state(listed.id)), "{at}");
    }
}

/// Every file is one that a checkpoint needs.
fn check_nothing_is_left_over(fs: &dyn FileSystem, dir: &CheckpointDir, at: &str) {
    let mut needed = Vec::new();
    for listed in dir.list().unwrap() {
        needed.push(listed.path.join(MANIFEST_NAME));
        needed.extend(listed.checkpoint.unwrap().file_paths().unwrap());
    }
    let mut needed: Vec<String> = needed.iter().map(|path| path.display().to_string()).collect();
    needed.sort();
    needed.dedup();
    let mut found = files_below(fs, Path::new("dir"));
    found.retain(|path| path.starts_with("dir/chk-"));
    assert_eq!(found, needed, "{at}");
}

/// Runs the job until the `k`-th change fails, and gives what is left of the file system, if it failed at all.
fn crash_at(k: usize, fault: Fault) -> Option<(Arc<MemoryFs>, Progress)> {
    let (memory, _) = memory();
    let faulty = Arc::new(FaultyFs::new(Arc::clone(&memory) as Arc<dyn FileSystem>, k, fault));
    let mut progress = Progress::default();
    let ended = run(&(Arc::clone(&faulty) as Arc<dyn FileSystem>), CHECKPOINTS, &mut progress);
    assert_eq!(ended.is_err(), faulty.is_dead(), "no fault is swallowed");
    faulty.is_dead().then_some((memory, progress))
}

fn check_every_crash(fault: Fault) {
    let mut k = 0;
    while let Some((memory, progress)) = crash_at(k, fault) {
        // Whether the manifests' names reach the disk before or after all others matters most.
        let is_manifest = |path: &Path| path.ends_with(MANIFEST_NAME) || path.ends_with(UNCOMMITTED_MANIFEST_NAME);
        let left = [
            ("only what was synced is left", memory.after_power_loss(|_| false)),
            ("manifests reach the disk first", memory.after_power_loss(is_manifest)),
            ("manifests reach the disk last", memory.after_power_loss(|path| !is_manifest(path))),
            ("all is left", memory.after_power_loss(|_| true)),
        ];
        for (how, fs) in left {
            check_after_restart(
                &(Arc::new(fs) as Arc<dyn FileSystem>),
                &progress,
                &format!("change {k} {fault:?}, {how}"),
            );
        }
        k += 1;
    }
    // Each checkpoint makes a directory, writes a file, links one, writes a manifest, renames it and syncs twice.
    assert!(k > 7 * CHECKPOINTS as usize, "only {k} changes");
}

#[test]
fn crashes_that_refuse() {
    check_every_crash(Fault::Refused);
}

#[test]
fn crashes_that_tear() {
    check_every_crash(Fault::Torn);
}

#[test]
fn crashes_that_nobody_notices() {
    check_every_crash(Fault::Unreported);
}
