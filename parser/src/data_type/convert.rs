//! `SqlTypeKind` and `sqlparser`'s `DataType`: one meaning, two shapes.

use super::parse_type;
use crate::ast::{RowField, SqlType, SqlTypeKind};
use crate::dialect::FlinkDialect;
use crate::lex::{Source, lex};
use crate::span::Span;
use sqlparser::ast::{
    ArrayElemTypeDef, BinaryLength, CharacterLength, DataType, ExactNumberInfo, Ident, IntervalFields, ObjectName,
    SqlOption, StructBracketKind, StructField, TimezoneInfo,
};
use sqlparser::parser::Parser;

/// Stands in a `StructField`'s options for `NOT NULL`, which `sqlparser` has no place for.
const NOT_NULL: &str = "NOT NULL";

/// The type as `sqlparser` spells it; [`sql_type_of`] is the way back.
pub(crate) fn data_type_of(kind: &SqlTypeKind) -> DataType {
    match kind {
        SqlTypeKind::Boolean => DataType::Boolean,
        SqlTypeKind::TinyInt => DataType::TinyInt(None),
        SqlTypeKind::SmallInt => DataType::SmallInt(None),
        SqlTypeKind::Int => DataType::Int(None),
        SqlTypeKind::BigInt => DataType::BigInt(None),
        SqlTypeKind::Float => DataType::Float(ExactNumberInfo::None),
        SqlTypeKind::Double => DataType::Double(ExactNumberInfo::None),
        SqlTypeKind::Decimal { precision, scale } => DataType::Decimal(match (precision, scale) {
            (Some(precision), Some(scale)) => ExactNumberInfo::PrecisionAndScale((*precision).into(), (*scale).into()),
            (Some(precision), None) => ExactNumberInfo::Precision((*precision).into()),
            (None, _) => ExactNumberInfo::None,
        }),
        SqlTypeKind::Char(length) => DataType::Char(length.map(character_length)),
        SqlTypeKind::Varchar(None) => DataType::String(None),
        SqlTypeKind::Varchar(length) => DataType::Varchar(length.map(character_length)),
        SqlTypeKind::Binary(length) => DataType::Binary(length.map(u64::from)),
        SqlTypeKind::Varbinary(None) => DataType::Bytes(None),
        SqlTypeKind::Varbinary(length) => {
            DataType::Varbinary(length.map(|length| BinaryLength::IntegerLength { length: length.into() }))
        }
        SqlTypeKind::Date => DataType::Date,
        SqlTypeKind::Time(precision) => DataType::Time(precision.map(u64::from), TimezoneInfo::None),
        SqlTypeKind::Timestamp(precision) => DataType::Timestamp(precision.map(u64::from), TimezoneInfo::None),
        SqlTypeKind::TimestampLtz(precision) => custom("TIMESTAMP_LTZ", precision.iter().map(u8::to_string).collect()),
        SqlTypeKind::IntervalYearMonth => interval(IntervalFields::YearToMonth),
        SqlTypeKind::IntervalDayTime => interval(IntervalFields::DayToSecond),
        SqlTypeKind::Array(element) => DataType::Array(ArrayElemTypeDef::AngleBracket(nested(element))),
        SqlTypeKind::Map(key, value) => DataType::Map(nested(key), nested(value)),
        SqlTypeKind::Multiset(element) => custom("MULTISET", vec![element.to_string()]),
        SqlTypeKind::Row(fields) => {
            DataType::Struct(fields.iter().map(struct_field_of).collect(), StructBracketKind::AngleBrackets)
        }
    }
}

fn nested(element: &SqlType) -> Box<DataType> {
    Box::new(data_type_of(&element.kind))
}

fn custom(name: &str, modifiers: Vec<String>) -> DataType {
    DataType::Custom(ObjectName::from(vec![Ident::new(name)]), modifiers)
}

fn interval(fields: IntervalFields) -> DataType {
    DataType::Interval { fields: Some(fields), precision: None }
}

fn character_length(length: u32) -> CharacterLength {
    CharacterLength::IntegerLength { length: length.into(), unit: None }
}

fn struct_field_of(field: &RowField) -> StructField {
    StructField {
        field_name: Some(Ident::with_quote('`', field.name.as_str())),
        field_type: data_type_of(&field.data_type.kind),
        options: field.not_null.then(|| vec![SqlOption::Ident(Ident::new(NOT_NULL))]),
    }
}

/// The type that a `CAST` or a typed literal of a parsed query names; places inside it are empty.
///
/// # Errors
/// A sentence when the type is none of the dialect's.
pub fn sql_type_of(data_type: &DataType) -> Result<SqlTypeKind, String> {
    let unknown = || Err(format!("unknown data type `{data_type}`"));
    Ok(match data_type {
        DataType::Struct(fields, _) => SqlTypeKind::Row(
            fields.iter().enumerate().map(|(idx, field)| row_field_of(idx, field)).collect::<Result<_, _>>()?,
        ),
        DataType::Array(ArrayElemTypeDef::AngleBracket(element)) => SqlTypeKind::Array(boxed(element)?),
        DataType::Map(key, value) => SqlTypeKind::Map(boxed(key)?, boxed(value)?),
        DataType::Custom(name, modifiers) if name.to_string() == "MULTISET" => match modifiers.as_slice() {
            [element] => SqlTypeKind::Multiset(Box::new(type_of_text(element)?)),
            _ => return unknown(),
        },
        // Everything else prints as it is spelt in the grammar.
        scalar => match type_of_text(&scalar.to_string()) {
            Ok(SqlType { kind, .. }) => kind,
            Err(_) => return unknown(),
        },
    })
}

fn boxed(element: &DataType) -> Result<Box<SqlType>, String> {
    Ok(Box::new(without_place(sql_type_of(element)?)))
}

fn without_place(kind: SqlTypeKind) -> SqlType {
    SqlType { kind, span: Span::default() }
}

fn row_field_of(idx: usize, field: &StructField) -> Result<RowField, String> {
    Ok(RowField {
        name: field.field_name.as_ref().map_or_else(|| format!("f{idx}"), |name| name.value.clone()),
        data_type: without_place(sql_type_of(&field.field_type)?),
        not_null: field.options.iter().flatten().any(|option| option.to_string() == NOT_NULL),
    })
}

fn type_of_text(text: &str) -> Result<SqlType, String> {
    let tokens = lex(&Source::new(text)).tokens;
    let count = tokens.len();
    let mut parser = Parser::new(&FlinkDialect).with_tokens_with_locations(tokens);
    let data_type = parse_type(&mut parser, &|_| Span::default()).map_err(|error| error.to_string())?;
    if parser.index() < count {
        return Err(format!("`{text}` is not a data type"));
    }
    Ok(data_type)
}
