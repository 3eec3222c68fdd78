//! Runs every script of `tests/sql` in every cell of the matrix: one trial each.

use libtest_mimic::{Arguments, Trial};
use tidemark_tests::harness::{self, Cell};
use tidemark_tests::workspace;

fn main() {
    let arguments = Arguments::from_args();
    let folder = workspace::root().join("tests/sql");
    let mut trials = vec![];
    for script in harness::scripts() {
        let name = script.strip_prefix(&folder).unwrap_or(&script).display().to_string();
        trials.extend(Cell::all().into_iter().map(|cell| {
            let script = script.clone();
            Trial::test(format!("{name} {cell}"), move || harness::run(&script, cell).map_err(Into::into))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
