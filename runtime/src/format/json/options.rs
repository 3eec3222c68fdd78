//! The options `json.*`.

use tidemark_planner::catalog::connector::OptionError;
use tidemark_planner::catalog::options::{OptionKind, OptionSpec, Options};

use super::super::UnreadableRows;
use super::super::text::TimestampStyle;

/// Leaves out what cannot be read.
pub(crate) const IGNORE_ERRORS: &str = "json.ignore-parse-errors";
const FAIL_ON_MISSING: &str = "json.fail-on-missing-field";
const TIMESTAMP_FORMAT: &str = "json.timestamp-format.standard";
const PLAIN_DECIMAL: &str = "json.encode.decimal-as-plain-number";

/// How JSON is read and written.
#[derive(Clone, Debug)]
pub(crate) struct JsonOptions {
    /// What becomes of rows that cannot be read.
    pub unreadable: UnreadableRows,
    /// Is a missing field an error rather than NULL?
    pub fail_on_missing_field: bool,
    /// How timestamps are written; read are both standards.
    pub timestamps: TimestampStyle,
}

/// What may be given.
pub(crate) fn specs() -> Vec<OptionSpec> {
    let spec = |key, kind, help| OptionSpec { key, kind, required: false, help };
    vec![
        spec(IGNORE_ERRORS, OptionKind::Bool, "skip and count rows that cannot be read instead of failing"),
        spec(FAIL_ON_MISSING, OptionKind::Bool, "a missing field is an error, not NULL"),
        spec(
            TIMESTAMP_FORMAT,
            OptionKind::OneOf(&["SQL", "ISO-8601"]),
            "how timestamps are written, 'SQL' by default; both are read",
        ),
        spec(PLAIN_DECIMAL, OptionKind::Bool, "accepted for Flink's sake: decimals are always plain numbers"),
    ]
}

impl JsonOptions {
    /// From the options of a table.
    pub fn of(options: &Options) -> Result<Self, OptionError> {
        let unreadable = UnreadableRows::of(options, IGNORE_ERRORS);
        let fail_on_missing_field = options.get_bool(FAIL_ON_MISSING, false);
        if fail_on_missing_field && unreadable == UnreadableRows::Skip {
            return Err(OptionError::new(
                FAIL_ON_MISSING,
                format!("'{FAIL_ON_MISSING}' and '{IGNORE_ERRORS}' must not both be 'true'"),
            ));
        }
        let is_iso = options.get(TIMESTAMP_FORMAT) == Some("ISO-8601");
        let timestamps = if is_iso { TimestampStyle::ISO_UTC } else { TimestampStyle::SQL_UTC };
        Ok(Self { unreadable, fail_on_missing_field, timestamps })
    }
}
