//! Which changes a relation carries.

use serde::Serialize;

/// The changes that a node emits or a sink takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangelogMode {
    /// Only `+I`.
    Append,
    /// `+I +U -D` by key: an update replaces the row of the same upsert key.
    Upsert,
    /// `+I -U +U -D`: every change names the row that it takes back.
    Retract,
}

impl ChangelogMode {
    /// Only insertions?
    pub fn is_append(self) -> bool {
        self == ChangelogMode::Append
    }

    /// The row kinds, as EXPLAIN shows them.
    pub fn kinds(self) -> &'static str {
        match self {
            ChangelogMode::Append => "I",
            ChangelogMode::Upsert => "I,UA,D",
            ChangelogMode::Retract => "I,UB,UA,D",
        }
    }
}

impl std::fmt::Display for ChangelogMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ChangelogMode::Append => "append",
            ChangelogMode::Upsert => "upsert",
            ChangelogMode::Retract => "retract",
        })
    }
}
