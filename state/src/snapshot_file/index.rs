//! The footer of a snapshot file: where each section is.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{END_MAGIC, HEADER_BYTES, MAGIC, SNAPSHOT_FILE_VERSION, TAIL_BYTES};
use crate::checkpoint_error::CheckpointError;
use crate::checksum::Xxh3;
use crate::fs::FileSystem;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Footer {
    pub(super) operators: Vec<Operator>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Operator {
    pub(super) uid: String,
    pub(super) tables: Vec<Table>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) version: u16,
    pub(super) schema: Section,
    pub(super) entries: Vec<Entry>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) key_group: Option<u32>,
    pub(super) rows: u64,
    pub(super) section: Section,
}

/// Bytes of the file with their checksum.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Section {
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) xxh3: Xxh3,
}

impl Footer {
    /// All sections in the order of the file.
    fn sections(&self) -> impl Iterator<Item = &Section> {
        let tables = self.operators.iter().flat_map(|operator| &operator.tables);
        tables.flat_map(|table| std::iter::once(&table.schema).chain(table.entries.iter().map(|e| &e.section)))
    }
}

/// What stands before the sections.
pub(super) fn header() -> Vec<u8> {
    [MAGIC.as_slice(), &SNAPSHOT_FILE_VERSION.to_le_bytes()].concat()
}

/// Appends the footer and what follows it to a file of header and sections.
pub(super) fn append_footer(file: &mut Vec<u8>, footer: &Footer) {
    let json = serde_json::to_vec(footer).expect("a footer is made of lists, texts and numbers");
    let checksum = footer_checksum(&file[..HEADER_BYTES as usize], &json);
    file.extend_from_slice(&json);
    file.extend_from_slice(&(json.len() as u64).to_le_bytes());
    file.extend_from_slice(&checksum.0.to_le_bytes());
    file.extend_from_slice(END_MAGIC);
}

fn footer_checksum(header: &[u8], json: &[u8]) -> Xxh3 {
    Xxh3::of(&[header, json].concat())
}

/// Reads the footer of a file and checks that it accounts for every byte of it.
pub(super) fn read_footer(fs: &dyn FileSystem, path: &Path) -> Result<Footer, CheckpointError> {
    let corrupt = |reason: &str| CheckpointError::corrupt(path, reason);
    let length = fs.file_len(path)?.ok_or_else(|| corrupt("it is missing"))?;
    if length < HEADER_BYTES + TAIL_BYTES {
        return Err(corrupt(&format!("it has only {length} bytes")));
    }
    let header = fs.read_at(path, 0, HEADER_BYTES as usize)?;
    check_header(path, &header)?;

    let tail = fs.read_at(path, length - TAIL_BYTES, TAIL_BYTES as usize)?;
    if &tail[16..] != END_MAGIC {
        return Err(corrupt("its end is missing"));
    }
    let room = length - HEADER_BYTES - TAIL_BYTES;
    let json_bytes = word(&tail[..8]);
    if json_bytes > room {
        return Err(corrupt("its footer is longer than the file"));
    }
    let json = fs.read_at(path, length - TAIL_BYTES - json_bytes, json_bytes as usize)?;
    if footer_checksum(&header, &json) != Xxh3(word(&tail[8..16])) {
        return Err(corrupt("the checksum of its footer does not match"));
    }
    let footer: Footer = serde_json::from_slice(&json).map_err(|error| corrupt(&format!("its footer: {error}")))?;
    let sections = HEADER_BYTES + room - json_bytes;
    if !are_contiguous(footer.sections(), HEADER_BYTES, sections) {
        return Err(corrupt("its footer does not fit its sections"));
    }
    Ok(footer)
}

fn check_header(path: &Path, header: &[u8]) -> Result<(), CheckpointError> {
    let (magic, version) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(CheckpointError::corrupt(path, "it does not begin as a file of state does"));
    }
    let found = u32::from_le_bytes(version.try_into().expect("a header of 12 bytes"));
    match found {
        0 => Err(CheckpointError::corrupt(path, "there is no format version 0")),
        1..=SNAPSHOT_FILE_VERSION => Ok(()),
        _ => Err(CheckpointError::NewerFormat { path: path.to_owned(), found, newest: SNAPSHOT_FILE_VERSION }),
    }
}

/// Do the sections cover `start..end` without gap or overlap?
fn are_contiguous<'a>(sections: impl Iterator<Item = &'a Section>, start: u64, end: u64) -> bool {
    let mut next = start;
    for section in sections {
        let Some(after) = section.offset.checked_add(section.bytes).filter(|_| section.offset == next) else {
            return false;
        };
        next = after;
    }
    next == end
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes of the tail"))
}
