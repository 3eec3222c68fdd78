//! Folds a changelog into the rows that are left: a multiset, or one row a key for an upsert changelog.
//!
//! Rows come out in the order in which they arrived; the new row of an update (`-U` then `+U`) takes the place of
//! the old one.
//!
//! ```text
//! +I (JFK, 1)   +I (EWR, 1)   -U (JFK, 1)   +U (JFK, 2)      gives   (JFK, 2)   (EWR, 1)
//! ```
//!
//! **Invariant:** a change that takes back a row that is not there is an error, never ignored.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};
use tidemark_planner::changelog::ChangelogMode;
use tidemark_runtime::change_batch::{ChangeBatch, RowKind};

use super::cells::Cells;
use super::{ResultShape, Zone};

/// Rows of a batch that [`Fold::into_batches`] gives back.
const BATCH_ROWS: usize = 8192;

/// Why a changelog cannot be folded.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// A row was taken back that is not there.
    #[error("internal error: the changelog takes back a row that is not there: {op} {row}")]
    AbsentRow {
        /// `-U` or `-D`
        op: &'static str,
        /// The row as `(value, …)`.
        row: String,
    },
    /// A column's type cannot be compared.
    #[error("internal error: {0}")]
    Arrow(#[from] ArrowError),
}

/// Order of arrival.
type Place = u64;

/// The rows that a changelog has left so far.
pub struct Fold {
    schema: SchemaRef,
    converter: RowConverter,
    key: Option<UpsertKey>,
    /// What is left, in order of arrival, as bytes of `converter`.
    rows: BTreeMap<Place, Arc<[u8]>>,
    /// Where the rows of an identity are: the whole row's bytes, or the upsert key's.
    places: HashMap<Arc<[u8]>, Vec<Place>>,
    next_place: Place,
    /// The place of the row that the change before this one took back, when that was a `-U`.
    vacated: Option<Place>,
}

/// What identifies a row of an upsert changelog.
struct UpsertKey {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl Fold {
    /// Nothing yet.
    pub fn new(shape: &ResultShape) -> Result<Self, ArrowError> {
        let by_key = shape.changelog == ChangelogMode::Upsert && !shape.upsert_key.is_empty();
        let key = if by_key {
            let converter = converter_of(&shape.schema.project(&shape.upsert_key)?)?;
            Some(UpsertKey { columns: shape.upsert_key.clone(), converter })
        } else {
            None
        };
        Ok(Self {
            schema: Arc::clone(&shape.schema),
            converter: converter_of(&shape.schema)?,
            key,
            rows: BTreeMap::new(),
            places: HashMap::new(),
            next_place: 0,
            vacated: None,
        })
    }

    /// Applies changes in order.
    pub fn apply(&mut self, changes: &ChangeBatch) -> Result<(), FoldError> {
        let columns = changes.batch.columns();
        let rows = self.converter.convert_columns(columns)?;
        let keys: Option<Rows> = match &self.key {
            Some(key) => {
                let columns: Vec<ArrayRef> = key.columns.iter().map(|c| Arc::clone(&columns[*c])).collect();
                Some(key.converter.convert_columns(&columns)?)
            }
            None => None,
        };
        for row in 0..changes.num_rows() {
            let bytes: Arc<[u8]> = Arc::from(rows.row(row).data());
            let identity = keys.as_ref().map_or_else(|| Arc::clone(&bytes), |k| Arc::from(k.row(row).data()));
            let kind = changes.kind(row);
            if kind.is_addition() {
                self.add(kind, identity, bytes);
            } else if !self.remove(kind, &identity) {
                return Err(FoldError::AbsentRow { op: kind.symbol(), row: describe_row(&changes.batch, row) });
            }
        }
        Ok(())
    }

    fn add(&mut self, kind: RowKind, identity: Arc<[u8]>, bytes: Arc<[u8]>) {
        let vacated = self.vacated.take().filter(|_| kind == RowKind::UpdateAfter);
        let places = self.places.entry(identity).or_default();
        let replaced = if self.key.is_some() { places.pop() } else { None };
        let place = replaced.or(vacated).unwrap_or_else(|| {
            self.next_place += 1;
            self.next_place
        });
        places.push(place);
        self.rows.insert(place, bytes);
    }

    /// Takes back the latest row of that identity; false when there is none.
    fn remove(&mut self, kind: RowKind, identity: &Arc<[u8]>) -> bool {
        let Some(places) = self.places.get_mut(identity) else {
            return false;
        };
        let place = places.pop();
        if places.is_empty() {
            self.places.remove(identity);
        }
        self.vacated = place.filter(|_| kind == RowKind::UpdateBefore);
        place.is_some_and(|place| self.rows.remove(&place).is_some())
    }

    /// The rows that are left, in order of arrival.
    pub fn into_batches(self) -> Result<Vec<RecordBatch>, ArrowError> {
        let rows: Vec<Arc<[u8]>> = self.rows.into_values().collect();
        let parser = self.converter.parser();
        rows.chunks(BATCH_ROWS)
            .map(|chunk| {
                let columns = self.converter.convert_rows(chunk.iter().map(|bytes| parser.parse(bytes)))?;
                let columns = columns.iter().zip(self.schema.fields());
                // Rows forget how an array was encoded (dictionaries), never its values.
                let columns = columns.map(|(column, field)| compute::cast(column, field.data_type()));
                RecordBatch::try_new(Arc::clone(&self.schema), columns.collect::<Result<_, _>>()?)
            })
            .collect()
    }
}

fn converter_of(schema: &Schema) -> Result<RowConverter, ArrowError> {
    RowConverter::new(schema.fields().iter().map(|f| SortField::new(f.data_type().clone())).collect())
}

fn describe_row(batch: &RecordBatch, row: usize) -> String {
    let mut text = String::from("(");
    match Cells::new(batch, Zone::Utc) {
        Ok(cells) => {
            for column in 0..batch.num_columns() {
                text.push_str(if column == 0 { "" } else { ", " });
                if !cells.write(column, row, &mut text) {
                    text.push_str("NULL");
                }
            }
        }
        Err(error) => text.push_str(&error.to_string()),
    }
    text.push(')');
    text
}

#[cfg(test)]
mod tests;
