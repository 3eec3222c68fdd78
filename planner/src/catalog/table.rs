//! Tables and views as the catalog keeps them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use sqlparser::ast::{Expr, Query};
use tidemark_parser::Span;

use super::options::Options;

/// A table: columns, time, key and the connector that holds its rows.
#[derive(Clone, Debug)]
pub struct TableDef {
    /// Its name, as written.
    pub name: String,
    /// All columns in declared order.
    pub columns: Vec<Column>,
    /// `WATERMARK FOR`, when declared.
    pub watermark: Option<WatermarkSpec>,
    /// Columns of `PRIMARY KEY … NOT ENFORCED`; empty when there is none.
    pub primary_key: Vec<String>,
    /// Columns of `PARTITIONED BY`.
    pub partitioned_by: Vec<String>,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// `WITH (…)`, `connector` included.
    pub options: Options,
    /// Created with `TEMPORARY`?
    pub temporary: bool,
    /// The statement that created it, for `SHOW CREATE TABLE`.
    pub sql: String,
}

impl TableDef {
    /// The columns that the connector reads and writes, in order. Arrow fields carry name, type and nullability.
    pub fn physical_schema(&self) -> SchemaRef {
        let physical = |c: &&Column| matches!(c.kind, ColumnKind::Physical);
        Arc::new(Schema::new(self.columns.iter().filter(physical).map(Column::field).collect::<Vec<_>>()))
    }

    /// The table as a session of zone `time_zone` sees it: `TIMESTAMP_LTZ` is shown and read there, wherever the table
    /// was declared.
    pub fn in_zone(self: &Arc<Self>, time_zone: &str) -> Arc<Self> {
        let zoned: Vec<DataType> =
            self.columns.iter().map(|c| crate::types::in_zone(&c.data_type, time_zone)).collect();
        if self.columns.iter().zip(&zoned).all(|(c, t)| c.data_type == *t) {
            return Arc::clone(self);
        }
        let mut table = self.as_ref().clone();
        for (column, data_type) in table.columns.iter_mut().zip(zoned) {
            column.data_type = data_type;
        }
        Arc::new(table)
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The value of the `connector` option.
    pub fn connector(&self) -> &str {
        self.options.get("connector").unwrap_or("")
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its Arrow type.
    pub data_type: DataType,
    /// May it be NULL?
    pub nullable: bool,
    /// The type as SQL, such as `VARCHAR(10)`, for DESCRIBE.
    pub type_name: String,
    /// Where its values come from.
    pub kind: ColumnKind,
    /// `COMMENT`.
    pub comment: Option<String>,
}

impl Column {
    /// The Arrow field.
    pub fn field(&self) -> Field {
        Field::new(&self.name, self.data_type.clone(), self.nullable)
    }
}

/// Where a column's values come from.
#[derive(Clone, Debug)]
pub enum ColumnKind {
    /// The connector's rows.
    Physical,
    /// An expression over the other columns; `text` is its SQL.
    Computed { expr: Box<Expr>, text: String },
    /// The connector's own fact about the row, under `key`.
    Metadata { key: String, is_virtual: bool },
}

/// `WATERMARK FOR column AS expr`
#[derive(Clone, Debug)]
pub struct WatermarkSpec {
    /// The event time column: a physical, computed or metadata column of a timestamp type.
    pub column: String,
    /// The watermark each row gives rise to.
    pub expr: Box<Expr>,
    /// Its SQL.
    pub text: String,
}

/// A view: a name for a query.
#[derive(Clone, Debug)]
pub struct ViewDef {
    /// Its name.
    pub name: String,
    /// Column names given in the statement; empty when the query's own are used.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<Query>,
    /// The query's text.
    pub query_text: String,
    /// Where that text stood in the script that created the view.
    pub query_span: Span,
    /// `COMMENT`.
    pub comment: Option<String>,
    /// Created with `TEMPORARY`?
    pub temporary: bool,
    /// The statement that created it, for `SHOW CREATE VIEW`.
    pub sql: String,
}
