//! A path that names a single file: what is written is added to what is there.
//!
//! **Invariant:** the file holds the rows of whole runs only. Old and new rows are put together under a hidden name,
//! which then takes the place of the file.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const EXTENSIONS: [&str; 5] = ["csv", "json", "jsonl", "ndjson", "parquet"];

/// Two sinks of one job may add to the same file.
static ADDING: Mutex<()> = Mutex::new(());

/// Does `path` name a file rather than a directory?
pub(super) fn names_a_file(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| EXTENSIONS.iter().any(|known| e.eq_ignore_ascii_case(known))) && !path.is_dir()
}

/// How a file of rows goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// Line by line.
    Lines,
    /// Line by line behind a header.
    LinesBehindHeader,
    /// Not at all.
    None,
}

/// Gives the rows in `temporary` to `path`, behind those that are there.
pub(super) fn add(temporary: &Path, path: &Path, joint: Joint) -> io::Result<()> {
    let _alone = ADDING.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = fs::metadata(path).map_or(true, |found| found.len() == 0);
    if is_new {
        return fs::rename(temporary, path);
    }
    if joint == Joint::None {
        return Err(io::Error::other("the file exists, and rows cannot be added to a file of this format"));
    }
    let joined = temporary.with_extension("joined");
    let done = join(path, temporary, &joined, joint).and_then(|()| fs::rename(&joined, path));
    if done.is_err() {
        // Best effort: a hidden file left behind harms no reader.
        let _ = fs::remove_file(&joined);
    }
    done.and_then(|()| fs::remove_file(temporary))
}

fn join(old: &Path, new: &Path, joined: &Path, joint: Joint) -> io::Result<()> {
    let mut rows = BufReader::new(File::open(new)?);
    if joint == Joint::LinesBehindHeader {
        let mut headers = [vec![], vec![]];
        rows.read_until(b'\n', &mut headers[0])?;
        BufReader::new(File::open(old)?).read_until(b'\n', &mut headers[1])?;
        if headers[0].trim_ascii_end() != headers[1].trim_ascii_end() {
            return Err(io::Error::other("the file has another header than the table"));
        }
    }
    fs::copy(old, joined)?;
    let mut out = File::options().read(true).write(true).open(joined)?;
    out.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    out.read_exact(&mut last)?;
    if last != *b"\n" {
        out.write_all(b"\n")?;
    }
    io::copy(&mut rows, &mut out)?;
    out.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_extension() {
        for name in ["out.csv", "a/out.jsonl", "out.NDJSON", "out.json", "out.parquet"] {
            assert!(names_a_file(Path::new(name)), "{name}");
        }
        for name in ["out", "out.d", "csv", "a.csv/out"] {
            assert!(!names_a_file(Path::new(name)), "{name}");
        }
    }

    #[track_caller]
    fn check(old: Option<&str>, new: &str, joint: Joint, expected: Result<&str, &str>) {
        let dir = tempfile::tempdir().unwrap();
        let (path, temporary) = (dir.path().join("out.csv"), dir.path().join(".new.unfinished"));
        old.into_iter().for_each(|text| fs::write(&path, text).unwrap());
        fs::write(&temporary, new).unwrap();
        match (add(&temporary, &path, joint), expected) {
            (Ok(()), Ok(text)) => {
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
                assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
            }
            (Err(e), Err(message)) => {
                assert_eq!(e.to_string(), message);
                assert_eq!(fs::read_to_string(&path).ok().as_deref(), old, "the file is as it was");
            }
            (got, _) => panic!("{got:?}"),
        }
    }

    #[test]
    fn rows_are_added_behind_those_that_are_there() {
        check(None, "1\n", Joint::None, Ok("1\n"));
        check(Some(""), "1\n", Joint::None, Ok("1\n"));
        check(Some("1\n"), "2\n", Joint::Lines, Ok("1\n2\n"));
        check(Some("1"), "2\n", Joint::Lines, Ok("1\n2\n"));
        check(Some("a\n1\n"), "a\n2\n", Joint::LinesBehindHeader, Ok("a\n1\n2\n"));
        check(Some("a\n1\n"), "a\n", Joint::LinesBehindHeader, Ok("a\n1\n"));
        let other = Err("the file has another header than the table");
        check(Some("b\n1\n"), "a\n2\n", Joint::LinesBehindHeader, other);
        let refused = Err("the file exists, and rows cannot be added to a file of this format");
        check(Some("PAR1"), "PAR1", Joint::None, refused);
    }
}
