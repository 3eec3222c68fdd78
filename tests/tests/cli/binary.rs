//! The real binary: where it is, and how a run of it went.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;
use tidemark_tests::workspace;

/// The binary, built as these tests are. `cargo test` builds it only when its own package is among those tested, so
/// cargo is asked once; it has nothing to do when the binary is there. `TIDEMARK_BINARY` names another one.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("TIDEMARK_BINARY") {
        Some(path) => path.into(),
        None => build(),
    })
}

fn build() -> PathBuf {
    // <target>/<profile>/deps/<this test>
    let this = std::env::current_exe().expect("a test knows its own path");
    let profile_dir = this.ancestors().nth(2).expect("tests lie in the profile's folder `deps`");
    let target_dir = profile_dir.parent().expect("profiles lie in the target folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(workspace::root()).args([
        "build",
        "--offline",
        "--quiet",
        "--package",
        "tidemark",
        "--bin",
        "tidemark",
    ]);
    cargo.arg("--target-dir").arg(target_dir);
    if !cfg!(feature = "rocksdb") {
        cargo.arg("--no-default-features");
    }
    if profile_dir.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "the binary does not build");
    profile_dir.join(format!("tidemark{}", std::env::consts::EXE_SUFFIX))
}

/// A folder with files, for runs of the binary.
pub struct Place {
    dir: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Rows.
    pub stdout: String,
    /// All else.
    pub stderr: String,
}

impl Place {
    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).expect("a file in a new folder");
        }
        Self { dir }
    }

    /// The path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command that runs the binary here, without what the tester's environment says about terminals.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(self.dir.path()).args(arguments);
        ["NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"].iter().for_each(|name| {
            command.env_remove(name);
        });
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the binary to its end, with nothing on stdin.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with(arguments, "")
    }

    /// Runs the binary to its end.
    pub fn run_with(&self, arguments: &[&str], stdin: &str) -> Ended {
        let mut child = self.command(arguments).spawn().expect("the binary starts");
        let mut pipe = child.stdin.take().expect("stdin is a pipe");
        // Who does not read stdin closes it: what cannot be written then was not wanted.
        let _ = pipe.write_all(stdin.as_bytes());
        drop(pipe);
        Ended::of(child.wait_with_output().expect("the binary ends"))
    }
}

impl Ended {
    /// Of a process.
    pub fn of(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the binary writes UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Rows and a good end.
    #[track_caller]
    pub fn assert_rows(&self, expected: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(0), expected), "stderr: {}", self.stderr);
    }

    /// No rows, this exit code, and these texts on stderr.
    #[track_caller]
    pub fn assert_refused(&self, code: i32, texts: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "stderr: {}", self.stderr);
        for text in texts {
            assert!(self.stderr.contains(text), "expected on stderr: {text}\nfound: {}", self.stderr);
        }
    }
}

/// `CREATE TABLE t` over the CSV file `t.csv`.
pub fn csv_table(columns: &str, more_options: &str) -> String {
    format!(
        "CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = 't.csv', 'format' = 'csv'{more_options});"
    )
}
