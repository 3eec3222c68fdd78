//! Types in sentences.

use arrow::datatypes::DataType;
use tidemark_planner::types::sql_name;

/// The type with its article: `a BIGINT`, `an INT`.
pub(crate) fn a_type(data_type: &DataType) -> String {
    let name = sql_name(data_type);
    let article = if name.starts_with(['A', 'I']) { "an" } else { "a" };
    format!("{article} {name}")
}
