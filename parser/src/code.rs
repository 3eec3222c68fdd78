//! The stable codes of this crate's diagnostics.

/// Something else was expected at this place.
pub const SYNTAX: &str = "TM1001";
/// A string, a quoted name or a comment does not end.
pub const UNTERMINATED: &str = "TM1002";
/// A text in double quotes: strings take single quotes, names take back quotes.
pub const QUOTES: &str = "TM1003";
/// A statement or clause that is known but not supported.
pub const UNSUPPORTED: &str = "TM1004";
/// Two statements without a semicolon between them.
pub const MISSING_SEMICOLON: &str = "TM1005";
/// A word that starts no statement.
pub const UNKNOWN_STATEMENT: &str = "TM1006";
/// A hint that cannot be read, or stands where nothing honours it.
pub const HINT: &str = "TM1007";
/// Nested too deeply, or a chain of operators that is too long.
pub const TOO_DEEP: &str = "TM1008";
/// A type that does not exist, or a length or precision outside its range.
pub const DATA_TYPE: &str = "TM1009";
/// A constraint that cannot be declared in this form.
pub const CONSTRAINT: &str = "TM1010";
/// The same thing given twice.
pub const DUPLICATE: &str = "TM1011";
