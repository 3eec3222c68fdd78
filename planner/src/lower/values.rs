//! Constant rows.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion_common::{DFSchema, DFSchemaRef, Result, ScalarValue};
use datafusion_expr::Expr;
use tidemark_parser::Diagnostic;

use super::attribute::Attribute;
use super::expression::ExprCompiler;
use super::{Lowered, Lowering, Relation};
use crate::codes::BAD_QUERY;
use crate::stream_plan::NodeKind;

impl Lowering<'_> {
    pub(super) fn values(&mut self, rows: &[Vec<Expr>], schema: &DFSchemaRef) -> Lowered<Relation> {
        let mut columns: Vec<Vec<ScalarValue>> = vec![Vec::with_capacity(rows.len()); schema.fields().len()];
        for row in rows {
            for (column, expr) in columns.iter_mut().zip(row) {
                column.push(self.constant(expr)?);
            }
        }
        let cast = |(values, field): (Vec<ScalarValue>, &Arc<arrow::datatypes::Field>)| {
            let values: Result<Vec<_>> = values.into_iter().map(|v| v.cast_to(field.data_type())).collect();
            ScalarValue::iter_to_array(values?)
        };
        let arrays: Result<Vec<_>> = columns.into_iter().zip(schema.fields()).map(cast).collect();
        let arrays = arrays.map_err(|e| self.finding(e))?;
        self.constant_relation(arrays, rows.len(), schema)
    }

    pub(super) fn empty(&mut self, one_row: bool, schema: &DFSchemaRef) -> Lowered<Relation> {
        let arrays =
            schema.fields().iter().map(|f| arrow::array::new_null_array(f.data_type(), usize::from(one_row))).collect();
        self.constant_relation(arrays, usize::from(one_row), schema)
    }

    fn constant_relation(
        &mut self,
        arrays: Vec<arrow::array::ArrayRef>,
        rows: usize,
        schema: &DFSchemaRef,
    ) -> Lowered<Relation> {
        let fields: Vec<_> = schema.fields().iter().map(|f| f.as_ref().clone().with_nullable(true)).collect();
        let arrow_schema: SchemaRef = Arc::new(Schema::new(fields));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&arrow_schema), arrays, &options)
            .map_err(|e| self.finding(e.into()))?;
        let node = self.push("values", NodeKind::Values { rows: batch }, vec![], arrow_schema);
        let width = schema.fields().len();
        Ok(Relation {
            node,
            columns: (0..width).collect(),
            attributes: vec![Attribute::None; width],
            schema: Arc::clone(schema),
            bounded: true,
            updating_because: None,
        })
    }

    fn constant(&self, expr: &Expr) -> Lowered<ScalarValue> {
        let one_row = RecordBatch::try_new_with_options(
            Arc::new(Schema::empty()),
            vec![],
            &RecordBatchOptions::new().with_row_count(Some(1)),
        );
        let evaluate = || -> Result<(String, ScalarValue)> {
            let mut compiler = ExprCompiler::new(&DFSchema::empty(), &[], 0, self.settings.time_zone())?;
            let compiled = compiler.compile(expr, "value")?;
            if !compiler.hidden.is_empty() {
                return datafusion_common::plan_err!("VALUES takes constants, and {} is none", compiled.text);
            }
            let array =
                compiled.evaluate(&one_row?).map_err(|e| datafusion_common::DataFusionError::Plan(e.to_string()))?;
            Ok((compiled.text, ScalarValue::try_from_array(&array, 0)?))
        };
        match evaluate() {
            Ok((_, value)) => Ok(value),
            Err(error) => {
                let found = self.finding(error);
                Err(Box::new(Diagnostic::error(BAD_QUERY, found.message).at(found.span)))
            }
        }
    }
}
