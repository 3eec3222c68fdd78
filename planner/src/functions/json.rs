//! Functions of JSON text.
//!
//! A path is `[lax|strict] $.member['member'][index]…`; paths with wildcards, filters or `..` find any number of
//! values. Text that is no JSON gives NULL (JSON_EXISTS: false); what cannot be a path is an error.
//!
//! ```text
//! JSON_VALUE('{"a": {"b": 1.50}}', '$.a.b')    1.50
//! JSON_QUERY('{"a": {"b": 1.50}}', '$.a')      {"b":1.50}
//! ```

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion_common::Result;

use super::call::Call;
use super::compiled::Compiled;
use super::param::Param::{Any, Text};
use super::scalar::{Arguments, Returns, ScalarFunction, takes};
use crate::types::sql_name;
use path::{Found, Path};

mod path;
mod scan;

pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = || Returns::Type(DataType::Utf8);
    let bool = Returns::Type(DataType::Boolean);
    vec![
        ScalarFunction::new("json_value", takes(&[Text, Text]), text(), json_value).nullable(),
        ScalarFunction::new("json_query", takes(&[Text, Text]), text(), json_query).nullable(),
        ScalarFunction::new("json_exists", takes(&[Text, Text]), bool, json_exists),
        ScalarFunction::new("json_string", takes(&[Any]), Returns::Computed(json_string_type), json_string),
    ]
}

/// A scalar as text; NULL for objects, arrays and what is not there.
fn json_value(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut paths = Compiled::new(call, 1, Path::compile)?;
    call.try_build_texts(|row, out| {
        let (Some(text), Some(path)) = (texts.get(row), paths.require(row)?) else { return Ok(None) };
        Ok(match path.find(text) {
            Some(Found::One(json)) if !json.starts_with(['{', '[']) && json != "null" => scan::write_scalar(json, out),
            _ => None,
        })
    })
}

/// An object or array as JSON, its members in the order of their names.
fn json_query(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut paths = Compiled::new(call, 1, Path::compile)?;
    call.try_build_texts(|row, out| {
        let (Some(text), Some(path)) = (texts.get(row), paths.require(row)?) else { return Ok(None) };
        Ok(match path.find(text) {
            Some(Found::One(json)) if json.starts_with(['{', '[']) => {
                scan::write_compact(json, out);
                Some(())
            }
            Some(Found::Many(values)) if !values.is_empty() => {
                scan::write_compact(&serde_json::Value::Array(values).to_string(), out);
                Some(())
            }
            _ => None,
        })
    })
}

/// Is there anything but null?
fn json_exists(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut paths = Compiled::new(call, 1, Path::compile)?;
    call.try_build_bools(|row| {
        let (Some(text), Some(path)) = (texts.get(row), paths.require(row)?) else { return Ok(None) };
        Ok(Some(match path.find(text) {
            Some(Found::One(json)) => json != "null",
            Some(Found::Many(values)) => !values.is_empty(),
            None => false,
        }))
    })
}

fn json_string_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    match arguments.types[0] {
        DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 | DataType::Boolean | DataType::Null => {
            Ok(DataType::Utf8)
        }
        t if t.is_numeric() => Ok(DataType::Utf8),
        other => Err(format!("takes text, numbers and booleans, not {}", sql_name(other))),
    }
}

fn json_string(call: &Call<'_>) -> Result<ArrayRef> {
    let (array, _) = call.raw(0);
    let texts = cast(array, &DataType::Utf8)?;
    if !matches!(array.data_type(), DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8) {
        return Ok(texts);
    }
    let texts = texts.as_string::<i32>();
    Ok(Arc::new(
        texts
            .iter()
            .map(|text| text.map(|t| serde_json::Value::from(t).to_string()))
            .collect::<arrow::array::StringArray>(),
    ))
}

#[cfg(test)]
mod tests;
