//! What makes up a job, as far as its state is concerned.

use std::fmt;

use arrow::datatypes::Schema;
use serde::{Deserialize, Serialize};

use crate::checksum::Xxh3;
use crate::field_text::field_text;
use crate::snapshot::{OperatorSnapshot, StateTableSchema, TableSnapshot};

pub use self::compare::{Change, Difference, Effect, compare};

mod compare;

/// What makes up a job, as far as its state is concerned. As text it is a line for each operator and table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFingerprint {
    /// The job's name.
    pub name: String,
    /// Two jobs with the same hash have operators with the same uids, kinds and state. That two hashes differ proves
    /// nothing if other versions of this program made them: [`compare`] tells.
    pub hash: Xxh3,
    /// The operators that have state, by uid.
    pub operators: Vec<OperatorFingerprint>,
}

/// An operator that has state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorFingerprint {
    /// Its uid, stable across changes of the query that do not concern it.
    pub uid: String,
    /// What it is, for people: "window aggregate".
    pub kind: String,
    /// Its tables.
    pub tables: Vec<TableFingerprint>,
}

/// The layout of a state table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFingerprint {
    /// Its name within the operator.
    pub name: String,
    /// See [`TableSnapshot::version`].
    pub version: u16,
    /// Its columns, each as `name type` or `name type not null`.
    pub fields: Vec<String>,
}

impl JobFingerprint {
    /// The fingerprint of a job with these operators, in any order.
    pub fn new(name: impl Into<String>, mut operators: Vec<OperatorFingerprint>) -> Self {
        operators.sort_by(|a, b| a.uid.cmp(&b.uid));
        let json = serde_json::to_vec(&operators).expect("fingerprints are made of lists, texts and numbers");
        Self { name: name.into(), hash: Xxh3::of(&json), operators }
    }
}

impl OperatorFingerprint {
    /// The fingerprint of an operator with this state; the rows do not matter.
    pub fn new(uid: impl Into<String>, kind: impl Into<String>, state: &OperatorSnapshot) -> Self {
        let tables = state.tables.iter().map(TableFingerprint::from).collect();
        Self { uid: uid.into(), kind: kind.into(), tables }
    }

    /// The fingerprint of an operator with these tables.
    pub fn of_tables(uid: impl Into<String>, kind: impl Into<String>, tables: &[StateTableSchema]) -> Self {
        let tables = tables.iter().map(TableFingerprint::from).collect();
        Self { uid: uid.into(), kind: kind.into(), tables }
    }
}

impl From<&TableSnapshot> for TableFingerprint {
    fn from(table: &TableSnapshot) -> Self {
        Self { name: table.name.clone(), version: table.version, fields: fields_text(&table.schema) }
    }
}

impl From<&StateTableSchema> for TableFingerprint {
    fn from(table: &StateTableSchema) -> Self {
        Self { name: table.name.clone(), version: table.version, fields: fields_text(&table.schema) }
    }
}

fn fields_text(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field_text(field)).collect()
}

impl fmt::Display for JobFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "job '{}'", self.name)?;
        for operator in &self.operators {
            writeln!(f, "  operator '{}' ({})", operator.uid, operator.kind)?;
            for table in &operator.tables {
                writeln!(f, "    table '{}' version {}: {}", table.name, table.version, table.fields.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
