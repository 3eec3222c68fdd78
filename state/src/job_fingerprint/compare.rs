//! What becomes of the state of a job whose query has changed.

use std::fmt;

use super::{JobFingerprint, OperatorFingerprint, TableFingerprint};

/// What became of one operator between two versions of a job. As text it is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The operator's uid; in the old job, if it is in both.
    pub uid: String,
    /// What it is, in the new job if it is there.
    pub kind: String,
    /// What became of it.
    pub change: Change,
}

/// What became of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    Identical,
    /// It is only in the new job.
    Added,
    /// It is only in the old job.
    Removed,
    /// It is only in the old job; only in the new one is an operator with just such state.
    Renamed {
        /// The uid of that one.
        to: String,
    },
    /// The uid belongs to another kind of operator.
    OtherKind {
        /// What it was in the old job.
        was: String,
    },
    /// Its state has another layout.
    OtherState {
        /// What is different, in parts of a sentence that name table and field.
        changes: Vec<String>,
    },
}

/// What a change means for a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The operator goes on with its state.
    Kept,
    /// The operator starts without state.
    StartsEmpty,
    /// State would be lost: only if the user says so.
    Dropped,
    /// The state cannot be restored.
    Refused,
}

impl Difference {
    /// What it means for a restore.
    pub fn effect(&self) -> Effect {
        match self.change {
            Change::Identical => Effect::Kept,
            Change::Added => Effect::StartsEmpty,
            Change::Removed | Change::Renamed { .. } => Effect::Dropped,
            Change::OtherKind { .. } | Change::OtherState { .. } => Effect::Refused,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uid, kind, change } = self;
        write!(f, "operator '{uid}' ")?;
        match change {
            Change::Identical => write!(f, "({kind}) is unchanged and keeps its state"),
            Change::Added => write!(f, "({kind}) is new and starts without state"),
            Change::Removed => write!(f, "({kind}) is gone; its state would be dropped"),
            Change::Renamed { to } => {
                write!(f, "({kind}) seems to be '{to}' now; under that uid it would start without its state")
            }
            Change::OtherKind { was } => {
                write!(f, "is of kind '{kind}' now and was of kind '{was}'; its state does not fit")
            }
            Change::OtherState { changes } => write!(f, "({kind}) has other state: {}", changes.join("; ")),
        }
    }
}

/// What became of each operator: first those of the new job, in its order, then those that only the old one has.
///
/// A removed operator counts as renamed if there is exactly one added one of its kind and state, and no other removed
/// one like it. The names of the jobs do not matter here.
pub fn compare(old: &JobFingerprint, new: &JobFingerprint) -> Vec<Difference> {
    let find = |job: &'_ JobFingerprint, uid: &str| job.operators.iter().position(|operator| operator.uid == uid);
    let removed: Vec<_> = old.operators.iter().filter(|operator| find(new, &operator.uid).is_none()).collect();
    let added: Vec<_> = new.operators.iter().filter(|operator| find(old, &operator.uid).is_none()).collect();
    let in_new = new.operators.iter().map(|operator| {
        let change = match find(old, &operator.uid) {
            Some(was) => compare_operator(&old.operators[was], operator),
            None => Change::Added,
        };
        Difference { uid: operator.uid.clone(), kind: operator.kind.clone(), change }
    });
    let only_in_old = removed.iter().map(|operator| {
        let change = match (all_like(operator, &removed).count(), single(all_like(operator, &added))) {
            (1, Some(to)) => Change::Renamed { to: to.uid.clone() },
            _ => Change::Removed,
        };
        Difference { uid: operator.uid.clone(), kind: operator.kind.clone(), change }
    });
    in_new.chain(only_in_old).collect()
}

fn all_like<'a>(
    model: &'a OperatorFingerprint,
    operators: &'a [&'a OperatorFingerprint],
) -> impl Iterator<Item = &'a OperatorFingerprint> {
    operators.iter().copied().filter(|operator| operator.kind == model.kind && operator.tables == model.tables)
}

fn single<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

fn compare_operator(old: &OperatorFingerprint, new: &OperatorFingerprint) -> Change {
    if old.kind != new.kind {
        return Change::OtherKind { was: old.kind.clone() };
    }
    let find = |tables: &'_ [TableFingerprint], name: &str| tables.iter().position(|table| table.name == name);
    let mut changes = Vec::new();
    for table in &new.tables {
        match find(&old.tables, &table.name) {
            Some(was) => compare_tables(&old.tables[was], table, &mut changes),
            None => changes.push(format!("table '{}' is new", table.name)),
        }
    }
    let gone = old.tables.iter().filter(|table| find(&new.tables, &table.name).is_none());
    changes.extend(gone.map(|table| format!("table '{}' is gone", table.name)));
    if changes.is_empty() { Change::Identical } else { Change::OtherState { changes } }
}

fn compare_tables(old: &TableFingerprint, new: &TableFingerprint, changes: &mut Vec<String>) {
    let before = changes.len();
    let mut push = |change: String| changes.push(format!("table '{}': {change}", new.name));
    if old.version != new.version {
        push(format!("its layout had version {} and has version {} now", old.version, new.version));
    }
    for field in new.fields.iter().filter(|field| !old.fields.contains(field)) {
        match old.fields.iter().find(|was| name_of(was) == name_of(field) && !new.fields.contains(was)) {
            Some(was) => push(format!("field '{was}' is '{field}' now")),
            None => push(format!("field '{field}' is new")),
        }
    }
    for was in old.fields.iter().filter(|was| !new.fields.iter().any(|field| name_of(field) == name_of(was))) {
        push(format!("field '{was}' is gone"));
    }
    if changes.len() == before && old.fields != new.fields {
        changes.push(format!("table '{}': its fields have another order", new.name));
    }
}

/// The name in a field's text; of a name with spaces its first part, which serves as well to pair fields.
fn name_of(field: &str) -> &str {
    field.split_once(' ').map_or(field, |(name, _)| name)
}
