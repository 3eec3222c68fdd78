//! Filters, then projects.
//!
//! ```text
//! SELECT n * 10 WHERE n > 1     n: 1, 2, 3   ->   20, 30
//! ```
//!
//! **Invariant:** a row keeps its row watermark and its kind; only where the filter lets through one half of an update,
//! that half becomes an insertion or a deletion, so that no consumer sees half a pair. Columns that are only passed on are not copied, and
//! rows are only copied when some row fails the predicate.

mod hidden;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int8Array, NullArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{FilterBuilder, FilterPredicate};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion_physical_expr::utils::collect_columns;
use tidemark_planner::compiled_expr::CompiledExpr;
use tidemark_planner::stream_plan::CalcNode;
use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::state::EVENT_TIME;
use super::{Operator, OperatorContext, Output};
use crate::change_batch::{ChangeBatch, RowKind};
use crate::element::Watermark;
use crate::error::OperatorError;
use hidden::HiddenColumns;

/// Evaluates a [`CalcNode`].
#[derive(Debug)]
pub struct Calc {
    hidden: HiddenColumns,
    predicate: Option<CompiledExpr>,
    projection: Vec<CompiledExpr>,
    /// The filter's output: the input with the columns that no projection reads reduced to nothing.
    filtered_schema: SchemaRef,
    is_read: Vec<bool>,
    output_schema: SchemaRef,
    watermark: Watermark,
    key_groups: Range<u32>,
}

impl Calc {
    /// A calc from `input_schema` to `output_schema`.
    pub fn new(node: &CalcNode, input_schema: &SchemaRef, output_schema: &SchemaRef) -> Self {
        let hidden = HiddenColumns::new(&node.hidden, input_schema);
        let is_read = columns_read(&node.projection, hidden.schema().fields().len());
        let fields = hidden.schema().fields().iter().zip(&is_read).map(|(field, &read)| match read {
            true => Arc::clone(field),
            false => Arc::new(Field::new(field.name(), DataType::Null, true)),
        });
        Self {
            filtered_schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            hidden,
            predicate: node.predicate.clone(),
            projection: node.projection.clone(),
            is_read,
            output_schema: Arc::clone(output_schema),
            watermark: Watermark::MIN,
            key_groups: 0..0,
        }
    }

    /// The rows that pass, or `None` when none does.
    fn filter(&self, rows: ChangeBatch) -> Result<Option<ChangeBatch>, OperatorError> {
        let Some(predicate) = &self.predicate else { return Ok(Some(rows)) };
        let mask = predicate.evaluate(&rows.batch)?;
        let mask = mask.as_boolean();
        match mask.true_count() {
            0 => Ok(None),
            all if all == rows.num_rows() => Ok(Some(rows)),
            _ => self.keep(&rows, mask).map(Some),
        }
    }

    fn keep(&self, rows: &ChangeBatch, mask: &BooleanArray) -> Result<ChangeBatch, OperatorError> {
        let filter = FilterBuilder::new(mask).optimize().build();
        let columns = rows.batch.columns().iter().zip(&self.is_read).map(|(column, &read)| match read {
            true => filter.filter(column),
            false => Ok(Arc::new(NullArray::new(filter.count())) as ArrayRef),
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(filter.count()));
        Ok(ChangeBatch {
            batch: RecordBatch::try_new_with_options(Arc::clone(&self.filtered_schema), columns, &options)?,
            kinds: rows.kinds.as_ref().map(|k| filter_primitive(&filter, &without_halves(k, mask))).transpose()?,
            row_watermarks: rows.row_watermarks.as_ref().map(|w| filter_primitive(&filter, w)).transpose()?,
        })
    }

    fn project(&self, rows: ChangeBatch) -> Result<ChangeBatch, OperatorError> {
        let columns = self.projection.iter().map(|e| e.evaluate(&rows.batch)).collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.output_schema), columns, &options)?;
        Ok(ChangeBatch { batch, ..rows })
    }
}

impl Operator for Calc {
    fn open(&mut self, ctx: &OperatorContext) -> Result<(), OperatorError> {
        self.key_groups = ctx.key_groups.clone();
        Ok(())
    }

    fn state_tables(&self) -> Vec<StateTableSchema> {
        self.hidden.show_watermark().then(|| EVENT_TIME.schema()).into_iter().collect()
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        let mut snapshot = OperatorSnapshot::default();
        if self.hidden.show_watermark() {
            snapshot.tables.push(EVENT_TIME.write(self.key_groups.clone().map(Some), [self.watermark.0])?);
        }
        Ok(snapshot)
    }

    fn restore(&mut self, snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        if let Some([watermark]) = EVENT_TIME.read_largest(snapshot)? {
            self.watermark = Watermark(watermark);
        }
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        now_ms: i64,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        let rows = self.hidden.append(batch, now_ms, self.watermark)?;
        if let Some(rows) = self.filter(rows)? {
            out.emit(self.project(rows)?);
        }
        Ok(())
    }

    fn on_watermark(&mut self, watermark: Watermark, _out: &mut Output) -> Result<Watermark, OperatorError> {
        self.watermark = self.watermark.max(watermark);
        Ok(watermark)
    }
}

fn filter_primitive<T: arrow::datatypes::ArrowPrimitiveType>(
    filter: &FilterPredicate,
    array: &arrow::array::PrimitiveArray<T>,
) -> Result<arrow::array::PrimitiveArray<T>, OperatorError> {
    Ok(filter.filter(array)?.as_primitive::<T>().clone())
}

/// The kinds of rows of which `mask` keeps some: an update of which one half is kept becomes `+I` or `-D`.
fn without_halves(kinds: &Int8Array, mask: &BooleanArray) -> Int8Array {
    const BEFORE: i8 = RowKind::UpdateBefore as i8;
    const AFTER: i8 = RowKind::UpdateAfter as i8;
    let kept = |row: usize| mask.is_valid(row) && mask.value(row);
    let mut values = kinds.values().to_vec();
    for row in 1..values.len() {
        if (values[row - 1], values[row]) != (BEFORE, AFTER) {
            continue;
        }
        match (kept(row - 1), kept(row)) {
            (true, false) => values[row - 1] = RowKind::Delete as i8,
            (false, true) => values[row] = RowKind::Insert as i8,
            _ => {}
        }
    }
    Int8Array::from(values)
}

/// Which of `width` input columns the expressions read.
fn columns_read(exprs: &[CompiledExpr], width: usize) -> Vec<bool> {
    let mut is_read = vec![false; width];
    for expr in exprs {
        match expr.column {
            Some(index) => is_read[index] = true,
            None => collect_columns(&expr.physical).iter().for_each(|c| is_read[c.index()] = true),
        }
    }
    is_read
}

#[cfg(test)]
mod tests;
