//! Open sessions on their way into a snapshot and back.

use arrow::array::ArrayRef;

use super::{Interval, Session, Sessions};
use crate::error::OperatorError;

/// A part of an open session.
#[derive(Clone, Copy, Debug)]
pub(in crate::operator::session) struct OpenPart {
    pub(in crate::operator::session) key: u32,
    pub(in crate::operator::session) session: Interval,
    pub(in crate::operator::session) part: u32,
    /// Which of the session's parts it is, from 0.
    pub(in crate::operator::session) place: u32,
}

impl Sessions {
    /// All parts, session by session in the order in which these were begun.
    pub(in crate::operator::session) fn open_parts(&self) -> Vec<OpenPart> {
        let mut open: Vec<&Session> = self.due.iter().map(|(_, _, slot)| &self.slots[*slot as usize]).collect();
        open.sort_by_key(|session| session.number);
        let parts_of = |session: &Session| {
            let Session { key, start, end, number, .. } = *session;
            let parts = session.parts.clone().into_iter().zip(0..);
            parts.map(move |(part, place)| OpenPart { key, session: Interval { start, end, number }, part, place })
        };
        open.into_iter().flat_map(parts_of).collect()
    }

    /// Takes up sessions of which each row is a part; the flag tells the first of a session. Returns the rows' parts.
    /// There must be no sessions yet.
    pub(in crate::operator::session) fn restore(
        &mut self,
        keys: &[ArrayRef],
        rows: &[(Interval, bool)],
    ) -> Result<Vec<u32>, OperatorError> {
        let mut key_ids = vec![];
        self.keys.intern(keys, rows.len(), &mut key_ids)?;
        self.by_key.resize_with(self.keys.len(), Vec::new);
        let mut parts = Vec::with_capacity(rows.len());
        for (key, (session, is_first)) in key_ids.into_iter().zip(rows) {
            let part = if *is_first {
                let of_key = &self.by_key[key as usize];
                let place = of_key.partition_point(|slot| self.slots[*slot as usize].end <= session.end);
                self.begin(key, session.start, session.end, place)
            } else {
                let part = self.parts.add();
                let last = self.slots.last_mut().expect("a part that is not the first comes behind the first");
                last.parts.push(part);
                part
            };
            parts.push(part);
        }
        self.note_ends();
        Ok(parts)
    }
}
