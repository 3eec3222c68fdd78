//! Walking JSON text without building a document: values are slices of it, so numbers keep their digits.
//!
//! **Invariant:** the text is well formed (the caller has parsed it) and starts without space. On other text the
//! functions give some value, but they do not panic.

use std::borrow::Cow;

/// The value of an object's member; the last one if the name repeats.
pub(super) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let quoted_plainly = |key: &str| key.len() == name.len() + 2 && &key[1..key.len() - 1] == name;
    let is_name = |key: &str| if key.contains('\\') { unquoted(key) == name } else { quoted_plainly(key) };
    Members::of(json)?.filter(|(key, _)| is_name(key)).last().map(|(_, value)| value)
}

/// An array's element, counted from 0, or from the end where negative.
pub(super) fn element(json: &str, index: i64) -> Option<&str> {
    let mut elements = Elements::of(json)?;
    match usize::try_from(index) {
        Ok(index) => elements.nth(index),
        Err(_) => {
            let all: Vec<&str> = elements.collect();
            all.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?).map(|i| all[i])
        }
    }
}

/// Appends a string's text, or a number or boolean as it is written.
pub(super) fn write_scalar(json: &str, out: &mut String) -> Option<()> {
    if json.starts_with('"') {
        out.push_str(&unquoted(json))
    } else {
        out.push_str(json)
    }
    Some(())
}

/// Appends JSON without space, members in the order of their names.
pub(super) fn write_compact(json: &str, out: &mut String) {
    if let Some(members) = Members::of(json) {
        let mut members: Vec<(&str, &str)> = members.collect();
        members.sort_by_key(|(key, _)| *key);
        out.push('{');
        for (index, (key, value)) in members.iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            out.push_str(key);
            out.push(':');
            write_compact(value, out);
        }
        out.push('}');
    } else if let Some(elements) = Elements::of(json) {
        out.push('[');
        for (index, element) in elements.enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            write_compact(element, out);
        }
        out.push(']');
    } else {
        out.push_str(json);
    }
}

/// The text of a JSON string.
fn unquoted(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json.trim_matches('"'));
    }
    // Lone surrogates, the one thing that a well-formed string can have and Rust cannot, stay as they are.
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Keys (quoted) and values of an object.
struct Members<'a>(&'a str);

impl<'a> Members<'a> {
    fn of(json: &'a str) -> Option<Self> {
        json.strip_prefix('{').map(|rest| Members(rest.trim_start()))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, rest) = split_value(self.0)?;
        let (value, rest) = split_value(rest.trim_start().strip_prefix(':')?.trim_start())?;
        self.0 = rest.trim_start().strip_prefix(',').map_or("", str::trim_start);
        Some((key, value))
    }
}

/// Elements of an array.
struct Elements<'a>(&'a str);

impl<'a> Elements<'a> {
    fn of(json: &'a str) -> Option<Self> {
        json.strip_prefix('[').map(|rest| Elements(rest.trim_start()))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        let (value, rest) = split_value(self.0)?;
        self.0 = rest.trim_start().strip_prefix(',').map_or("", str::trim_start);
        Some(value)
    }
}

/// The value that the text starts with, and what follows it; `None` at the end of an object, array or text.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => break,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    // All stops are ASCII, so this is a boundary unless the text is malformed.
    text.split_at_checked(at).filter(|(value, _)| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{element, member, write_compact, write_scalar};

    const DOCUMENT: &str = r#"{"z": 1.50, "a\"b" : [ 1, {"y":2,"x": "}"} , [] ],"é":{}, "z": 7}"#;

    #[test]
    fn values_are_slices() {
        assert_eq!(member(DOCUMENT, "z"), Some("7"));
        assert_eq!(member(DOCUMENT, "a\"b"), Some(r#"[ 1, {"y":2,"x": "}"} , [] ]"#));
        assert_eq!(member(DOCUMENT, "é"), Some("{}"));
        assert_eq!(member(DOCUMENT, "none"), None);
        assert_eq!(member("[1]", "a"), None);
        assert_eq!(element("[1, 2 ,3]", 1), Some("2"));
        assert_eq!(element("[1, 2 ,3]", -1), Some("3"));
        assert_eq!(element("[1, 2 ,3]", 3), None);
        assert_eq!(element("[1]", -2), None);
        assert_eq!(element("[]", 0), None);
    }

    #[test]
    fn compact_json_is_sorted() {
        let mut out = String::new();
        write_compact(r#"{ "b" : [ 1 , {"y":2, "x": "} "} ], "a": null }"#, &mut out);
        assert_eq!(out, r#"{"a":null,"b":[1,{"x":"} ","y":2}]}"#);
    }

    #[test]
    fn scalars_are_unquoted() {
        for (json, expected) in [(r#""a\nb""#, "a\nb"), (r#""\u00e9""#, "é"), (r#""""#, ""), ("1.50", "1.50")] {
            let mut out = String::new();
            write_scalar(json, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn malformed_text_does_no_harm() {
        for text in ["{", "{\"a", "{\"a\\", "[1,", "[\"é\\", "{\"a\":", "]", ""] {
            member(text, "a");
            element(text, 0);
            write_compact(text, &mut String::new());
        }
    }
}
