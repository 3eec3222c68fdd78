//! A file with the state of one subtask's operators.
//!
//! **Invariant:** the bytes depend on the snapshots alone, and every byte is covered by a checksum or compared with
//! what it must be: a file that was cut short or changed is refused, never read as something else.
//!
//! All integers are little-endian:
//!
//! ```text
//! offset        bytes
//! 0             8      magic "TIDESTAT"
//! 8             4      format version, u32: 1
//! 12            …      sections, one after the other without gaps
//! f             n      footer: JSON, the index of the sections
//! f + n         8      n, u64
//! f + n + 8     8      XXH3-64 of the first 12 bytes and of the footer, one after the other, u64
//! f + n + 16    8      magic "TIDE.END"
//! ```
//!
//! A section belongs to one table of one operator. The first section of a table is the schema message of an Arrow IPC
//! stream; each other one holds the rows of one entry: its dictionary messages and one record batch message
//! (metadata V5, buffers LZ4-compressed), so that the schema's bytes and the entry's together are an Arrow IPC
//! stream. Operators, tables and entries keep their order. The footer, without the line breaks:
//!
//! ```text
//! {"operators": [{"uid": "agg-1", "tables": [{
//!     "name": "slices", "version": 1,
//!     "schema": {"offset": 12, "bytes": 216, "xxh3": "0123456789abcdef"},
//!     "entries": [{"key_group": 3, "rows": 17, "section": {"offset": 228, "bytes": 352, "xxh3": "…"}}]}]}]}
//! ```
//!
//! `key_group` is `null` for rows that belong to no key. Readers skip names in the footer that they do not know;
//! anything that an older reader would misread raises the format version.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::index::Footer;
use crate::checkpoint_error::CheckpointError;
use crate::checksum::Xxh3;
use crate::fs::FileSystem;
use crate::rescale::StateShare;
use crate::snapshot::{OperatorSnapshot, StateEntry, TableSnapshot};

mod encode;
mod index;
mod payload;

pub use self::encode::encode_snapshot_file;

/// The version of the format that is written, and the newest that is read.
pub const SNAPSHOT_FILE_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"TIDESTAT";
const END_MAGIC: &[u8; 8] = b"TIDE.END";
/// The magic and the format version.
const HEADER_BYTES: u64 = 12;
/// The footer's length and checksum, and the magic of the end.
const TAIL_BYTES: u64 = 24;

/// A file of state, open for reading: its footer has been read and checked, its sections have not.
#[derive(Clone, Debug)]
pub struct SnapshotFile {
    fs: Arc<dyn FileSystem>,
    path: PathBuf,
    footer: Footer,
}

/// What a file holds of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTable {
    /// The operator's uid.
    pub operator: String,
    /// The table's name.
    pub name: String,
    /// The version of its layout.
    pub version: u16,
    /// How many rows it has.
    pub rows: u64,
    /// How many bytes they take in the file.
    pub bytes: u64,
}

impl SnapshotFile {
    /// Reads the footer of a file.
    pub fn open(fs: Arc<dyn FileSystem>, path: &Path) -> Result<Self, CheckpointError> {
        let footer = index::read_footer(fs.as_ref(), path)?;
        Ok(Self { fs, path: path.to_owned(), footer })
    }

    /// What the file holds, in its order.
    pub fn tables(&self) -> Vec<StoredTable> {
        let operators = self.footer.operators.iter();
        let tables = operators.flat_map(|operator| operator.tables.iter().map(move |table| (&operator.uid, table)));
        tables
            .map(|(uid, table)| StoredTable {
                operator: uid.clone(),
                name: table.name.clone(),
                version: table.version,
                rows: table.entries.iter().map(|entry| entry.rows).sum(),
                bytes: table.entries.iter().map(|entry| entry.section.bytes).sum(),
            })
            .collect()
    }

    /// The state of an operator, of it the entries in `share`; nothing else is read from the file. All its tables are
    /// there, if only without entries. `None` if the file does not know the operator.
    pub fn read(&self, operator: &str, share: &StateShare) -> Result<Option<OperatorSnapshot>, CheckpointError> {
        let Some(index) = self.footer.operators.iter().find(|o| o.uid == operator) else { return Ok(None) };
        let tables = index.tables.iter().map(|table| self.read_table(operator, table, share));
        Ok(Some(OperatorSnapshot { tables: tables.collect::<Result<_, _>>()? }))
    }

    fn read_table(
        &self,
        operator: &str,
        table: &index::Table,
        share: &StateShare,
    ) -> Result<TableSnapshot, CheckpointError> {
        let of_table = format!("of table '{}' of operator '{operator}'", table.name);
        let schema_bytes = self.read_section(&table.schema, || format!("the schema {of_table}"))?;
        let schema = payload::decode_schema(&schema_bytes)
            .map_err(|error| CheckpointError::corrupt(&self.path, format!("the schema {of_table}: {error}")))?;
        let mut entries = Vec::new();
        for entry in table.entries.iter().filter(|entry| share.holds(entry.key_group)) {
            let name = || match entry.key_group {
                Some(group) => format!("key group {group} {of_table}"),
                None => format!("the rows without key {of_table}"),
            };
            let bytes = self.read_section(&entry.section, name)?;
            let rows = payload::decode_rows(&schema_bytes, &bytes, entry.rows)
                .map_err(|error| CheckpointError::corrupt(&self.path, format!("{}: {error}", name())))?;
            entries.push(StateEntry { key_group: entry.key_group, rows });
        }
        Ok(TableSnapshot { name: table.name.clone(), version: table.version, schema, entries })
    }

    fn read_section(&self, section: &index::Section, name: impl Fn() -> String) -> Result<Vec<u8>, CheckpointError> {
        let bytes = self.fs.read_at(&self.path, section.offset, section.bytes as usize)?;
        if Xxh3::of(&bytes) != section.xxh3 {
            let reason = format!("the checksum of {} does not match", name());
            return Err(CheckpointError::corrupt(&self.path, reason));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
