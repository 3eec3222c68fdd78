//! Rows go on as they came: `UNION ALL` and the collecting end of a query.
//!
//! What the two mean lies around them: the input gate mixes the inputs of a union, and the last exchange of a
//! collecting query leads to the caller.

use tidemark_state::snapshot::{OperatorSnapshot, StateTableSchema};

use super::{Operator, Output};
use crate::change_batch::ChangeBatch;
use crate::error::OperatorError;

/// Emits what it takes.
#[derive(Debug)]
pub struct PassThrough;

impl Operator for PassThrough {
    fn state_tables(&self) -> Vec<StateTableSchema> {
        vec![]
    }

    fn snapshot(&mut self) -> Result<OperatorSnapshot, OperatorError> {
        Ok(OperatorSnapshot::default())
    }

    fn restore(&mut self, _snapshot: &OperatorSnapshot) -> Result<(), OperatorError> {
        Ok(())
    }

    fn process(
        &mut self,
        _input: usize,
        batch: ChangeBatch,
        _now_ms: i64,
        out: &mut Output,
    ) -> Result<(), OperatorError> {
        out.emit(batch);
        Ok(())
    }
}
