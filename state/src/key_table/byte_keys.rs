//! Distinct byte strings, numbered in the order of first arrival.

use xxhash_rust::xxh3::xxh3_64;

use super::wide_slots::{WideKey, WideSlots};

/// Strings up to this length are compared inside the table's slot, never in the arena.
const INLINE_BYTES: usize = 16;

/// The strings stand in one arena; the slots hold short ones inline, and of longer ones a hash and the length.
#[derive(Debug)]
pub(super) struct ByteKeys {
    slots: WideSlots,
    /// Where each string ends in `bytes`; it starts where the one before ends.
    ends: Vec<usize>,
    bytes: Vec<u8>,
}

impl ByteKeys {
    pub(super) fn new() -> Self {
        Self { slots: WideSlots::new(), ends: Vec::new(), bytes: Vec::new() }
    }

    /// The group of `key`, a new one when it was not there before.
    #[inline]
    pub(super) fn group_of(&mut self, key: &[u8]) -> u32 {
        let next = self.ends.len() as u32;
        let group = if key.len() <= INLINE_BYTES {
            self.slots.find_or_insert(inline(key), next, |_| true)
        } else {
            let digest = WideKey { low: xxh3_64(key), high: 0, tag: u32::try_from(key.len()).unwrap_or(u32::MAX) };
            let (ends, bytes) = (&self.ends, &self.bytes);
            self.slots.find_or_insert(digest, next, |group| slice_of(ends, bytes, group) == key)
        };
        if group == next {
            self.push(key);
        }
        group
    }

    /// A group of its own that no string is looked up as: the group of NULL.
    pub(super) fn push_null(&mut self) -> u32 {
        self.push(&[]);
        self.ends.len() as u32 - 1
    }

    fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// The string of a group.
    pub(super) fn get(&self, group: u32) -> &[u8] {
        slice_of(&self.ends, &self.bytes, group)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.ends.clear();
        self.bytes.clear();
    }

    pub(super) fn memory_size(&self) -> usize {
        self.slots.memory_size() + self.ends.capacity() * size_of::<usize>() + self.bytes.capacity()
    }
}

fn slice_of<'a>(ends: &[usize], bytes: &'a [u8], group: u32) -> &'a [u8] {
    let group = group as usize;
    let start = if group == 0 { 0 } else { ends[group - 1] };
    &bytes[start..ends[group]]
}

/// A string of at most 16 bytes as two words and its length, which together tell it from all others.
/// Loads of fixed widths that may overlap: no call to memcpy or memcmp, whose cost for empty slices is absurd.
#[inline]
fn inline(key: &[u8]) -> WideKey {
    let len = key.len();
    let (low, high) = match len {
        0 => (0, 0),
        1..4 => (u64::from(key[0]) | u64::from(key[len / 2]) << 8 | u64::from(key[len - 1]) << 16, 0),
        4..8 => (u64::from(load4(&key[..4])) | u64::from(load4(&key[len - 4..])) << 32, 0),
        _ => (load8(&key[..8]), load8(&key[len - 8..])),
    };
    WideKey { low, high, tag: len as u32 }
}

#[inline]
fn load4(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("the caller slices four bytes"))
}

#[inline]
fn load8(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("the caller slices eight bytes"))
}
