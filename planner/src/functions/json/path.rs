//! JSON paths.

use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json_path::JsonPath;

use super::scan;

/// A compiled path.
#[derive(Debug)]
pub(super) enum Path {
    /// Leads to at most one value, found without building the document.
    Definite(Vec<Step>),
    /// May lead to many values.
    Indefinite(JsonPath),
}

/// One step down.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Member(String),
    /// Negative from the end.
    Index(i64),
}

/// What a path leads to.
#[derive(Debug, PartialEq)]
pub(super) enum Found<'a> {
    /// The JSON of one value, without space around it.
    One(&'a str),
    /// The values of an indefinite path.
    Many(Vec<Value>),
}

impl Path {
    /// Compiles a path. The error is a sentence.
    pub fn compile(text: &str) -> Result<Path, String> {
        let trimmed = text.trim();
        // Both modes give NULL for what is not there, so they do not differ here.
        let path = ["lax ", "strict "].iter().find_map(|mode| trimmed.strip_prefix(mode)).unwrap_or(trimmed).trim();
        if let Some(steps) = path.strip_prefix('$').and_then(definite_steps) {
            return Ok(Path::Definite(steps));
        }
        match JsonPath::parse(path) {
            Ok(path) => Ok(Path::Indefinite(path)),
            Err(e) => Err(format!("'{text}' is not a JSON path: {e}")),
        }
    }

    /// What the path leads to in a document; `None` if that is nothing or the text is no JSON.
    pub fn find<'a>(&self, text: &'a str) -> Option<Found<'a>> {
        match self {
            Path::Definite(steps) => {
                // The scan relies on text that is well formed.
                serde_json::from_str::<IgnoredAny>(text).ok()?;
                let value = steps.iter().try_fold(text.trim(), |json, step| match step {
                    Step::Member(name) => scan::member(json, name),
                    Step::Index(index) => scan::element(json, *index),
                })?;
                Some(Found::One(value))
            }
            Path::Indefinite(path) => {
                let document: Value = serde_json::from_str(text).ok()?;
                Some(Found::Many(path.query(&document).all().into_iter().cloned().collect()))
            }
        }
    }
}

/// The name in `['name']`, for one of the two quotes, and what follows.
fn quoted_member(path: &str, quote: char) -> Option<(&str, &str)> {
    let after = path.strip_prefix('[')?.strip_prefix(quote)?;
    let (name, after) = after.split_once(quote)?;
    Some((name, after.strip_prefix(']')?))
}

/// The steps of `.member['member']["member"][0]`; `None` if there is anything else.
fn definite_steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        // The dot before a bracket is optional.
        let bracket = rest.strip_prefix('.').unwrap_or(rest);
        if let Some((name, after)) = quoted_member(bracket, '\'').or_else(|| quoted_member(bracket, '"')) {
            if name.contains(['\'', '"', '\\']) {
                return None;
            }
            steps.push(Step::Member(name.to_string()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']')?;
            steps.push(Step::Index(index.trim().parse().ok()?));
            rest = after;
        } else {
            let after = rest.strip_prefix('.')?;
            let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-' || c == '$' || c == '@'));
            let (name, after) = after.split_at(end.unwrap_or(after.len()));
            if name.is_empty() {
                return None;
            }
            steps.push(Step::Member(name.to_string()));
            rest = after;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::{Found, Path, Step};

    fn steps(path: &str) -> Vec<Step> {
        match Path::compile(path) {
            Ok(Path::Definite(steps)) => steps,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn definite_paths_are_steps() {
        let member = |name: &str| Step::Member(name.into());
        assert_eq!(steps("$"), []);
        assert_eq!(steps("lax $.a_b.c-d"), [member("a_b"), member("c-d")]);
        assert_eq!(steps("strict $['a b'][0].c"), [member("a b"), Step::Index(0), member("c")]);
        assert_eq!(steps(r#"$["a b"].c"#), [member("a b"), member("c")]);
        assert_eq!(steps("$.['a'][-1]"), [member("a"), Step::Index(-1)]);
    }

    #[test]
    fn other_paths_are_indefinite() {
        for path in ["$.a[*]", "$..b", "$.*", "$[0:2]", "$.a[?(@.b > 1)]"] {
            assert!(matches!(Path::compile(path), Ok(Path::Indefinite(_))), "{path}");
        }
        assert!(Path::compile("nonsense[").unwrap_err().starts_with("'nonsense[' is not a JSON path"));
    }

    #[test]
    fn a_document_that_is_malformed_anywhere_has_nothing() {
        let path = Path::compile("$.a").unwrap();
        assert_eq!(path.find(r#" {"a": 1 } "#), Some(Found::One("1")));
        assert_eq!(path.find(r#"{"a": 1"#), None);
        assert_eq!(path.find(r#"{"a": 1} x"#), None);
    }
}
