//! One input of a join: its keys as columns, and which columns the join keeps.

use std::sync::Arc;

use arrow::datatypes::Field;
use datafusion_common::DFSchema;
use datafusion_expr::{Expr, ExprSchemable};
use tidemark_parser::Diagnostic;

use super::place_of;
use crate::codes::UNSUPPORTED;
use crate::lower::attribute::Attribute;
use crate::lower::expression::{ExprCompiler, sql_text};
use crate::lower::{Lowered, Lowering, Relation};
use crate::stream_plan::{JoinCondition, JoinSide};

/// A lowered input.
pub(super) struct Side {
    /// With the logical columns as they were; computed keys stand behind them in the node.
    pub relation: Relation,
    pub node: JoinSide,
    /// For each kept column, its place among the logical columns.
    kept: Vec<usize>,
}

impl Side {
    /// What the columns that are put out mean for time.
    pub fn output_attributes(&self) -> Vec<Attribute> {
        self.kept[..self.node.output].iter().map(|place| self.relation.attributes[*place].clone()).collect()
    }
}

impl Lowering<'_> {
    /// Makes the keys columns and picks what is to be kept.
    pub(super) fn join_side(
        &mut self,
        relation: Relation,
        keys: Vec<Expr>,
        is_output: bool,
        residual: &[Expr],
    ) -> Lowered<Side> {
        let updating = !self.is_append(&relation);
        let (relation, keys) = self.with_keys(relation, &keys)?;
        let width = relation.schema.fields().len();
        let mut kept: Vec<usize> = if is_output { (0..width).collect() } else { vec![] };
        let output = kept.len();
        for column in residual.iter().flat_map(Expr::column_refs) {
            if let Ok(place) = relation.schema.index_of_column(column)
                && !kept.contains(&place)
            {
                kept.push(place);
            }
        }
        // Columns read by the condition alone: in their own order, whatever that of the expression is.
        kept[output..].sort_unstable();
        let columns = kept.iter().map(|place| relation.columns[*place]).collect();
        Ok(Side { relation, node: JoinSide { keys, columns, output, updating }, kept })
    }

    /// Appends a column for each key that is not one already; returns where the keys stand in the node.
    fn with_keys(&mut self, input: Relation, keys: &[Expr]) -> Lowered<(Relation, Vec<usize>)> {
        let places: Vec<Option<usize>> = keys.iter().map(|key| place_of(key, &input)).collect();
        if places.iter().all(Option::is_some) {
            let columns = places.into_iter().flatten().map(|place| input.columns[place]).collect();
            return Ok((input, columns));
        }
        let (schema, width) = (Arc::clone(&input.schema), input.schema.fields().len());
        let mut exprs: Vec<Expr> = schema.columns().into_iter().map(Expr::Column).collect();
        let mut fields: Vec<_> = schema.iter().map(|(q, f)| (q.cloned(), Arc::clone(f))).collect();
        for key in keys.iter().zip(&places).filter(|(_, place)| place.is_none()).map(|(key, _)| key) {
            let (_, field) = key.to_field(&schema).map_err(|e| self.finding(e))?;
            let text = sql_text(key);
            let is_taken = fields.iter().any(|(_, field): &(_, Arc<Field>)| *field.name() == text);
            let name = if is_taken { format!("{text}#{}", exprs.len() - width) } else { text };
            fields.push((None, Arc::new(Field::new(name, field.data_type().clone(), field.is_nullable()))));
            exprs.push(key.clone());
        }
        let extended = DFSchema::new_with_metadata(fields, Default::default()).map_err(|e| self.finding(e))?;
        let mut relation = self.calc(input, None, &exprs, &Arc::new(extended))?;
        let mut computed = width..;
        let columns = places.iter().map(|place| relation.columns[place.or_else(|| computed.next()).unwrap_or(0)]);
        let columns = columns.collect();
        relation.columns.truncate(width);
        relation.attributes.truncate(width);
        relation.schema = schema;
        Ok((relation, columns))
    }

    /// The residual condition over the kept columns that it reads.
    pub(super) fn join_condition(&self, residual: &[Expr], sides: &[Side; 2]) -> Lowered<Option<JoinCondition>> {
        let Some(expr) = residual.iter().cloned().reduce(Expr::and) else { return Ok(None) };
        let mut columns = vec![];
        let mut fields = vec![];
        for (index, side) in sides.iter().enumerate() {
            let schema = &side.relation.schema;
            for (place, kept) in side.kept.iter().enumerate() {
                let (qualifier, field) = schema.qualified_field(*kept);
                let is_read = expr.column_refs().iter().any(|c| schema.index_of_column(c).is_ok_and(|i| i == *kept));
                if is_read {
                    columns.push((index, place));
                    fields.push((qualifier.cloned(), Arc::clone(field)));
                }
            }
        }
        let schema = DFSchema::new_with_metadata(fields, Default::default()).map_err(|e| self.finding(e))?;
        let places: Vec<usize> = (0..columns.len()).collect();
        let mut compiler = ExprCompiler::new(&schema, &places, places.len(), self.settings.time_zone())
            .map_err(|e| self.finding(e))?;
        let compiled = compiler.compile(&expr, "condition").map_err(|e| self.finding(e))?;
        if !compiler.hidden.is_empty() {
            let message = "the clock and the watermark cannot be read in the condition of a join";
            let help = "compute the value as a column of one of the inputs, in a subquery";
            return Err(Box::new(Diagnostic::error(UNSUPPORTED, message).at(self.span_of_expr(&expr)).help(help)));
        }
        Ok(Some(JoinCondition { columns, expr: compiled }))
    }
}
