//! An open-addressing table from one 64-bit word to a group id, both inline.

/// Marks a slot that holds no key. No group has this id: so many keys do not fit in memory.
const EMPTY: u32 = u32::MAX;
const MIN_SLOTS: usize = 16;
const SEED: u64 = 0x243F_6A88_85A3_08D3;
const FACTOR: u64 = 0x5851_F42D_4C95_7F2D;

#[derive(Clone, Copy, Debug)]
struct Slot {
    word: u64,
    group: u32,
}

const FREE: Slot = Slot { word: 0, group: EMPTY };

/// Linear probing over a power of two of slots, at most half of them taken.
#[derive(Debug)]
pub(super) struct WordSlots {
    slots: Vec<Slot>,
    taken: usize,
}

/// The product's two halves folded together: every bit of the word reaches every bit of the hash.
#[inline]
pub(super) fn fold_product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

impl WordSlots {
    pub(super) fn new() -> Self {
        Self { slots: vec![FREE; MIN_SLOTS], taken: 0 }
    }

    /// The group of `word`, which is `new_group` when the word was not there before.
    #[inline]
    pub(super) fn find_or_insert(&mut self, word: u64, new_group: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut position = fold_product(word ^ SEED, FACTOR) as usize & mask;
        loop {
            let slot = &mut self.slots[position];
            if slot.group == EMPTY {
                *slot = Slot { word, group: new_group };
                self.taken += 1;
                if self.taken * 2 > self.slots.len() {
                    self.grow();
                }
                return new_group;
            }
            if slot.word == word {
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
            let mut position = fold_product(slot.word ^ SEED, FACTOR) as usize & mask;
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
