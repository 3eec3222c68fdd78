//! The files of the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's packages, by folder.
pub const CRATES: [&str; 6] = ["parser", "planner", "state", "runtime", "repl", "tests"];

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in a folder of the workspace")
}

/// A file of the repository.
pub struct SourceFile {
    /// Its path from the root.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// All Rust files below `folder`, which is relative to the root; in order of their paths.
pub fn rust_files(folder: &str) -> Vec<SourceFile> {
    let mut paths = vec![];
    add_rust_files(&root().join(folder), &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let path = path.strip_prefix(root()).expect("it was found below the root");
        SourceFile { path: path.display().to_string().replace('\\', "/"), text }
    };
    paths.into_iter().map(read).collect()
}

fn add_rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != "target" {
                add_rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The paths of all files that belong to the repository; `None` where there is no git to ask.
pub fn tracked_files() -> Option<Vec<String>> {
    let output = Command::new("git").arg("-C").arg(root()).args(["ls-files", "-z"]).output().ok()?;
    let names = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(names.split('\0').filter(|name| !name.is_empty()).map(Into::into).collect())
}

impl SourceFile {
    /// Does it hold tests only? Such are sibling files of tests and what only tests use.
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or("");
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || ["tests.rs", "testing.rs", "corpus.rs", "check.rs"].contains(&name)
            || name.starts_with("test_")
            || name.ends_with("_tests.rs")
    }

    /// The lines of production code, with their numbers from 1: no items of `#[cfg(test)]`, no comments.
    pub fn production_lines(&self) -> Vec<(usize, &str)> {
        let mut skipped = Skipped::Nothing;
        let is_production = |line: &&str| {
            let (is_skipped, next) = skipped.step(line);
            skipped = next;
            !is_skipped && !line.trim_start().starts_with("//")
        };
        let mut is_production = is_production;
        self.text.lines().enumerate().filter(|(_, line)| is_production(line)).map(|(i, line)| (i + 1, line)).collect()
    }
}

/// What of a test item is still to come.
#[derive(Clone, Copy)]
enum Skipped {
    /// No test item.
    Nothing,
    /// `#[cfg(test)]` has been read: the item's first line, at this indentation.
    Head(usize),
    /// Its other lines, up to the brace that closes it.
    Body(usize),
}

impl Skipped {
    /// Is `line` part of a test item, and what follows? Relies on rustfmt's indentation.
    fn step(self, line: &str) -> (bool, Skipped) {
        let indent = line.len() - line.trim_start().len();
        match self {
            Skipped::Nothing if line.trim() == "#[cfg(test)]" => (true, Skipped::Head(indent)),
            Skipped::Nothing => (false, Skipped::Nothing),
            Skipped::Head(at) if line.trim_end().ends_with('{') => (true, Skipped::Body(at)),
            Skipped::Head(at) if line.trim_start().starts_with('#') => (true, Skipped::Head(at)),
            Skipped::Head(_) => (true, Skipped::Nothing),
            Skipped::Body(at) if indent == at && line.trim_start().starts_with('}') => (true, Skipped::Nothing),
            Skipped::Body(at) => (true, Skipped::Body(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_items_and_comments_are_no_production() {
        let text = "mod a;\n#[cfg(test)]\nmod tests;\n/// Doc.\nfn f() {\n    g(); // why\n}\n\
            #[cfg(test)]\n#[allow(dead_code)]\nmod t {\n    fn x() {\n    }\n}\nfn h() {}\n";
        let file = SourceFile { path: "a/src/a.rs".into(), text: text.into() };
        let lines: Vec<_> = file.production_lines().into_iter().map(|(number, _)| number).collect();
        assert_eq!(lines, [1, 5, 6, 7, 14]);
    }

    #[test]
    fn the_workspace_is_found() {
        for folder in CRATES {
            assert!(!rust_files(folder).is_empty(), "no Rust files in {folder}");
        }
    }
}
