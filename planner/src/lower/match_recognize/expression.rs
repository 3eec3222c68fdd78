//! Expressions of a pattern, compiled: one part over rows, one over the values that the pattern determines.

use std::sync::Arc;

use datafusion_common::{Column, DFSchema};
use datafusion_expr::Expr;
use tidemark_parser::Diagnostic;

use crate::codes::UNSUPPORTED;
use crate::compiled_expr::CompiledExpr;
use crate::logical::match_recognize::{BoundExpr, BoundLeaf, CLASSIFIER, MATCH_NUMBER};
use crate::lower::expression::ExprCompiler;
use crate::lower::{Lowered, Lowering, Relation};
use crate::stream_plan::AggregateCall;
use crate::stream_plan::match_recognize::{MatchExpr, MatchLeaf, RowExpr, RowInput};

impl Lowering<'_> {
    pub(super) fn match_expr(&self, bound: &BoundExpr, input: &Relation) -> Lowered<MatchExpr> {
        let leaves = bound.leaves.iter().map(|leaf| self.match_leaf(leaf, bound, input)).collect::<Lowered<_>>()?;
        let width = bound.schema.fields().len();
        let mut expr = self.compile_over(&bound.schema, width, &bound.expr, bound)?;
        expr.text.clone_from(&bound.text);
        expr.field = Arc::clone(&bound.field);
        Ok(MatchExpr { leaves, expr })
    }

    fn compile_over(&self, schema: &DFSchema, width: usize, expr: &Expr, bound: &BoundExpr) -> Lowered<CompiledExpr> {
        let columns: Vec<usize> = (0..width).collect();
        let mut compiler =
            ExprCompiler::new(schema, &columns, width, self.settings.time_zone()).map_err(|e| self.finding(e))?;
        let compiled = compiler.compile(expr, bound.field.name()).map_err(|e| {
            let finding = *self.finding(e);
            Box::new(finding.at_if_none(bound.span))
        })?;
        if !compiler.hidden.is_empty() {
            let message = "an expression in MATCH_RECOGNIZE cannot read the clock or the watermark";
            let d = Diagnostic::error(UNSUPPORTED, message).at(bound.span);
            return Err(Box::new(d.help("compute it in a subquery before or behind MATCH_RECOGNIZE")));
        }
        Ok(compiled)
    }

    fn match_leaf(&self, leaf: &BoundLeaf, bound: &BoundExpr, input: &Relation) -> Lowered<MatchLeaf> {
        Ok(match leaf {
            BoundLeaf::Value { row, value } => {
                MatchLeaf::Value { row: *row, value: self.row_expr(value, bound, input)? }
            }
            BoundLeaf::MatchNumber => MatchLeaf::MatchNumber,
            BoundLeaf::MatchRowtime => MatchLeaf::MatchRowtime,
            BoundLeaf::Aggregate { call, field, variables, is_final } => {
                let read = self.call(call, field)?;
                let mut args = vec![];
                let mut add = |expr: &Expr| -> Lowered<usize> {
                    args.push(self.row_expr(expr, bound, input)?);
                    Ok(args.len() - 1)
                };
                let places = read.args.iter().map(&mut add).collect::<Lowered<_>>()?;
                let filter = read.filter.as_ref().map(&mut add).transpose()?;
                let call = AggregateCall {
                    function: read.function,
                    args: places,
                    distinct: read.distinct,
                    filter,
                    field: read.field,
                    text: bound.text.clone(),
                };
                MatchLeaf::Aggregate { call, args, variables: *variables, is_final: *is_final }
            }
        })
    }

    /// Compiles an expression over a row; it reads only the columns that it names.
    fn row_expr(&self, expr: &Expr, bound: &BoundExpr, input: &Relation) -> Lowered<RowExpr> {
        let mut names: Vec<&Column> = expr.column_refs().into_iter().collect();
        names.sort();
        let (mut inputs, mut fields) = (vec![], vec![]);
        for column in names {
            if column.name == CLASSIFIER || column.name == MATCH_NUMBER {
                let (kind, data_type) = match column.name == CLASSIFIER {
                    true => (RowInput::Classifier, arrow::datatypes::DataType::Utf8),
                    false => (RowInput::MatchNumber, arrow::datatypes::DataType::Int64),
                };
                inputs.push(kind);
                fields.push((None, Arc::new(arrow::datatypes::Field::new(&column.name, data_type, true))));
                continue;
            }
            let index = input.schema.index_of_column(column).map_err(|e| self.finding(e))?;
            let (qualifier, field) = input.schema.qualified_field(index);
            inputs.push(RowInput::Column(input.columns[index]));
            fields.push((qualifier.cloned(), Arc::clone(field)));
        }
        let schema = DFSchema::new_with_metadata(fields, Default::default()).map_err(|e| self.finding(e))?;
        let expr = self.compile_over(&schema, inputs.len(), expr, bound)?;
        Ok(RowExpr { inputs, expr })
    }
}
