//! Key rows as dense group ids.
//!
//! A [`KeyTable`] gives each distinct key row the next id 0, 1, 2 … in the order of first arrival, so that
//! per-key state can live in plain vectors indexed by it. NULL is a key like any other, equal to itself only.
//!
//! ```text
//! intern(["b", "a", "b", NULL]) -> [0, 1, 0, 2]        keys([2, 0]) -> [NULL, "b"]
//! ```
//!
//! **Invariant:** ids depend on the rows and their order alone, never on hash values or capacity.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use self::pair::PairKeys;
use self::row::RowKeys;
use self::text::TextKeys;
use self::word::WordKeys;

mod byte_keys;
mod pair;
mod row;
mod text;
mod wide_slots;
mod word;
mod word_slots;

/// Distinct key rows, numbered in the order of first arrival.
#[derive(Debug)]
pub struct KeyTable {
    /// The types of the key columns, dictionaries unpacked.
    types: Vec<DataType>,
    keys: Keys,
}

#[derive(Debug)]
enum Keys {
    /// No key columns: one group as soon as there is a row.
    Single { seen: bool },
    /// One fixed-width column.
    Word(WordKeys),
    /// Two fixed-width columns.
    Pair(PairKeys),
    /// One column of text or bytes.
    Text(TextKeys),
    /// Anything else, by arrow's row format.
    Row(RowKeys),
}

impl KeyTable {
    /// An empty table for key columns of these types. Fails for types that cannot be compared (unions).
    pub fn new(types: &[DataType]) -> Result<Self, ArrowError> {
        let types: Vec<DataType> = types.iter().map(plain_type).collect();
        let keys = match types.as_slice() {
            [] => Keys::Single { seen: false },
            [one] if WordKeys::supports(one) => Keys::Word(WordKeys::new(one.clone())),
            [one] if TextKeys::supports(one) => Keys::Text(TextKeys::new(one.clone())),
            [a, b] if WordKeys::supports(a) && WordKeys::supports(b) => Keys::Pair(PairKeys::new(a.clone(), b.clone())),
            _ => Keys::Row(RowKeys::new(&types)?),
        };
        Ok(Self { types, keys })
    }

    /// Appends the group id of each of `rows` key rows to `groups`, giving new keys new ids.
    pub fn intern(&mut self, columns: &[ArrayRef], rows: usize, groups: &mut Vec<u32>) -> Result<(), ArrowError> {
        debug_assert_eq!(columns.len(), self.types.len(), "one column a key");
        let has_dictionary = columns.iter().any(|c| matches!(c.data_type(), DataType::Dictionary(_, _)));
        if has_dictionary {
            let plain = columns.iter().map(unpack).collect::<Result<Vec<_>, _>>()?;
            return self.intern(&plain, rows, groups);
        }
        groups.reserve(rows);
        match &mut self.keys {
            Keys::Single { seen } => {
                *seen |= rows > 0;
                groups.resize(groups.len() + rows, 0);
            }
            Keys::Word(keys) => keys.intern(columns[0].as_ref(), groups),
            Keys::Pair(keys) => keys.intern(columns, groups),
            Keys::Text(keys) => keys.intern(columns[0].as_ref(), groups),
            Keys::Row(keys) => keys.intern(columns, groups)?,
        }
        Ok(())
    }

    /// The types of the key columns, dictionaries unpacked: those of [`KeyTable::keys`].
    pub fn types(&self) -> &[DataType] {
        &self.types
    }

    /// Number of distinct keys: the next id.
    pub fn len(&self) -> usize {
        match &self.keys {
            Keys::Single { seen } => usize::from(*seen),
            Keys::Word(keys) => keys.len(),
            Keys::Pair(keys) => keys.len(),
            Keys::Text(keys) => keys.len(),
            Keys::Row(keys) => keys.len(),
        }
    }

    /// Is there no key yet?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key columns of these groups, one row a group, of the types given to [`KeyTable::new`] except that
    /// dictionaries are unpacked.
    pub fn keys(&self, groups: &[u32]) -> Result<Vec<ArrayRef>, ArrowError> {
        match &self.keys {
            Keys::Single { .. } => Ok(Vec::new()),
            Keys::Word(keys) => Ok(vec![keys.keys(groups)]),
            Keys::Pair(keys) => Ok(keys.keys(groups)),
            Keys::Text(keys) => Ok(vec![keys.keys(groups)?]),
            Keys::Row(keys) => keys.keys(groups),
        }
    }

    /// Forgets all keys; keeps memory for as many as there were.
    pub fn clear(&mut self) {
        match &mut self.keys {
            Keys::Single { seen } => *seen = false,
            Keys::Word(keys) => keys.clear(),
            Keys::Pair(keys) => keys.clear(),
            Keys::Text(keys) => keys.clear(),
            Keys::Row(keys) => keys.clear(),
        }
    }

    /// Bytes held, approximately.
    pub fn memory_size(&self) -> usize {
        match &self.keys {
            Keys::Single { .. } => 0,
            Keys::Word(keys) => keys.memory_size(),
            Keys::Pair(keys) => keys.memory_size(),
            Keys::Text(keys) => keys.memory_size(),
            Keys::Row(keys) => keys.memory_size(),
        }
    }
}

fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        other => other.clone(),
    }
}

fn unpack(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = column.as_any_dictionary();
            compute::take(dictionary.values(), dictionary.keys(), None)
        }
        _ => Ok(ArrayRef::clone(column)),
    }
}

#[cfg(test)]
mod tests;
