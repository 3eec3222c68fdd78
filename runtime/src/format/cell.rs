//! Where the values of a text stand, and what their notation means.

use arrow::datatypes::Field;

use super::column::ColumnBuilder;
use super::zone::Zone;

/// The bytes of a value within the text being decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    start: u32,
    end: u32,
}

impl Cell {
    /// There is no value: NULL.
    pub const MISSING: Cell = Cell { start: u32::MAX, end: u32::MAX };

    /// The bytes from `start` to before `end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && end < u32::MAX as usize, "a decoder's input is far smaller than 4 GiB");
        Self { start: start as u32, end: end as u32 }
    }

    /// Is there a value?
    pub fn is_missing(self) -> bool {
        self.start == u32::MAX
    }

    /// Where it begins.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The value's bytes; none when it is missing.
    pub fn of(self, input: &[u8]) -> Option<&[u8]> {
        input.get(self.start as usize..self.end as usize)
    }
}

/// What a format's notation of a value means.
pub(crate) trait CellSource: Send + Sized + 'static {
    /// The text of a value that is not a string, or `None` for NULL. `scratch` is for what does not stand in `raw`
    /// as such.
    fn value<'a>(&self, raw: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]>;

    /// The text of a string, or `None` for NULL.
    fn string<'a>(&self, raw: &'a [u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]>;

    /// A builder for a column of rows, arrays or maps.
    fn nested_builder(field: &Field, zone: Zone) -> Box<dyn ColumnBuilder<Self>>;
}

/// A value that cannot be read.
pub(crate) struct BadCell {
    /// Its row in the block.
    pub row: usize,
    /// Where in the column: `` or `.city` or `[3]`
    pub path: String,
    /// `'abc' is not a BIGINT`
    pub reason: String,
}

/// The values of a block that cannot be read.
#[derive(Default)]
pub(crate) struct BadCells {
    cells: Vec<BadCell>,
}

impl BadCells {
    /// Adds one.
    pub fn push(&mut self, row: usize, reason: String) {
        self.cells.push(BadCell { row, path: String::new(), reason });
    }

    /// Takes over a nested column's, each with its row here and the step of the path that leads there.
    pub fn adopt(&mut self, nested: &mut BadCells, place: impl Fn(usize) -> (usize, String)) {
        self.cells.extend(nested.cells.drain(..).map(|bad| {
            let (row, step) = place(bad.row);
            BadCell { row, path: step + &bad.path, reason: bad.reason }
        }));
    }

    /// Forgets those in rows that do not count.
    pub fn retain(&mut self, counts: impl Fn(usize) -> bool) {
        self.cells.retain(|bad| counts(bad.row));
    }

    /// Takes all.
    pub fn drain(&mut self) -> impl Iterator<Item = BadCell> + '_ {
        self.cells.drain(..)
    }
}

/// Longest piece of a value that a message quotes.
const MAX_QUOTED_CHARS: usize = 60;

/// The value in quotes, shortened when it is long.
pub(crate) fn quote_value(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let is_long = text.chars().nth(MAX_QUOTED_CHARS).is_some();
    let shown: String = text
        .chars()
        .take(MAX_QUOTED_CHARS)
        .flat_map(|c| {
            let plain = (!c.is_control()).then_some(c);
            plain.into_iter().chain(c.escape_default().filter(move |_| plain.is_none()))
        })
        .collect();
    format!("'{shown}{}'", if is_long { "…" } else { "" })
}
