//! Values as JSON.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::super::zone::Zone;
use super::temporal::{TimestampStyle, write_timestamp};
use super::{TextFormatter, Values};

/// Writes the values of one column as JSON values, NULL as `null`.
pub struct JsonFormatter {
    array: ArrayRef,
    values: JsonValues,
}

enum JsonValues {
    /// As its text stands.
    Plain(TextFormatter),
    /// Its text in quotes; nothing in it needs an escape.
    Quoted(TextFormatter, TimestampStyle),
    /// Its text in quotes, with escapes.
    Escaped(TextFormatter),
    /// A number, but `NaN` and the infinities, which JSON does not know, in quotes.
    Float(TextFormatter),
    Array {
        offsets: OffsetBuffer<i32>,
        items: Box<JsonFormatter>,
    },
    Object {
        names: Vec<String>,
        fields: Vec<JsonFormatter>,
    },
    Map {
        offsets: OffsetBuffer<i32>,
        keys: Box<TextFormatter>,
        values: Box<JsonFormatter>,
    },
}

impl JsonFormatter {
    /// For `array`; instants are shown as `style` says, if need be on the wall clock of `zone`.
    pub fn new(array: &ArrayRef, zone: Zone, style: TimestampStyle) -> Result<Self, ArrowError> {
        let nested = |inner: &ArrayRef| Self::new(inner, zone, style);
        let text = || TextFormatter::new(array, zone);
        let values = match array.data_type() {
            DataType::Dictionary(_, value) => return nested(&cast(array, value)?),
            DataType::Float32 | DataType::Float64 => JsonValues::Float(text()?),
            DataType::Boolean | DataType::Decimal128(_, _) => JsonValues::Plain(text()?),
            number if number.is_integer() => JsonValues::Plain(text()?),
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                JsonValues::Array { offsets: list.offsets().clone(), items: Box::new(nested(list.values())?) }
            }
            DataType::Struct(fields) => JsonValues::Object {
                names: fields.iter().map(|f| quoted_key(f.name())).collect(),
                fields: array.as_struct().columns().iter().map(nested).collect::<Result<_, _>>()?,
            },
            DataType::Map(_, _) => {
                let map = array.as_map();
                JsonValues::Map {
                    offsets: map.offsets().clone(),
                    keys: Box::new(TextFormatter::new(map.keys(), zone)?),
                    values: Box::new(nested(map.values())?),
                }
            }
            temporal if temporal.is_temporal() => JsonValues::Quoted(text()?, style),
            _ => JsonValues::Escaped(text()?),
        };
        Ok(Self { array: array.clone(), values })
    }

    /// Appends the value of `row`.
    pub fn write(&self, row: usize, out: &mut String) {
        // An array of type NULL has no validity of its own.
        if self.array.is_null(row) || *self.array.data_type() == DataType::Null {
            out.push_str("null");
            return;
        }
        match &self.values {
            JsonValues::Plain(text) => text.write(row, out),
            JsonValues::Quoted(text, style) => {
                out.push('"');
                match &text.values {
                    Values::Timestamp { values, unit, zone } => {
                        write_timestamp(values.value(row), *unit, *zone, *style, out);
                    }
                    _ => text.write(row, out),
                }
                out.push('"');
            }
            JsonValues::Escaped(text) => write_escaped(text, row, out),
            JsonValues::Float(text) => write_json_float(text, row, out),
            JsonValues::Array { offsets, items } => {
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                write_members('[', ']', range, out, |item, out| items.write(item, out));
            }
            JsonValues::Object { names, fields } => {
                write_members('{', '}', 0..fields.len(), out, |i, out| {
                    out.push_str(&names[i]);
                    out.push(':');
                    fields[i].write(row, out);
                });
            }
            JsonValues::Map { offsets, keys, values } => {
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                write_members('{', '}', range, out, |entry, out| {
                    write_escaped(keys, entry, out);
                    out.push(':');
                    values.write(entry, out);
                });
            }
        }
    }
}

fn write_members(
    open: char,
    close: char,
    members: std::ops::Range<usize>,
    out: &mut String,
    mut write: impl FnMut(usize, &mut String),
) {
    out.push(open);
    for member in members.clone() {
        if member > members.start {
            out.push(',');
        }
        write(member, out);
    }
    out.push(close);
}

fn write_json_float(text: &TextFormatter, row: usize, out: &mut String) {
    let start = out.len();
    text.write(row, out);
    if out.ends_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(start, '"');
        out.push('"');
    }
}

fn write_escaped(text: &TextFormatter, row: usize, out: &mut String) {
    out.push('"');
    let start = out.len();
    text.write(row, out);
    if out.as_bytes()[start..].iter().any(|b| matches!(b, b'"' | b'\\' | ..0x20)) {
        let plain = out.split_off(start);
        escape(&plain, out);
    }
    out.push('"');
}

/// `"name"`, escaped.
pub(in super::super) fn quoted_key(name: &str) -> String {
    let mut key = String::from('"');
    escape(name, &mut key);
    key.push('"');
    key
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control @ ..' ' => {
                out.push_str("\\u00");
                out.extend(
                    [u32::from(control) >> 4, u32::from(control) & 15].iter().filter_map(|d| char::from_digit(*d, 16)),
                );
            }
            other => out.push(other),
        }
    }
}
