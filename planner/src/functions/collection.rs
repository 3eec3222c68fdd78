//! Functions of arrays and maps.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, MapBuilder, MapFieldNames, StringBuilder, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::{ColumnarValue, ScalarUDF};
use datafusion_functions_nested as nested;

use super::adapted::Adapted;
use super::call::{Call, check_batch_bytes, check_value_bytes};
use super::compiled::Compiled;
use super::param::Param::{Array as AnyArray, Text};
use super::scalar::{Arguments, Returns, ScalarFunction, takes};

/// DataFusion's functions under Flink's names, with their parameters' text.
pub(super) fn adapted() -> Vec<(Arc<ScalarUDF>, String)> {
    let named = |name, inner, parameters: &str| (Adapted::new(name, inner).into_udf(), parameters.to_string());
    let int = DataType::Int32;
    vec![
        (
            Adapted::new("cardinality", nested::cardinality::cardinality_udf()).returning(int.clone()).into_udf(),
            "ARRAY|MAP".into(),
        ),
        (
            Adapted::new("array_position", nested::position::array_position_udf())
                .returning(int)
                .or_else(ScalarValue::Int32(Some(0)))
                .into_udf(),
            "ARRAY, ANY".into(),
        ),
        named("array_contains", nested::array_has::array_has_udf(), "ARRAY, ANY"),
        // Flink's removes every occurrence.
        named("array_remove", nested::remove::array_remove_all_udf(), "ARRAY, ANY"),
        named("array_join", nested::string::array_to_string_udf(), "ARRAY, STRING [, STRING]"),
        (
            Adapted::new("array_repeat", nested::repeat::array_repeat_udf()).checked(check_repeated).into_udf(),
            "ANY, BIGINT".into(),
        ),
        named("map_from_arrays", nested::map::map_udf(), "ARRAY, ARRAY"),
    ]
}

pub(super) fn functions() -> Vec<ScalarFunction> {
    vec![
        ScalarFunction::new("element", takes(&[AnyArray]), Returns::Computed(item_type), element).nullable(),
        ScalarFunction::new(
            "str_to_map",
            takes(&[Text]).then_optional(&[Text, Text]),
            Returns::Type(text_map_type()),
            str_to_map,
        ),
    ]
}

/// ARRAY_REPEAT must not build too much: its arguments are an element and a number.
fn check_repeated(arguments: &[ColumnarValue], rows: usize) -> Result<()> {
    let [element, count] = arguments else { return Ok(()) };
    let elements = element.to_array(1)?;
    let element_bytes = (elements.get_array_memory_size() / elements.len().max(1)).max(1);
    let counts = cast(&count.to_array(rows)?, &DataType::Int64)?;
    let mut total = 0_usize;
    for count in counts.as_primitive::<Int64Type>().iter().flatten() {
        let count = usize::try_from(count).unwrap_or(0);
        check_value_bytes(count.saturating_mul(element_bytes))?;
        total = total.saturating_add(count);
    }
    check_batch_bytes(total.saturating_mul(element_bytes))
}

fn item_type(arguments: &Arguments<'_>) -> std::result::Result<DataType, String> {
    match arguments.types[0] {
        DataType::List(item) => Ok(item.data_type().clone()),
        _ => Err("takes an array".into()),
    }
}

/// The only element of an array; NULL for an empty array, an error for a longer one.
fn element(call: &Call<'_>) -> Result<ArrayRef> {
    let lists = call.full(0)?;
    let lists = lists.as_list::<i32>();
    let mut indexes = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        let length = if lists.is_null(row) { 0 } else { lists.value_length(row) };
        indexes.push(match length {
            0 => None,
            1 => u32::try_from(lists.value_offsets()[row]).ok(),
            _ => return exec_err!("ELEMENT takes an array of one element, not of {length}"),
        });
    }
    Ok(take(lists.values(), &UInt32Array::from(indexes), None)?)
}

/// Arrow's type of `MAP<STRING, STRING>`.
fn text_map_type() -> DataType {
    let fields =
        Fields::from(vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, true)]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(fields), false)), false)
}

/// `k1=v1,k2=v2`; a pair without a value has NULL, the last of equal keys counts. The delimiters are regular
/// expressions, as in Flink.
fn str_to_map(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.texts(0)?;
    let mut pair_ends = Compiled::with_default(call, 1, ",", super::regexp::compile)?;
    let mut key_ends = Compiled::with_default(call, 2, "=", super::regexp::compile)?;
    let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    for row in 0..call.rows {
        let (Some(text), Some(pair_end), Some(key_end)) =
            (texts.get(row), pair_ends.require(row)?, key_ends.require(row)?)
        else {
            builder.append(false)?;
            continue;
        };
        let mut pairs: Vec<(&str, Option<&str>)> = Vec::new();
        for pair in pair_end.split(text) {
            let mut parts = key_end.splitn(pair, 2);
            let (key, value) = (parts.next().unwrap_or(""), parts.next());
            match pairs.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known_value)) => *known_value = value,
                None => pairs.push((key, value)),
            }
        }
        for (key, value) in pairs {
            builder.keys().append_value(key);
            builder.values().append_option(value);
        }
        builder.append(true)?;
    }
    Ok(Arc::new(builder.finish()))
}

#[cfg(test)]
mod tests;
