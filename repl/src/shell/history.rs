//! The history file. That it cannot be read or written is no reason to bother anyone.

use std::ffi::OsString;
use std::path::PathBuf;

use super::LineEditor;

/// Statements kept.
pub const MAX_ENTRIES: usize = 10_000;

/// Where statements are kept between sessions, if anywhere.
pub struct History {
    path: Option<PathBuf>,
}

impl History {
    /// Loads the statements of earlier sessions into `editor`.
    pub fn open(editor: &mut LineEditor) -> Self {
        let path = path(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"));
        let path = path.filter(|p| p.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok()));
        if let Some(path) = &path {
            let _ = editor.load_history(path);
        }
        Self { path }
    }

    /// Keeps a statement at once: sessions end without notice. One that begins with a blank is not kept.
    pub fn add(&self, editor: &mut LineEditor, entry: &str) {
        let added = editor.add_history_entry(entry).unwrap_or(false);
        if let (true, Some(path)) = (added, &self.path) {
            let _ = editor.append_history(path);
        }
    }
}

/// `tidemark/history` in the folder for users' data, as the XDG base directories have it: a relative one is no folder.
fn path(data_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |folder: OsString| Some(PathBuf::from(folder)).filter(|p| p.is_absolute());
    let data = data_home.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(".local/share")));
    Some(data?.join("tidemark/history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect(data_home: Option<&str>, home: Option<&str>, expected: Option<&str>) {
        assert_eq!(path(data_home.map(Into::into), home.map(Into::into)), expected.map(PathBuf::from));
    }

    #[test]
    fn the_file_follows_the_xdg_folders() {
        expect(Some("/data"), Some("/home/u"), Some("/data/tidemark/history"));
        expect(None, Some("/home/u"), Some("/home/u/.local/share/tidemark/history"));
        expect(Some(""), Some("/home/u"), Some("/home/u/.local/share/tidemark/history"));
        expect(Some("relative"), None, None);
    }
}
