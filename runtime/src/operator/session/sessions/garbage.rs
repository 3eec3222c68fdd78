//! What closed sessions leave behind, and how it is given up.

use tidemark_state::key_table::KeyTable;

use super::{PartCount, Sessions};
use crate::error::OperatorError;

/// Keys without sessions, or parts of closed ones, are given up when there are more of them than of the others, but
/// not before they are worth the trouble.
const MIN_GARBAGE: usize = 64;

impl Sessions {
    /// Gives up keys without sessions when there are many.
    pub(in crate::operator::session) fn forget_keys(&mut self) -> Result<(), OperatorError> {
        if !is_worth_it(self.by_key.len() - self.live_keys, self.live_keys) {
            return Ok(());
        }
        let is_live = |key: &u32| !self.by_key[*key as usize].is_empty();
        let live: Vec<u32> = (0..self.by_key.len() as u32).filter(is_live).collect();
        let mut keys = KeyTable::new(&self.key_types)?;
        keys.intern(&self.keys.keys(&live)?, live.len(), &mut Vec::new())?;
        self.keys = keys;
        self.by_key = live.iter().map(|key| std::mem::take(&mut self.by_key[*key as usize])).collect();
        for (key, slots) in self.by_key.iter().enumerate() {
            slots.iter().for_each(|slot| self.slots[*slot as usize].key = key as u32);
        }
        Ok(())
    }

    /// Gives up parts of closed sessions when there are many: the parts that are left, in an order in which they are
    /// 0, 1, 2 … from now on. `None` when nothing changes.
    pub(in crate::operator::session) fn forget_parts(&mut self) -> Option<Vec<u32>> {
        if !is_worth_it(self.parts.next as usize - self.parts.live, self.parts.live) {
            return None;
        }
        let mut kept = Vec::with_capacity(self.parts.live);
        let mut slots = Vec::with_capacity(self.due.len());
        let mut moved_to = vec![0; self.slots.len()];
        for (_, _, slot) in &self.due {
            moved_to[*slot as usize] = slots.len() as u32;
            let mut session = self.slots[*slot as usize].clone();
            for part in &mut session.parts {
                let old = std::mem::replace(part, kept.len() as u32);
                kept.push(old);
            }
            slots.push(session);
        }
        let new_slot = |slot: &u32| moved_to[*slot as usize];
        self.due = self.due.iter().map(|(end, number, slot)| (*end, *number, new_slot(slot))).collect();
        self.by_key.iter_mut().flatten().for_each(|slot| *slot = new_slot(slot));
        self.slots = slots;
        self.free = vec![];
        self.parts = PartCount { next: kept.len() as u32, live: kept.len() };
        Some(kept)
    }
}

/// Is there so much garbage, against what is live, that clearing it up costs less than the rows that have made it?
fn is_worth_it(garbage: usize, live: usize) -> bool {
    garbage > live.max(MIN_GARBAGE) || (live == 0 && garbage > 0)
}

#[cfg(test)]
impl Sessions {
    /// How many keys, sessions and parts take up memory.
    pub(in crate::operator::session) fn held(&self) -> [usize; 3] {
        [self.keys.len(), self.slots.len(), self.parts.next as usize]
    }
}
