//! Conditions and measures: leaves cut out, the rest planned over them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{DFSchema, DataFusionError, Result};
use datafusion_expr::planner::RelationPlannerContext;
use datafusion_expr::{Cast, Expr, ExprSchemable, LogicalPlan, SortExpr};
use sqlparser::ast::{Expr as SqlExpr, Function, Ident, Spanned, SymbolDefinition, VisitMut};
use tidemark_parser::{Diagnostic, Span};

use super::calls::{conjunction, conjuncts};
use super::leaves::LeafCutter;
use super::row_expression::RowReader;
use super::variables::{Variables, canonical};
use super::{MatchContext, place, refuse};
use crate::bind::coerce;
use crate::bind::conditions::check_expr;
use crate::bind::errors::Finding;
use crate::bind::text::ScriptText;
use crate::codes::BAD_TYPE;
use crate::logical::match_recognize::{BoundExpr, BoundLeaf, CLASSIFIER, MATCH_NUMBER};
use crate::stream_plan::match_recognize::{MatchRows, Navigation, RowPattern, VariableSet};

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Scope {
    /// In the condition of a variable: the row at hand is its newest.
    Define(usize),
    /// In a measure.
    Measure,
}

/// Binds the expressions of one clause.
pub(super) struct ExprBinder<'b> {
    pub(super) script: &'b ScriptText<'b>,
    pub(super) session: &'b MatchContext<'b>,
    pub(super) ctx: &'b mut dyn RelationPlannerContext,
    pub(super) variables: &'b Variables,
    pub(super) input: &'b LogicalPlan,
    /// The input's columns, then CLASSIFIER() and MATCH_NUMBER().
    row_schema: DFSchema,
    pattern: &'b RowPattern,
    rows: MatchRows,
    /// The time that rows are ordered by.
    pub(super) time: Option<FieldRef>,
}

/// A variable's number, and its conditions: of the row alone, of the rows matched so far.
type Condition = (usize, Option<BoundExpr>, Option<BoundExpr>);

impl<'b> ExprBinder<'b> {
    #[allow(clippy::too_many_arguments, reason = "one call, of one place")]
    pub fn new(
        script: &'b ScriptText<'b>,
        session: &'b MatchContext<'b>,
        ctx: &'b mut dyn RelationPlannerContext,
        input: &'b LogicalPlan,
        variables: &'b Variables,
        pattern: &'b RowPattern,
        rows: MatchRows,
        order_by: &[SortExpr],
    ) -> Result<Self> {
        let pseudo = [(CLASSIFIER, DataType::Utf8), (MATCH_NUMBER, DataType::Int64)];
        let pseudo = pseudo.map(|(name, data_type)| (None, Arc::new(Field::new(name, data_type, true))));
        let fields = input.schema().iter().map(|(q, f)| (q.cloned(), Arc::clone(f))).chain(pseudo).collect();
        let row_schema = DFSchema::new_with_metadata(fields, input.schema().metadata().clone())?;
        let first = order_by.first().map(|key| key.expr.to_field(input.schema())).transpose()?;
        let time = first.map(|(_, field)| field).filter(|f| matches!(f.data_type(), DataType::Timestamp(_, _)));
        Ok(Self { script, session, ctx, variables, input, row_schema, pattern, rows, time })
    }

    pub fn variable_names(&self) -> impl Iterator<Item = &'b str> + use<'b> {
        self.variables.names.iter().map(String::as_str)
    }

    /// `v AS condition`: split into what the row decides and what depends on the match.
    pub fn condition(&mut self, definition: &SymbolDefinition) -> Result<Condition> {
        let Some(variable) = self.variables.index_of(&definition.symbol) else {
            return Err(self.variables.unknown(&definition.symbol, self.script));
        };
        let scope = Scope::Define(variable);
        let (mut of_row, mut of_path) = (vec![], vec![]);
        for conjunct in conjuncts(&definition.definition) {
            let bound = self.bind(conjunct, "condition", scope)?;
            if *bound.field.data_type() != DataType::Boolean && *bound.field.data_type() != DataType::Null {
                let message = format!(
                    "the condition of {} is {}, not BOOLEAN",
                    canonical(&definition.symbol),
                    crate::types::sql_name(bound.field.data_type())
                );
                return Err(Finding(Diagnostic::error(BAD_TYPE, message).at(self.place_of(conjunct))).into());
            }
            if is_of_row(&bound, variable) { of_row.push(conjunct) } else { of_path.push(conjunct) }
        }
        let mut whole = |conditions| conjunction(conditions).map(|sql| self.bind(&sql, "condition", scope)).transpose();
        Ok((variable, whole(of_row)?, whole(of_path)?))
    }

    /// `expr AS name`
    pub fn measure(&mut self, expr: &SqlExpr, name: &Ident) -> Result<BoundExpr> {
        self.bind(expr, &name.value, Scope::Measure)
    }

    fn bind(&mut self, sql: &SqlExpr, name: &str, scope: Scope) -> Result<BoundExpr> {
        let mut cut = sql.clone();
        let mut cutter = LeafCutter::new(self, scope);
        let _ = cut.visit(&mut cutter);
        let cut_leaves = cutter.finish()?;
        let fields = cut_leaves.fields.clone();
        let schema = Arc::new(DFSchema::from_unqualified_fields(fields.into(), Default::default())?);
        let planned = self.ctx.sql_to_expr(cut, &schema).and_then(|e| self.coerce(e, &schema));
        let expr = planned.map_err(|error| self.with_place(error, sql, |message| cut_leaves.spell(message)))?;
        let (_, field) = expr.to_field(&schema)?;
        let field = Arc::new(Field::new(name, field.data_type().clone(), field.is_nullable()));
        let leaves = cut_leaves.leaves;
        Ok(BoundExpr { leaves, schema, expr, field, text: spelled(sql), span: self.place_of(sql) })
    }

