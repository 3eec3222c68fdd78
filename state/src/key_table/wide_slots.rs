//! An open-addressing table from keys of up to 128 bits and a tag to a group id, all inline.

use super::word_slots::fold_product;

const EMPTY: u32 = u32::MAX;
const MIN_SLOTS: usize = 16;
const SEED_LOW: u64 = 0x243F_6A88_85A3_08D3;
const SEED_HIGH: u64 = 0x1319_8A2E_0370_7344;
const TAG_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A key, or a digest of one: two words, and a tag that tells kinds of keys apart (a length, a mask of NULLs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WideKey {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) tag: u32,
}

impl WideKey {
    #[inline]
    fn hash(self) -> u64 {
        let high = self.high ^ SEED_HIGH ^ u64::from(self.tag).wrapping_mul(TAG_FACTOR);
        fold_product(fold_product(self.low ^ SEED_LOW, TAG_FACTOR), high | 1) ^ high.rotate_left(23)
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: WideKey,
    group: u32,
}

const FREE: Slot = Slot { key: WideKey { low: 0, high: 0, tag: 0 }, group: EMPTY };

/// Linear probing over a power of two of slots, at most half of them taken.
#[derive(Debug)]
pub(super) struct WideSlots {
    slots: Vec<Slot>,
    taken: usize,
}

impl WideSlots {
    pub(super) fn new() -> Self {
        Self { slots: vec![FREE; MIN_SLOTS], taken: 0 }
    }

    /// The group of `key`, which is `new_group` when the key was not there before. Where the key is only a digest,
    /// `is_same` tells whether a group with an equal digest is really meant; for a full key it is always true.
    #[inline]
    pub(super) fn find_or_insert(&mut self, key: WideKey, new_group: u32, is_same: impl Fn(u32) -> bool) -> u32 {
        let mask = self.slots.len() - 1;
        let mut position = key.hash() as usize & mask;
        loop {
            let slot = &mut self.slots[position];
            if slot.group == EMPTY {
                *slot = Slot { key, group: new_group };
                self.taken += 1;
                if self.taken * 2 > self.slots.len() {
                    self.grow();
                }
                return new_group;
            }
            if slot.key == key && is_same(slot.group) {
                return slot.group;
            }
            position = (position + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![FREE; self.slots.len() * 2];
        let mask = slots.len() - 1;
        let old = std::mem::replace(&mut self.slots, slots);
        for slot in old.into_iter().filter(|slot| slot.group != EMPTY) {
            let mut position = slot.key.hash() as usize & mask;
            while self.slots[position].group != EMPTY {
                position = (position + 1) & mask;
            }
            self.slots[position] = slot;
        }
    }

    /// Empties the slots. Their number stays while it fits what was in them.
    pub(super) fn clear(&mut self) {
        let wanted = (self.taken * 2).next_power_of_two().max(MIN_SLOTS);
        if self.slots.len() > wanted * 4 {
            self.slots = vec![FREE; wanted];
        } else {
            self.slots.fill(FREE);
        }
        self.taken = 0;
    }

    pub(super) fn memory_size(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}
