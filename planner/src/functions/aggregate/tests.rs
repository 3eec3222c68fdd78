use arrow::datatypes::{DataType, TimeUnit};
use datafusion_expr::{AggregateUDF, Expr, lit};
use std::sync::Arc;

use super::{aggregate_function_of, functions};
use crate::stream_plan::AggregateFunction;

fn udf(name: &str) -> Arc<AggregateUDF> {
    functions().into_iter().map(|(udf, _)| udf).find(|udf| udf.name() == name).unwrap()
}

/// Result type after coercion, or the error.
fn result_type(name: &str, types: &[DataType]) -> Result<DataType, String> {
    let udf = udf(name);
    let types = udf.coerce_types(types).map_err(|e| e.strip_backtrace())?;
    udf.return_type(&types).map_err(|e| e.strip_backtrace())
}

#[test]
fn result_types_follow_the_plan() {
    let decimal = DataType::Decimal128;
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    for (name, argument, expected) in [
        ("sum", DataType::Int16, DataType::Int64),
        ("sum", DataType::Float32, DataType::Float64),
        ("sum", decimal(10, 2), decimal(38, 2)),
        ("avg", DataType::Int32, DataType::Float64),
        ("avg", decimal(10, 2), decimal(38, 6)),
        ("avg", decimal(20, 8), decimal(38, 8)),
        ("min", DataType::Utf8, DataType::Utf8),
        ("max", time.clone(), time.clone()),
        ("stddev", DataType::Int64, DataType::Float64),
        ("var_pop", decimal(5, 1), DataType::Float64),
        ("first_value", time.clone(), time.clone()),
        ("listagg", DataType::Utf8View, DataType::Utf8),
        ("array_agg", DataType::Int32, DataType::new_list(DataType::Int32, true)),
        ("every", DataType::Boolean, DataType::Boolean),
    ] {
        assert_eq!(result_type(name, std::slice::from_ref(&argument)), Ok(expected), "{name}({argument})");
    }
}

#[test]
fn arguments_of_another_type_are_refused_in_a_sentence() {
    for (name, types, message) in [
        ("sum", vec![DataType::Utf8], "SUM takes (NUMERIC), but argument 1 is STRING"),
        ("avg", vec![], "AVG takes (NUMERIC), but 0 arguments are given"),
        ("max", vec![DataType::Int64, DataType::Int64], "MAX takes (ANY), but 2 arguments are given"),
        ("listagg", vec![DataType::Int64], "LISTAGG takes (STRING [, STRING]), but argument 1 is BIGINT"),
    ] {
        let error = result_type(name, &types).unwrap_err();
        assert!(error.ends_with(message), "{error}");
    }
}

#[test]
fn count_is_never_null_and_counts_rows_without_arguments() {
    let count = udf("count");
    assert!(!count.is_nullable());
    assert_eq!(count.return_type(&[]).unwrap(), DataType::Int64);
}

#[test]
fn calls_map_to_the_plan() {
    let of = |name: &str, args: &[Expr]| aggregate_function_of(&udf(name), args);
    assert_eq!(of("stddev", &[lit(1.0)]), Ok(AggregateFunction::StddevSamp));
    assert_eq!(of("some", &[lit(true)]), Ok(AggregateFunction::BoolOr));
    assert_eq!(of("listagg", &[lit("a")]), Ok(AggregateFunction::ListAgg { separator: ",".into() }));
    assert_eq!(of("listagg", &[lit("a"), lit("; ")]), Ok(AggregateFunction::ListAgg { separator: "; ".into() }));
    let error = of("listagg", &[lit("a"), datafusion_expr::col("sep")]).unwrap_err();
    assert_eq!(error, "LISTAGG needs a string literal as its separator, not sep");
}
