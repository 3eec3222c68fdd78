//! The text of a script and what it is called in messages.

use std::io::Read;
use std::path::Path;

use tidemark_parser::suggest;

use crate::args::Input;

/// A script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What messages call it: a path, `stdin`, `-c`.
    pub name: String,
    /// The SQL.
    pub text: String,
    /// Was it typed at a prompt? Then the person is told what every statement did.
    pub is_interactive: bool,
}

impl Source {
    /// Reads what the command line names. An `Err` is a sentence.
    pub fn read(input: &Input) -> Result<Self, String> {
        match input {
            Input::Text(text) => Ok(Self { name: "-c".into(), text: text.clone(), is_interactive: false }),
            Input::File(path) => Self::read_file(path).map_err(|sentence| match mistyped_command(path) {
                Some(command) => format!("{sentence}; did you mean the command `{command}`?"),
                None => sentence,
            }),
            Input::Stdin => {
                let mut bytes = Vec::new();
                std::io::stdin().read_to_end(&mut bytes).map_err(|e| format!("cannot read stdin: {e}"))?;
                Self::new("stdin", bytes)
            }
        }
    }

    /// Reads a file. An `Err` is a sentence.
    pub fn read_file(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::new(&name, bytes),
            Err(error) => Err(format!("cannot read `{name}`: {}", reason(&error))),
        }
    }

    /// What was typed at a prompt.
    pub fn typed(text: String) -> Self {
        Self { name: "input".into(), text, is_interactive: true }
    }

    fn new(name: &str, bytes: Vec<u8>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|b| **b == b'\n').count() + 1;
            format!("`{name}` is not UTF-8: see line {line}")
        })?;
        let text = text.strip_prefix('\u{feff}').map(String::from).unwrap_or(text);
        Ok(Self { name: name.into(), text, is_interactive: false })
    }
}

/// The command that a word without extension is probably meant to be.
fn mistyped_command(path: &Path) -> Option<&'static str> {
    let word = path.to_str().filter(|word| word.chars().all(char::is_alphabetic))?;
    suggest(word, ["run", "explain", "check", "help"])
}

/// What the system says, without its error number.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::IsADirectory => "it is a directory".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let source = Source::new("a.sql", b"\xef\xbb\xbfSELECT 1".to_vec()).expect("UTF-8");
        assert_eq!(source.text, "SELECT 1");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let directory = tempfile::tempdir().expect("directory");
        let missing = directory.path().join("missing.sql");
        let sentence = Source::read_file(&missing).expect_err("missing");
        assert_eq!(sentence, format!("cannot read `{}`: there is no such file", missing.display()));
        let sentence = Source::read_file(directory.path()).expect_err("directory");
        assert!(sentence.ends_with("it is a directory"), "{sentence}");
        let sentence = Source::read(&Input::File("explian".into())).expect_err("no such file");
        assert_eq!(sentence, "cannot read `explian`: there is no such file; did you mean the command `explain`?");
        let sentence = Source::new("latin1.sql", b"SELECT\n '\xe4'".to_vec()).expect_err("not UTF-8");
        assert_eq!(sentence, "`latin1.sql` is not UTF-8: see line 2");
    }
}
