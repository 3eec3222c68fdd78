//! Functions that choose between values, and TYPEOF. IF, IFNULL and CASE are syntax; COALESCE and NULLIF are
//! DataFusion's.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_expr::ScalarUDF;

use super::adapted::Adapted;
use super::call::Call;
use super::param::Param::Any;
use super::scalar::{Returns, ScalarFunction, takes};
use crate::types::sql_name;

/// DataFusion's functions with Flink's treatment of NULL, with their parameters' text.
pub(super) fn adapted() -> Vec<(Arc<ScalarUDF>, String)> {
    use datafusion_functions::core::{greatest, least};
    [("greatest", greatest()), ("least", least())]
        .into_iter()
        .map(|(name, inner)| (Adapted::new(name, inner).null_if_any_null().into_udf(), "ANY, ...".to_string()))
        .collect()
}

pub(super) fn functions() -> Vec<ScalarFunction> {
    vec![ScalarFunction::new("typeof", takes(&[Any]), Returns::Type(DataType::Utf8), type_of).not_null()]
}

fn type_of(call: &Call<'_>) -> Result<ArrayRef> {
    let field = &call.fields[0];
    let name = sql_name(field.data_type());
    let not_null = if field.is_nullable() { "" } else { " NOT NULL" };
    call.build_texts(|_, out| {
        out.push_str(&name);
        out.push_str(not_null);
        Some(())
    })
}

#[cfg(test)]
mod tests {
    use crate::functions::check::{check, check_constant, check_type};

    #[test]
    fn extremes_are_null_if_any_value_is() {
        check("GREATEST(1, 3, 2)", "3");
        check("GREATEST(1, CAST(NULL AS INT))", "NULL");
        check("LEAST('b', 'a')", "a");
        check("LEAST(2.5, 1)", "1.0");
        check("GREATEST(DATE '2024-01-02', DATE '2024-01-01')", "2024-01-02");
    }

    #[test]
    fn typeof_names_sql_types() {
        for (sql, expected) in [
            ("TYPEOF(CAST(1 AS INT))", "INT NOT NULL"),
            ("TYPEOF('x')", "STRING NOT NULL"),
            ("TYPEOF(1.5)", "DECIMAL(2, 1) NOT NULL"),
            ("TYPEOF(CAST(NULL AS INT))", "INT"),
        ] {
            check_constant(sql, expected);
        }
        check_type("TYPEOF(1)", "STRING");
    }
}
