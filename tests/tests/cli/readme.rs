//! The README's commands do what it says they do.

use std::process::{Command, Stdio};

use tidemark_tests::workspace;

use super::binary::{Ended, binary};

/// What the README's commands begin with; the binary is built already.
const PREFIX: &str = "cargo run --no-default-features -- ";

/// The commands of a document's `sh` blocks that run the binary; a line that ends in a backslash goes on in the next.
fn commands(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut is_open = false;
    let mut command = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_open = line.trim() == "```sh";
            continue;
        }
        if !is_open {
            continue;
        }
        match line.strip_suffix('\\') {
            Some(start) => command.push_str(start),
            None => {
                command.push_str(line);
                found.push(std::mem::take(&mut command));
            }
        }
    }
    found.into_iter().map(|c| c.trim().to_string()).filter(|c| c.starts_with(PREFIX)).collect()
}

#[test]
fn commands_are_found() {
    let text = "```sh\ncargo run --no-default-features -- a.sql\ncargo test\n```\n\n```sql\ncargo run --no-default-features -- b\n```\n\
        ```sh\ncargo run --no-default-features -- \\\n  -c 'SELECT 1'\n```\n";
    let expected = ["cargo run --no-default-features -- a.sql", "cargo run --no-default-features --   -c 'SELECT 1'"];
    assert_eq!(commands(text), expected);
}

#[test]
fn the_readmes_commands_run() {
    let Ok(text) = std::fs::read_to_string(workspace::root().join("README.md")) else { return };
    let commands = commands(&text);
    assert!(!commands.is_empty(), "the README has no command that begins with `{PREFIX}`");
    let dir = tempfile::tempdir().expect("a temporary folder");
    for command in commands {
        let line = command.replacen(PREFIX, "\"$TIDEMARK\" ", 1);
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &line]).current_dir(workspace::root()).stdin(Stdio::null());
        shell.env("TIDEMARK", binary()).env("TMPDIR", dir.path());
        let ended = Ended::of(shell.output().expect("a shell runs"));
        assert_eq!(ended.code, Some(0), "{command}\n{}", ended.stderr);
        assert!(!ended.stdout.is_empty(), "{command} prints nothing");
    }
}
