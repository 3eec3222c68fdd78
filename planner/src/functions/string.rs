//! Functions of text. Positions count characters (Unicode scalar values) from 1.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringBuilder};
use arrow::datatypes::{DataType, Field, Int32Type};
use datafusion_common::Result;

use super::call::{Call, check_value_bytes};
use super::param::Param::{Long, Text, TextOrLong};
use super::param::Parameters;
use super::scalar::{Returns, ScalarFunction, takes};

mod chars;
mod url;

use chars::{byte_at, char_count, slice};

pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = || Returns::Type(DataType::Utf8);
    let int = || Returns::Type(DataType::Int32);
    let bool = || Returns::Type(DataType::Boolean);
    let texts = || Returns::Type(DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))));
    let any_number = Parameters { required: &[], optional: &[], rest: Some(Text) };
    let substring_parameters = takes(&[Text, Long]).then_optional(&[Long]);
    vec![
        ScalarFunction::new("concat", any_number, text(), concat),
        ScalarFunction::new("substring", substring_parameters, text(), substring).nullable(),
        ScalarFunction::new("substr", substring_parameters, text(), substring).nullable(),
        ScalarFunction::new("left", takes(&[Text, Long]), text(), left),
        ScalarFunction::new("right", takes(&[Text, Long]), text(), right),
        ScalarFunction::new("lpad", takes(&[Text, Long, Text]), text(), |call| pad(call, Side::Left)).nullable(),
        ScalarFunction::new("rpad", takes(&[Text, Long, Text]), text(), |call| pad(call, Side::Right)).nullable(),
        ScalarFunction::new("repeat", takes(&[Text, Long]), text(), repeat),
        ScalarFunction::new("replace", takes(&[Text, Text, Text]), text(), replace),
        ScalarFunction::new("position", takes(&[Text, Text]), int(), |call| locate(call, 0, 1)),
        ScalarFunction::new("locate", takes(&[Text, Text]).then_optional(&[Long]), int(), |call| locate(call, 0, 1)),
        ScalarFunction::new("instr", takes(&[Text, Text]).then_optional(&[Long]), int(), |call| locate(call, 1, 0)),
        ScalarFunction::new("ascii", takes(&[Text]), int(), ascii),
        ScalarFunction::new("chr", takes(&[Long]), text(), chr),
        ScalarFunction::new("overlay", takes(&[Text, Text, Long]).then_optional(&[Long]), text(), overlay),
        ScalarFunction::new("startswith", takes(&[Text, Text]), bool(), |call| {
            affix(call, |s, part| s.starts_with(part))
        }),
        ScalarFunction::new("endswith", takes(&[Text, Text]), bool(), |call| affix(call, |s, part| s.ends_with(part))),
        ScalarFunction::new("reverse", takes(&[Text]), text(), reverse),
        ScalarFunction::new("translate", takes(&[Text, Text, Text]), text(), translate),
        ScalarFunction::new("split", takes(&[Text, Text]), texts(), split),
        ScalarFunction::new("split_index", takes(&[Text, TextOrLong, Long]), text(), split_index).nullable(),
        ScalarFunction::new("parse_url", takes(&[Text, Text]).then_optional(&[Text]), text(), parse_url).nullable(),
        ScalarFunction::new("url_encode", takes(&[Text]), text(), url_encode),
        ScalarFunction::new("url_decode", takes(&[Text]), text(), url_decode).nullable(),
    ]
}

fn concat(call: &Call<'_>) -> Result<ArrayRef> {
    let parts = (0..call.arguments.len()).map(|index| call.texts(index)).collect::<Result<Vec<_>>>()?;
    call.build_texts(|row, out| {
        for part in &parts {
            out.push_str(part.get(row)?);
        }
        Some(())
    })
}

/// A start of 0 is 1, a negative one counts from the end. A negative length is NULL.
fn substring(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, starts, lengths) = (call.texts(0)?, call.longs(1)?, call.optional_longs(2)?);
    Ok(call.build_slices(|row| {
        let (text, start) = (texts.get(row)?, starts.get(row)?);
        let length = match &lengths {
            Some(lengths) => lengths.get(row)?,
            None => i64::MAX,
        };
        if length < 0 {
            return None;
        }
        let first = match start {
            0 => 0,
            1.. => start - 1,
            _ => char_count(text) as i64 + start,
        };
        if first < 0 {
            return Some("");
        }
        Some(slice(text, first as usize, length as usize))
    }))
}

