//! Expressions over rows and over the values that a pattern determines, ready to run.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tidemark_planner::stream_plan::match_recognize::{MatchExpr, MatchLeaf, RowExpr, RowInput};

use super::rows::{RowId, RowStore};
use crate::error::OperatorError;

/// The rows that an expression is asked for, one value each.
#[derive(Clone, Copy)]
pub struct RowsAsked<'a> {
    /// The rows; [`RowId::NONE`] gives NULL.
    pub rows: &'a [RowId],
    /// What each is, when it is in a match.
    pub variables: &'a [Option<u8>],
    /// The number of each row's match.
    pub numbers: &'a [i64],
}

/// An expression over rows.
#[derive(Debug)]
pub struct RowValues {
    expr: RowExpr,
    schema: SchemaRef,
    /// The input column that the expression is, when it is one.
    pub column: Option<usize>,
}

impl RowValues {
    /// Prepares `expr` over rows of `input`.
    pub fn new(expr: &RowExpr, input: &SchemaRef) -> Self {
        let field = |(at, read): (usize, &RowInput)| {
            let data_type = match read {
                RowInput::Column(column) => input.field(*column).data_type().clone(),
                RowInput::Classifier => DataType::Utf8,
                RowInput::MatchNumber => DataType::Int64,
            };
            Field::new(format!("c{at}"), data_type, true)
        };
        let fields: Vec<Field> = expr.inputs.iter().enumerate().map(field).collect();
        let column = match (expr.expr.column, expr.inputs.as_slice()) {
            (Some(0), [RowInput::Column(column)]) => Some(*column),
            _ => None,
        };
        Self { expr: expr.clone(), schema: Arc::new(Schema::new(fields)), column }
    }

    /// The type of the values.
    pub fn data_type(&self) -> &DataType {
        self.expr.expr.field.data_type()
    }

    /// One value a row.
    pub fn evaluate(&self, store: &RowStore, names: &[String], asked: RowsAsked) -> Result<ArrayRef, OperatorError> {
        if let Some(column) = self.column {
            return Ok(store.gather(column, asked.rows)?);
        }
        if !asked.rows.contains(&RowId::NONE) {
            return self.evaluate_present(store, names, asked);
        }
        // The expression is not asked about a row that does not exist: COALESCE would make a value of it.
        let present: Vec<usize> = (0..asked.rows.len()).filter(|i| asked.rows[*i] != RowId::NONE).collect();
        let rows: Vec<RowId> = present.iter().map(|i| asked.rows[*i]).collect();
        let variables: Vec<Option<u8>> = present.iter().map(|i| asked.variables[*i]).collect();
        let numbers: Vec<i64> = present.iter().map(|i| asked.numbers[*i]).collect();
        let asked_present = RowsAsked { rows: &rows, variables: &variables, numbers: &numbers };
        let values = self.evaluate_present(store, names, asked_present)?;
        let mut found = 0;
        let places = asked.rows.iter().map(|row| {
            (*row != RowId::NONE).then(|| {
                found += 1;
                found - 1
            })
        });
        Ok(take(&values, &UInt32Array::from_iter(places), None)?)
    }

    fn evaluate_present(
        &self,
        store: &RowStore,
        names: &[String],
        asked: RowsAsked,
    ) -> Result<ArrayRef, OperatorError> {
        let column = |read: &RowInput| -> Result<ArrayRef, OperatorError> {
            Ok(match read {
                RowInput::Column(column) => store.gather(*column, asked.rows)?,
                RowInput::Classifier => {
                    let name = |variable: &Option<u8>| variable.map(|v| names[usize::from(v)].as_str());
                    Arc::new(StringArray::from_iter(asked.variables.iter().map(name)))
                }
                RowInput::MatchNumber => Arc::new(Int64Array::from(asked.numbers.to_vec())),
            })
        };
        let columns = self.expr.inputs.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let batch = batch_of(&self.schema, columns, asked.rows.len())?;
        Ok(self.expr.expr.evaluate(&batch)?)
    }
}

/// A batch, also without columns.
pub fn batch_of(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, OperatorError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(SchemaRef::clone(schema), columns, &options)?)
}

/// An expression over leaves: the schema that their values form.
pub fn leaf_schema(expr: &MatchExpr, time_type: &DataType) -> SchemaRef {
    let data_type = |leaf: &MatchLeaf| match leaf {
        MatchLeaf::Value { value, .. } => value.expr.field.data_type().clone(),
        MatchLeaf::Aggregate { call, .. } => call.field.data_type().clone(),
        MatchLeaf::MatchNumber => DataType::Int64,
        MatchLeaf::MatchRowtime => time_type.clone(),
    };
    let fields = expr.leaves.iter().enumerate().map(|(at, leaf)| Field::new(format!("${at}"), data_type(leaf), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Where a boolean value is true; NULL is not.
pub fn is_true(values: &ArrayRef, row: usize) -> bool {
    match values.as_any().downcast_ref::<arrow::array::BooleanArray>() {
        Some(values) => values.is_valid(row) && values.value(row),
        // A condition that is NULL for every row has no type.
        None => false,
    }
}
