//! AFTER MATCH SKIP: where the search goes on behind a match.

use arrow::util::display::array_value_to_string;
use tidemark_planner::stream_plan::match_recognize::MatchSkip;

use super::path::Label;
use super::rows::{RowId, RowStore};
use crate::error::OperatorError;

/// Why a skip cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipError {
    /// It leads to the row where the match begins: the search would find it again, for ever.
    FirstRow,
    /// No row of the match is the variable.
    Absent,
}

/// How many rows behind the first of a match the next one may begin.
pub fn skip_target(skip: &MatchSkip, labels: &[Label]) -> Result<u64, SkipError> {
    let MatchSkip::ToVariable { variables, to_last, .. } = skip else {
        return Ok(if *skip == MatchSkip::PastLastRow { labels.len() as u64 } else { 1 });
    };
    let is_one = |label: &Label| label.is_in(variables.0);
    let found = if *to_last { labels.iter().rposition(is_one) } else { labels.iter().position(is_one) };
    match found {
        None => Err(SkipError::Absent),
        Some(0) => Err(SkipError::FirstRow),
        Some(row) => Ok(row as u64),
    }
}

impl SkipError {
    /// The error of a job that stops here; `first` is the row where the match begins.
    pub fn of_match(
        self,
        skip: &MatchSkip,
        first: Option<RowId>,
        time_column: Option<usize>,
        store: &RowStore,
    ) -> OperatorError {
        let (name, which) = match skip {
            MatchSkip::ToVariable { name, to_last, .. } => (name.as_str(), if *to_last { "LAST" } else { "FIRST" }),
            _ => ("", ""),
        };
        let shown = first.zip(time_column).and_then(|(row, column)| {
            let values = store.gather(column, &[row]).ok()?;
            array_value_to_string(&values, 0).ok()
        });
        let which_match = shown.map_or_else(String::new, |time| format!(" that begins at {}", time.replace('T', " ")));
        let why = match self {
            SkipError::FirstRow => {
                format!("it cannot skip to the first row of match{which_match}: the same match would be found for ever")
            }
            SkipError::Absent => format!("{name} is not present in match{which_match}"),
        };
        OperatorError::Match(format!(
            "AFTER MATCH SKIP TO {which} {name} failed: {why}; \
             'match.skip-failure' = 'degrade' goes on behind such a match"
        ))
    }
}

#[cfg(test)]
mod tests {
    use tidemark_planner::stream_plan::match_recognize::VariableSet;

    use super::*;

    #[test]
    fn the_search_never_goes_on_where_the_match_began() {
        let labels = [0, 1, 1, 0, 2].map(|variable| Label::new(variable, false));
        let to = |set: u64, to_last| {
            let skip = MatchSkip::ToVariable { variables: VariableSet(set), to_last, name: "V".into() };
            skip_target(&skip, &labels)
        };
        assert_eq!(skip_target(&MatchSkip::PastLastRow, &labels), Ok(5));
        assert_eq!(skip_target(&MatchSkip::ToNextRow, &labels), Ok(1));
        assert_eq!((to(0b010, false), to(0b010, true)), (Ok(1), Ok(2)));
        assert_eq!((to(0b001, false), to(0b001, true)), (Err(SkipError::FirstRow), Ok(3)));
        assert_eq!(to(0b110, true), Ok(4));
        assert_eq!(to(0b1000, true), Err(SkipError::Absent));
    }
}
