//! What a join does, in terms of its kept columns.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::sync::Arc;
use tidemark_planner::stream_plan::{JoinBound, JoinCondition, JoinNode, JoinSide, JoinType};

use super::chunks::Chunks;
use crate::error::OperatorError;

/// A [`JoinNode`] with the types of its inputs.
#[derive(Debug)]
pub(super) struct JoinPlan {
    pub(super) join_type: JoinType,
    /// Left, right.
    pub(super) sides: [SidePlan; 2],
    /// Are pairs put out, or only rows of one side?
    pub(super) emits_pairs: bool,
    /// For each key: does NULL equal NULL?
    pub(super) null_safe: Vec<bool>,
    pub(super) condition: Option<Condition>,
    pub(super) interval: Option<Interval>,
    pub(super) output_schema: SchemaRef,
}

/// One input.
#[derive(Debug)]
pub(super) struct SidePlan {
    pub(super) side: JoinSide,
    /// When a row of this side is put out by itself, padded with NULL where the other side has output columns.
    pub(super) emits: Emits,
    pub(super) key_fields: Vec<Field>,
    /// Of the kept columns.
    pub(super) fields: Vec<Field>,
}

/// When a row is put out by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emits {
    Never,
    /// While nothing matches it: outer and anti joins.
    Unmatched,
    /// While something matches it: semi joins.
    Matched,
}

/// How far apart the event times of a pair may be: `lower_ms <= left - right <= upper_ms`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) lower_ms: i64,
    pub(super) upper_ms: i64,
}

impl Interval {
    /// The watermark with which no further row can match one of side `side` at `time_ms`: the other's time would have
    /// to be at or before it.
    pub(super) fn expires_ms(&self, side: usize, time_ms: i64) -> i64 {
        if side == 0 { time_ms.saturating_sub(self.lower_ms) } else { time_ms.saturating_add(self.upper_ms) }
    }

    /// May rows at these times match?
    pub(super) fn admits(&self, left_ms: i64, right_ms: i64) -> bool {
        let difference = left_ms.saturating_sub(right_ms);
        self.lower_ms <= difference && difference <= self.upper_ms
    }
}

impl JoinPlan {
    /// The plan of `node` over inputs with these columns.
    pub(super) fn new(node: &JoinNode, inputs: [&SchemaRef; 2], output: &SchemaRef) -> Self {
        let emits = match node.join_type {
            JoinType::Inner => [Emits::Never, Emits::Never],
            JoinType::Left => [Emits::Unmatched, Emits::Never],
            JoinType::Right => [Emits::Never, Emits::Unmatched],
            JoinType::Full => [Emits::Unmatched, Emits::Unmatched],
            JoinType::Semi => [Emits::Matched, Emits::Never],
            JoinType::Anti => [Emits::Unmatched, Emits::Never],
        };
        let side = |index: usize| {
            let fields = |columns: &[usize]| columns.iter().map(|c| inputs[index].field(*c).clone()).collect();
            let side = node.sides[index].clone();
            SidePlan { emits: emits[index], key_fields: fields(&side.keys), fields: fields(&side.columns), side }
        };
        let interval = match node.bound {
            JoinBound::Interval { lower_ms, upper_ms, .. } => Some(Interval { lower_ms, upper_ms }),
            _ => None,
        };
        let sides = [side(0), side(1)];
        Self {
            join_type: node.join_type,
            emits_pairs: !matches!(node.join_type, JoinType::Semi | JoinType::Anti),
            null_safe: node.null_safe.clone(),
            condition: node.condition.clone().map(|condition| Condition::new(condition, &sides)),
            interval,
            output_schema: Arc::clone(output),
            sides,
        }
    }
}

impl SidePlan {
    /// The kept columns of a batch of the input.
    pub(super) fn kept_columns(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        self.side.columns.iter().map(|c| ArrayRef::clone(batch.column(*c))).collect()
    }

    /// The key columns of a batch of the input.
    pub(super) fn key_columns(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        self.side.keys.iter().map(|c| ArrayRef::clone(batch.column(*c))).collect()
    }

    /// The types of the kept columns.
    pub(super) fn types(&self) -> Vec<DataType> {
        self.fields.iter().map(|f| f.data_type().clone()).collect()
    }

    /// The types of the keys.
    pub(super) fn key_types(&self) -> Vec<DataType> {
        self.key_fields.iter().map(|f| f.data_type().clone()).collect()
    }
}

/// A condition over pairs of rows.
#[derive(Debug)]
pub(super) struct Condition {
    condition: JoinCondition,
    schema: SchemaRef,
}

impl Condition {
    fn new(condition: JoinCondition, sides: &[SidePlan; 2]) -> Self {
        let field = |(side, place): &(usize, usize)| sides[*side].fields[*place].clone();
        let fields: Vec<Field> = condition.columns.iter().map(field).collect();
        Self { schema: Arc::new(Schema::new(fields)), condition }
    }

    /// The SQL.
    pub(super) fn text(&self) -> &str {
        &self.condition.expr.text
    }

    /// Which pairs fulfil it: of row `rows[i]` of the columns of side `input` with row `others[i]` of the other side.
    pub(super) fn evaluate(
        &self,
        input: usize,
        columns: &[ArrayRef],
        rows: &UInt32Array,
        other: &Chunks,
        others: &[u32],
    ) -> Result<BooleanArray, OperatorError> {
        let column = |(side, place): &(usize, usize)| -> Result<ArrayRef, ArrowError> {
            if *side == input {
                return compute::take(&columns[*place], rows, None);
            }
            Ok(other.gather(std::iter::once(*place), others)?.swap_remove(0))
        };
        let pairs = self.condition.columns.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(others.len()));
        let pairs = RecordBatch::try_new_with_options(Arc::clone(&self.schema), pairs, &options)?;
        let mask = self.condition.expr.evaluate(&pairs)?;
        let mask = mask.as_boolean();
        // NULL is not true.
        Ok(match mask.nulls() {
            Some(nulls) => BooleanArray::new(mask.values() & nulls.inner(), None),
            None => mask.clone(),
        })
    }
}
