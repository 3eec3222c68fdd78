//! Regular expressions, and SQL's SIMILAR TO.
//!
//! A regular expression that is not valid, or that Java knows and this engine does not (look-around, references
//! back), is an error: Flink gives NULL for the former, which hides the mistake.

use std::cell::RefCell;
use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringBuilder};
use arrow::datatypes::{DataType, Field, Int32Type};
use datafusion_common::{Result, exec_err};
use regex::{NoExpand, Regex};

use super::call::Call;
use super::compiled::Compiled;
use super::param::Param::{Long, Text};
use super::scalar::{Returns, ScalarFunction, takes};
use super::syntax::SIMILAR_TO;

pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = || Returns::Type(DataType::Utf8);
    let int = || Returns::Type(DataType::Int32);
    let bool = || Returns::Type(DataType::Boolean);
    let texts = || Returns::Type(DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))));
    vec![
        ScalarFunction::new("regexp", takes(&[Text, Text]), bool(), regexp),
        ScalarFunction::new("regexp_extract", takes(&[Text, Text]).then_optional(&[Long]), text(), extract).nullable(),
        ScalarFunction::new("regexp_extract_all", takes(&[Text, Text]).then_optional(&[Long]), texts(), extract_all)
            .nullable(),
        ScalarFunction::new("regexp_replace", takes(&[Text, Text, Text]), text(), replace),
        ScalarFunction::new("regexp_count", takes(&[Text, Text]), int(), count),
        ScalarFunction::new("regexp_instr", takes(&[Text, Text]), int(), instr),
        ScalarFunction::new("regexp_substr", takes(&[Text, Text]), text(), substr).nullable(),
        ScalarFunction::new(SIMILAR_TO, takes(&[Text, Text]).then_optional(&[Text]), bool(), similar_to),
    ]
}

pub(super) fn compile(pattern: &str) -> std::result::Result<Regex, String> {
    Regex::new(pattern).map_err(|e| {
        // The last line says what is wrong; those before draw the place.
        let reason = e.to_string();
        let reason = reason.lines().last().unwrap_or("").trim_start_matches("error: ").to_string();
        format!("the regular expression '{pattern}' is not valid: {reason}")
    })
}

fn regexp(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut regexes = Compiled::new(call, 1, compile)?;
    call.try_build_bools(|row| {
        let (Some(text), Some(regex)) = (texts.get(row), regexes.require(row)?) else { return Ok(None) };
        Ok(Some(regex.is_match(text)))
    })
}

/// The group's text in the first match; NULL if there is no match, no such group, or the group took no part.
fn extract(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, groups) = (call.texts(0)?, call.optional_longs(2)?);
    let mut regexes = Compiled::new(call, 1, |pattern| {
        compile(pattern).map(|regex| {
            let places = RefCell::new(regex.capture_locations());
            (regex, places)
        })
    })?;
    call.try_build_slices(|row| {
        let (Some(text), Some((regex, places))) = (texts.get(row), regexes.require(row)?) else { return Ok(None) };
        let group = groups.as_ref().map_or(Some(0), |g| g.get(row)).and_then(|g| usize::try_from(g).ok());
        Ok(match group {
            None => None,
            Some(0) => regex.find(text).map(|found| found.as_str()),
            Some(group) => {
                let mut places = places.borrow_mut();
                let found = regex.captures_read(&mut places, text);
                found.and_then(|_| places.get(group)).map(|(start, end)| &text[start..end])
            }
        })
    })
}

fn extract_all(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, groups) = (call.texts(0)?, call.optional_longs(2)?);
    let mut regexes = Compiled::new(call, 1, compile)?;
    let mut builder = ListBuilder::new(StringBuilder::new());
    for row in 0..call.rows {
        // The group is 1 by default, as in Flink.
        let group = groups.as_ref().map_or(Some(1), |g| g.get(row)).and_then(|g| usize::try_from(g).ok());
        let (Some(text), Some(regex), Some(group)) = (texts.get(row), regexes.require(row)?, group) else {
            builder.append_null();
            continue;
        };
        if group >= regex.captures_len() {
            builder.append_null();
            continue;
        }
        for found in regex.captures_iter(text) {
            builder.values().append_option(found.get(group).map(|m| m.as_str()));
        }
        builder.append(true);
    }
    Ok(Arc::new(builder.finish()))
}

