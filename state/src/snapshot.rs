//! State in canonical form: what an operator writes at a barrier and reads when a job is restored.
//!
//! The form does not depend on the backend, on the parallelism or on the platform: tables of Arrow rows, cut by key
//! group. A job of another parallelism gives each subtask the entries of its key groups.
//!
//! ```text
//! table `slices` v1   key group 3:  (slice_start, key…, state…)   key group 7: …
//! table `timer`  v1   no key group: (next,)
//! ```

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

/// The state of one operator in one subtask, or, when restored, what of all subtasks falls to this one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorSnapshot {
    /// Its tables, in the operator's own order.
    pub tables: Vec<TableSnapshot>,
}

/// What a table of an operator's state looks like, whatever is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTableSchema {
    /// Its name within the operator.
    pub name: String,
    /// See [`TableSnapshot::version`].
    pub version: u16,
    /// The columns of every entry.
    pub schema: SchemaRef,
}

/// One table of an operator's state.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSnapshot {
    /// Its name within the operator.
    pub name: String,
    /// Which layout the rows have; raised when the layout changes in a way that names and types do not show.
    pub version: u16,
    /// The columns of every entry.
    pub schema: SchemaRef,
    /// The rows.
    pub entries: Vec<StateEntry>,
}

/// Rows of one key group.
#[derive(Clone, Debug, PartialEq)]
pub struct StateEntry {
    /// The key group of all these rows; `None` for state that belongs to no key (it stays with subtask 0).
    pub key_group: Option<u32>,
    /// The rows.
    pub rows: RecordBatch,
}

impl StateTableSchema {
    /// The table with these rows.
    pub fn with_entries(&self, entries: Vec<StateEntry>) -> TableSnapshot {
        TableSnapshot {
            name: self.name.clone(),
            version: self.version,
            schema: SchemaRef::clone(&self.schema),
            entries,
        }
    }
}

impl OperatorSnapshot {
    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&TableSnapshot> {
        self.tables.iter().find(|t| t.name == name)
    }

    /// Has it no rows at all?
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(|t| t.entries.iter().all(|e| e.rows.num_rows() == 0))
    }
}
