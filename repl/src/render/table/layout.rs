//! Widths of columns, and lines that keep to them. Widths are in terminal columns: a wide character takes two.

use arrow::datatypes::Schema;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text column is not made narrower than this to fit a terminal.
const MIN_TEXT_WIDTH: usize = 8;

/// The columns of a table.
pub struct Columns {
    columns: Vec<Column>,
    /// Terminal columns to fit into.
    limit: Option<usize>,
}

struct Column {
    name: String,
    /// Numbers stand at the right and are never cut.
    is_number: bool,
    /// The widest text so far.
    natural: usize,
    /// What it gets.
    width: usize,
}

/// The horizontal lines of a box.
#[derive(Clone, Copy)]
pub enum Rule {
    /// Above the names.
    Top,
    /// Below the names.
    Middle,
    /// Below the rows.
    Bottom,
}

impl Columns {
    /// Of a schema, at first as wide as their names.
    pub fn new(schema: &Schema, limit: Option<usize>) -> Self {
        let columns = schema.fields().iter().map(|field| {
            let name = printable(field.name());
            let natural = name.width();
            Column { name, is_number: field.data_type().is_numeric(), natural, width: natural }
        });
        let mut columns = Self { columns: columns.collect(), limit };
        columns.fit();
        columns
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.columns.len()
    }

    /// Makes room for `cells`, which are rows one after the other.
    pub fn widen(&mut self, cells: &[String]) {
        for row in cells.chunks(self.count().max(1)) {
            for (column, cell) in self.columns.iter_mut().zip(row) {
                column.natural = column.natural.max(cell.width());
            }
        }
        self.fit();
    }

    /// Gives each column its natural width, less what must go from the widest text columns to fit the limit.
    fn fit(&mut self) {
        for column in &mut self.columns {
            column.width = column.natural;
        }
        let Some(limit) = self.limit else {
            return;
        };
        let frame = 3 * self.columns.len() + 1;
        let total: usize = frame + self.columns.iter().map(|c| c.width).sum::<usize>();
        let mut excess = total.saturating_sub(limit);
        while excess > 0 {
            let texts = self.columns.iter_mut().filter(|c| !c.is_number && c.width > MIN_TEXT_WIDTH);
            let mut texts: Vec<&mut Column> = texts.collect();
            texts.sort_by_key(|c| std::cmp::Reverse(c.width));
            let Some(widest) = texts.first().map(|c| c.width) else {
                return;
            };
            let next = texts.iter().map(|c| c.width).find(|w| *w < widest).unwrap_or(MIN_TEXT_WIDTH);
            let level = texts.iter().filter(|c| c.width == widest).count();
            // All of the widest go down together: to the next widest, or as far as is needed.
            let step = (widest - next.max(MIN_TEXT_WIDTH)).min(excess.div_ceil(level));
            for column in texts.iter_mut().take(level) {
                column.width -= step;
            }
            excess = excess.saturating_sub(step * level);
        }
    }

    /// Appends a horizontal line.
    pub fn push_rule(&self, line: &mut String, rule: Rule) {
        let (left, cross, right) = match rule {
            Rule::Top => ('┌', '┬', '┐'),
            Rule::Middle => ('├', '┼', '┤'),
            Rule::Bottom => ('└', '┴', '┘'),
        };
        line.push(left);
        for (i, column) in self.columns.iter().enumerate() {
            if i > 0 {
                line.push(cross);
            }
            line.extend(std::iter::repeat_n('─', column.width + 2));
        }
        line.push(right);
        line.push('\n');
    }

    /// Appends the line of names.
    pub fn push_names(&self, line: &mut String) {
        self.push_cells(line, self.columns.iter().map(|c| c.name.as_str()));
    }

    /// Appends the line of a row.
    pub fn push_row(&self, line: &mut String, cells: &[String]) {
        self.push_cells(line, cells.iter().map(String::as_str));
    }

    fn push_cells<'t>(&self, line: &mut String, cells: impl Iterator<Item = &'t str>) {
        for (column, cell) in self.columns.iter().zip(cells) {
            line.push_str("│ ");
            let width = cell.width();
            let padding = std::iter::repeat_n(' ', column.width.saturating_sub(width));
            if column.is_number {
                line.extend(padding);
                line.push_str(cell);
            } else if width <= column.width {
                line.push_str(cell);
                line.extend(padding);
            } else {
                push_cut(line, cell, column.width);
            }
            line.push(' ');
        }
        line.push_str("│\n");
    }
}

/// As much of `cell` as fits before `…`, padded to `width`.
fn push_cut(line: &mut String, cell: &str, width: usize) {
    let mut used = 1;
    for c in cell.chars() {
        let next = c.width().unwrap_or(0);
        if used + next > width {
            break;
        }
        used += next;
        line.push(c);
    }
    line.push('…');
    line.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
}

/// `text` with control characters spelled out: one row stays one line, and data cannot steer a terminal.
pub fn printable(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_string();
    }
    text.chars().fold(String::with_capacity(text.len() + 8), |mut printable, c| {
        if c.is_control() {
            printable.extend(c.escape_default())
        } else {
            printable.push(c)
        }
        printable
    })
}