fn left(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, counts) = (call.texts(0)?, call.longs(1)?);
    Ok(call.build_slices(|row| {
        let (text, count) = (texts.get(row)?, counts.get(row)?);
        Some(slice(text, 0, count.max(0) as usize))
    }))
}

fn right(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, counts) = (call.texts(0)?, call.longs(1)?);
    Ok(call.build_slices(|row| {
        let (text, count) = (texts.get(row)?, counts.get(row)?);
        let skipped = char_count(text).saturating_sub(count.max(0) as usize);
        Some(&text[byte_at(text, skipped)..])
    }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Text of exactly so many characters; NULL if that cannot be: a negative length, or nothing to fill it with.
fn pad(call: &Call<'_>, side: Side) -> Result<ArrayRef> {
    let (texts, lengths, fills) = (call.texts(0)?, call.longs(1)?, call.texts(2)?);
    call.try_build_texts(|row, out| {
        let (Some(text), Some(fill), Some(length)) = (texts.get(row), fills.get(row), lengths.get(row)) else {
            return Ok(None);
        };
        let Some(length) = usize::try_from(length).ok().filter(|_| !fill.is_empty()) else { return Ok(None) };
        check_value_bytes(length)?;
        let missing = length.saturating_sub(char_count(text));
        let padding = fill.chars().cycle().take(missing);
        match side {
            Side::Left => {
                out.extend(padding);
                out.push_str(slice(text, 0, length));
            }
            Side::Right => {
                out.push_str(slice(text, 0, length));
                out.extend(padding);
            }
        }
        Ok(Some(()))
    })
}

/// The text so many times, nothing for a negative number.
fn repeat(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, counts) = (call.texts(0)?, call.longs(1)?);
    call.try_build_texts(|row, out| {
        let (Some(text), Some(count)) = (texts.get(row), counts.get(row)) else { return Ok(None) };
        let count = usize::try_from(count).unwrap_or(0);
        check_value_bytes(text.len().saturating_mul(count))?;
        out.extend(std::iter::repeat_n(text, if text.is_empty() { 0 } else { count }));
        Ok(Some(()))
    })
}

/// Every occurrence of the second text becomes the third; no text occurs before each character and at the end.
fn replace(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, olds, news) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    call.try_build_texts(|row, out| {
        let (Some(text), Some(old), Some(new)) = (texts.get(row), olds.get(row), news.get(row)) else {
            return Ok(None);
        };
        let mut written = 0;
        for (start, found) in text.match_indices(old) {
            check_value_bytes(out.len() + new.len())?;
            out.push_str(&text[written..start]);
            out.push_str(new);
            written = start + found.len();
        }
        out.push_str(&text[written..]);
        Ok(Some(()))
    })
}

/// Where a part starts in the whole, at or behind a start; 0 if nowhere.
fn locate(call: &Call<'_>, part: usize, whole: usize) -> Result<ArrayRef> {
    let (parts, wholes, starts) = (call.texts(part)?, call.texts(whole)?, call.optional_longs(2)?);
    Ok(call.build::<Int32Type>(|row| {
        let (part, whole) = (parts.get(row)?, wholes.get(row)?);
        let start = match &starts {
            Some(starts) => starts.get(row)?,
            None => 1,
        };
        Some(chars::position(whole, part, start))
    }))
}

/// The first byte of the text's UTF-8, signed as in Java; 0 for no text.
fn ascii(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    Ok(call.build::<Int32Type>(|row| {
        let first = texts.get(row)?.bytes().next().unwrap_or(0);
        Some(i32::from(i8::from_ne_bytes([first])))
    }))
}

/// The character of a number's lowest byte; nothing for negative numbers.
fn chr(call: &Call<'_>) -> Result<ArrayRef> {
    let codes = call.longs(0)?;
    call.build_texts(|row, out| {
        let code = codes.get(row)?;
        if code >= 0 {
            out.push(char::from((code & 0xff) as u8));
        }
        Some(())
    })
}

