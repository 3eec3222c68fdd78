//! The planner's diagnostic codes. Stable: a code is never given another meaning.

/// A name that denotes nothing: table, column, function.
pub const UNKNOWN_NAME: &str = "TM2001";
/// A name that is already taken.
pub const NAME_TAKEN: &str = "TM2002";
/// A wrong or missing option, or connector.
pub const BAD_OPTION: &str = "TM2003";
/// A type that does not fit.
pub const BAD_TYPE: &str = "TM2004";
/// A column definition, key or watermark that makes no sense.
pub const BAD_DEFINITION: &str = "TM2005";
/// SQL that is understood but cannot be run yet.
pub const UNSUPPORTED: &str = "TM2006";
/// A window function whose arguments are wrong.
pub const BAD_WINDOW: &str = "TM2007";
/// A time attribute was needed and there is none.
pub const NO_TIME_ATTRIBUTE: &str = "TM2008";
/// A query that does not fit its sink.
pub const SINK_MISMATCH: &str = "TM2009";
/// An order or limit that a stream cannot give.
pub const UNBOUNDED_ORDER: &str = "TM2010";
/// Any other thing wrong with a query.
pub const BAD_QUERY: &str = "TM2011";
/// A wrong SET.
pub const BAD_SETTING: &str = "TM2012";
/// State that grows without bound.
pub const UNBOUNDED_STATE: &str = "TM2101";
/// A MATCH_RECOGNIZE clause that makes no sense.
pub const BAD_PATTERN: &str = "TM2020";
/// Something about a MATCH_RECOGNIZE clause that is worth knowing.
pub const PATTERN_NOTE: &str = "TM2120";
