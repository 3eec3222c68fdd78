//! Parameters of functions: which arguments they take and what those are cast to.

use std::fmt;

use arrow::datatypes::{DataType, TimeUnit};

use crate::types::sql_name;

/// What a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Param {
    /// `STRING`
    Text,
    /// Any integer; arrives as `BIGINT`.
    Long,
    /// Any number; arrives as `DOUBLE`.
    Double,
    /// Any number; keeps its type.
    Number,
    /// A decimal, or an integer, which arrives as one.
    Decimal,
    /// `BYTES`; text arrives as its UTF-8.
    Bytes,
    /// `BYTES`, `STRING` or an integer; the latter arrives as `BIGINT`.
    TextOrLong,
    /// `DATE`, `TIME` or a timestamp; keeps its type.
    Temporal,
    /// `DATE` or a timestamp; keeps its type.
    DateOrTimestamp,
    /// A timestamp, with or without zone; a `DATE` arrives as `TIMESTAMP(3)`.
    Timestamp,
    /// A timestamp or text that is parsed as one.
    TimestampOrText,
    /// A number of seconds or milliseconds, or text: for TO_TIMESTAMP_LTZ.
    NumberOrText,
    /// `INTERVAL`
    Interval,
    /// `ARRAY`; keeps its type.
    Array,
    /// Anything.
    Any,
}

impl Param {
    /// The type an argument of type `from` is cast to; `None` if the parameter does not take it.
    pub fn coerce(self, from: &DataType) -> Option<DataType> {
        use DataType::{Binary, Date32, Float64, Int64, Interval, List, Null, Timestamp, Utf8};
        let kept = Some(from.clone());
        match (self, from) {
            (_, DataType::Dictionary(_, value)) => self.coerce(value),
            (Param::Text, t) if is_text(t) || *t == Null => Some(Utf8),
            (Param::Long, t) if t.is_integer() || *t == Null => Some(Int64),
            (Param::Double, t) if t.is_numeric() || *t == Null => Some(Float64),
            (Param::Number, Null) => Some(Float64),
            (Param::Number, t) if t.is_unsigned_integer() => Some(Int64),
            (Param::Number, t) if t.is_numeric() => kept,
            (Param::Decimal, t) => super::decimal::digits_of(t).map(|(p, s)| DataType::Decimal128(p, s)),
            (Param::Bytes, t) if t.is_binary() || is_text(t) || *t == Null => Some(Binary),
            (Param::TextOrLong, t) if t.is_integer() => Some(Int64),
            (Param::TextOrLong, t) if t.is_binary() => Some(Binary),
            (Param::TextOrLong, t) if is_text(t) || *t == Null => Some(Utf8),
            (Param::Temporal, t) if t.is_temporal() && !matches!(t, Interval(_) | DataType::Duration(_)) => kept,
            (Param::DateOrTimestamp, Date32 | Timestamp(_, _)) => kept,
            (Param::Temporal | Param::DateOrTimestamp, Null) => Some(Timestamp(TimeUnit::Millisecond, None)),
            (Param::Timestamp | Param::TimestampOrText, Timestamp(_, _)) => kept,
            (Param::Timestamp | Param::TimestampOrText, Date32 | DataType::Date64 | Null) => {
                Some(Timestamp(TimeUnit::Millisecond, None))
            }
            (Param::TimestampOrText, t) if is_text(t) => Some(Utf8),
            (Param::NumberOrText, t) if is_text(t) => Some(Utf8),
            (Param::NumberOrText, t) if t.is_integer() || *t == Null => Some(Int64),
            (Param::NumberOrText, t) if t.is_numeric() => Some(Float64),
            (Param::Interval, Interval(_)) => kept,
            (Param::Array, List(_)) | (Param::Any, _) => kept,
            (Param::Array, DataType::FixedSizeList(item, _) | DataType::LargeList(item)) => Some(List(item.clone())),
            _ => None,
        }
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Param::Text => "STRING",
            Param::Long => "BIGINT",
            Param::Double => "DOUBLE",
            Param::Number => "NUMERIC",
            Param::Decimal => "DECIMAL",
            Param::Bytes => "BYTES",
            Param::TextOrLong => "STRING|BIGINT",
            Param::Temporal => "DATE|TIME|TIMESTAMP",
            Param::DateOrTimestamp => "DATE|TIMESTAMP",
            Param::Timestamp => "TIMESTAMP",
            Param::TimestampOrText => "TIMESTAMP|STRING",
            Param::NumberOrText => "NUMERIC|STRING",
            Param::Interval => "INTERVAL",
            Param::Array => "ARRAY",
            Param::Any => "ANY",
        })
    }
}

/// A function's parameter list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// Must be given.
    pub required: &'static [Param],
    /// May follow.
    pub optional: &'static [Param],
    /// May follow any number of times.
    pub rest: Option<Param>,
}

impl Parameters {
    /// The same with parameters that may be left out.
    pub fn then_optional(self, optional: &'static [Param]) -> Self {
        Parameters { optional, ..self }
    }

    /// The types that the arguments are cast to, or what is wrong with them (the end of a sentence).
    pub fn coerce(&self, types: &[DataType]) -> Result<Vec<DataType>, String> {
        let most = self.required.len() + self.optional.len();
        if types.len() < self.required.len() || (self.rest.is_none() && types.len() > most) {
            let given = types.len();
            return Err(format!(
                "takes ({self}), but {given} argument{} given",
                if given == 1 { " is" } else { "s are" }
            ));
        }
        let params = self.required.iter().chain(self.optional).copied().chain(std::iter::repeat(
            // Only reached when `rest` is there: the length was checked.
            self.rest.unwrap_or(Param::Any),
        ));
        types
            .iter()
            .zip(params)
            .enumerate()
            .map(|(index, (from, param))| {
                param
                    .coerce(from)
                    .ok_or_else(|| format!("takes ({self}), but argument {} is {}", index + 1, sql_name(from)))
            })
            .collect()
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, param) in self.required.iter().enumerate() {
            write!(f, "{}{param}", if index > 0 { ", " } else { "" })?;
        }
        for (index, param) in self.optional.iter().enumerate() {
            write!(f, "{}{param}", if index + self.required.len() > 0 { " [, " } else { "[" })?;
        }
        f.write_str(&"]".repeat(self.optional.len()))?;
        match self.rest {
            Some(param) if self.required.is_empty() && self.optional.is_empty() => write!(f, "{param}, ..."),
            Some(param) => write!(f, ", {param}, ..."),
            None => Ok(()),
        }
    }
}
