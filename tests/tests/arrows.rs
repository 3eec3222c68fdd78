//! The arrows between crates and modules: who must not know whom.

use std::process::Command;

use serde_json::Value;
use tidemark_tests::workspace::{self, SourceFile};

/// Packages and the workspace packages that they may use.
const MAY_USE: [(&str, &[&str]); 6] = [
    ("tidemark-parser", &[]),
    ("tidemark-planner", &["tidemark-parser"]),
    ("tidemark-state", &[]),
    ("tidemark-runtime", &["tidemark-planner", "tidemark-state"]),
    ("tidemark", &["tidemark-parser", "tidemark-planner", "tidemark-state", "tidemark-runtime"]),
    ("tidemark-tests", &["tidemark-parser", "tidemark-planner", "tidemark-state", "tidemark-runtime", "tidemark"]),
];

fn packages() -> Vec<Value> {
    let manifest = workspace::root().join("Cargo.toml");
    let arguments = ["metadata", "--offline", "--no-deps", "--format-version", "1", "--manifest-path"];
    let output = Command::new(env!("CARGO")).args(arguments).arg(manifest).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    metadata["packages"].as_array().expect("a workspace has packages").clone()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("")
}

/// The names of what a package depends on, without what only its tests use.
fn dependencies(package: &Value) -> Vec<String> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    all.filter(|d| text(d, "kind") != "dev").map(|d| text(d, "name").to_string()).collect()
}

#[test]
fn crates_use_only_what_lies_below_them() {
    let packages = packages();
    for package in &packages {
        let name = text(package, "name");
        let (_, may_use) =
            MAY_USE.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} has no place yet"));
        let used = dependencies(package);
        let wrong: Vec<_> =
            used.iter().filter(|d| MAY_USE.iter().any(|(n, _)| n == d) && !may_use.contains(&d.as_str())).collect();
        assert!(wrong.is_empty(), "{name} must not use {wrong:?}");
    }
    assert_eq!(packages.len(), MAY_USE.len(), "every package has its place");
}

#[test]
fn heavy_dependencies_stay_where_they_belong() {
    for package in packages() {
        let name = text(&package, "name");
        for dependency in dependencies(&package) {
            let is_allowed = match dependency.as_str() {
                "rocksdb" | "librocksdb-sys" => name == "tidemark-state",
                "datafusion" => name == "tidemark-tests",
                "tokio" => name == "tidemark-tests",
                "anyhow" | "clap" | "rustyline" => name == "tidemark",
                _ => true,
            };
            assert!(is_allowed, "{name} must not use {dependency}");
        }
    }
}

/// Lines of production code that name one of `forbidden`.
fn offences(files: &[SourceFile], forbidden: &[&str]) -> Vec<String> {
    let mut found = vec![];
    for file in files.iter().filter(|f| !f.is_test()) {
        for (number, line) in file.production_lines() {
            if forbidden.iter().any(|word| names(line, word)) {
                found.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    found
}

/// Does `line` hold `word`, not as part of a longer name?
fn names(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && (!after.is_some_and(is_part) || word.ends_with(':'))
    })
}

#[test]
fn the_parser_knows_text_only() {
    let found = offences(
        &workspace::rust_files("parser/src"),
        &["tidemark_planner", "tidemark_runtime", "datafusion", "use arrow"],
    );
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_planner_knows_no_io() {
    let forbidden = ["std::fs", "std::net", "std::thread", "std::io", "Instant", "SystemTime", "tokio", "use rocksdb"];
    let found = offences(&workspace::rust_files("planner/src"), &forbidden);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_state_knows_no_sql() {
    let found = offences(&workspace::rust_files("state/src"), &["tidemark_planner", "tidemark_parser", "sqlparser"]);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_runtime_knows_no_sql_text() {
    let found = offences(&workspace::rust_files("runtime/src"), &["tidemark_parser", "sqlparser", "datafusion_sql"]);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn operators_know_nothing_of_what_runs_them() {
    let modules = ["task", "exchange", "scheduler", "checkpoint", "job", "engine"];
    let forbidden: Vec<String> =
        modules.iter().flat_map(|m| [format!("crate::{m}"), format!("super::{m}"), format!("{m}::")]).collect();
    let forbidden: Vec<&str> = forbidden.iter().map(String::as_str).collect();
    let mut files = workspace::rust_files("runtime/src/operator");
    files.extend(workspace::rust_files("runtime/src").into_iter().filter(|f| f.path == "runtime/src/operator.rs"));
    let found = offences(&files, &forbidden);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn operators_have_no_clock_and_no_chance() {
    let forbidden = ["SystemTime", "Instant", "std::time", "std::thread", "rand_core", "getrandom", "crate::clock"];
    let found = offences(&workspace::rust_files("runtime/src/operator"), &forbidden);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn inner_arrows_of_the_planner() {
    let stages = ["bind", "logical", "optimize", "stream_plan", "job_graph"];
    let bound = workspace::rust_files("planner/src/bind");
    let found = offences(&bound, &["crate::lower", "crate::optimize", "crate::job_graph"]);
    assert!(found.is_empty(), "binding comes before {stages:?}: {found:#?}");
}
