//! The scalar functions that come from DataFusion as they are.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion_expr::{ScalarUDF, TypeSignature};

/// DataFusion's functions that a query must not reach by any name: their meaning is not Flink's, they need what
/// Tidemark does not have (files, a session), or they speak of Arrow's types rather than SQL's.
const LEFT_OUT: [&str; 31] = [
    "arrow_cast",
    "arrow_field",
    "arrow_metadata",
    "arrow_try_cast",
    "arrow_typeof",
    "cast_to_type",
    "digest",
    "file_row_index",
    "input_file_name",
    "nvl",
    "random",
    "regexp_like",
    "regexp_match",
    "signum",
    "starts_with",
    "ends_with",
    "strpos",
    "substr_index",
    "to_char",
    "to_local_time",
    "to_time",
    "to_timestamp_micros",
    "to_timestamp_millis",
    "to_timestamp_nanos",
    "to_timestamp_seconds",
    "to_unixtime",
    "try_cast_to_type",
    "union_extract",
    "union_tag",
    "version",
    "with_metadata",
];

/// DataFusion's functions of arrays and maps that Flink has, too, or that syntax stands for.
const OF_COLLECTIONS: [&str; 21] = [
    "array_append",
    "array_concat",
    "array_distinct",
    "array_element",
    "array_except",
    "array_intersect",
    "array_max",
    "array_min",
    "array_prepend",
    "array_repeat",
    "array_reverse",
    "array_slice",
    "array_sort",
    "array_union",
    "flatten",
    "make_array",
    "map",
    "map_entries",
    "map_extract",
    "map_keys",
    "map_values",
];

/// The functions, with their parameters' text.
pub(super) fn functions() -> Vec<(Arc<ScalarUDF>, String)> {
    let scalar = datafusion_functions::all_default_functions();
    let nested = datafusion_functions_nested::all_default_nested_functions();
    let scalar = scalar.into_iter().filter(|udf| !LEFT_OUT.contains(&udf.name()));
    let nested = nested.into_iter().filter(|udf| OF_COLLECTIONS.contains(&udf.name()));
    scalar
        .chain(nested)
        .map(|udf| {
            let parameters = parameter_text(&udf.signature().type_signature);
            (udf, parameters)
        })
        .collect()
}

/// Other names of DataFusion's functions that users may expect.
pub(super) const OTHER_NAMES: [(&str, &str); 5] = [
    ("char_length", "character_length"),
    ("length", "character_length"),
    ("row", "struct"),
    ("trim", "btrim"),
    ("trunc", "truncate"),
];

/// DataFusion's signature in SQL's words, as far as it says anything.
pub(super) fn parameter_text(signature: &TypeSignature) -> String {
    match signature {
        TypeSignature::Nullary => String::new(),
        TypeSignature::Exact(types) => join(types.iter().map(crate::types::sql_name)),
        TypeSignature::Any(count) | TypeSignature::Comparable(count) => join((0..*count).map(|_| "ANY".to_string())),
        TypeSignature::Numeric(count) => join((0..*count).map(|_| "NUMERIC".to_string())),
        TypeSignature::String(count) => join((0..*count).map(|_| "STRING".to_string())),
        TypeSignature::Uniform(count, types) => {
            let one = types.first().map_or_else(|| "ANY".to_string(), class);
            join((0..*count).map(|_| one.clone()))
        }
        TypeSignature::Variadic(types) => format!("{}, ...", types.first().map_or_else(|| "ANY".to_string(), class)),
        TypeSignature::OneOf(all) => {
            // The longest says most.
            all.iter().map(parameter_text).max_by_key(String::len).unwrap_or_default()
        }
        TypeSignature::Coercible(all) => join(all.iter().map(|c| c.desired_type().to_string().to_uppercase())),
        TypeSignature::VariadicAny | TypeSignature::UserDefined | TypeSignature::ArraySignature(_) => "ANY, ...".into(),
    }
}

fn class(data_type: &DataType) -> String {
    if data_type.is_numeric() { "NUMERIC".into() } else { crate::types::sql_name(data_type) }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{LEFT_OUT, OF_COLLECTIONS};

    #[test]
    fn every_name_is_one_of_datafusions() {
        let mut all = datafusion_functions::all_default_functions();
        all.extend(datafusion_functions_nested::all_default_nested_functions());
        for name in LEFT_OUT.iter().chain(&OF_COLLECTIONS) {
            assert!(all.iter().any(|udf| udf.name() == *name), "{name}");
        }
    }
}
