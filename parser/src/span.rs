//! Places in SQL text, as byte offsets.

/// A half-open range of byte offsets into one script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`; `end` is raised to `start` when it lies before it.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text this span covers; empty when the span lies outside `text`.
    pub fn slice<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// Translates `sqlparser` locations (line and column, counted in characters from 1) into byte offsets.
#[derive(Clone, Debug)]
pub struct LineIndex<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
    /// For each line: is every character one byte, so that a column is an offset? Long generated lines mostly are.
    is_ascii: Vec<bool>,
}

impl<'t> LineIndex<'t> {
    /// Scans `text` once for line ends.
    pub fn new(text: &'t str) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        let is_ascii = text.split('\n').map(str::is_ascii).collect();
        Self { text, line_starts, is_ascii }
    }

    /// Byte offset of a location; clamped to the text.
    pub fn offset(&self, location: sqlparser::tokenizer::Location) -> usize {
        let line = (location.line as usize).max(1) - 1;
        let Some(&start) = self.line_starts.get(line) else {
            return self.text.len();
        };
        let columns = (location.column as usize).max(1) - 1;
        if self.is_ascii[line] {
            return (start + columns).min(self.text.len());
        }
        let rest = &self.text[start..];
        start + rest.char_indices().nth(columns).map_or(rest.len(), |(i, _)| i)
    }

    /// Byte span of a `sqlparser` span; `None` for its "empty" span, which has no place.
    pub fn span(&self, span: sqlparser::tokenizer::Span) -> Option<Span> {
        if span == sqlparser::tokenizer::Span::empty() {
            return None;
        }
        Some(Span::new(self.offset(span.start), self.offset(span.end)))
    }

    /// Line and column of a byte offset, both counted from 1, the column in characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|s| *s <= offset) - 1;
        let start = self.line_starts[line];
        let column = self.text.get(start..offset).map_or(0, |t| t.chars().count());
        (line + 1, column + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, Span};
    use sqlparser::tokenizer::Location;

    #[test]
    fn columns_count_characters_and_offsets_count_bytes() {
        let text = "ab\né漢c\r\n\nd";
        let lines = LineIndex::new(text);
        for (offset, place) in
            [(0, (1, 1)), (1, (1, 2)), (3, (2, 1)), (5, (2, 2)), (8, (2, 3)), (11, (3, 1)), (12, (4, 1))]
        {
            assert_eq!(lines.offset(Location::new(place.0 as u64, place.1 as u64)), offset);
            assert_eq!(lines.line_column(offset), place);
        }
    }

    #[test]
    fn places_outside_the_text_are_moved_into_it() {
        let lines = LineIndex::new("ab\né");
        for (line, column) in [(2, 9), (9, 1), (2, 2)] {
            assert_eq!(lines.offset(Location::new(line, column)), 5);
        }
        assert_eq!(lines.offset(Location::new(0, 0)), 0);
        assert_eq!(lines.line_column(99), (2, 2));
        assert_eq!(LineIndex::new("").line_column(0), (1, 1));
    }

    #[test]
    fn a_span_never_ends_before_it_starts() {
        assert_eq!(Span::new(5, 3), Span { start: 5, end: 5 });
        assert_eq!(Span::new(1, 2).to(Span::new(4, 6)), Span::new(1, 6));
        assert_eq!(Span::new(1, 99).slice("ab"), "");
    }
}
