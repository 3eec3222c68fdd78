//! Statements of the Flink dialect. Queries and expressions are `sqlparser`'s own tree; everything
//! that `sqlparser` does not know (DDL of streams, statement sets, session statements) is ours.

use crate::span::Span;
pub use sqlparser::ast::{Expr, Ident, ObjectName, Query};

/// One statement of a script and where it stands.
#[derive(Clone, Debug)]
pub struct ParsedStatement {
    /// What it says.
    pub statement: Statement,
    /// Its text in the script, without the semicolon.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `CREATE [TEMPORARY] TABLE`
    CreateTable(Box<CreateTable>),
    /// `CREATE [TEMPORARY] VIEW`
    CreateView(Box<CreateView>),
    /// `DROP TABLE|VIEW`
    Drop(Drop),
    /// `INSERT INTO t SELECT …`
    Insert(Box<Insert>),
    /// `EXECUTE STATEMENT SET BEGIN … END`
    StatementSet(Vec<Insert>),
    /// `SELECT …`, `VALUES …`, `WITH …`
    Query(Box<Query>),
    /// `EXPLAIN …`
    Explain(Box<Explain>),
    /// `SET 'key' = 'value'`, or `SET` alone which lists
    Set(Option<(Name, Text)>),
    /// `RESET 'key'`, or `RESET` alone which resets all
    Reset(Option<Name>),
    /// `SHOW …`
    Show(Show),
    /// `DESCRIBE t`
    Describe(TableName),
}

/// A word or quoted string with its place: an option key, a `SET` key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text without quotes.
    pub value: String,
    /// Where it stands, quotes included.
    pub span: Span,
}

/// A string value with its place.
pub type Text = Name;

/// A possibly qualified table name (`t`, `db.t`, `catalog.db.t`), back quotes removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableName {
    /// The parts, outermost first; never empty.
    pub parts: Vec<String>,
    /// Where it stands.
    pub span: Span,
}

impl TableName {
    /// The parts joined by dots.
    pub fn display(&self) -> String {
        self.parts.join(".")
    }
}

/// `'key' = 'value'` in `WITH (…)` or in an `OPTIONS` hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionEntry {
    /// The key.
    pub key: Name,
    /// The value.
    pub value: Text,
}

/// `CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name (…) … WITH (…) [LIKE … | AS …]`
#[derive(Clone, Debug)]
pub struct CreateTable {
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The name.
    pub name: TableName,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// `WATERMARK FOR …` clauses; more than one is an error of the binder.
    pub watermarks: Vec<WatermarkDef>,
    /// `PRIMARY KEY (…) NOT ENFORCED`, or of a single column
    pub primary_key: Option<PrimaryKeyDef>,
    /// `PARTITIONED BY (…)`
    pub partitioned_by: Vec<Name>,
    /// `COMMENT '…'`
    pub comment: Option<String>,
    /// `WITH (…)`
    pub options: Vec<OptionEntry>,
    /// `LIKE t (INCLUDING …)`
    pub like: Option<LikeClause>,
    /// `AS SELECT …`
    pub query: Option<Box<Query>>,
}

/// A column of `CREATE TABLE`.
#[derive(Clone, Debug)]
pub struct ColumnDef {
    /// The name.
    pub name: Name,
    /// What it holds.
    pub kind: ColumnKind,
    /// `COMMENT '…'`
    pub comment: Option<String>,
    /// The whole definition.
    pub span: Span,
}

/// The three kinds of column.
#[derive(Clone, Debug)]
pub enum ColumnKind {
    /// `c TYPE [NOT NULL]`: read from and written to the connector.
    Physical { data_type: SqlType, not_null: bool },
    /// `c AS expr`: computed when read, never written.
    Computed { expr: Box<Expr>, span: Span },
    /// `c TYPE METADATA [FROM 'key'] [VIRTUAL]`: the connector's own fact about the row.
    Metadata { data_type: SqlType, not_null: bool, from: Option<Text>, is_virtual: bool },
}

/// `WATERMARK FOR column AS expr`
#[derive(Clone, Debug)]
pub struct WatermarkDef {
    /// The event time column.
    pub column: Name,
    /// The watermark that a row gives rise to.
    pub expr: Box<Expr>,
    /// Where the expression stands.
    pub expr_span: Span,
    /// The whole clause.
    pub span: Span,
}

/// `PRIMARY KEY (a, b) NOT ENFORCED`
#[derive(Clone, Debug)]
pub struct PrimaryKeyDef {
    /// The columns.
    pub columns: Vec<Name>,
    /// Was `NOT ENFORCED` written?
    pub not_enforced: bool,
    /// The whole clause.
    pub span: Span,
}

