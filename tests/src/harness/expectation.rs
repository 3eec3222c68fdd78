//! What a script says should come out, brought into the form in which rows are compared.
//!
//! A row is written as its cells with two or more spaces between them, so that cells may hold single spaces and columns
//! may be aligned. With `rowsort` both sides are sorted: the script may list rows in the order that reads best.

use sqllogictest::{Normalizer, QueryExpect, Record, SortMode};

use super::values::TypeChar;

/// What stands between the cells of a row.
const GAP: &str = "  ";

/// The cells of a row such that, joined by the runner's single space, [`GAP`] stands between them.
pub fn spaced(cells: Vec<String>) -> Vec<String> {
    let last = cells.len().saturating_sub(1);
    cells.into_iter().enumerate().map(|(i, cell)| if i < last { cell + " " } else { cell }).collect()
}

/// The record with its expected rows in canonical form. Between several subtasks rows have an order only where the
/// query asks for one.
pub fn prepare(mut record: Record<TypeChar>, parallelism: usize) -> Record<TypeChar> {
    if let Record::Query { expected: QueryExpect::Results { types, sort_mode, results, .. }, sql, .. } = &mut record {
        if parallelism > 1 && sort_mode.is_none() && !sql.to_uppercase().contains("ORDER BY") {
            *sort_mode = Some(SortMode::RowSort);
        }
        let mut rows: Vec<Vec<String>> = results.iter().map(|line| cells(line, types.len())).collect();
        if *sort_mode == Some(SortMode::RowSort) {
            rows.sort_unstable();
        }
        *results = rows.iter().map(|row| row.join(" ")).collect();
    }
    record
}

fn cells(line: &str, columns: usize) -> Vec<String> {
    if columns <= 1 {
        return vec![line.trim_end().to_string()];
    }
    let cells = line.trim().split(GAP).map(str::trim).filter(|cell| !cell.is_empty());
    spaced(cells.map(str::to_string).collect())
}

/// Are these the rows?
pub fn is_met(_: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    actual.len() == expected.len() && actual.iter().zip(expected).all(|(row, line)| row.join(" ") == *line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_apart_by_two_spaces_or_more() {
        assert_eq!(cells("2026-01-01 10:00:00.000   a b  3", 3), ["2026-01-01 10:00:00.000 ", "a b ", "3"]);
        assert_eq!(cells("    indented  text ", 1), ["    indented  text"]);
    }

    #[test]
    fn rows_must_agree_in_number_and_text() {
        let row = |cells: &[&str]| spaced(cells.iter().map(|c| c.to_string()).collect());
        let is_met = |rows: &[Vec<String>], lines: &[&str]| {
            is_met(Clone::clone, rows, &lines.iter().map(|l| l.to_string()).collect::<Vec<_>>())
        };
        assert!(is_met(&[row(&["a", "1"])], &["a  1"]));
        assert!(!is_met(&[row(&["a", "1"])], &["a 1"]), "one cell `a 1` is not two cells");
        assert!(!is_met(&[row(&["a", "1"]), row(&["a", "1"])], &["a  1"]));
        assert!(!is_met(&[], &["a  1"]));
    }
}
