//! Connector and format options: what exists, of which kind, and what was given.

use std::time::Duration;

/// Options as given in `WITH (…)` or an `OPTIONS` hint, in order; a later entry of the same key wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    entries: Vec<(String, String)>,
}

impl Options {
    /// Sets `key`, replacing an earlier value.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        let (key, value) = (key.into(), value.into());
        match self.entries.iter_mut().find(|(k, _)| *k == key) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value)),
        }
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// `true`/`false` of `key`, or `default`. Values were checked against their [`OptionKind`] when the table was created.
    pub fn get_bool(&self, key: &str, default: bool) -> bool {
        self.get(key).map_or(default, |v| v.eq_ignore_ascii_case("true"))
    }

    /// A whole number of `key`.
    pub fn get_u64(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(|v| v.trim().parse().ok())
    }

    /// A duration of `key`.
    pub fn get_duration(&self, key: &str) -> Option<Duration> {
        self.get(key).and_then(|v| parse_duration(v).ok())
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        let mut options = Options::default();
        for (k, v) in iter {
            options.set(k, v);
        }
        options
    }
}

/// One option that a connector or format understands.
#[derive(Clone, Debug)]
pub struct OptionSpec {
    /// Its key, such as `csv.header`. A `*` in it stands for any text that is not empty: `fields.*.min`.
    pub key: &'static str,
    /// What its value must be.
    pub kind: OptionKind,
    /// Must it be given?
    pub required: bool,
    /// One line for help and completion.
    pub help: &'static str,
}

impl OptionSpec {
    /// Is `key` this option, or one of its family?
    pub fn matches(&self, key: &str) -> bool {
        match self.key.split_once('*') {
            None => self.key == key,
            Some((head, tail)) => key.len() > head.len() + tail.len() && key.starts_with(head) && key.ends_with(tail),
        }
    }
}

/// What an option's value must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number, zero or more.
    Count,
    /// A duration such as `10 s`, `500 ms`, `1 h`.
    Duration,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl OptionKind {
    /// Says what is wrong with `value`, or nothing.
    pub fn check(&self, value: &str) -> Result<(), String> {
        match self {
            OptionKind::Text => Ok(()),
            OptionKind::Bool if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") => Ok(()),
            OptionKind::Bool => Err("expected 'true' or 'false'".into()),
            OptionKind::Count => value.trim().parse::<u64>().map(|_| ()).map_err(|_| "expected a whole number".into()),
            OptionKind::Duration => parse_duration(value).map(|_| ()),
            OptionKind::OneOf(words) if words.contains(&value) => Ok(()),
            OptionKind::OneOf(words) => Err(format!("expected one of {}", quoted_list(words))),
        }
    }
}

fn quoted_list(words: &[&str]) -> String {
    words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(", ")
}

/// Reads a duration in Flink's spelling: `10 s`, `500ms`, `1 h`, `2 min`, `1 d`; a bare number is milliseconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if let Ok(ms) = text.parse::<u64>() {
        return Ok(Duration::from_millis(ms));
    }
    humantime::parse_duration(text).map_err(|_| "expected a duration such as '10 s', '500 ms' or '1 h'".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_the_middle_of_a_key() {
        let spec = |key| OptionSpec { key, kind: OptionKind::Text, required: false, help: "" };
        assert!(spec("csv.header").matches("csv.header"));
        assert!(!spec("csv.header").matches("csv.headers"));
        assert!(spec("fields.*.min").matches("fields.price.min"));
        assert!(spec("fields.*.min").matches("fields.a.b.min"), "a column's name may hold a dot");
        assert!(!spec("fields.*.min").matches("fields..min"));
        assert!(!spec("fields.*.min").matches("fields.min"));
        assert!(!spec("fields.*.min").matches("fields.price.max"));
        assert!(spec("properties.*").matches("properties.group.id"));
        assert!(!spec("properties.*").matches("properties."));
    }
}
