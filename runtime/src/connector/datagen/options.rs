//! What the options of a table say about its rows.

use arrow::datatypes::{DataType, Field};
use tidemark_planner::catalog::connector::OptionError;
use tidemark_planner::catalog::options::{OptionKind, OptionSpec, Options, parse_duration};
use tidemark_planner::catalog::table::TableDef;

use super::column::{Column, Values};
use crate::connector::random::Stream;
use crate::format::datetime::{DAY_NANOS, parse_timestamp};
use crate::format::nearest::did_you_mean;
use tidemark_planner::types::sql_name;

const ROWS_PER_SECOND: &str = "rows-per-second";
const NUMBER_OF_ROWS: &str = "number-of-rows";
const SEED: &str = "seed";

/// Pace of a table without end, unless told otherwise.
const DEFAULT_ROWS_PER_SECOND: u64 = 10_000;

/// Characters of a string, unless told otherwise; as in Flink.
const DEFAULT_LENGTH: u64 = 100;

/// Most characters of a string.
const MAX_LENGTH: u64 = 1_000_000;

/// What may be given.
pub(super) fn specs() -> Vec<OptionSpec> {
    let spec = |key, kind, help| OptionSpec { key, kind, required: false, help };
    let kinds = OptionKind::OneOf(&["random", "sequence"]);
    vec![
        spec(ROWS_PER_SECOND, OptionKind::Count, "pace; without it a table that ends is not held back"),
        spec(NUMBER_OF_ROWS, OptionKind::Count, "rows in all; without it there is no end"),
        spec(SEED, OptionKind::Count, "another seed gives other rows, 0 by default"),
        spec("fields.*.kind", kinds, "how the column's values are made, 'random' by default"),
        spec("fields.*.min", OptionKind::Text, "least random value"),
        spec("fields.*.max", OptionKind::Text, "greatest random value"),
        spec("fields.*.length", OptionKind::Count, "length of random strings and bytes, 100 by default"),
        spec("fields.*.start", OptionKind::Text, "first value of a sequence, or time of the first row"),
        spec("fields.*.end", OptionKind::Text, "last value of a sequence"),
        spec("fields.*.interval", OptionKind::Duration, "time from one row to the next"),
        spec("fields.*.max-past", OptionKind::Duration, "how far behind its place a time may lie at random"),
        spec("fields.*.null-rate", OptionKind::Text, "share of NULLs, from 0 to 1"),
    ]
}

/// How the rows are made.
pub(super) struct Recipe {
    columns: Vec<(String, Column)>,
    /// How many; `None` for no end.
    pub rows: Option<u64>,
    /// At which pace; `None` as fast as they are taken.
    pub rows_per_second: Option<u64>,
}

impl Recipe {
    /// From the options of a table.
    pub fn of(table: &TableDef) -> Result<Self, OptionError> {
        let schema = table.physical_schema();
        let options = &table.options;
        check_names(options, &schema.fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>())?;
        let mut rows_per_second = options.get_u64(ROWS_PER_SECOND);
        if rows_per_second == Some(0) {
            return Err(OptionError::new(ROWS_PER_SECOND, "the pace must not be 0"));
        }
        let mut rows = options.get_u64(NUMBER_OF_ROWS);
        let seed = options.get_u64(SEED).unwrap_or(0);
        let interval_nanos = 1_000_000_000 / rows_per_second.unwrap_or(DEFAULT_ROWS_PER_SECOND).min(1_000_000_000);
        let mut columns = vec![];
        for (i, field) in schema.fields().iter().enumerate() {
            let field_options = FieldOptions { options, field, interval_nanos };
            let values = field_options.values()?;
            if let Values::Sequence { start, end } = values {
                let length = u64::try_from(end - start + 1).unwrap_or(u64::MAX);
                rows = Some(rows.map_or(length, |rows| rows.min(length)));
            }
            let column = Column {
                data_type: field.data_type().clone(),
                values,
                null_rate: field_options.null_rate()?,
                stream: Stream::new(seed, 2 * i as u64),
                nulls: Stream::new(seed, 2 * i as u64 + 1),
            };
            columns.push((field.name().clone(), column));
        }
        if rows.is_none() {
            rows_per_second = rows_per_second.or(Some(DEFAULT_ROWS_PER_SECOND));
        }
        Ok(Self { columns, rows, rows_per_second })
    }

