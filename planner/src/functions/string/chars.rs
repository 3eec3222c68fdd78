//! Text by characters. ASCII, the common case, needs no walk through the text.

pub(super) fn char_count(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The byte where a character starts; the end of the text if there are not so many.
pub(super) fn byte_at(text: &str, index: usize) -> usize {
    if text.is_ascii() {
        return index.min(text.len());
    }
    text.char_indices().nth(index).map_or(text.len(), |(byte, _)| byte)
}

/// So many characters from an index on, as far as there are.
pub(super) fn slice(text: &str, first: usize, count: usize) -> &str {
    let rest = &text[byte_at(text, first)..];
    &rest[..byte_at(rest, count)]
}

/// The position, from 1 on, of a part at or behind `start`; 0 if there is none. No text is at 1.
pub(super) fn position(whole: &str, part: &str, start: i64) -> i32 {
    if part.is_empty() {
        return 1;
    }
    let first = byte_at(whole, usize::try_from(start.saturating_sub(1)).unwrap_or(0));
    match whole[first..].find(part) {
        Some(found) => i32::try_from(char_count(&whole[..first + found]) + 1).unwrap_or(i32::MAX),
        None => 0,
    }
}