/// `LIKE source (INCLUDING|EXCLUDING|OVERWRITING what …)`
#[derive(Clone, Debug)]
pub struct LikeClause {
    /// The table to copy.
    pub source: TableName,
    /// The merging rules, in order.
    pub rules: Vec<LikeRule>,
}

/// One merging rule of `LIKE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LikeRule {
    /// `INCLUDING`, `EXCLUDING` or `OVERWRITING`
    pub action: LikeAction,
    /// What it applies to.
    pub feature: LikeFeature,
}

/// What a merging rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikeAction {
    /// Copy; a clash is an error.
    Including,
    /// Do not copy.
    Excluding,
    /// Copy; the new definition wins over a clash.
    Overwriting,
}

/// What a merging rule speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikeFeature {
    /// Everything.
    All,
    /// Primary key.
    Constraints,
    /// Computed columns.
    Generated,
    /// Metadata columns.
    Metadata,
    /// Connector options.
    Options,
    /// `PARTITIONED BY`.
    Partitions,
    /// Watermark.
    Watermarks,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlType {
    /// What it is.
    pub kind: SqlTypeKind,
    /// Where it stands.
    pub span: Span,
}

/// Flink's SQL types. Precisions and lengths are `None` where none was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SqlTypeKind {
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
    Double,
    Decimal {
        precision: Option<u8>,
        scale: Option<u8>,
    },
    Char(Option<u32>),
    /// `VARCHAR[(n)]` and `STRING`
    Varchar(Option<u32>),
    Binary(Option<u32>),
    /// `VARBINARY[(n)]` and `BYTES`
    Varbinary(Option<u32>),
    Date,
    Time(Option<u8>),
    /// `TIMESTAMP[(p)] [WITHOUT TIME ZONE]`
    Timestamp(Option<u8>),
    /// `TIMESTAMP[(p)] WITH LOCAL TIME ZONE` and `TIMESTAMP_LTZ[(p)]`
    TimestampLtz(Option<u8>),
    IntervalYearMonth,
    IntervalDayTime,
    Array(Box<SqlType>),
    Map(Box<SqlType>, Box<SqlType>),
    Multiset(Box<SqlType>),
    /// `ROW<name TYPE [NOT NULL] ['comment'], …>`
    Row(Vec<RowField>),
}

/// A field of `ROW<…>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowField {
    /// The name; `f0`, `f1`, … where none was written.
    pub name: String,
    /// The type.
    pub data_type: SqlType,
    /// `NOT NULL`
    pub not_null: bool,
}

/// `CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] [COMMENT '…'] AS query`
#[derive(Clone, Debug)]
pub struct CreateView {
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The name.
    pub name: TableName,
    /// Column names, when given.
    pub columns: Vec<Name>,
    /// `COMMENT '…'`
    pub comment: Option<String>,
    /// The query.
    pub query: Box<Query>,
    /// Where the query stands: SHOW CREATE VIEW prints this text.
    pub query_span: Span,
}

/// `DROP [TEMPORARY] TABLE|VIEW [IF EXISTS] name`
#[derive(Clone, Debug)]
pub struct Drop {
    /// Table or view.
    pub object: ObjectKind,
    /// `TEMPORARY`
    pub temporary: bool,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The name.
    pub name: TableName,
}

/// What a name denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ObjectKind {
    Table,
    View,
}

/// `INSERT INTO t [/*+ OPTIONS(…) */] [(columns)] query`
#[derive(Clone, Debug)]
pub struct Insert {
    /// The sink.
    pub table: TableName,
    /// `OPTIONS` hint of the sink.
    pub options: Vec<OptionEntry>,
    /// Target columns, when given.
    pub columns: Vec<Name>,
    /// What to write.
    pub query: Box<Query>,
    /// The whole statement.
    pub span: Span,
}

/// `EXPLAIN [PLAN FOR | detail, …] statement`
#[derive(Clone, Debug)]
pub struct Explain {
    /// `CHANGELOG_MODE`, `JSON_EXECUTION_PLAN`, … in upper case, with their places.
    pub details: Vec<Name>,
    /// What to explain: a query, an insert or a statement set.
    pub statement: ParsedStatement,
}

/// `SHOW …`
#[derive(Clone, Debug)]
pub enum Show {
    /// `SHOW TABLES`: tables and views
    Tables,
    /// `SHOW VIEWS`
    Views,
    /// `SHOW FUNCTIONS`
    Functions,
    /// `SHOW CREATE TABLE t`
    CreateTable(TableName),
    /// `SHOW CREATE VIEW v`
    CreateView(TableName),
    /// `SHOW COLUMNS FROM t`
    Columns(TableName),
}
