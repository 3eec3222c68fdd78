//! Keyed state of streaming operators.
//!
//! **Invariant:** this crate must not know SQL, plans or operators.

pub mod checkpoint_dir;
pub mod checkpoint_error;
pub mod checksum;
mod field_text;
pub mod fs;
pub mod job_fingerprint;
pub mod key_group;
pub mod key_table;
mod key_word;
pub mod manifest;
pub mod rescale;
pub mod snapshot;
pub mod snapshot_file;
#[cfg(test)]
mod test_state;
