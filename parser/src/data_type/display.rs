//! Types as they are written.

use crate::ast::{RowField, SqlType, SqlTypeKind};
use std::fmt::{Display, Formatter, Result};

impl Display for SqlType {
    fn fmt(&self, f: &mut Formatter) -> Result {
        self.kind.fmt(f)
    }
}

impl Display for SqlTypeKind {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::TinyInt => f.write_str("TINYINT"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Int => f.write_str("INT"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Float => f.write_str("FLOAT"),
            Self::Double => f.write_str("DOUBLE"),
            Self::Decimal { precision: Some(precision), scale: Some(scale) } => {
                write!(f, "DECIMAL({precision}, {scale})")
            }
            Self::Decimal { precision, .. } => sized(f, "DECIMAL", *precision),
            Self::Char(length) => sized(f, "CHAR", *length),
            Self::Varchar(None) => f.write_str("STRING"),
            Self::Varchar(length) => sized(f, "VARCHAR", *length),
            Self::Binary(length) => sized(f, "BINARY", *length),
            Self::Varbinary(None) => f.write_str("BYTES"),
            Self::Varbinary(length) => sized(f, "VARBINARY", *length),
            Self::Date => f.write_str("DATE"),
            Self::Time(precision) => sized(f, "TIME", *precision),
            Self::Timestamp(precision) => sized(f, "TIMESTAMP", *precision),
            Self::TimestampLtz(precision) => sized(f, "TIMESTAMP_LTZ", *precision),
            Self::IntervalYearMonth => f.write_str("INTERVAL YEAR TO MONTH"),
            Self::IntervalDayTime => f.write_str("INTERVAL DAY TO SECOND"),
            Self::Array(element) => write!(f, "ARRAY<{element}>"),
            Self::Map(key, value) => write!(f, "MAP<{key}, {value}>"),
            Self::Multiset(element) => write!(f, "MULTISET<{element}>"),
            Self::Row(fields) => {
                f.write_str("ROW<")?;
                for (idx, field) in fields.iter().enumerate() {
                    write!(f, "{}{field}", if idx > 0 { ", " } else { "" })?;
                }
                f.write_str(">")
            }
        }
    }
}

impl Display for RowField {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let name = self.name.replace('`', "``");
        write!(f, "`{name}` {}{}", self.data_type, if self.not_null { " NOT NULL" } else { "" })
    }
}

fn sized(f: &mut Formatter, name: &str, size: Option<impl Display>) -> Result {
    match size {
        Some(size) => write!(f, "{name}({size})"),
        None => f.write_str(name),
    }
}
