//! What is wrong with a statement, where, and what to do about it.

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The statement cannot be planned or run.
    Error,
    /// The statement runs, but probably not as meant.
    Warning,
    /// Something worth knowing.
    Note,
}

/// A second place that helps to understand the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there.
    pub text: String,
}

/// A finding about a piece of SQL text: a sentence for the person who wrote it.
///
/// Codes are stable: `TM1xxx` parser, `TM2xxx` planner, `TM3xxx` runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, such as `TM1001`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence without a final stop, in the user's words.
    pub message: String,
    /// The place, when one is known.
    pub span: Option<Span>,
    /// Text shown under the caret of `span`.
    pub label: Option<String>,
    /// Other places.
    pub labels: Vec<Label>,
    /// The way out.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// A warning without a place yet.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), span: None, label: None, labels: vec![], help: None }
    }

    /// Sets the place.
    pub fn at(mut self, span: impl Into<Option<Span>>) -> Self {
        self.span = span.into();
        self
    }

    /// Sets the place unless one is already set.
    pub fn at_if_none(mut self, span: impl Into<Option<Span>>) -> Self {
        if self.span.is_none() {
            self.span = span.into();
        }
        self
    }

    /// Sets the text under the caret.
    pub fn labelled(mut self, text: impl Into<String>) -> Self {
        self.label = Some(text.into());
        self
    }

    /// Adds another place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Sets the way out.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Is this an error rather than a warning or a note?
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
