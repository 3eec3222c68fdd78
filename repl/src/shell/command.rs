//! What can be typed at the prompt besides SQL.

use std::path::PathBuf;

use tidemark_parser::suggest;

/// A command of the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `.quit`
    Leave,
    /// `.help`
    Help,
    /// `.tables`
    Tables,
    /// `.read FILE`
    Read(PathBuf),
    /// Something else; a sentence says what is wrong with it.
    Unknown(String),
}

/// What `.help` says.
pub const HELP: &str = "\
SQL statements end in `;` and may span lines.

  .help        this text
  .tables      tables and views, as SHOW TABLES
  .read FILE   run a script in this session
  .quit        leave; also \\q and Ctrl-D

  Ctrl-C       cancel the running query, or clear what is being typed
  Up, Ctrl-R   earlier statements; a line that begins with a blank is not kept
";

const WORDS: [&str; 5] = [".help", ".tables", ".read", ".quit", ".exit"];

impl Command {
    /// The command that a line is; `None` when the line is SQL.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim().trim_end_matches(';').trim_end();
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let command = match (word, rest) {
            (".quit" | ".exit" | "\\q" | "quit" | "exit", "") => Command::Leave,
            (".help" | "\\?" | "help", "") => Command::Help,
            (".tables", "") => Command::Tables,
            (".read", "") => Command::Unknown(".read wants a file: .read FILE".into()),
            (".read", file) => Command::Read(file.trim_matches(['\'', '"']).into()),
            (word, _) if WORDS.contains(&word) => Command::Unknown(format!("{word} takes nothing behind it")),
            (word, _) if word.starts_with(['.', '\\']) => Command::Unknown(unknown(word)),
            _ => return None,
        };
        Some(command)
    }
}

fn unknown(word: &str) -> String {
    match suggest(word, WORDS) {
        Some(near) => format!("there is no command `{word}`; did you mean `{near}`?"),
        None => format!("there is no command `{word}`; `.help` lists them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_sql() {
        assert_eq!(Command::parse("SELECT 1;"), None);
        assert_eq!(Command::parse("  -- .quit"), None);
        assert_eq!(Command::parse("help me;"), None);
        for leave in [".quit", " .exit ", "\\q", "quit;", "exit"] {
            assert_eq!(Command::parse(leave), Some(Command::Leave), "{leave}");
        }
        assert_eq!(Command::parse(".help"), Some(Command::Help));
        assert_eq!(Command::parse(".tables;"), Some(Command::Tables));
        assert_eq!(Command::parse(".read  'my file.sql'"), Some(Command::Read("my file.sql".into())));
    }

    #[test]
    fn a_wrong_command_is_explained() {
        let sentence = |line| match Command::parse(line) {
            Some(Command::Unknown(sentence)) => sentence,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(sentence(".table"), "there is no command `.table`; did you mean `.tables`?");
        assert_eq!(sentence(".xyzzy"), "there is no command `.xyzzy`; `.help` lists them");
        assert_eq!(sentence(".read"), ".read wants a file: .read FILE");
        assert_eq!(sentence(".quit now"), ".quit takes nothing behind it");
    }
}
