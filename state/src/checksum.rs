//! Checksums of files and of parts of files.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use xxhash_rust::xxh3::{Xxh3 as Hasher, xxh3_64};

use crate::fs::{FileSystem, FsError};

/// An XXH3-64 checksum; as text 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Xxh3(pub u64);

/// How much of a file is in memory while its checksum is taken.
const CHUNK_BYTES: u64 = 4 << 20;

impl Xxh3 {
    /// The checksum of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxh3_64(bytes))
    }

    /// The checksum of the first `bytes` bytes of a file.
    pub fn of_file(fs: &dyn FileSystem, path: &Path, bytes: u64) -> Result<Self, FsError> {
        let mut hasher = Hasher::new();
        let mut offset = 0;
        while offset < bytes {
            let chunk = CHUNK_BYTES.min(bytes - offset);
            hasher.update(&fs.read_at(path, offset, chunk as usize)?);
            offset += chunk;
        }
        Ok(Self(hasher.digest()))
    }
}

impl fmt::Display for Xxh3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Xxh3 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Xxh3 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let value = u64::from_str_radix(&text, 16).ok().map(Self);
        value
            .filter(|value| value.to_string() == text)
            .ok_or_else(|| D::Error::custom(format!("'{text}' is not a checksum of 16 hexadecimal digits")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::LocalFs;

    /// The published checksum of "abc".
    const ABC: Xxh3 = Xxh3(0x78AF_5F94_892F_3950);

    #[test]
    fn checksums_of_bytes_files_and_texts_agree() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        LocalFs.write_new(&path, b"abc").unwrap();
        assert_eq!(Xxh3::of(b"abc"), ABC);
        assert_eq!(Xxh3::of_file(&LocalFs, &path, 3).unwrap(), ABC);
        assert!(Xxh3::of_file(&LocalFs, &path, 4).is_err(), "the file is shorter");
        assert_eq!(serde_json::to_string(&ABC).unwrap(), "\"78af5f94892f3950\"");
        assert_eq!(serde_json::from_str::<Xxh3>("\"78af5f94892f3950\"").unwrap(), ABC);
        for text in ["\"78AF5F94892F3950\"", "\"+8af5f94892f3950\"", "\"1\"", "1"] {
            assert!(serde_json::from_str::<Xxh3>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_of_many_chunks_has_the_checksum_of_its_bytes() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        let bytes: Vec<u8> = (0..CHUNK_BYTES * 2 + 1000).map(|i| (i * 31 / 7) as u8).collect();
        LocalFs.write_new(&path, &bytes).unwrap();
        assert_eq!(Xxh3::of_file(&LocalFs, &path, bytes.len() as u64).unwrap(), Xxh3::of(&bytes));
    }
}
