//! Leaves cut out of an expression: references, navigation, aggregates, CLASSIFIER() and their like.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{DataFusionError, Result};
use sqlparser::ast::{Expr as SqlExpr, Function, Ident, Spanned, VisitorMut};
use tidemark_parser::Span;

use super::calls::{PatternCall, arguments, navigation_arguments};
use super::expression::{ExprBinder, Scope, spelled};
use super::{place, refuse};
use crate::logical::match_recognize::BoundLeaf;
use crate::stream_plan::match_recognize::{Navigation, VariableSet};

/// The leaves of an expression, the columns that stand for them, and how they are written.
pub(super) struct CutLeaves {
    pub leaves: Vec<BoundLeaf>,
    pub fields: Vec<FieldRef>,
    texts: Vec<String>,
}

impl CutLeaves {
    /// A message that names leaves as they are written.
    pub fn spell(&self, message: &str) -> String {
        let names = self.texts.iter().enumerate().rev();
        names.fold(message.to_string(), |text, (index, leaf)| text.replace(&format!("${index}"), leaf))
    }
}

/// Puts `$0`, `$1`, … in the place of leaves.
pub(super) struct LeafCutter<'c, 'b> {
    binder: &'c mut ExprBinder<'b>,
    scope: Scope,
    leaves: Vec<BoundLeaf>,
    fields: Vec<FieldRef>,
    texts: Vec<String>,
    error: Option<DataFusionError>,
}

