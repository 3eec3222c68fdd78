//! Errors and warnings as lines: the headline, the place with the text that stands there, the way out.
//!
//! ```text
//! error[TM2001]: there is no column `pice`
//! at 1:8: pice
//! help: did you mean `price`?
//! ```

use std::error::Error;

use tidemark_parser::{Diagnostic, LineIndex, Severity, Span};

/// Findings about `text`, one below the other.
pub fn lines(findings: &[Diagnostic], text: &str) -> Vec<String> {
    findings.iter().flat_map(|finding| lines_of(finding, text)).collect()
}

fn lines_of(finding: &Diagnostic, text: &str) -> Vec<String> {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut lines: Vec<String> =
        format!("{severity}[{}]: {}", finding.code, finding.message).lines().map(Into::into).collect();
    if let Some(span) = finding.span {
        let label = finding.label.as_ref().map_or_else(String::new, |label| format!(" ({label})"));
        lines.push(format!("at {}{label}", place(span, text)));
    }
    lines.extend(finding.labels.iter().map(|label| format!("and {} ({})", place(label.span, text), label.text)));
    lines.extend(finding.help.iter().map(|help| format!("help: {help}")));
    lines
}

/// `1:8: pice`; of several lines of text the first.
fn place(span: Span, text: &str) -> String {
    let (line, column) = LineIndex::new(text).line_column(span.start);
    let shown = span.slice(text).lines().next().unwrap_or("");
    format!("{line}:{column}: {shown}").trim_end().to_string()
}

/// An error and what caused it, as one sentence.
pub fn with_causes(error: &dyn Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !sentence.ends_with(&text) {
            sentence = format!("{sentence}: {text}");
        }
        cause = error.source();
    }
    sentence
}
