//! `LISTAGG`: texts joined in arrival order, NULL skipped.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringBuilder};
use arrow::compute;
use arrow::datatypes::{DataType, Field};

use super::value_log::ValueLog;
use super::{Accumulator, AggregateError, AggregateRows, same_kind};

/// Joins values of type `arg`, as text, with `separator`.
pub(super) fn create(arg: &DataType, separator: &str, distinct: bool) -> Result<Box<dyn Accumulator>, AggregateError> {
    if !compute::can_cast_types(arg, &DataType::Utf8) {
        return Err(AggregateError::Reason(format!("{arg} cannot be joined as text")));
    }
    Ok(Box::new(ListAgg { separator: separator.to_owned(), log: ValueLog::new(&DataType::Utf8, distinct)? }))
}

struct ListAgg {
    separator: String,
    log: ValueLog,
}

impl Accumulator for ListAgg {
    fn resize(&mut self, groups: usize) {
        self.log.resize(groups);
    }

    fn update(&mut self, rows: &AggregateRows<'_>) -> Result<(), AggregateError> {
        let texts = compute::cast(rows.arg(), &DataType::Utf8)?;
        self.log.append(&texts, rows.groups, rows.arrival, rows.counted())
    }

    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<(), AggregateError> {
        self.log.merge(&same_kind::<Self>(other).log, from, to)
    }

    fn evaluate(&self, groups: &[u32]) -> Result<ArrayRef, AggregateError> {
        let (values, ends) = self.log.lists(groups)?;
        let texts = values.as_string::<i32>();
        let mut joined = StringBuilder::with_capacity(groups.len(), texts.value_data().len());
        let mut text = String::new();
        let mut start = 0;
        for end in ends {
            text.clear();
            for position in start..end {
                if position > start {
                    text.push_str(&self.separator);
                }
                text.push_str(texts.value(position));
            }
            joined.append_option((end > start).then_some(&text));
            start = end;
        }
        Ok(Arc::new(joined.finish()))
    }
    fn state_fields(&self) -> Vec<Field> {
        self.log.state_fields()
    }

    fn state(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, AggregateError> {
        Ok(self.log.state(groups)?)
    }

    fn merge_state(&mut self, state: &[ArrayRef], groups: &[u32]) -> Result<(), AggregateError> {
        self.log.merge_state(state, groups)
    }
}
