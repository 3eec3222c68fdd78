//! One replaceable byte string per group, in a shared arena.

/// Room that replaced strings may waste before the arena is compacted, beside as much as the live ones take.
const SLACK_BYTES: usize = 64 * 1024;

/// Byte strings by group. A group has none until it is set.
#[derive(Default)]
pub(super) struct ByteSlots {
    slots: Vec<Option<Slot>>,
    bytes: Vec<u8>,
    live_bytes: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    start: usize,
    len: usize,
}

impl ByteSlots {
    /// Grows to `groups` groups; 0 forgets all.
    pub(super) fn resize(&mut self, groups: usize) {
        self.slots.resize(groups, None);
        if groups == 0 {
            self.bytes.clear();
            self.live_bytes = 0;
        }
    }

    pub(super) fn get(&self, group: usize) -> Option<&[u8]> {
        self.slots[group].map(|slot| &self.bytes[slot.start..slot.start + slot.len])
    }

    /// Replaces the string of a group.
    pub(super) fn set(&mut self, group: usize, value: &[u8]) {
        let len = value.len();
        match self.slots[group] {
            Some(old) if len <= old.len => {
                self.bytes[old.start..old.start + len].copy_from_slice(value);
                self.slots[group] = Some(Slot { start: old.start, len });
                self.live_bytes -= old.len - len;
            }
            old => {
                self.slots[group] = Some(Slot { start: self.bytes.len(), len });
                self.bytes.extend_from_slice(value);
                self.live_bytes += len - old.map_or(0, |old| old.len);
                if self.bytes.len() > self.live_bytes * 2 + SLACK_BYTES {
                    self.compact();
                }
            }
        }
    }

    fn compact(&mut self) {
        let mut bytes = Vec::with_capacity(self.live_bytes * 2);
        for slot in self.slots.iter_mut().flatten() {
            let start = bytes.len();
            bytes.extend_from_slice(&self.bytes[slot.start..slot.start + slot.len]);
            slot.start = start;
        }
        self.bytes = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_replacement_and_compaction() {
        let mut slots = ByteSlots::default();
        slots.resize(3);
        assert_eq!(slots.get(1), None);
        slots.set(0, b"first");
        for round in 0..100_000u32 {
            slots.set(1, round.to_string().repeat(1 + round as usize % 7).as_bytes());
        }
        slots.set(2, b"");
        assert_eq!(slots.get(0), Some(b"first".as_slice()));
        assert_eq!(slots.get(1), Some("99999".repeat(1 + 99_999 % 7).as_bytes()));
        assert_eq!(slots.get(2), Some(b"".as_slice()));
        assert!(slots.bytes.len() <= SLACK_BYTES * 2, "the arena holds {} bytes", slots.bytes.len());
        slots.resize(0);
        slots.resize(1);
        assert_eq!(slots.get(0), None);
    }
}
