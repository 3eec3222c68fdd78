//! A job's errors at the statement that started the job.

use std::error::Error;

use tidemark_parser::ast::ParsedStatement;
use tidemark_parser::{Diagnostic, Span};
use tidemark_runtime::error::RuntimeError;

/// The error as a finding under the statement's first word.
pub fn of_runtime_error(error: &RuntimeError, statement: &ParsedStatement, text: &str) -> Diagnostic {
    let start = statement.span.start;
    let words = statement.span.slice(text);
    let length = words.find(|c: char| !c.is_alphanumeric()).unwrap_or(words.len());
    let mut finding = Diagnostic::error(code(error), with_causes(error)).at(Span::new(start, start + length));
    finding.help = error.help();
    finding
}

fn code(error: &RuntimeError) -> &'static str {
    match error {
        RuntimeError::Data(_) => "TM3001",
        RuntimeError::Io(_) => "TM3002",
        RuntimeError::Operator(_) => "TM3003",
        RuntimeError::Unsupported(_) => "TM3004",
        RuntimeError::Cancelled => "TM3005",
        RuntimeError::Restore(_) => "TM3006",
        RuntimeError::Checkpoint(_) => "TM3007",
        RuntimeError::Stopped(_) => "TM3008",
        RuntimeError::Panic(_) => "TM3900",
    }
}

/// The error and what caused it, as one sentence.
pub fn with_causes(error: &dyn Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !sentence.ends_with(&text) {
            sentence.push_str(": ");
            sentence.push_str(&text);
        }
        cause = error.source();
    }
    sentence
}

/// Did writing fail because the reader has gone away?
pub fn is_closed_pipe(error: &RuntimeError) -> bool {
    matches!(error, RuntimeError::Io(io) if io.source.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use tidemark_parser::ast::Statement;
    use tidemark_runtime::error::{DataError, IoError};

    use super::*;

    fn io_error(kind: std::io::ErrorKind) -> RuntimeError {
        RuntimeError::Io(IoError { table: "t".into(), action: "write", path: "out.csv".into(), source: kind.into() })
    }

    #[test]
    fn a_job_fails_at_its_first_word() {
        let text = "-- note\nINSERT INTO t SELECT 1";
        let statement = ParsedStatement { statement: Statement::Set(None), span: Span::new(8, text.len()) };
        let (table, place) = ("t".into(), "a.csv, line 3".into());
        let data = DataError { table, place, reason: "'x' is not an INT".into(), help: Some("leave it out".into()) };
        let finding = of_runtime_error(&RuntimeError::Data(data), &statement, text);
        assert_eq!(finding.message, "table `t`: a.csv, line 3: 'x' is not an INT");
        assert_eq!(finding.span.map(|s| s.slice(text)), Some("INSERT"));
        assert_eq!(finding.help.as_deref(), Some("leave it out"));
    }

    #[test]
    fn causes_follow_their_effect() {
        let sentence = with_causes(&io_error(std::io::ErrorKind::NotFound));
        assert_eq!(sentence, "table `t`: cannot write out.csv: entity not found");
    }

    #[test]
    fn a_closed_pipe_is_known_behind_its_table() {
        assert!(is_closed_pipe(&io_error(std::io::ErrorKind::BrokenPipe)));
        assert!(!is_closed_pipe(&io_error(std::io::ErrorKind::NotFound)));
        assert!(!is_closed_pipe(&RuntimeError::Cancelled));
    }
}
