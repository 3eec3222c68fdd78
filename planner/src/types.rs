//! SQL types and Arrow types.
//!
//! `TIMESTAMP(p)` is an Arrow timestamp without zone in the coarsest unit that holds `p` digits of a second;
//! `TIMESTAMP_LTZ(p)` is the same with the session's zone, so that casts and field extraction follow it.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use tidemark_parser::ast::{RowField, SqlTypeKind};

/// The Arrow type of a SQL type in a session of zone `time_zone`, or what is wrong with it.
pub fn to_arrow(kind: &SqlTypeKind, time_zone: &str) -> Result<DataType, String> {
    Ok(match kind {
        SqlTypeKind::Boolean => DataType::Boolean,
        SqlTypeKind::TinyInt => DataType::Int8,
        SqlTypeKind::SmallInt => DataType::Int16,
        SqlTypeKind::Int => DataType::Int32,
        SqlTypeKind::BigInt => DataType::Int64,
        SqlTypeKind::Float => DataType::Float32,
        SqlTypeKind::Double => DataType::Float64,
        SqlTypeKind::Decimal { precision, scale } => decimal(precision.unwrap_or(10), scale.unwrap_or(0))?,
        SqlTypeKind::Char(_) | SqlTypeKind::Varchar(_) => DataType::Utf8,
        SqlTypeKind::Binary(_) | SqlTypeKind::Varbinary(_) => DataType::Binary,
        SqlTypeKind::Date => DataType::Date32,
        SqlTypeKind::Time(None | Some(0)) => DataType::Time32(TimeUnit::Second),
        SqlTypeKind::Time(Some(1..=3)) => DataType::Time32(TimeUnit::Millisecond),
        SqlTypeKind::Time(Some(4..=6)) => DataType::Time64(TimeUnit::Microsecond),
        SqlTypeKind::Time(_) => DataType::Time64(TimeUnit::Nanosecond),
        SqlTypeKind::Timestamp(p) => DataType::Timestamp(unit_of_precision(p.unwrap_or(6))?, None),
        SqlTypeKind::TimestampLtz(p) => {
            DataType::Timestamp(unit_of_precision(p.unwrap_or(6))?, Some(Arc::from(time_zone)))
        }
        SqlTypeKind::IntervalYearMonth | SqlTypeKind::IntervalDayTime => DataType::Interval(IntervalUnit::MonthDayNano),
        SqlTypeKind::Array(item) => {
            DataType::List(Arc::new(Field::new("item", to_arrow(&item.kind, time_zone)?, true)))
        }
        SqlTypeKind::Map(key, value) => map(to_arrow(&key.kind, time_zone)?, to_arrow(&value.kind, time_zone)?),
        SqlTypeKind::Multiset(item) => map(to_arrow(&item.kind, time_zone)?, DataType::Int32),
        SqlTypeKind::Row(fields) => {
            let field = |f: &RowField| Ok(Field::new(&f.name, to_arrow(&f.data_type.kind, time_zone)?, !f.not_null));
            DataType::Struct(fields.iter().map(field).collect::<Result<_, String>>()?)
        }
    })
}

fn decimal(precision: u8, scale: u8) -> Result<DataType, String> {
    if !(1..=38).contains(&precision) {
        return Err(format!("the precision of DECIMAL must be 1 to 38, not {precision}"));
    }
    if scale > precision {
        return Err(format!("the scale of DECIMAL({precision}, {scale}) is larger than its precision"));
    }
    Ok(DataType::Decimal128(precision, scale as i8))
}

fn unit_of_precision(precision: u8) -> Result<TimeUnit, String> {
    match precision {
        0 => Ok(TimeUnit::Second),
        1..=3 => Ok(TimeUnit::Millisecond),
        4..=6 => Ok(TimeUnit::Microsecond),
        7..=9 => Ok(TimeUnit::Nanosecond),
        _ => Err(format!("the precision of a timestamp must be 0 to 9, not {precision}")),
    }
}

fn map(key: DataType, value: DataType) -> DataType {
    let entries = Field::new(
        "entries",
        DataType::Struct(vec![Field::new("key", key, false), Field::new("value", value, true)].into()),
        false,
    );
    DataType::Map(Arc::new(entries), false)
}

