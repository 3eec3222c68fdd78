//! Which sessions are open, and which of them a row belongs to.
//!
//! A session of a key is the hull of its rows' intervals `[time, time + gap]`: intervals that touch or overlap are one
//! session. It closes when the watermark reaches `end - 1 ms`, where `end` is the last row's time + gap.
//!
//! ```text
//! gap 60 s    rows at 0 s, 30 s, 600 s, 630 s    ->    [0, 90)  [600, 690)
//! ```
//!
//! A session's rows are in one part or several: sessions that a row bridges keep the parts they had. Whoever holds
//! state or rows of sessions holds them by part, and puts the parts together when the session closes.
//!
//! **Invariant:** rows are taken one by one, each at the watermark that it met: which part a row goes to depends on the
//! rows before it and their watermarks, never on where batches begin and end.

use std::collections::BTreeSet;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use tidemark_state::key_table::KeyTable;

use crate::error::OperatorError;
use crate::window::late::LateRows;

mod garbage;
mod kept;

/// The part of a row that is late.
pub(super) const LATE: u32 = u32::MAX;

/// So many parts of one session are joined into one: a session that goes on for ever must not gather parts for ever.
const MAX_PARTS: usize = 8;

/// The open sessions of all keys.
pub(super) struct Sessions {
    gap_ms: i64,
    key_types: Vec<DataType>,
    keys: KeyTable,
    /// By key: its sessions as indices into `slots`, in the order of their ends.
    by_key: Vec<Vec<u32>>,
    slots: Vec<Session>,
    free: Vec<u32>,
    /// End, number and slot of every open session: the order in which they close.
    due: BTreeSet<(i64, u64, u32)>,
    /// Slots whose end differs from that in `due`.
    moved: Vec<u32>,
    joins: Vec<Vec<u32>>,
    next_number: u64,
    /// How many keys have sessions.
    live_keys: usize,
    parts: PartCount,
    key_ids: Vec<u32>,
}

/// An open session.
#[derive(Clone, Debug)]
struct Session {
    key: u32,
    start: i64,
    end: i64,
    /// In the order in which sessions were begun.
    number: u64,
    /// In which rows come to the last one.
    parts: Vec<u32>,
    /// The end under which it stands in `due`.
    due: Option<i64>,
}

#[derive(Default)]
struct PartCount {
    next: u32,
    live: usize,
}

/// A session that has closed.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub(super) key: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) parts: Vec<u32>,
}

/// A session's hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) start: i64,
    pub(super) end: i64,
    /// In the order in which sessions were begun.
    pub(super) number: u64,
}

impl Sessions {
    /// Of keys of these types.
    pub(super) fn new(gap_ms: i64, key_types: Vec<DataType>) -> Result<Self, OperatorError> {
        Ok(Self {
            gap_ms,
            keys: KeyTable::new(&key_types)?,
            key_types,
            by_key: vec![],
            slots: vec![],
            free: vec![],
            due: BTreeSet::new(),
            moved: vec![],
            joins: vec![],
            next_number: 0,
            live_keys: 0,
            parts: PartCount::default(),
            key_ids: vec![],
        })
    }

    /// Finds the part of each row, [`LATE`] for those that come too late, in row order. `watermark` is the one that a
    /// row met.
    pub(super) fn assign(
        &mut self,
        keys: &[ArrayRef],
        times: &[i64],
        watermark: impl Fn(usize) -> i64,
        parts: &mut Vec<u32>,
        late: &mut LateRows,
    ) -> Result<(), OperatorError> {
        let mut key_ids = std::mem::take(&mut self.key_ids);
        key_ids.clear();
        self.keys.intern(keys, times.len(), &mut key_ids)?;
        self.by_key.resize_with(self.keys.len(), Vec::new);
        parts.extend(times.iter().zip(&key_ids).enumerate().map(|(row, (time, key))| {
            let watermark = watermark(row);
            match self.within_last(*key, *time, watermark) {
                Some(part) => part,
                None => self.part_of(*key, *time, watermark, late),
            }
        }));
        self.key_ids = key_ids;
        self.note_ends();
        Ok(())
    }

    /// Part of a row that lies within its key's last session and in no other, as most do.
    #[inline]
    fn within_last(&mut self, key: u32, time: i64, watermark: i64) -> Option<u32> {
        let (slot, earlier) = self.by_key[key as usize].split_last()?;
        if earlier.last().is_some_and(|slot| self.slots[*slot as usize].end >= time) {
            return None;
        }
        let slot = *slot;
        let session = &mut self.slots[slot as usize];
        if time < session.start || time > session.end || session.end - 1 <= watermark {
            return None;
        }
        if time + self.gap_ms > session.end {
            session.end = time + self.gap_ms;
            self.moved.push(slot);
        }
        session.parts.last().copied()
    }

