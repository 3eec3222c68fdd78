//! Rows of the embedding program as tables.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use tidemark_planner::types::sql_name;

use super::{Session, SessionError};

impl Session {
    /// Makes `batches`, whose columns are those of `schema`, readable as the table `name`; the rows are not copied.
    /// The table has no event time; for one, or for computed columns, declare it in SQL over the same rows:
    /// `CREATE TABLE t (…, WATERMARK FOR ts AS ts) WITH ('connector' = 'memory', 'table' = 'name')`.
    ///
    /// # Errors
    /// The name is taken, or a column has a type that SQL does not know.
    pub fn register_batches(
        &mut self,
        name: &str,
        schema: &Schema,
        batches: Vec<RecordBatch>,
    ) -> Result<(), SessionError> {
        self.hold_batches(name, batches);
        self.execute(&create_table(name, schema)).map(drop)
    }

    /// Holds `batches` under `name`, in place of what was held, for tables declared with `'connector' = 'memory'` and
    /// `'table' = 'name'`.
    pub fn hold_batches(&mut self, name: &str, batches: Vec<RecordBatch>) {
        self.memory.set(name, batches);
    }
}

fn create_table(name: &str, schema: &Schema) -> String {
    let column = |field: &arrow::datatypes::FieldRef| {
        let not_null = if field.is_nullable() { "" } else { " NOT NULL" };
        format!("{} {}{not_null}", quoted(field.name()), sql_name(field.data_type()))
    };
    let columns: Vec<_> = schema.fields().iter().map(column).collect();
    let held_as = name.replace('\'', "''");
    let columns = columns.join(", ");
    format!("CREATE TABLE {} ({columns}) WITH ('connector' = 'memory', 'table' = '{held_as}')", quoted(name))
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
