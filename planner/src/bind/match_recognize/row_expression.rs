//! An expression over one row, or the call of an aggregate over rows: variables taken off its columns.
//!
//! ```text
//! A.x + A.y   ->  x + y, of A          COUNT(A.*)  ->  COUNT(*), of A          CLASSIFIER(U)  ->  $classifier, of U
//! ```

use std::ops::ControlFlow;

use datafusion_common::{DataFusionError, Result};
use sqlparser::ast::{
    Expr as SqlExpr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Spanned, VisitMut,
    VisitorMut,
};
use tidemark_parser::Span;

use super::calls::{PatternCall, arguments};
use super::expression::ExprBinder;
use super::{find_column, place, refuse};
use crate::logical::match_recognize::{CLASSIFIER, MATCH_NUMBER};
use crate::stream_plan::match_recognize::VariableSet;

/// The expression without variables.
pub(super) struct RowRead {
    pub sql: SqlExpr,
    /// Whose row or rows; `None` when it names no column.
    pub variables: Option<VariableSet>,
}

pub(super) struct RowReader<'r, 'b> {
    binder: &'r ExprBinder<'b>,
    variables: Option<VariableSet>,
    error: Option<DataFusionError>,
}

impl<'r, 'b> RowReader<'r, 'b> {
    /// Reads the argument of a navigation, or a bare reference.
    pub fn read(binder: &'r ExprBinder<'b>, sql: &SqlExpr) -> Result<RowRead> {
        let mut reader = RowReader { binder, variables: None, error: None };
        let mut sql = sql.clone();
        let _ = sql.visit(&mut reader);
        reader.finish(sql)
    }

    /// Reads the arguments and the filter of an aggregate.
    pub fn read_aggregate(binder: &'r ExprBinder<'b>, function: &Function) -> Result<RowRead> {
        let mut reader = RowReader { binder, variables: None, error: None };
        let mut function = function.clone();
        if let FunctionArguments::List(list) = &mut function.args {
            for argument in &mut list.args {
                if let FunctionArg::Unnamed(wildcard @ FunctionArgExpr::QualifiedWildcard(_)) = argument {
                    let FunctionArgExpr::QualifiedWildcard(name) = &*wildcard else { continue };
                    reader.refer_to_wildcard(name)?;
                    *wildcard = FunctionArgExpr::Wildcard;
                }
            }
        }
        let _ = function.args.visit(&mut reader);
        let _ = function.filter.visit(&mut reader);
        reader.finish(SqlExpr::Function(function))
    }

    fn finish(self, sql: SqlExpr) -> Result<RowRead> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(RowRead { sql, variables: self.variables }),
        }
    }

    /// `A.*`
    fn refer_to_wildcard(&mut self, name: &ObjectName) -> Result<()> {
        match name.0.as_slice() {
            [part] => match part.as_ident() {
                Some(ident) => self.refer_to(ident),
                None => Ok(()),
            },
            _ => {
                refuse(place(self.binder.script, name.span()), &format!("`{name}` is no variable"), "write COUNT(A.*)")
            }
        }
    }

    fn refer_to(&mut self, variable: &Ident) -> Result<()> {
        match self.binder.variables.set_of(variable) {
            Some(set) => self.add(set, place(self.binder.script, variable.span)),
            None => Err(self.binder.variables.unknown(variable, self.binder.script)),
        }
    }

    fn add(&mut self, set: VariableSet, span: Option<Span>) -> Result<()> {
        match self.variables {
            Some(known) if known != set => refuse(
                span,
                "one navigation or aggregate speaks of one variable, and this one names two",
                "write one for each variable, as in SUM(A.x) + SUM(B.y), or declare a union with SUBSET",
            ),
            _ => {
                self.variables = Some(set);
                Ok(())
            }
        }
    }

    fn rewrite(&mut self, expr: &mut SqlExpr) -> Result<()> {
        match expr {
            SqlExpr::Identifier(name) if name.value == CLASSIFIER || name.value == MATCH_NUMBER => Ok(()),
            SqlExpr::Identifier(name) => {
                let span = place(self.binder.script, name.span);
                find_column(name, self.binder.input, span)?;
                self.add(VariableSet::ALL, span)
            }
            SqlExpr::CompoundIdentifier(parts) => {
                if self.binder.variables.set_of(&parts[0]).is_some() {
                    self.refer_to(&parts[0])?;
                    let column = &parts[1];
                    find_column(column, self.binder.input, place(self.binder.script, column.span))?;
                    *expr = match &parts[1..] {
                        [column] => SqlExpr::Identifier(column.clone()),
                        rest => SqlExpr::CompoundIdentifier(rest.to_vec()),
                    };
                    return Ok(());
                }
                // `r.field` of a column of rows.
                if find_column(&parts[0], self.binder.input, None).is_ok() {
                    return self.add(VariableSet::ALL, place(self.binder.script, parts[0].span));
                }
                Err(self.binder.variables.unknown(&parts[0], self.binder.script))
            }
            SqlExpr::Function(function) => {
                if let Some(column) = self.call(function)? {
                    let span = function.name.span();
                    *expr = SqlExpr::Identifier(Ident::with_quote_and_span('`', span, column));
                }
                Ok(())
            }
            SqlExpr::Subquery(_) | SqlExpr::InSubquery { .. } | SqlExpr::Exists { .. } => {
                let place = self.binder.place_of(expr);
                refuse(place, "a subquery cannot stand in MATCH_RECOGNIZE", "join the values to the input before it")
            }
            _ => Ok(()),
        }
    }

    /// The column that a call of the pattern's is; refuses what does not nest.
    fn call(&mut self, function: &Function) -> Result<Option<&'static str>> {
        let span = place(self.binder.script, function.name.span());
        let name = function.name.to_string().to_uppercase();
        match PatternCall::of(function) {
            Some(PatternCall::Classifier) => {
                match arguments(function).as_slice() {
                    [] => self.add(VariableSet::ALL, span)?,
                    [SqlExpr::Identifier(variable)] => self.refer_to(variable)?,
                    _ => return refuse(span, "CLASSIFIER takes a pattern variable or nothing", "CLASSIFIER(A)"),
                }
                Ok(Some(CLASSIFIER))
            }
            Some(PatternCall::MatchNumber) => Ok(Some(MATCH_NUMBER)),
            Some(call) if call.is_physical() || call.is_logical() => refuse(
                span,
                &format!("{name} cannot stand inside this call"),
                "PREV and NEXT may stand around FIRST and LAST, and nothing else nests",
            ),
            Some(_) => refuse(span, &format!("{name} cannot stand inside another call"), "write it on its own"),
            None if self.binder.session.functions.aggregate(&name.to_lowercase()).is_some() => refuse(
                span,
                "an aggregate cannot stand inside a navigation or another aggregate",
                "write it on its own",
            ),
            None => Ok(None),
        }
    }
}

impl VisitorMut for RowReader<'_, '_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut SqlExpr) -> ControlFlow<()> {
        match self.rewrite(expr) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}
