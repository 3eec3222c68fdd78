//! Diagnostics as text: headline, place, source line with carets, labels, help.
//!
//! ```text
//! error[TM1001]: expected an expression, found `FROM`
//!  --> query.sql:1:8
//!   |
//! 1 | SELECT FROM t
//!   |        ^^^^
//! ```

use crate::diagnostic::{Diagnostic, Severity};
use crate::span::Span;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;

/// Renders diagnostics that speak about `text`, one after the other with an empty line between them.
///
/// `source_name` names the text (a file, or what stands for one). With `color` the result holds ANSI escapes.
/// Spans that lie outside the text or inside a character are moved to the nearest place that exists.
pub fn render(diagnostics: &[Diagnostic], source_name: &str, text: &str, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let rendered: Vec<String> =
        diagnostics.iter().map(|diagnostic| render_one(diagnostic, source_name, text, &renderer)).collect();
    rendered.join("\n\n") + if rendered.is_empty() { "" } else { "\n" }
}

fn render_one(diagnostic: &Diagnostic, source_name: &str, text: &str, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()).id(diagnostic.code));
    if let Some(span) = diagnostic.span {
        let primary = AnnotationKind::Primary.span(fit(span, text)).label(diagnostic.label.as_deref());
        let others = diagnostic
            .labels
            .iter()
            .map(|label| AnnotationKind::Context.span(fit(label.span, text)).label(label.text.as_str()));
        group = group.element(Snippet::source(text).path(source_name).annotation(primary).annotations(others));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// The nearest range that lies within `text` and between characters.
fn fit(span: Span, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end);
    start..end.max(start)
}

#[cfg(test)]
mod tests;
