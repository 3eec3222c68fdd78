//! Which of the known names was meant.

use datafusion_common::utils::datafusion_strsim::levenshtein;

/// The candidate most like `name`, when one is like it at all.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    let distance = |candidate: &str| levenshtein(&folded, &candidate.to_lowercase());
    let allowed = name.chars().count().div_ceil(3).max(1);
    let (distance, candidate) = candidates.into_iter().map(|c| (distance(c), c)).min_by_key(|(d, _)| *d)?;
    (distance <= allowed).then_some(candidate)
}

/// ` (did you mean 'price'?)`, or nothing.
pub(crate) fn did_you_mean<S: AsRef<str>>(name: &str, candidates: &[S]) -> String {
    nearest(name, candidates.iter().map(AsRef::as_ref)).map(|n| format!(" (did you mean '{n}'?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_like_it() {
        assert_eq!(nearest("prize", ["bidder", "price"]), Some("price"));
        assert_eq!(nearest("PRICE", ["bidder", "price"]), Some("price"));
        assert_eq!(nearest("channel", ["bidder", "price"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