impl VisitorMut for LeafCutter<'_, '_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut SqlExpr) -> ControlFlow<()> {
        match self.leaf(expr) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some((leaf, field))) => {
                *expr = self.placeholder(leaf, field, expr);
                ControlFlow::Continue(())
            }
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl<'c, 'b> LeafCutter<'c, 'b> {
    /// A cutter that has cut nothing.
    pub fn new(binder: &'c mut ExprBinder<'b>, scope: Scope) -> Self {
        Self { binder, scope, leaves: vec![], fields: vec![], texts: vec![], error: None }
    }

    /// The leaves, and the columns that stand for them.
    pub fn finish(self) -> Result<CutLeaves> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(CutLeaves { leaves: self.leaves, fields: self.fields, texts: self.texts }),
        }
    }

    fn placeholder(&mut self, leaf: BoundLeaf, field: FieldRef, expr: &SqlExpr) -> SqlExpr {
        let index = self.leaves.iter().position(|known| *known == leaf).unwrap_or_else(|| {
            let name = format!("${}", self.leaves.len());
            self.fields.push(Arc::new(Field::new(name, field.data_type().clone(), field.is_nullable())));
            self.leaves.push(leaf);
            self.texts.push(spelled(expr));
            self.leaves.len() - 1
        });
        SqlExpr::Identifier(Ident::with_quote_and_span('`', expr.span(), format!("${index}")))
    }

    /// The leaf that `expr` is; `None` when it is an ordinary expression over leaves.
    fn leaf(&mut self, expr: &SqlExpr) -> Result<Option<(BoundLeaf, FieldRef)>> {
        let here = Navigation { variables: VariableSet::ALL, from_last: true, offset: 0, is_final: false, physical: 0 };
        match expr {
            // The name of a cut leaf.
            SqlExpr::Identifier(name) if name.value.starts_with('$') => Ok(None),
            SqlExpr::Identifier(_) | SqlExpr::CompoundIdentifier(_) => self.binder.value(expr, None, here).map(Some),
            SqlExpr::Function(function) => self.call(function, here),
            SqlExpr::Subquery(_) | SqlExpr::InSubquery { .. } | SqlExpr::Exists { .. } => {
                let place = self.binder.place_of(expr);
                refuse(place, "a subquery cannot stand in MATCH_RECOGNIZE", "join the values to the input before it")
            }
            _ => Ok(None),
        }
    }

    fn call(&mut self, function: &Function, here: Navigation) -> Result<Option<(BoundLeaf, FieldRef)>> {
        let span = self.binder.place_of(&SqlExpr::Function(function.clone()));
        if function.over.is_some() {
            let help = "PREV, NEXT, FIRST, LAST and aggregates speak of the rows of the match";
            return refuse(span, "a window function (OVER) cannot stand in MATCH_RECOGNIZE", help);
        }
        match PatternCall::of(function) {
            None if self.binder.is_aggregate(function) => self.binder.aggregate(function, false).map(Some),
            None => Ok(None),
            Some(PatternCall::Running | PatternCall::Final) => self.with_semantics(function, here).map(Some),
            Some(PatternCall::MatchNumber) => {
                let field = Arc::new(Field::new("match_number", DataType::Int64, false));
                Ok(Some((BoundLeaf::MatchNumber, field)))
            }
            Some(PatternCall::MatchRowtime) => self.match_rowtime(function, span).map(Some),
            Some(PatternCall::MatchProctime) => {
                refuse(span, "MATCH_PROCTIME() is not supported", "use MATCH_ROWTIME(), the event time of the last row")
            }
            Some(PatternCall::Classifier) => {
                self.binder.value(&SqlExpr::Function(function.clone()), Some(function), here).map(Some)
            }
            Some(_) => self.navigation(function, here).map(Some),
        }
    }

    /// `RUNNING call` and `FINAL call`.
    fn with_semantics(&mut self, function: &Function, mut row: Navigation) -> Result<(BoundLeaf, FieldRef)> {
        let is_final = PatternCall::of(function) == Some(PatternCall::Final);
        let word = if is_final { "FINAL" } else { "RUNNING" };
        let span = place(self.binder.script, function.name.span());
        if is_final && self.scope != Scope::Measure {
            return refuse(span, "FINAL cannot stand in DEFINE: the match is not complete there", "leave FINAL out");
        }
        row.is_final = is_final;
        let inner = match arguments(function).as_slice() {
            [SqlExpr::Function(inner)] => inner,
            _ => return refuse(span, &format!("{word} stands before FIRST, LAST or an aggregate"), "leave it out"),
        };
        match PatternCall::of(inner) {
            Some(call) if call.is_logical() => self.navigation(inner, row),
            None if self.binder.is_aggregate(inner) => self.binder.aggregate(inner, is_final),
            _ => refuse(span, &format!("{word} stands before FIRST, LAST or an aggregate"), "leave it out"),
        }
    }

    /// FIRST and LAST, and PREV and NEXT around one of them or around a plain expression.
    fn navigation(&mut self, function: &Function, mut row: Navigation) -> Result<(BoundLeaf, FieldRef)> {
        let script = self.binder.script;
        let Some(call) = PatternCall::of(function) else {
            return self.binder.value(&SqlExpr::Function(function.clone()), None, row);
        };
        if call.is_logical() {
            let (expr, offset) = navigation_arguments(function, 0, script)?;
            row.from_last = call == PatternCall::Last;
            row.offset = offset;
            return self.binder.value(expr, Some(function), row);
        }
        let (expr, offset) = navigation_arguments(function, 1, script)?;
        row.physical = if call == PatternCall::Next { i64::from(offset) } else { -i64::from(offset) };
        let SqlExpr::Function(inner) = expr else { return self.binder.value(expr, Some(function), row) };
        match PatternCall::of(inner) {
            Some(call) if call.is_logical() => self.navigation(inner, row),
            Some(PatternCall::Running | PatternCall::Final) => self.with_semantics(inner, row),
            Some(call) if call.is_physical() => {
                let span = place(script, inner.name.span());
                refuse(span, "PREV and NEXT do not stand inside each other", "add up the offsets: PREV(A.x, 2)")
            }
            _ => self.binder.value(expr, Some(function), row),
        }
    }

    fn match_rowtime(&mut self, function: &Function, span: Option<Span>) -> Result<(BoundLeaf, FieldRef)> {
        let Some(time) = self.binder.time.clone() else {
            return refuse(
                span,
                "MATCH_ROWTIME() needs rows that are ordered by a time",
                "put a TIMESTAMP column first in ORDER BY",
            );
        };
        let is_time = |expr: &&SqlExpr| matches!(expr, SqlExpr::Identifier(name) if name.value == *time.name());
        match arguments(function).as_slice() {
            [] => {}
            [column] if is_time(column) => {}
            _ => {
                let help = format!("write MATCH_ROWTIME() or MATCH_ROWTIME({})", time.name());
                return refuse(span, "MATCH_ROWTIME takes the time attribute or nothing", &help);
            }
        }
        let field = Arc::new(Field::new("match_rowtime", time.data_type().clone(), time.is_nullable()));
        Ok((BoundLeaf::MatchRowtime, field))
    }
}
