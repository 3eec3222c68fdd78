//! `tidemark explain` and `tidemark check`: scripts are planned, not run, and all that is wrong with them is said.

use std::collections::HashSet;
use std::io::Write;

use tidemark_parser::ast::{ParsedStatement, Statement};
use tidemark_parser::{Diagnostic, LineIndex, parse_script};
use tidemark_runtime::error::RuntimeError;

use super::findings::of_runtime_error;
use super::guard::guarded;
use super::{Ending, Runner, Source};

/// A plan and the line and column where its statement begins.
struct PlacedPlan {
    place: (usize, usize),
    text: String,
}

impl Runner {
    /// Prints the plans of a script's queries and INSERTs; of a script with errors only these, as it would not run.
    pub fn explain(&mut self, source: &Source) -> Result<(), Ending> {
        let (plans, findings) = self.plan_all(source);
        if !findings.iter().any(Diagnostic::is_error) {
            self.print_plans(source, &plans)?;
        }
        self.report(source, &findings)
    }

    /// Says what is wrong with a script.
    pub fn check(&mut self, source: &Source) -> Result<(), Ending> {
        let (_, findings) = self.plan_all(source);
        self.report(source, &findings)?;
        self.console.note(&format!("{}: no errors\n", source.name));
        Ok(())
    }

    fn report(&mut self, source: &Source, findings: &[Diagnostic]) -> Result<(), Ending> {
        self.console.diagnose(findings, source);
        if findings.iter().any(Diagnostic::is_error) { Err(Ending::Failed) } else { Ok(()) }
    }

    fn print_plans(&mut self, source: &Source, plans: &[PlacedPlan]) -> Result<(), Ending> {
        let out = &mut self.console.out;
        let mut print = || {
            for (i, plan) in plans.iter().enumerate() {
                if plans.len() > 1 {
                    let gap = if i > 0 { "\n" } else { "" };
                    let (line, column) = plan.place;
                    writeln!(out, "{gap}-- {}:{line}:{column}", source.name)?;
                }
                writeln!(out, "{}", plan.text.trim_end())?;
            }
            out.flush()
        };
        let printed = print();
        printed.map_err(|error| self.unprintable(&error.into()))
    }

    /// Plans all statements; definitions take effect, so that later statements find them.
    fn plan_all(&mut self, source: &Source) -> (Vec<PlacedPlan>, Vec<Diagnostic>) {
        let script = parse_script(&source.text);
        let lines = LineIndex::new(&source.text);
        let mut findings = script.diagnostics;
        let mut plans = Vec::new();
        let mut undefined = HashSet::new();
        for statement in &script.statements {
            let session = &mut self.session;
            let planned = guarded(|| session.plan(statement, &source.text)).unwrap_or_else(|message| {
                Err(vec![of_runtime_error(&RuntimeError::Panic(message), statement, &source.text)])
            });
            match planned {
                Ok(Some(planned)) => {
                    let place = lines.line_column(statement.span.start);
                    plans.push(PlacedPlan { place, text: planned.explain() });
                    findings.extend(planned.warnings);
                }
                Ok(None) => {}
                Err(found) => {
                    findings.extend(found.into_iter().filter(|f| !speaks_of(f, &undefined, &source.text)));
                    undefined.extend(defines(statement));
                }
            }
        }
        findings.sort_by_key(|finding| finding.span.map(|span| span.start));
        (plans, findings)
    }
}

/// The name that a definition would have given a meaning.
fn defines(statement: &ParsedStatement) -> Option<String> {
    match &statement.statement {
        Statement::CreateTable(create) => Some(create.name.display()),
        Statement::CreateView(create) => Some(create.name.display()),
        _ => None,
    }
}

/// Is the finding about a name whose definition has failed? Then it is only a consequence.
fn speaks_of(finding: &Diagnostic, undefined: &HashSet<String>, text: &str) -> bool {
    finding.span.is_some_and(|span| undefined.contains(span.slice(text).trim_matches('`')))
}
