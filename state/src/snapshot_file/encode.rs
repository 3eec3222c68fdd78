//! Writing the bytes of a snapshot file.

use arrow::error::ArrowError;

use super::index::{self, Entry, Footer, Operator, Section, Table};
use super::payload;
use crate::checkpoint_error::CheckpointError;
use crate::checksum::Xxh3;
use crate::snapshot::{OperatorSnapshot, TableSnapshot};

/// The bytes of a file that holds the states of these operators, each under its uid.
///
/// Fails if rows do not have the columns of their table.
pub fn encode_snapshot_file(operators: &[(String, OperatorSnapshot)]) -> Result<Vec<u8>, CheckpointError> {
    let mut file = index::header();
    let mut footer = Footer::default();
    for (uid, snapshot) in operators {
        let known = footer.operators.iter().any(|operator| operator.uid == *uid);
        assert!(!known, "the operators of a job have different uids, but there are two '{uid}'");
        let mut tables = Vec::with_capacity(snapshot.tables.len());
        for table in &snapshot.tables {
            let written = write_table(&mut file, table).map_err(|source| CheckpointError::Encode {
                operator: uid.clone(),
                table: table.name.clone(),
                source,
            })?;
            tables.push(written);
        }
        footer.operators.push(Operator { uid: uid.clone(), tables });
    }
    index::append_footer(&mut file, &footer);
    Ok(file)
}

fn write_table(file: &mut Vec<u8>, table: &TableSnapshot) -> Result<Table, ArrowError> {
    let start = file.len();
    file.extend(payload::encode_schema(&table.schema)?);
    let schema = section_since(file, start);
    let mut entries = Vec::with_capacity(table.entries.len());
    for entry in &table.entries {
        let start = file.len();
        payload::encode_rows(&table.schema, &entry.rows, file)?;
        let section = section_since(file, start);
        entries.push(Entry { key_group: entry.key_group, rows: entry.rows.num_rows() as u64, section });
    }
    Ok(Table { name: table.name.clone(), version: table.version, schema, entries })
}

fn section_since(file: &[u8], start: usize) -> Section {
    let bytes = &file[start..];
    Section { offset: start as u64, bytes: bytes.len() as u64, xxh3: Xxh3::of(bytes) }
}
