use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion_expr::type_coercion::functions::fields_with_udf;
use datafusion_expr::{ReturnFieldArgs, TypeSignature};

use super::check::{check, check_error, plan};
use super::marker::{GroupWindow, Marker, WindowProperty, marker_of};
use super::{FunctionKind, FunctionRegistry};

#[test]
fn functions_are_found_by_kind() {
    let registry = FunctionRegistry::new("UTC");
    assert!(registry.scalar("upper").is_some());
    assert!(registry.scalar("count").is_none());
    assert!(registry.aggregate("count").is_some());
    assert!(registry.window("row_number").is_some());
    for name in ["rank", "dense_rank", "lag", "lead", "first_value", "last_value", "nth_value"] {
        assert!(registry.window(name).is_some(), "{name}");
    }
}

#[test]
fn names_are_sorted_and_hide_what_only_syntax_reaches() {
    let names = FunctionRegistry::new("UTC").names();
    assert!(names.is_sorted());
    assert!(names.iter().all(|info| !info.name.starts_with("__")));
    let signature = |name: &str, kind| {
        names.iter().find(|info| info.name == name && info.kind == kind).map(|info| info.signature.as_str())
    };
    assert_eq!(signature("listagg", FunctionKind::Aggregate), Some("LISTAGG(STRING [, STRING])"));
    assert_eq!(signature("tumble_start", FunctionKind::Scalar), Some("TUMBLE_START(TIMESTAMP, INTERVAL)"));
    assert_eq!(signature("if", FunctionKind::Scalar), Some("IF(BOOLEAN, ANY, ANY)"));
    assert_eq!(signature("proctime", FunctionKind::Scalar), Some("PROCTIME()"));
}

#[test]
fn markers_are_recognised_and_never_run() {
    let registry = FunctionRegistry::new("UTC");
    let marker = |name: &str| registry.scalar(name).and_then(|udf| marker_of(&udf));
    assert_eq!(marker("proctime"), Some(Marker::Proctime));
    assert_eq!(marker("current_timestamp"), Some(Marker::Now));
    assert_eq!(marker("tumble"), Some(Marker::GroupWindow(GroupWindow::Tumble)));
    assert_eq!(marker("hop_end"), Some(Marker::WindowProperty(GroupWindow::Hop, WindowProperty::End)));
    assert_eq!(marker("upper"), None);
    check_error("PROCTIME()", "PROCTIME cannot be used here");
    check_error("TUMBLE_START(1, 2)", "TUMBLE_START takes (TIMESTAMP, INTERVAL), but argument 1 is BIGINT");
    check_error("HOP(1)", "HOP takes (TIMESTAMP, INTERVAL, INTERVAL), but 1 argument is given");
}

#[test]
fn conditionals_follow_sql() {
    check("IF(1 > 2, 'a', 'b')", "b");
    check("IFNULL(NULL, 'b')", "b");
    check("IFNULL('a', 'b')", "a");
    check("MOD(-7, 3)", "-1");
    check("NULLIF(1, 1)", "NULL");
    check("COALESCE(NULL, 2, 3)", "2");
}

#[test]
fn the_clock_has_no_parentheses_and_is_never_folded() {
    for (sql, expected) in [
        ("CURRENT_TIMESTAMP", "current_timestamp()"),
        ("LOCALTIMESTAMP", "localtimestamp()"),
        ("CURRENT_DATE", "current_date()"),
        ("UNIX_TIMESTAMP()", "unix_timestamp(now())"),
    ] {
        assert_eq!(plan(sql).unwrap().to_string(), expected);
        check_error(sql, "cannot be used here");
    }
}

#[test]
fn a_star_is_counted_under_its_name() {
    for sql in ["COUNT(*)", "COUNT(*) FILTER (WHERE TRUE)"] {
        let expr = plan(sql).unwrap();
        let name = expr.schema_name().to_string();
        assert!(name.starts_with("count(*)"), "{name}");
        assert!(expr.to_string().contains("count(Int64(1))"), "{expr}");
    }
    let window = plan("COUNT(*) OVER ()").unwrap().to_string();
    assert!(window.starts_with("count(Int64(1))"), "{window}");
}

#[test]
fn no_name_of_datafusion_reaches_another_meaning() {
    let registry = FunctionRegistry::new("UTC");
    for gone in ["pow", "today", "random", "list_sort", "array_push_back", "arrow_cast", "to_char", "substr_index"] {
        assert!(registry.scalar(gone).is_none(), "{gone}");
    }
    for name in ["concat", "regexp_replace", "log", "truncate", "to_timestamp", "date_part", "instr", "substring"] {
        let udf = registry.scalar(name).unwrap();
        assert_eq!(udf.name(), name);
        assert!(matches!(udf.signature().type_signature, TypeSignature::UserDefined), "{name} is not ours");
    }
}

/// Text is STRING in every function: none gives Arrow's views, which no sink takes.
#[test]
fn text_in_is_text_out() {
    let registry = FunctionRegistry::new("UTC");
    for info in registry.names() {
        let Some(udf) = registry.scalar(&info.name) else { continue };
        for count in 1..=3 {
            let field = Arc::new(Field::new("x", DataType::Utf8, true));
            let fields: Vec<_> = std::iter::repeat_n(field, count).collect();
            let Ok(fields) = fields_with_udf(&fields, udf.as_ref()) else { continue };
            let literals = vec![None; count];
            let result =
                udf.return_field_from_args(ReturnFieldArgs { arg_fields: &fields, scalar_arguments: &literals });
            if let Ok(field) = result {
                assert!(!matches!(field.data_type(), DataType::Utf8View | DataType::LargeUtf8), "{}", info.name);
                assert!(!field.data_type().is_unsigned_integer(), "{}", info.name);
            }
        }
    }
}