/// Replaces characters from a position on; a position outside the text leaves it as it is.
fn overlay(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, news, starts) = (call.texts(0)?, call.texts(1)?, call.longs(2)?);
    let lengths = call.optional_longs(3)?;
    call.build_texts(|row, out| {
        let (text, new, start) = (texts.get(row)?, news.get(row)?, starts.get(row)?);
        let replaced = match &lengths {
            Some(lengths) => lengths.get(row)?,
            None => char_count(new) as i64,
        };
        let count = char_count(text) as i64;
        if start < 1 || start > count {
            out.push_str(text);
            return Some(());
        }
        let before = byte_at(text, start as usize - 1);
        let after = byte_at(text, (start - 1).saturating_add(replaced).clamp(0, count) as usize);
        out.push_str(&text[..before]);
        out.push_str(new);
        out.push_str(&text[after..]);
        Some(())
    })
}

fn reverse(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.build_texts(|row, out| {
        out.extend(texts.get(row)?.chars().rev());
        Some(())
    })
}

/// Each character that stands in the second text becomes the one at its place in the third, or vanishes if that
/// is shorter.
fn translate(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, froms, tos) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    call.build_texts(|row, out| {
        let (text, from, to) = (texts.get(row)?, froms.get(row)?, tos.get(row)?);
        out.extend(text.chars().filter_map(|c| match from.chars().position(|f| f == c) {
            Some(place) => to.chars().nth(place),
            None => Some(c),
        }));
        Some(())
    })
}

fn affix(call: &Call<'_>, has: fn(&str, &str) -> bool) -> Result<ArrayRef> {
    let (texts, parts) = (call.texts(0)?, call.texts(1)?);
    Ok(call.build_bools(|row| Some(has(texts.get(row)?, parts.get(row)?))))
}

/// Without a delimiter the text falls into its characters.
fn split(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, delimiters) = (call.texts(0)?, call.texts(1)?);
    let mut builder = ListBuilder::new(StringBuilder::new());
    for row in 0..call.rows {
        let (Some(text), Some(delimiter)) = (texts.get(row), delimiters.get(row)) else {
            builder.append_null();
            continue;
        };
        if delimiter.is_empty() {
            let mut bytes = [0; 4];
            text.chars().for_each(|c| builder.values().append_value(c.encode_utf8(&mut bytes)));
        } else {
            text.split(delimiter).for_each(|part| builder.values().append_value(part));
        }
        builder.append(true);
    }
    Ok(Arc::new(builder.finish()))
}

/// The part at an index from 0 on; NULL behind the last. The delimiter is text or the code of one character.
fn split_index(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, indexes) = (call.texts(0)?, call.longs(2)?);
    let part = |text: &'_ str, index: i64| usize::try_from(index).ok().filter(|_| !text.is_empty());
    if *call.type_of(1) == DataType::Int64 {
        let codes = call.longs(1)?;
        return Ok(call.build_slices(|row| {
            let text = texts.get(row)?;
            let delimiter = char::from(u8::try_from(codes.get(row)?).ok()?);
            text.split(delimiter).nth(part(text, indexes.get(row)?)?)
        }));
    }
    let delimiters = call.texts(1)?;
    Ok(call.build_slices(|row| {
        let (text, delimiter) = (texts.get(row)?, delimiters.get(row)?);
        let index = part(text, indexes.get(row)?)?;
        match delimiter.as_bytes() {
            [] => (index == 0).then_some(text),
            [byte] => text.split(char::from(*byte)).nth(index),
            _ => text.split(delimiter).nth(index),
        }
    }))
}

fn parse_url(call: &Call<'_>) -> Result<ArrayRef> {
    let (texts, names, keys) = (call.texts(0)?, call.texts(1)?, call.optional_texts(2)?);
    Ok(call.build_slices(|row| {
        let (text, name) = (texts.get(row)?, names.get(row)?);
        let part = url::part(text, name)?;
        match &keys {
            None => Some(part),
            Some(keys) => url::query_value(part, keys.get(row)?).filter(|_| name == "QUERY"),
        }
    }))
}

fn url_encode(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.build_texts(|row, out| {
        url::encode(texts.get(row)?, out);
        Some(())
    })
}

fn url_decode(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.build_texts(|row, out| url::decode(texts.get(row)?, out))
}

#[cfg(test)]
mod tests;
