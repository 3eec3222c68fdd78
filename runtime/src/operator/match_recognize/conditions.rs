//! Conditions that a row and its neighbours decide: all variables of all rows of a batch at once.
//!
//! ```text
//! A AS x > 5, B AS x < PREV(x)      x 7, 3, 9      ->      {A}, {B}, {A}
//! ```

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, SchemaRef};
use tidemark_planner::compiled_expr::CompiledExpr;
use tidemark_planner::stream_plan::match_recognize::{MatchExpr, MatchLeaf, PatternVariable};

use super::rows::{RowId, RowStore};
use super::values::{RowValues, RowsAsked, batch_of, leaf_schema};
use crate::error::OperatorError;

/// The conditions of all variables.
#[derive(Debug)]
pub struct RowConditions {
    conditions: Vec<Condition>,
    /// Variables that any row can be.
    always: u64,
    /// How many rows back the conditions look, and how many ahead.
    pub reach: (u32, u32),
}

#[derive(Debug)]
struct Condition {
    variable: usize,
    leaves: Vec<(i64, RowValues)>,
    schema: SchemaRef,
    expr: CompiledExpr,
}

/// Values that several conditions read: a column, so many rows away.
type SharedColumns = Vec<((usize, i64), ArrayRef)>;

impl RowConditions {
    /// Prepares the conditions over rows of `input`.
    pub fn new(variables: &[PatternVariable], input: &SchemaRef) -> Self {
        let (mut conditions, mut always, mut reach) = (vec![], 0, (0, 0));
        for (variable, PatternVariable { row, .. }) in variables.iter().enumerate() {
            let Some(row) = row else {
                always |= 1 << variable;
                continue;
            };
            let condition = Condition::new(variable, row, input);
            for (physical, _) in &condition.leaves {
                reach = widened(reach, *physical);
            }
            conditions.push(condition);
        }
        Self { conditions, always, reach }
    }

    /// Of each row the variables that it can be. `neighbour` finds the row that is so many rows away from the n-th.
    pub fn masks(
        &self,
        store: &RowStore,
        rows: &[RowId],
        neighbour: impl Fn(usize, i64) -> RowId,
    ) -> Result<Vec<u64>, OperatorError> {
        let mut masks = vec![self.always; rows.len()];
        let (variables, numbers) = (vec![None; rows.len()], vec![0; rows.len()]);
        let mut shared = SharedColumns::new();
        for condition in &self.conditions {
            let mut columns = Vec::with_capacity(condition.leaves.len());
            for (physical, value) in &condition.leaves {
                let key = value.column.map(|column| (column, *physical));
                if let Some((_, known)) = key.and_then(|key| shared.iter().find(|(known, _)| *known == key)) {
                    columns.push(ArrayRef::clone(known));
                    continue;
                }
                let moved: Vec<RowId>;
                let there = match physical {
                    0 => rows,
                    _ => {
                        moved = (0..rows.len()).map(|row| neighbour(row, *physical)).collect();
                        &moved
                    }
                };
                let asked = RowsAsked { rows: there, variables: &variables, numbers: &numbers };
                let values = value.evaluate(store, &[], asked)?;
                shared.extend(key.map(|key| (key, ArrayRef::clone(&values))));
                columns.push(values);
            }
            let batch = batch_of(&condition.schema, columns, rows.len())?;
            let values = condition.expr.evaluate(&batch)?;
            set_bits(&mut masks, &values, condition.variable);
        }
        Ok(masks)
    }
}

impl Condition {
    fn new(variable: usize, expr: &MatchExpr, input: &SchemaRef) -> Self {
        let leaves = expr.leaves.iter().filter_map(|leaf| match leaf {
            MatchLeaf::Value { row, value } => Some((row.physical, RowValues::new(value, input))),
            // The planner counts a condition with any other leaf among those of the path.
            _ => None,
        });
        Self { variable, leaves: leaves.collect(), schema: leaf_schema(expr, &DataType::Null), expr: expr.expr.clone() }
    }
}

/// Reach widened by a row so far away.
pub fn widened((back, ahead): (u32, u32), physical: i64) -> (u32, u32) {
    let away = u32::try_from(physical.unsigned_abs()).unwrap_or(u32::MAX);
    if physical < 0 { (back.max(away), ahead) } else { (back, ahead.max(away)) }
}

fn set_bits(masks: &mut [u64], values: &ArrayRef, variable: usize) {
    let Some(values) = values.as_any().downcast_ref::<arrow::array::BooleanArray>() else { return };
    let bits = match values.nulls() {
        Some(nulls) => values.values() & nulls.inner(),
        None => values.values().clone(),
    };
    for row in bits.set_indices() {
        masks[row] |= 1 << variable;
    }
}
