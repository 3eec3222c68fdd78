//! Columns of state tables as text that people read and that fingerprints compare.
//!
//! **Invariant:** the texts stand in checkpoints and decide whether one can be restored: a column's text must not
//! change, whatever happens to Arrow's own names for types.

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};

/// `name type`, and ` not null` where it is so.
pub(crate) fn field_text(field: &Field) -> String {
    let not_null = if field.is_nullable() { "" } else { " not null" };
    format!("{} {}{not_null}", field.name(), type_text(field.data_type()))
}

fn type_text(data_type: &DataType) -> String {
    match data_type {
        DataType::Boolean => "bool".to_owned(),
        DataType::Utf8 => "utf8".to_owned(),
        DataType::LargeUtf8 => "large_utf8".to_owned(),
        DataType::Utf8View => "utf8_view".to_owned(),
        DataType::Binary => "binary".to_owned(),
        DataType::LargeBinary => "large_binary".to_owned(),
        DataType::BinaryView => "binary_view".to_owned(),
        DataType::FixedSizeBinary(bytes) => format!("fixed_size_binary({bytes})"),
        DataType::Time32(unit) => format!("time32[{}]", unit_text(*unit)),
        DataType::Time64(unit) => format!("time64[{}]", unit_text(*unit)),
        DataType::Timestamp(unit, None) => format!("timestamp[{}]", unit_text(*unit)),
        DataType::Timestamp(unit, Some(zone)) => format!("timestamp[{}, {zone}]", unit_text(*unit)),
        DataType::Duration(unit) => format!("duration[{}]", unit_text(*unit)),
        DataType::Interval(IntervalUnit::YearMonth) => "interval[months]".to_owned(),
        DataType::Interval(IntervalUnit::DayTime) => "interval[days, ms]".to_owned(),
        DataType::Interval(IntervalUnit::MonthDayNano) => "interval[months, days, ns]".to_owned(),
        DataType::Decimal32(precision, scale) => format!("decimal32({precision}, {scale})"),
        DataType::Decimal64(precision, scale) => format!("decimal64({precision}, {scale})"),
        DataType::Decimal128(precision, scale) => format!("decimal128({precision}, {scale})"),
        DataType::Decimal256(precision, scale) => format!("decimal256({precision}, {scale})"),
        nested => nested_text(nested),
    }
}

fn nested_text(data_type: &DataType) -> String {
    match data_type {
        DataType::List(element) => format!("list<{}>", field_text(element)),
        DataType::LargeList(element) => format!("large_list<{}>", field_text(element)),
        DataType::FixedSizeList(element, length) => format!("fixed_size_list<{}>({length})", field_text(element)),
        DataType::Map(entries, _) => format!("map<{}>", field_text(entries)),
        DataType::Struct(fields) => {
            let fields: Vec<String> = fields.iter().map(|field| field_text(field)).collect();
            format!("struct<{}>", fields.join(", "))
        }
        DataType::Dictionary(keys, values) => format!("dictionary<{}, {}>", type_text(keys), type_text(values)),
        // Numbers and dates, whose names are Arrow's in lower case, and what no state has.
        other => format!("{other:?}").to_lowercase(),
    }
}

fn unit_text(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn texts_of_columns() {
        let check = |data_type: DataType, expected: &str| {
            assert_eq!(field_text(&Field::new("a", data_type, true)), format!("a {expected}"));
        };
        let item = |data_type| Arc::new(Field::new("item", data_type, true));
        check(DataType::Null, "null");
        check(DataType::Int64, "int64");
        check(DataType::UInt8, "uint8");
        check(DataType::Float32, "float32");
        check(DataType::Date32, "date32");
        check(DataType::Boolean, "bool");
        check(DataType::Utf8View, "utf8_view");
        check(DataType::Time64(TimeUnit::Nanosecond), "time64[ns]");
        check(DataType::Timestamp(TimeUnit::Millisecond, None), "timestamp[ms]");
        check(DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), "timestamp[us, UTC]");
        check(DataType::Decimal128(10, 2), "decimal128(10, 2)");
        check(DataType::List(item(DataType::Int32)), "list<item int32>");
        check(DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)), "dictionary<int32, utf8>");
        let fields = vec![Field::new("x", DataType::Int8, false), Field::new("y", DataType::Utf8, true)];
        check(DataType::Struct(fields.into()), "struct<x int8 not null, y utf8>");
        assert_eq!(field_text(&Field::new("k", DataType::Int16, false)), "k int16 not null");
    }
}
