//! What a record got, in the runner's form.

use sqllogictest::DBOutput;

use super::expectation::spaced;
use super::values::{self, Row, TypeChar};

/// Rows of columns of these types.
pub fn of_rows(types: Vec<TypeChar>, rows: &[Row]) -> DBOutput<TypeChar> {
    DBOutput::Rows { types, rows: rows.iter().map(|row| spaced(values::cells(row))).collect() }
}

/// A text as one column, a row a line; sqllogictest ends a result at the first blank line, so blank lines are left out.
pub fn of_lines<'t>(lines: impl IntoIterator<Item = &'t str>) -> DBOutput<TypeChar> {
    let lines = lines.into_iter().map(str::trim_end).filter(|line| !line.is_empty());
    DBOutput::Rows { types: vec![TypeChar::TEXT], rows: lines.map(|line| vec![line.to_string()]).collect() }
}