/// Every match is replaced by the text as it stands: `$1` has no meaning in it.
fn replace(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, news) = (call.texts(0)?, call.texts(2)?);
    let mut regexes = Compiled::new(call, 1, compile)?;
    call.try_build_texts(|row, out| {
        let (Some(text), Some(regex), Some(new)) = (texts.get(row), regexes.require(row)?, news.get(row)) else {
            return Ok(None);
        };
        out.push_str(&regex.replace_all(text, NoExpand(new)));
        Ok(Some(()))
    })
}

fn count(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut regexes = Compiled::new(call, 1, compile)?;
    call.try_build::<Int32Type>(|row| {
        let (Some(text), Some(regex)) = (texts.get(row), regexes.require(row)?) else { return Ok(None) };
        Ok(i32::try_from(regex.find_iter(text).count()).ok())
    })
}

/// The position of the first match, from 1 on; 0 if there is none.
fn instr(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut regexes = Compiled::new(call, 1, compile)?;
    call.try_build::<Int32Type>(|row| {
        let (Some(text), Some(regex)) = (texts.get(row), regexes.require(row)?) else { return Ok(None) };
        let position = regex.find(text).map_or(0, |found| text[..found.start()].chars().count() + 1);
        Ok(i32::try_from(position).ok())
    })
}

fn substr(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut regexes = Compiled::new(call, 1, compile)?;
    call.try_build_slices(|row| {
        let (Some(text), Some(regex)) = (texts.get(row), regexes.require(row)?) else { return Ok(None) };
        Ok(regex.find(text).map(|found| found.as_str()))
    })
}

fn similar_to(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, patterns, escapes) = (call.texts(0)?, call.texts(1)?, call.optional_texts(2)?);
    let mut last: Option<((&str, Option<char>), Regex)> = None;
    call.try_build_bools(|row| {
        let (Some(text), Some(pattern)) = (texts.get(row), patterns.get(row)) else { return Ok(None) };
        let escape = match escapes.as_ref().map(|e| e.get(row)) {
            None => None,
            Some(None) => return Ok(None),
            Some(Some(escape)) => {
                let mut chars = escape.chars();
                match (chars.next(), chars.next()) {
                    (Some(one), None) => Some(one),
                    _ => return exec_err!("the escape of SIMILAR TO must be one character, not '{escape}'"),
                }
            }
        };
        let regex = match &mut last {
            Some((key, regex)) if *key == (pattern, escape) => regex,
            slot => match similar_regex(pattern, escape) {
                Ok(regex) => &slot.insert(((pattern, escape), regex)).1,
                Err(reason) => return exec_err!("{reason}"),
            },
        };
        Ok(Some(regex.is_match(text)))
    })
}

/// SQL's pattern as a regular expression over the whole text: `%` any text, `_` any character; `| * + ? {} () []`
/// as in regular expressions, and so is `.` in Flink; all else stands for itself.
fn similar_regex(pattern: &str, escape: Option<char>) -> std::result::Result<Regex, String> {
    let mut regex = String::from("(?s)^(?:");
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            _ if Some(c) == escape => match chars.next() {
                Some(literal) => push_literal(&mut regex, literal),
                None => return Err(format!("the pattern '{pattern}' ends with its escape character")),
            },
            '[' | ']' => {
                in_class = c == '[';
                regex.push(c);
            }
            _ if in_class => regex.push(c),
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            '|' | '*' | '+' | '?' | '{' | '}' | '(' | ')' | '.' => regex.push(c),
            _ => push_literal(&mut regex, c),
        }
    }
    regex.push_str(")$");
    Regex::new(&regex).map_err(|_| format!("the pattern '{pattern}' of SIMILAR TO is not valid"))
}

fn push_literal(regex: &mut String, literal: char) {
    regex.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests;