    fn coerce(&self, expr: Expr, schema: &DFSchema) -> Result<Expr> {
        check_expr(&expr, schema, self.script)?;
        coerce::coerce_expr(expr, schema, self.session.date_format)
    }

    /// The error at the expression, when it brings no place itself.
    fn with_place(&self, error: DataFusionError, sql: &SqlExpr, spell: impl Fn(&str) -> String) -> DataFusionError {
        let place = self.place_of(sql);
        let findings = crate::bind::diagnose(&error, self.script);
        match findings.into_iter().next() {
            Some(mut finding) => {
                finding.message = spell(&finding.message);
                Finding(finding.at_if_none(place)).into()
            }
            None => error,
        }
    }

    pub(super) fn place_of(&self, sql: &SqlExpr) -> Option<Span> {
        match sql {
            SqlExpr::Function(function) if !self.script.text.is_empty() => self.script.span_of_call(function),
            other => place(self.script, other.span()),
        }
    }

    /// A value of one row, and its field.
    pub(super) fn value(
        &mut self,
        sql: &SqlExpr,
        call: Option<&Function>,
        mut row: Navigation,
    ) -> Result<(BoundLeaf, FieldRef)> {
        let read = RowReader::read(self, sql)?;
        let Some(variables) = read.variables else {
            let name = call.map_or_else(String::new, |call| call.name.to_string().to_uppercase());
            let message = format!("{name} speaks of a column or of CLASSIFIER(), and `{sql}` has neither");
            return refuse(self.place_of(sql).or_else(|| self.place_of_call(call)), &message, "for example LAST(A.x)");
        };
        row.variables = variables;
        let (value, field) = self.row_expr(read.sql, sql)?;
        let nullable = field.is_nullable() || !self.is_certain(row);
        let field = Arc::new(Field::new(field.name(), field.data_type().clone(), nullable));
        Ok((BoundLeaf::Value { row, value }, field))
    }

    fn place_of_call(&self, call: Option<&Function>) -> Option<Span> {
        call.and_then(|call| place(self.script, call.name.span()))
    }

    /// Plans an expression over a row.
    fn row_expr(&mut self, sql: SqlExpr, written: &SqlExpr) -> Result<(Expr, FieldRef)> {
        let planned = self.ctx.sql_to_expr(sql, &self.row_schema).and_then(|e| self.coerce(e, &self.row_schema));
        let expr = planned.map_err(|error| self.with_place(error, written, str::to_owned))?;
        let (_, field) = expr.to_field(&self.row_schema)?;
        Ok((expr, field))
    }

    /// Is there such a row in every match?
    fn is_certain(&self, row: Navigation) -> bool {
        let whole = row.is_final || self.rows == MatchRows::One;
        row.physical == 0 && row.offset == 0 && whole && self.pattern.always_matches(row.variables)
    }

    pub(super) fn aggregate(&mut self, function: &Function, is_final: bool) -> Result<(BoundLeaf, FieldRef)> {
        let written = SqlExpr::Function(function.clone());
        let read = RowReader::read_aggregate(self, function)?;
        let (call, field) = self.row_expr(read.sql, &written)?;
        let call = self.with_boolean_filter(call, &written)?;
        let variables = read.variables.unwrap_or(VariableSet::ALL);
        Ok((BoundLeaf::Aggregate { call, field: Arc::clone(&field), variables, is_final }, field))
    }

    /// What FILTER takes is a condition; NULL is one.
    fn with_boolean_filter(&self, call: Expr, written: &SqlExpr) -> Result<Expr> {
        let Expr::AggregateFunction(mut aggregate) = call else { return Ok(call) };
        if let Some(filter) = aggregate.params.filter.take() {
            let data_type = filter.get_type(&self.row_schema)?;
            if data_type != DataType::Boolean && data_type != DataType::Null {
                let message = format!("FILTER takes a condition, and this is {}", crate::types::sql_name(&data_type));
                return Err(Finding(Diagnostic::error(BAD_TYPE, message).at(self.place_of(written))).into());
            }
            aggregate.params.filter = Some(Box::new(match data_type {
                DataType::Null => Expr::Cast(Cast::new(filter, DataType::Boolean)),
                _ => *filter,
            }));
        }
        Ok(Expr::AggregateFunction(aggregate))
    }

    pub(super) fn is_aggregate(&self, function: &Function) -> bool {
        self.session.functions.aggregate(&function.name.to_string().to_lowercase()).is_some()
    }
}

/// What can be told of a row without knowing what was matched before.
fn is_of_row(bound: &BoundExpr, variable: usize) -> bool {
    bound.leaves.iter().all(|leaf| match leaf {
        BoundLeaf::Value { row, value } => {
            let reads_match = value.column_refs().iter().any(|c| c.name == CLASSIFIER || c.name == MATCH_NUMBER);
            row.from_last && row.offset == 0 && row.variables.contains(variable) && !reads_match
        }
        _ => false,
    })
}

/// As written, RUNNING and FINAL before the call.
pub(super) fn spelled(sql: &SqlExpr) -> String {
    let text = sql.to_string();
    ["RUNNING", "FINAL"].into_iter().fold(text, |text, word| {
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(&format!("{word}(")) {
            let (before, call) = rest.split_at(at);
            let inner = &call[word.len() + 1..];
            let mut depth = 1usize;
            let end = inner.char_indices().find_map(|(i, c)| {
                match c {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {}
                }
                (depth == 0).then_some(i)
            });
            let Some(end) = end else { break };
            out.push_str(&format!("{before}{word} {}", &inner[..end]));
            rest = &inner[end + 1..];
        }
        out.push_str(rest);
        out
    })
}