/// The type with every `TIMESTAMP_LTZ` in it in the zone `time_zone`.
pub(crate) fn in_zone(data_type: &DataType, time_zone: &str) -> DataType {
    let field = |f: &Arc<Field>| Arc::new(f.as_ref().clone().with_data_type(in_zone(f.data_type(), time_zone)));
    match data_type {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some(Arc::from(time_zone))),
        DataType::List(item) => DataType::List(field(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        other => other.clone(),
    }
}

/// The SQL name of an Arrow type, as DESCRIBE and EXPLAIN show it.
pub fn sql_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Null => "NULL".into(),
        DataType::Boolean => "BOOLEAN".into(),
        DataType::Int8 => "TINYINT".into(),
        DataType::Int16 => "SMALLINT".into(),
        DataType::Int32 => "INT".into(),
        DataType::Int64 | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => "BIGINT".into(),
        DataType::Float16 | DataType::Float32 => "FLOAT".into(),
        DataType::Float64 => "DOUBLE".into(),
        DataType::Decimal128(p, s) | DataType::Decimal256(p, s) => format!("DECIMAL({p}, {s})"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "STRING".into(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "BYTES".into()
        }
        DataType::Date32 | DataType::Date64 => "DATE".into(),
        DataType::Time32(_) | DataType::Time64(_) => "TIME".into(),
        DataType::Timestamp(unit, None) => format!("TIMESTAMP({})", precision_of(*unit)),
        DataType::Timestamp(unit, Some(_)) => format!("TIMESTAMP_LTZ({})", precision_of(*unit)),
        DataType::Interval(_) | DataType::Duration(_) => "INTERVAL".into(),
        DataType::List(f) | DataType::LargeList(f) | DataType::FixedSizeList(f, _) => {
            format!("ARRAY<{}>", sql_name(f.data_type()))
        }
        DataType::Struct(fields) => {
            let fields: Vec<_> = fields.iter().map(|f| format!("`{}` {}", f.name(), sql_name(f.data_type()))).collect();
            format!("ROW<{}>", fields.join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(kv) if kv.len() == 2 => {
                format!("MAP<{}, {}>", sql_name(kv[0].data_type()), sql_name(kv[1].data_type()))
            }
            _ => "MAP".into(),
        },
        DataType::Dictionary(_, value) => sql_name(value),
        other => other.to_string(),
    }
}

fn precision_of(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// The SQL spelling of a type as written, lengths included.
pub fn spell(kind: &SqlTypeKind) -> String {
    match kind {
        SqlTypeKind::Char(Some(n)) => format!("CHAR({n})"),
        SqlTypeKind::Char(None) => "CHAR(1)".into(),
        SqlTypeKind::Varchar(Some(n)) => format!("VARCHAR({n})"),
        SqlTypeKind::Binary(Some(n)) => format!("BINARY({n})"),
        SqlTypeKind::Varbinary(Some(n)) => format!("VARBINARY({n})"),
        SqlTypeKind::Timestamp(Some(p)) => format!("TIMESTAMP({p})"),
        SqlTypeKind::TimestampLtz(Some(p)) => format!("TIMESTAMP_LTZ({p})"),
        SqlTypeKind::Time(Some(p)) => format!("TIME({p})"),
        other => to_arrow(other, "UTC").map_or_else(|_| "?".into(), |t| sql_name(&t)),
    }
}

/// `name TYPE [NOT NULL]`
pub fn describe_field(field: &Field) -> String {
    let not_null = if field.is_nullable() { "" } else { " NOT NULL" };
    format!("{} {}{not_null}", field.name(), sql_name(field.data_type()))
}

/// A library's message with Arrow's type names replaced by SQL's.
pub(crate) fn with_sql_names(message: &str) -> String {
    const NAMES: [(&str, &str); 12] = [
        ("Int8", "TINYINT"),
        ("Int16", "SMALLINT"),
        ("Int32", "INT"),
        ("Int64", "BIGINT"),
        ("Float32", "FLOAT"),
        ("Float64", "DOUBLE"),
        ("Utf8", "STRING"),
        ("Boolean", "BOOLEAN"),
        ("Binary", "BYTES"),
        ("Date32", "DATE"),
        ("Decimal128", "DECIMAL"),
        ("Timestamp", "TIMESTAMP"),
    ];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |e| start + e);
        let word = &rest[start..end];
        out.push_str(&rest[..start]);
        out.push_str(NAMES.iter().find(|(arrow, _)| *arrow == word).map_or(word, |(_, sql)| sql));
        rest = &rest[end..];
    }
    out + rest
}

/// Is it a type that can carry event time?
pub fn is_timestamp(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, _))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_take_the_coarsest_unit_that_holds_their_precision() {
        let check = |kind, expect: DataType| assert_eq!(to_arrow(&kind, "Europe/Berlin"), Ok(expect));
        check(SqlTypeKind::Timestamp(None), DataType::Timestamp(TimeUnit::Microsecond, None));
        check(SqlTypeKind::Timestamp(Some(3)), DataType::Timestamp(TimeUnit::Millisecond, None));
        let berlin = Some("Europe/Berlin".into());
        check(SqlTypeKind::TimestampLtz(Some(9)), DataType::Timestamp(TimeUnit::Nanosecond, berlin));
    }

    #[test]
    fn impossible_types_are_refused() {
        let decimal = |precision, scale| SqlTypeKind::Decimal { precision: Some(precision), scale: Some(scale) };
        assert!(to_arrow(&decimal(39, 0), "UTC").is_err());
        assert!(to_arrow(&decimal(3, 4), "UTC").is_err());
        assert!(to_arrow(&SqlTypeKind::Timestamp(Some(10)), "UTC").is_err());
    }
}