    /// Part of any row. `LATE` when all the sessions it could belong to have closed.
    fn part_of(&mut self, key: u32, time: i64, watermark: i64, late: &mut LateRows) -> u32 {
        let end = time + self.gap_ms;
        let of_key = &self.by_key[key as usize];
        let slots = &self.slots;
        let is_open = |slot: &u32| slots[*slot as usize].end - 1 > watermark;
        let from = of_key.partition_point(|slot| slots[*slot as usize].end < time || !is_open(slot));
        let touched = of_key[from..].iter().take_while(|slot| slots[**slot as usize].start <= end).count();
        if touched == 0 {
            if end - 1 <= watermark {
                late.add(watermark, time, end - 1);
                return LATE;
            }
            return self.begin(key, time, end, from);
        }
        let group: Vec<u32> = self.by_key[key as usize].drain(from + 1..from + touched).collect();
        let slot = self.by_key[key as usize][from];
        for other in group {
            self.absorb(slot, other);
        }
        let session = &mut self.slots[slot as usize];
        session.start = session.start.min(time);
        session.end = session.end.max(end);
        self.moved.push(slot);
        if session.parts.len() >= MAX_PARTS {
            self.join_parts(slot);
        }
        self.slots[slot as usize].parts.last().copied().expect("a session has a part")
    }

    /// Begins a session, as number `place` of its key.
    fn begin(&mut self, key: u32, start: i64, end: i64, place: usize) -> u32 {
        let part = self.parts.add();
        let session = Session { key, start, end, number: self.next_number, parts: vec![part], due: None };
        self.next_number += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = session;
                slot
            }
            None => {
                self.slots.push(session);
                self.slots.len() as u32 - 1
            }
        };
        let of_key = &mut self.by_key[key as usize];
        self.live_keys += usize::from(of_key.is_empty());
        of_key.insert(place, slot);
        self.moved.push(slot);
        part
    }

    /// The session of `slot` takes in that of `other`, a later one.
    fn absorb(&mut self, slot: u32, other: u32) {
        let gone = &mut self.slots[other as usize];
        let (start, end, number) = (gone.start, gone.end, gone.number);
        let parts = std::mem::take(&mut gone.parts);
        if let Some(due) = gone.due.take() {
            self.due.remove(&(due, number, other));
        }
        self.free.push(other);
        let session = &mut self.slots[slot as usize];
        session.start = session.start.min(start);
        session.end = session.end.max(end);
        session.parts.extend(parts);
        if number < session.number {
            if let Some(due) = session.due.take() {
                self.due.remove(&(due, session.number, slot));
            }
            self.slots[slot as usize].number = number;
        }
    }

    /// Has all parts but a new one joined into the first.
    fn join_parts(&mut self, slot: u32) {
        let new = self.parts.add();
        let session = &mut self.slots[slot as usize];
        let joined = std::mem::take(&mut session.parts);
        session.parts = vec![joined[0], new];
        self.parts.live -= joined.len() - 1;
        self.joins.push(joined);
    }

    /// Lists of parts, of which the first is to take in the others, one list after the other. Due after each
    /// [`Sessions::assign`], when its rows are in their parts.
    pub(super) fn take_joins(&mut self) -> Vec<Vec<u32>> {
        std::mem::take(&mut self.joins)
    }

    /// How many parts have been dealt out: they are 0, 1, 2 …
    pub(super) fn part_count(&self) -> usize {
        self.parts.next as usize
    }

    fn note_ends(&mut self) {
        for slot in self.moved.drain(..) {
            let session = &mut self.slots[slot as usize];
            // A slot may have been given up since, or be noted twice.
            if session.parts.is_empty() || session.due == Some(session.end) {
                continue;
            }
            if let Some(due) = session.due.replace(session.end) {
                self.due.remove(&(due, session.number, slot));
            }
            self.due.insert((session.end, session.number, slot));
        }
    }

    /// The end of the session that closes first.
    pub(super) fn next_end(&self) -> Option<i64> {
        self.due.first().map(|(end, _, _)| *end)
    }

    /// Closes the sessions whose last instant is at most `instant`: in the order of their ends, then of their beginning.
    pub(super) fn close_until(&mut self, instant: i64) -> Vec<Closed> {
        let mut closed = vec![];
        while let Some((end, _, slot)) = self.due.first().copied()
            && end - 1 <= instant
        {
            self.due.pop_first();
            let session = &mut self.slots[slot as usize];
            session.due = None;
            let (key, start, parts) = (session.key, session.start, std::mem::take(&mut session.parts));
            self.free.push(slot);
            self.parts.live -= parts.len();
            let of_key = &mut self.by_key[key as usize];
            of_key.retain(|other| *other != slot);
            self.live_keys -= usize::from(of_key.is_empty());
            closed.push(Closed { key, start, end, parts });
        }
        closed
    }

    /// The keys of sessions.
    pub(super) fn keys_of(&self, closed: &[Closed]) -> Result<Vec<ArrayRef>, OperatorError> {
        let ids: Vec<u32> = closed.iter().map(|session| session.key).collect();
        Ok(self.keys.keys(&ids)?)
    }

    /// The types of the key columns.
    pub(super) fn key_types(&self) -> &[DataType] {
        self.keys.types()
    }

    /// The key columns of these keys.
    pub(super) fn keys_at(&self, keys: Vec<u32>) -> Result<Vec<ArrayRef>, OperatorError> {
        Ok(self.keys.keys(&keys)?)
    }
}

impl PartCount {
    fn add(&mut self) -> u32 {
        self.next += 1;
        self.live += 1;
        self.next - 1
    }
}
