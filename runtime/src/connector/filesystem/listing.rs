//! Which files a path stands for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::format::nearest::nearest;

/// How deep directories are looked into, so that a link to a directory above does not lead round in circles.
const MAX_DEPTH: usize = 32;

/// What a path stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// Files, in the order in which they are read.
    Files(Vec<PathBuf>),
    /// Nothing.
    Missing {
        /// What is missing.
        message: String,
        /// What may have been meant.
        help: Option<String>,
    },
}

/// A directory could not be read.
#[derive(Debug)]
pub(super) struct ListingFailed {
    /// The directory.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

/// Does the path hold wildcards?
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[']) && !Path::new(path).exists()
}

/// The files of `path`: itself, those under a directory, or those that a pattern matches.
pub(super) fn list_files(path: &str) -> Result<Listing, ListingFailed> {
    if is_pattern(path) {
        return list_pattern(path);
    }
    let path = Path::new(path);
    if !path.exists() {
        return Ok(missing(path));
    }
    let mut files = vec![];
    add_files(path, 0, &mut files)?;
    Ok(Listing::Files(files))
}

/// Adds the file, or the files in the directory in byte-wise order of names, each subdirectory's in its place.
fn add_files(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), ListingFailed> {
    let failed = |source| ListingFailed { path: path.to_path_buf(), source };
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    if depth >= MAX_DEPTH {
        return Err(failed(io::Error::other(format!("directories are nested more than {MAX_DEPTH} deep"))));
    }
    let mut names = vec![];
    for entry in fs::read_dir(path).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name());
    }
    names.retain(|name| !is_hidden(Path::new(name)));
    names.sort_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    names.iter().try_for_each(|name| add_files(&path.join(name), depth + 1, files))
}

/// Names that begin with `.` or `_` are other programs' bookkeeping, and our own unfinished files.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')))
}

fn list_pattern(pattern: &str) -> Result<Listing, ListingFailed> {
    let none = |reason: &str| Listing::Missing { message: format!("{reason} '{pattern}'"), help: None };
    let Ok(matches) = glob::glob(pattern) else { return Ok(none("this is not a valid pattern:")) };
    let mut paths = vec![];
    for path in matches {
        let path = path.map_err(|e| ListingFailed { path: e.path().to_path_buf(), source: e.into() })?;
        if !is_hidden(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Ok(none("no file matches"));
    }
    paths.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    let mut files = vec![];
    paths.iter().try_for_each(|path| add_files(path, 0, &mut files))?;
    Ok(Listing::Files(files))
}

fn missing(path: &Path) -> Listing {
    let message = format!("there is no file or directory '{}'", path.display());
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        return Listing::Missing {
            message,
            help: Some(format!("there is no directory '{}' either", parent.display())),
        };
    }
    let names: Vec<String> = fs::read_dir(parent)
        .map(|entries| entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let help = nearest(&wanted, names.iter().map(String::as_str))
        .map(|name| format!("did you mean '{}'?", path.with_file_name(name).display()));
    Listing::Missing { message, help }
}
