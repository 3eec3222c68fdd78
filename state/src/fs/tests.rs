use std::error::Error;
use std::sync::Arc;

use super::*;

fn names(fs: &dyn FileSystem, directory: &Path) -> Vec<(String, bool)> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    fs.list(directory).unwrap().iter().map(|e| (name(&e.path), e.is_dir)).collect()
}

fn check_contract(fs: &dyn FileSystem, root: &Path) {
    let at = |name: &str| root.join(name);
    fs.create_dir_all(&at("a/b")).unwrap();
    fs.create_dir_all(&at("a/b")).unwrap();
    fs.write_new(&at("a/one"), b"0123456789").unwrap();
    assert!(fs.write_new(&at("a/one"), b"").is_err(), "a file is never overwritten");
    fs.hard_link(&at("a/one"), &at("a/b/two")).unwrap();
    assert!(fs.hard_link(&at("a/one"), &at("a/b/two")).is_err());
    fs.rename(&at("a/one"), &at("a/three")).unwrap();
    fs.sync_dir(&at("a")).unwrap();
    assert_eq!(names(fs, &at("a")), [("b".to_owned(), true), ("three".to_owned(), false)]);
    assert_eq!(fs.read(&at("a/b/two")).unwrap(), b"0123456789");
    assert_eq!(fs.read_at(&at("a/three"), 3, 4).unwrap(), b"3456");
    assert_eq!(fs.read_at(&at("a/three"), 10, 0).unwrap(), b"");
    assert_eq!(fs.file_len(&at("a/three")).unwrap(), Some(10));
    assert_eq!(fs.file_len(&at("a/nothing")).unwrap(), None);
    assert_eq!(fs.file_len(&at("a/three/below")).unwrap(), None);
    assert!(fs.file_len(&at("a/b")).is_err(), "a directory is not a file");
    assert!(fs.exists(&at("a/b")).unwrap() && !fs.exists(&at("c")).unwrap());
    let mut file = fs.create_new(&at("a/pieces")).unwrap();
    assert!(fs.create_new(&at("a/pieces")).is_err(), "a file is never overwritten");
    file.write_all(b"01").unwrap();
    file.write_all(b"23").unwrap();
    file.flush().unwrap();
    drop(file);
    fs.sync_file(&at("a/pieces")).unwrap();
    assert_eq!(fs.read(&at("a/pieces")).unwrap(), b"0123");
    assert!(fs.sync_file(&at("a/nothing")).is_err());
    let lock = fs.try_lock(&at("a/lock")).unwrap().unwrap();
    assert!(fs.try_lock(&at("a/lock")).unwrap().is_none(), "somebody has it");
    drop(lock);
    assert!(fs.try_lock(&at("a/lock")).unwrap().is_some());
    fs.remove_file(&at("a/three")).unwrap();
    fs.remove_dir_all(&at("a")).unwrap();
    assert_eq!(names(fs, root), []);
}

#[test]
fn file_systems_do_as_the_trait_says() {
    check_contract(&LocalFs, tempfile::tempdir().unwrap().path());
    let memory = MemoryFs::default();
    memory.create_dir_all(Path::new("root")).unwrap();
    check_contract(&memory, Path::new("root"));
    let never = FaultyFs::new(Arc::new(memory), usize::MAX, Fault::Refused);
    check_contract(&never, Path::new("root"));
}

#[test]
fn memory_forgets_pieces_that_were_not_synced() {
    let (fs, path) = (MemoryFs::default(), Path::new("d/f"));
    fs.create_dir_all(Path::new("d")).unwrap();
    let mut file = fs.create_new(path).unwrap();
    file.write_all(b"one").unwrap();
    assert!(!fs.after_power_loss(|_| false).exists(path).unwrap(), "its name is not on the disk");
    fs.sync_dir(Path::new("d")).unwrap();
    assert_eq!(fs.after_power_loss(|_| true).read(path).unwrap(), b"", "its name is, its bytes are not");
    fs.sync_file(path).unwrap();
    file.write_all(b"two").unwrap();
    assert_eq!(fs.after_power_loss(|_| false).read(path).unwrap(), b"one");
    assert_eq!(fs.read(path).unwrap(), b"onetwo");
}