    /// How the column is made.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(n, _)| n == name).map(|(_, c)| c)
    }
}

/// Every `fields.<name>.…` must be about a column.
fn check_names(options: &Options, names: &[&str]) -> Result<(), OptionError> {
    for (key, _) in options.iter() {
        let Some((name, _)) = key.strip_prefix("fields.").and_then(|rest| rest.rsplit_once('.')) else { continue };
        if !names.contains(&name) {
            let message = format!("the table has no column '{name}'{}", did_you_mean(name, names));
            return Err(OptionError { key: Some(key.into()), message, help: None });
        }
    }
    Ok(())
}

/// The options of one column.
struct FieldOptions<'a> {
    options: &'a Options,
    field: &'a Field,
    /// Time from one row to the next, unless told otherwise.
    interval_nanos: u64,
}

impl FieldOptions<'_> {
    fn key(&self, suffix: &str) -> String {
        format!("fields.{}.{suffix}", self.field.name())
    }

    fn get(&self, suffix: &str) -> Option<&str> {
        self.options.get(&self.key(suffix))
    }

    fn error(&self, suffix: &str, message: impl Into<String>) -> OptionError {
        OptionError { key: Some(self.key(suffix)), message: message.into(), help: None }
    }

    /// Refuses what says nothing about a column of this kind.
    fn only(&self, known: &[&str]) -> Result<(), OptionError> {
        let all = ["min", "max", "length", "start", "end", "interval", "max-past"];
        match all.iter().find(|suffix| !known.contains(*suffix) && self.get(suffix).is_some()) {
            None => Ok(()),
            Some(suffix) => {
                let (name, kind) = (self.field.name(), self.get("kind").unwrap_or("random"));
                let message = format!(
                    "'{suffix}' has no meaning for column '{name}' of type {} and kind '{kind}'",
                    sql_name(self.field.data_type())
                );
                Err(self.error(suffix, message))
            }
        }
    }

    fn values(&self) -> Result<Values, OptionError> {
        let data_type = self.field.data_type();
        let is_sequence = self.get("kind") == Some("sequence");
        match data_type {
            DataType::Timestamp(_, _) | DataType::Date32 => self.times(),
            DataType::Boolean | DataType::Time32(_) | DataType::Time64(_) if !is_sequence => {
                self.only(&[])?;
                Ok(Values::Any)
            }
            DataType::Utf8 | DataType::Binary if !is_sequence => {
                self.only(&["length"])?;
                let length = self.options.get_u64(&self.key("length")).unwrap_or(DEFAULT_LENGTH);
                if length > MAX_LENGTH {
                    return Err(self.error("length", format!("the length must be at most {MAX_LENGTH}")));
                }
                Ok(Values::Text { length: length as usize })
            }
            DataType::Float32 | DataType::Float64 if !is_sequence => self.floats(),
            DataType::Utf8 | DataType::Float32 | DataType::Float64 | DataType::Decimal128(_, _) if is_sequence => {
                self.sequence((i64::MIN.into(), i64::MAX.into()))
            }
            DataType::Decimal128(precision, scale) => {
                let limit = 10_i128.pow(u32::from(*precision)) - 1;
                self.numbers((-limit, limit), 10_i128.pow(u32::from(scale.unsigned_abs())))
            }
            number if number.is_signed_integer() => {
                let bits = 8 * number.primitive_width().unwrap_or(8) as u32;
                let range = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
                if is_sequence { self.sequence(range) } else { self.numbers(range, 1) }
            }
            other => {
                let (name, kind) = (self.field.name(), if is_sequence { "a sequence" } else { "random values" });
                let message = format!("'datagen' knows no {kind} for column '{name}' of type {}", sql_name(other));
                Err(self.error("kind", message.replace("no a sequence", "no sequence")))
            }
        }
    }

    /// Times that advance from row to row.
    fn times(&self) -> Result<Values, OptionError> {
        self.only(&["start", "interval", "max-past"])?;
        let start = self.get("start").unwrap_or("2020-01-01 00:00:00");
        let time = parse_timestamp(start.as_bytes()).ok_or_else(|| {
            self.error("start", format!("'{start}' is not a TIMESTAMP such as '2020-01-01 00:00:00'"))
        })?;
        let offset_nanos = i128::from(time.offset_seconds.unwrap_or(0)) * 1_000_000_000;
        let duration = |suffix: &str, default: u64| match self.get(suffix) {
            None => Ok(i128::from(default)),
            Some(text) => parse_duration(text).map(|d| d.as_nanos() as i128).map_err(|e| self.error(suffix, e)),
        };
        let default_interval = match self.field.data_type() {
            DataType::Date32 => DAY_NANOS.unsigned_abs(),
            _ => self.interval_nanos,
        };
        Ok(Values::Time {
            start_nanos: i128::from(time.days) * i128::from(DAY_NANOS) + i128::from(time.nanos) - offset_nanos,
            interval_nanos: duration("interval", default_interval)?,
            max_past_nanos: duration("max-past", 0)?,
        })
    }

    /// Random whole numbers, in units of `1 / unit`.
    fn numbers(&self, (least, greatest): (i128, i128), unit: i128) -> Result<Values, OptionError> {
        self.only(&["min", "max"])?;
        let bound = |suffix: &str, default: i128| match self.get(suffix) {
            None => Ok(default),
            Some(text) => {
                let value = text.trim().parse::<i128>().ok().and_then(|v| v.checked_mul(unit));
                value.filter(|v| (least..=greatest).contains(v)).ok_or_else(|| self.no_bound(suffix, text))
            }
        };
        let (min, max) = (bound("min", least)?, bound("max", greatest)?);
        if min > max {
            return Err(self.error("max", "'max' is less than 'min'"));
        }
        Ok(Values::Number { min, max })
    }

    fn floats(&self) -> Result<Values, OptionError> {
        self.only(&["min", "max"])?;
        let bound = |suffix: &str, default: f64| match self.get(suffix) {
            None => Ok(default),
            Some(text) => {
                let value = text.trim().parse::<f64>().ok();
                value.filter(|v| v.is_finite()).ok_or_else(|| self.no_bound(suffix, text))
            }
        };
        let (min, max) = (bound("min", 0.0)?, bound("max", 1.0)?);
        if min > max {
            return Err(self.error("max", "'max' is less than 'min'"));
        }
        Ok(Values::Float { min, max })
    }

    fn sequence(&self, (least, greatest): (i128, i128)) -> Result<Values, OptionError> {
        self.only(&["start", "end"])?;
        let bound = |suffix: &str| {
            let Some(text) = self.get(suffix) else {
                let name = self.field.name();
                return Err(
                    self.error("kind", format!("the sequence of column '{name}' needs 'fields.{name}.{suffix}'"))
                );
            };
            let value = text.trim().parse::<i128>().ok();
            value.filter(|v| (least..=greatest).contains(v)).ok_or_else(|| self.no_bound(suffix, text))
        };
        let (start, end) = (bound("start")?, bound("end")?);
        if start > end {
            return Err(self.error("end", "'end' is less than 'start'"));
        }
        Ok(Values::Sequence { start, end })
    }

    fn no_bound(&self, suffix: &str, text: &str) -> OptionError {
        self.error(suffix, format!("'{text}' is not a value of {}", sql_name(self.field.data_type())))
    }

    fn null_rate(&self) -> Result<f64, OptionError> {
        let Some(text) = self.get("null-rate") else { return Ok(0.0) };
        let rate = text.trim().parse::<f64>().ok().filter(|r| (0.0..=1.0).contains(r));
        let rate = rate.ok_or_else(|| self.error("null-rate", format!("'{text}' is not a number from 0 to 1")))?;
        if rate > 0.0 && !self.field.is_nullable() {
            return Err(self.error("null-rate", format!("column '{}' is NOT NULL", self.field.name())));
        }
        Ok(rate)
    }
}
