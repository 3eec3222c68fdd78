//! State for another parallelism: who gets what of what the old subtasks wrote.
//!
//! **Invariant:** every entry goes to exactly one new subtask, the one that rows of its key go to. What belongs to no
//! key goes to subtask 0.
//!
//! ```text
//! max parallelism 4, old 2 subtasks {0, 1 | 2, 3}, new 3 subtasks {0, 1 | 2 | 3}
//! subtask 0 gets 0, 1 of the old first; 1 gets 2 and 2 gets 3 of the old second
//! ```

use std::ops::Range;

use crate::checkpoint_error::CheckpointError;
use crate::key_group::key_group_range;
use crate::snapshot::{OperatorSnapshot, TableSnapshot};

/// The part of a job's state that one subtask holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateShare {
    key_groups: Range<u32>,
    has_unkeyed: bool,
    /// The number of key groups that the range was cut from; `None` for the whole of however many.
    max_parallelism: Option<u32>,
}

impl StateShare {
    /// The share of a subtask of `parallelism`.
    pub fn of(subtask: usize, parallelism: usize, max_parallelism: u32) -> Self {
        Self {
            key_groups: key_group_range(subtask, parallelism, max_parallelism),
            has_unkeyed: subtask == 0,
            max_parallelism: Some(max_parallelism),
        }
    }

    /// All there is.
    pub fn whole() -> Self {
        Self { key_groups: 0..u32::MAX, has_unkeyed: true, max_parallelism: None }
    }

    /// Is state of that key group, or of no key, in the share?
    pub fn holds(&self, key_group: Option<u32>) -> bool {
        key_group.map_or(self.has_unkeyed, |group| self.key_groups.contains(&group))
    }

    /// The number of key groups it is a share of, if it is not the whole.
    pub(crate) fn max_parallelism(&self) -> Option<u32> {
        self.max_parallelism
    }

    /// May a file whose keyed state lies in `key_groups` (`None`: anywhere) hold something of the share?
    pub(crate) fn may_be_in(&self, key_groups: Option<(u32, u32)>) -> bool {
        let overlaps = |(start, end)| start < self.key_groups.end && self.key_groups.start < end;
        self.has_unkeyed || key_groups.is_none_or(overlaps)
    }
}

/// What of the states of all old subtasks of an operator is in `share`, as one state.
///
/// Tables stand in the order in which they first appear, entries in the order of their key groups (those without
/// first), then of the old subtasks. Fails if subtasks do not agree on the columns or the version of a table, or if
/// there are rows that no subtask would get.
pub fn merge_snapshots(
    old: impl IntoIterator<Item = OperatorSnapshot>,
    share: &StateShare,
) -> Result<OperatorSnapshot, CheckpointError> {
    let mut merged = OperatorSnapshot::default();
    for mut table in old.into_iter().flat_map(|snapshot| snapshot.tables) {
        check_key_groups(&table, share)?;
        table.entries.retain(|entry| share.holds(entry.key_group));
        match merged.tables.iter_mut().find(|known| known.name == table.name) {
            None => merged.tables.push(table),
            Some(known) => {
                check_agreement(known, &table)?;
                known.entries.append(&mut table.entries);
            }
        }
    }
    for table in &mut merged.tables {
        table.entries.sort_by_key(|entry| entry.key_group);
    }
    Ok(merged)
}

fn check_key_groups(table: &TableSnapshot, share: &StateShare) -> Result<(), CheckpointError> {
    let largest = table.entries.iter().filter_map(|entry| entry.key_group).max();
    match (largest, share.max_parallelism) {
        (Some(group), Some(max)) if group >= max => {
            let reason = format!("it has rows of key group {group}, but there are only {max} key groups");
            Err(CheckpointError::Disagreement { table: table.name.clone(), reason })
        }
        _ => Ok(()),
    }
}

fn check_agreement(one: &TableSnapshot, other: &TableSnapshot) -> Result<(), CheckpointError> {
    let reason = if one.version != other.version {
        format!("it has version {} in one subtask and {} in another", one.version, other.version)
    } else if one.schema != other.schema {
        format!("its columns are {} in one subtask and {} in another", one.schema, other.schema)
    } else {
        return Ok(());
    };
    Err(CheckpointError::Disagreement { table: one.name.clone(), reason })
}

#[cfg(test)]
mod tests;