#[test]
fn a_piece_of_a_file_is_a_call_that_can_fail() {
    let memory = MemoryFs::default();
    memory.create_dir_all(Path::new("d")).unwrap();
    let faulty = FaultyFs::new(Arc::new(memory.clone()), 2, Fault::Torn);
    let mut file = faulty.create_new(Path::new("d/f")).unwrap();
    file.write_all(b"whole").unwrap();
    assert!(file.write_all(b"torn").is_err());
    assert!(file.write_all(b"dead").is_err());
    assert!(faulty.is_dead());
    assert_eq!(memory.read(Path::new("d/f")).unwrap(), b"wholeto");
}

#[test]
fn memory_forgets_what_was_not_synced() {
    let at = Path::new;
    let fs = MemoryFs::default();
    fs.create_dir_all(at("d/sub")).unwrap();
    fs.write_new(at("d/sub/kept"), b"1").unwrap();
    fs.sync_dir(at("d/sub")).unwrap();
    fs.write_new(at("d/lost"), b"2").unwrap();
    fs.rename(at("d/sub/kept"), at("d/sub/renamed")).unwrap();
    let left = fs.after_power_loss(|_| false);
    assert_eq!(names(&left, at("d/sub")), [("kept".to_owned(), false)]);
    assert_eq!(names(&left, at("d")), [("sub".to_owned(), true)]);
    let left = fs.after_power_loss(|path| path == at("d/sub/renamed"));
    assert_eq!(names(&left, at("d/sub")), [("kept".to_owned(), false), ("renamed".to_owned(), false)]);
    fs.sync_dir(at("d/sub")).unwrap();
    assert_eq!(names(&fs.after_power_loss(|_| false), at("d/sub")), [("renamed".to_owned(), false)]);

    fs.remove_dir_all(at("d/sub")).unwrap();
    assert!(fs.after_power_loss(|_| false).exists(at("d/sub/renamed")).unwrap());
    fs.sync_dir(at("d")).unwrap();
    assert_eq!(names(&fs.after_power_loss(|_| false), at("d")), [("lost".to_owned(), false)]);
    assert!(!fs.after_power_loss(|_| false).exists(at("d/sub/renamed")).unwrap());
    fs.remove_file(at("d/lost")).unwrap();
    assert_eq!(names(&fs.after_power_loss(|path| path == at("d/lost")), at("d")), []);
}

#[test]
fn errors_name_what_was_tried_and_where() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    LocalFs.write_new(&path, b"short").unwrap();
    let error = LocalFs.read_at(&path, 3, 1 << 40).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read {}", path.display()));
    assert_eq!(error.source.kind(), io::ErrorKind::UnexpectedEof);
    assert!(error.source().is_some());
}

#[test]
fn a_fault_ends_everything_after_it() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let faulty = |fault| FaultyFs::new(Arc::new(LocalFs), 1, fault);

    let refused = faulty(Fault::Refused);
    refused.write_new(&at("first"), b"1234").unwrap();
    assert!(!refused.is_dead());
    assert!(refused.write_new(&at("second"), b"1234").is_err());
    assert!(refused.is_dead() && refused.read(&at("first")).is_err() && refused.write_new(&at("third"), b"").is_err());
    assert_eq!(names(&LocalFs, root.path()), [("first".to_owned(), false)]);

    let torn = faulty(Fault::Torn);
    torn.write_new(&at("torn-1"), b"1234").unwrap();
    assert!(torn.write_new(&at("torn-2"), b"1234").is_err());
    assert_eq!(LocalFs.read(&at("torn-2")).unwrap(), b"12");

    let unreported = faulty(Fault::Unreported);
    unreported.sync_dir(root.path()).unwrap();
    assert!(unreported.write_new(&at("unreported"), b"1234").is_err());
    assert_eq!(LocalFs.read(&at("unreported")).unwrap(), b"1234");
}
