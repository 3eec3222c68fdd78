//! Text as bytes and back: hexadecimal, Base64, character sets.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::{Result, exec_err};

use super::call::Call;
use super::compiled::Compiled;
use super::param::Param::{Bytes, Text, TextOrLong};
use super::scalar::{Returns, ScalarFunction, takes};

mod base64;
mod charset;

use charset::Charset;

pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = || Returns::Type(DataType::Utf8);
    let bytes = || Returns::Type(DataType::Binary);
    vec![
        ScalarFunction::new("hex", takes(&[TextOrLong]), text(), hex),
        ScalarFunction::new("unhex", takes(&[Text]), bytes(), unhex).nullable(),
        ScalarFunction::new("to_base64", takes(&[Bytes]), text(), to_base64),
        ScalarFunction::new("from_base64", takes(&[Text]), text(), from_base64),
        ScalarFunction::new("encode", takes(&[Text, Text]), bytes(), encode),
        ScalarFunction::new("decode", takes(&[Bytes, Text]), text(), decode),
    ]
}

/// Appends two digits a byte.
pub(super) fn write_hex(bytes: &[u8], digits: &[u8; 16], out: &mut String) {
    for byte in bytes {
        out.push(char::from(digits[usize::from(byte >> 4)]));
        out.push(char::from(digits[usize::from(byte & 15)]));
    }
}

/// A number's digits without leading zeros, or two digits a byte of text.
fn hex(call: &Call<'_>) -> Result<ArrayRef> {
    use std::fmt::Write;
    const UPPER: &[u8; 16] = b"0123456789ABCDEF";
    match call.type_of(0) {
        DataType::Int64 => {
            let longs = call.primitives::<Int64Type>(0)?;
            call.build_texts(|row, out| write!(out, "{:X}", longs.get(row)?).ok())
        }
        DataType::Binary => {
            let bytes = call.bytes(0)?;
            call.build_texts(|row, out| bytes.get(row).map(|b| write_hex(b, UPPER, out)))
        }
        _ => {
            let texts = call.texts(0)?;
            call.build_texts(|row, out| texts.get(row).map(|t| write_hex(t.as_bytes(), UPPER, out)))
        }
    }
}

/// The bytes of hexadecimal digits; NULL for other text. One digit is lost in front of an even number of them.
fn unhex(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    call.build_bytes(|row, out| {
        let digits = texts.get(row)?.as_bytes();
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (odd, pairs) = digits.split_at(digits.len() % 2);
        if let [first] = odd {
            digit(*first)?;
            // As in Flink: half a byte is no byte, but it has a place.
            out.push(0);
        }
        for pair in pairs.chunks_exact(2) {
            out.push((digit(pair[0])? * 16 + digit(pair[1])?) as u8);
        }
        Some(())
    })
}

fn to_base64(call: &Call<'_>) -> Result<ArrayRef> {
    let bytes = call.bytes(0)?;
    call.build_texts(|row, out| bytes.get(row).map(|b| base64::encode(b, out)))
}

/// The text behind Base64, its UTF-8 mended where it is not well formed.
fn from_base64(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut bytes = Vec::new();
    call.try_build_texts(|row, out| {
        let Some(text) = texts.get(row) else { return Ok(None) };
        bytes.clear();
        if base64::decode(text, &mut bytes).is_none() {
            return exec_err!("'{text}' is not Base64");
        }
        out.push_str(&String::from_utf8_lossy(&bytes));
        Ok(Some(()))
    })
}

fn encode(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut charsets = Compiled::new(call, 1, Charset::parse)?;
    call.try_build_bytes(|row, out| {
        let (Some(text), Some(charset)) = (texts.get(row), charsets.require(row)?) else { return Ok(None) };
        charset.encode(text, out);
        Ok(Some(()))
    })
}

fn decode(call: &Call<'_>) -> Result<ArrayRef> {
    let bytes = call.bytes(0)?;
    let mut charsets = Compiled::new(call, 1, Charset::parse)?;
    call.try_build_texts(|row, out| {
        let (Some(bytes), Some(charset)) = (bytes.get(row), charsets.require(row)?) else { return Ok(None) };
        charset.decode(bytes, out);
        Ok(Some(()))
    })
}

#[cfg(test)]
mod tests;
