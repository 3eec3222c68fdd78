//! The script's text next to its syntax tree: where an expression stands and how it was written.

use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
use sqlparser::ast::{Expr, Function, Spanned};
use tidemark_parser::{LineIndex, Span};

/// A script and its line index.
pub(crate) struct ScriptText<'t> {
    pub text: &'t str,
    lines: LineIndex<'t>,
}

impl<'t> ScriptText<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, lines: LineIndex::new(text) }
    }

    /// Byte span of a `sqlparser` span.
    pub fn span(&self, span: sqlparser::tokenizer::Span) -> Option<Span> {
        self.lines.span(span)
    }

    /// Byte span of a node.
    pub fn span_of(&self, node: &impl Spanned) -> Option<Span> {
        self.span(node.span())
    }

    /// Byte span of a span as DataFusion keeps it.
    pub fn span_of_datafusion(&self, span: &datafusion_common::Span) -> Span {
        let location =
            |l: &datafusion_common::Location| sqlparser::tokenizer::Location { line: l.line, column: l.column };
        Span::new(self.lines.offset(location(&span.start)), self.lines.offset(location(&span.end)))
    }

    /// Where the first column of a planned expression stands.
    pub fn span_of_columns(&self, expr: &datafusion_expr::Expr) -> Option<Span> {
        let mut found = None;
        let _ = expr.apply(|e| {
            if let datafusion_expr::Expr::Column(column) = e
                && let Some(span) = column.spans.first()
            {
                found = Some(self.span_of_datafusion(&span));
                return Ok(TreeNodeRecursion::Stop);
            }
            Ok(TreeNodeRecursion::Continue)
        });
        found
    }

    /// Byte span of a call up to its closing parenthesis, which `sqlparser` keeps no place for.
    pub fn span_of_call(&self, call: &Function) -> Option<Span> {
        let name = self.span_of(&call.name)?;
        let mut depth = 0usize;
        let mut quoted = false;
        for (offset, c) in self.text[name.end..].char_indices() {
            match c {
                '\'' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted && depth <= 1 => return Some(Span::new(name.start, name.end + offset + 1)),
                ')' if !quoted => depth -= 1,
                _ => {}
            }
        }
        Some(name)
    }

    /// An expression as SQL: its printed form.
    pub fn expr_text(&self, expr: &Expr) -> String {
        expr.to_string()
    }
}
