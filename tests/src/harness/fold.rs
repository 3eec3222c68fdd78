//! Folds a query's changes into the rows that are left, and insists that the changes make sense.
//!
//! **Invariant:** an append-only result holds `+I` only; a change never takes back a row that is not there; `-U` is
//! followed by `+U` in the next row of the same batch, and `+U` comes behind `-U` unless the result is keyed.

use std::collections::{BTreeMap, HashMap};

use tidemark_planner::changelog::ChangelogMode;
use tidemark_runtime::change_batch::RowKind;

use super::values::Row;

/// The rows left so far.
pub struct Fold {
    mode: ChangelogMode,
    upsert_key: Vec<usize>,
    /// By number of arrival.
    rows: BTreeMap<usize, Row>,
    /// Which of them have an identity: the whole row, or the upsert key's columns.
    places: HashMap<Row, Vec<usize>>,
    arrived: usize,
}

impl Fold {
    /// No rows yet, of a result that carries such changes.
    pub fn new(mode: ChangelogMode, upsert_key: Vec<usize>) -> Self {
        Self { mode, upsert_key, rows: BTreeMap::new(), places: HashMap::new(), arrived: 0 }
    }

    /// Applies one batch. The error says what makes no sense.
    pub fn apply(&mut self, changes: &[(RowKind, Row)]) -> Result<(), String> {
        for (index, (kind, row)) in changes.iter().enumerate() {
            let before = index.checked_sub(1).map(|i| changes[i].0);
            let after = changes.get(index + 1).map(|c| c.0);
            self.check_kind(*kind, before, after).map_err(|what| format!("{what}: {} {row:?}", kind.symbol()))?;
            if kind.is_addition() {
                self.add(row.clone());
            } else {
                self.take_back(row).map_err(|what| format!("{what}: {} {row:?}", kind.symbol()))?;
            }
        }
        Ok(())
    }

    fn check_kind(&self, kind: RowKind, before: Option<RowKind>, after: Option<RowKind>) -> Result<(), &'static str> {
        match (self.mode, kind) {
            (_, RowKind::Insert) => Ok(()),
            (ChangelogMode::Append, _) => Err("an append-only result changes"),
            (_, RowKind::UpdateBefore) if after != Some(RowKind::UpdateAfter) => {
                Err("a -U is not followed by its +U in the same batch")
            }
            (ChangelogMode::Retract, RowKind::UpdateAfter) if before != Some(RowKind::UpdateBefore) => {
                Err("a +U has no -U before it")
            }
            _ => Ok(()),
        }
    }

    fn identity(&self, row: &Row) -> Row {
        match self.mode {
            ChangelogMode::Upsert => self.upsert_key.iter().map(|c| row[*c].clone()).collect(),
            ChangelogMode::Append | ChangelogMode::Retract => row.clone(),
        }
    }

    fn add(&mut self, row: Row) {
        let places = self.places.entry(self.identity(&row)).or_default();
        if self.mode == ChangelogMode::Upsert {
            places.drain(..).for_each(|replaced| drop(self.rows.remove(&replaced)));
        }
        places.push(self.arrived);
        self.rows.insert(self.arrived, row);
        self.arrived += 1;
    }

    fn take_back(&mut self, row: &Row) -> Result<(), &'static str> {
        let place = self.places.get_mut(&self.identity(row)).and_then(Vec::pop);
        let place = place.ok_or("a row is taken back that is not there")?;
        self.rows.remove(&place);
        Ok(())
    }

    /// The rows that are left, in the order in which they came.
    pub fn into_rows(self) -> Vec<Row> {
        self.rows.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use RowKind::{Delete, Insert, UpdateAfter, UpdateBefore};

    use super::*;

    fn fold(mode: ChangelogMode, batches: &[&[(RowKind, &str, &str)]]) -> Result<Vec<String>, String> {
        let mut fold = Fold::new(mode, vec![0]);
        for batch in batches {
            let row = |(kind, key, value): &(RowKind, &str, &str)| {
                (*kind, vec![Some(key.to_string()), Some(value.to_string())])
            };
            fold.apply(&batch.iter().map(row).collect::<Vec<_>>())?;
        }
        Ok(fold.into_rows().into_iter().map(|row| row.into_iter().flatten().collect::<Vec<_>>().join("=")).collect())
    }

    #[test]
    fn what_is_left() {
        let batches: [&[_]; 2] =
            [&[(Insert, "a", "1"), (Insert, "b", "1")], &[(UpdateBefore, "a", "1"), (UpdateAfter, "a", "2")]];
        assert_eq!(fold(ChangelogMode::Retract, &batches), Ok(vec!["b=1".into(), "a=2".into()]));
        let batches: [&[_]; 2] =
            [&[(Insert, "a", "1"), (Insert, "b", "1")], &[(UpdateAfter, "a", "2"), (Delete, "b", "")]];
        assert_eq!(fold(ChangelogMode::Upsert, &batches), Ok(vec!["a=2".into()]));
        assert_eq!(fold(ChangelogMode::Retract, &[&[(Insert, "a", "1"), (Delete, "a", "1")]]), Ok(vec![]));
    }

    #[test]
    fn what_makes_no_sense() {
        let fails = |mode, batches: &[&[(RowKind, &str, &str)]]| fold(mode, batches).is_err();
        assert!(fails(ChangelogMode::Append, &[&[(Insert, "a", "1"), (Delete, "a", "1")]]));
        assert!(fails(ChangelogMode::Retract, &[&[(Delete, "a", "1")]]));
        assert!(fails(ChangelogMode::Retract, &[&[(Insert, "a", "1"), (UpdateAfter, "a", "2")]]));
        assert!(fails(
            ChangelogMode::Retract,
            &[&[(Insert, "a", "1"), (UpdateBefore, "a", "1")], &[(UpdateAfter, "a", "2")]]
        ));
    }
}
