//! "Did you mean": the candidate that a misspelt word most likely stands for.

/// The candidate nearest to `word`, ignoring case, or `None` when none is near enough to be what was meant.
///
/// Near enough is one edit (insertion, deletion, replacement, swap of neighbours) per three characters, at least one;
/// words of one or two characters only match when they differ in case. Of equally near candidates the first wins.
///
/// ```
/// use tidemark_parser::suggest;
/// assert_eq!(suggest("formt", ["path", "format"]), Some("format"));
/// assert_eq!(suggest("banana", ["path", "format"]), None);
/// ```
pub fn suggest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let folded = word.to_lowercase();
    let length = folded.chars().count();
    let most = if length <= 2 { 0 } else { (length / 3).max(1) };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().filter(|candidate| *candidate != word) {
        let distance = strsim::osa_distance(&folded, &candidate.to_lowercase());
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::suggest;

    const KEYWORDS: [&str; 4] = ["SELECT", "SET", "SHOW", "INSERT"];

    #[test]
    fn swapped_missing_and_wrong_letters_are_found() {
        assert_eq!(suggest("SELCT", KEYWORDS), Some("SELECT"));
        assert_eq!(suggest("slect", KEYWORDS), Some("SELECT"));
        assert_eq!(suggest("SEELCT", KEYWORDS), Some("SELECT"));
        assert_eq!(suggest("SHWO", KEYWORDS), Some("SHOW"));
    }

    #[test]
    fn the_nearest_wins_and_then_the_first() {
        assert_eq!(suggest("SETT", KEYWORDS), Some("SET"));
        assert_eq!(suggest("abd", ["abc", "abe"]), Some("abc"));
    }

    #[test]
    fn far_and_short_words_are_left_alone() {
        assert_eq!(suggest("xyz", KEYWORDS), None);
        assert_eq!(suggest("a", ["b"]), None);
        assert_eq!(suggest("A", ["a"]), Some("a"));
        assert_eq!(suggest("", KEYWORDS), None);
    }

    #[test]
    fn a_word_is_not_a_suggestion_for_itself() {
        assert_eq!(suggest("SET", ["SET"]), None);
    }
}
