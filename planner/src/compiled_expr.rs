//! An expression ready to run over Arrow batches.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::FieldRef;
use datafusion_common::DataFusionError;
use datafusion_physical_expr::PhysicalExpr;
use serde::{Serialize, Serializer};

/// A physical expression with the SQL it came from and the field it yields.
#[derive(Clone, Debug)]
pub struct CompiledExpr {
    /// The SQL text, for EXPLAIN and for errors.
    pub text: String,
    /// The vectorised expression over the input's columns by index.
    pub physical: Arc<dyn PhysicalExpr>,
    /// Name, type and nullability of the result.
    pub field: FieldRef,
    /// `Some(i)` when the expression is just input column `i`: passed on without evaluation.
    pub column: Option<usize>,
}

/// An expression failed on some row: overflow, division by zero, a bad cast.
#[derive(Debug, thiserror::Error)]
#[error("{reason} in `{expr}`")]
pub struct ExprError {
    /// The SQL of the expression.
    pub expr: String,
    /// What went wrong, such as `integer overflow`.
    pub reason: String,
}

impl CompiledExpr {
    /// Evaluates over all rows: one value a row.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<ArrayRef, ExprError> {
        if let Some(index) = self.column {
            return Ok(Arc::clone(batch.column(index)));
        }
        self.physical
            .evaluate(batch)
            .and_then(|v| v.into_array(batch.num_rows()))
            .map_err(|e| ExprError { expr: self.text.clone(), reason: reason_of(&e) })
    }
}

/// DataFusion's and arrow's errors in words a SQL writer knows.
fn reason_of(error: &DataFusionError) -> String {
    let root = error.find_root().strip_backtrace();
    let lower = root.to_lowercase();
    if lower.contains("divide by zero") || lower.contains("division by zero") {
        return "division by zero".into();
    }
    if lower.contains("decimal overflow") {
        return "decimal overflow".into();
    }
    if lower.contains("overflow") {
        return "integer overflow".into();
    }
    let mut text = root.as_str();
    for prefix in ["Arrow error: ", "Cast error: ", "Parser error: ", "Compute error: ", "Execution error: "] {
        text = text.strip_prefix(prefix).unwrap_or(text);
    }
    let text = crate::types::with_sql_names(text);
    if let Some((value, wanted)) = text.strip_prefix("Can't cast value ").and_then(|t| t.split_once(" to type ")) {
        return format!("{value} is out of range for {wanted}");
    }
    match text.strip_prefix("Cannot cast") {
        Some(rest) => format!("cannot cast{}", rest.trim_end_matches(" type").replace(" to value of ", " to ")),
        None => text,
    }
}

impl Serialize for CompiledExpr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
