//! Bytes on their way from a reader to a decoder.

use std::io::{self, Read};

use arrow::array::RecordBatch;

use serde::{Deserialize, Serialize};

use super::{Decoder, TextPlace};
use crate::error::RuntimeError;

/// Bytes asked of the reader at a time.
const CHUNK_BYTES: usize = 256 * 1024;

/// Longest row of a text; what is longer is taken for a quote left open.
pub(crate) const MAX_ROW_BYTES: usize = 64 * 1024 * 1024;

/// Holds the bytes that a decoder has not yet taken.
pub(crate) struct Feed {
    decoder: Box<dyn Decoder>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_complete: bool,
    is_finished: bool,
    /// Bytes that the decoder has taken, those before the place it was resumed at included.
    taken: u64,
}

/// A place between two rows of a text, with what must be known to go on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FeedPlace {
    /// Bytes before it.
    pub byte: u64,
    /// What the decoder must know.
    #[serde(flatten)]
    pub text: TextPlace,
}

impl Feed {
    /// Nothing yet.
    pub fn new(decoder: Box<dyn Decoder>) -> Self {
        Self { decoder, buffer: vec![], start: 0, end: 0, is_complete: false, is_finished: false, taken: 0 }
    }

    /// Nothing yet, of a text that has been read to `place`; the next bytes are those behind it. A sentence says why
    /// that cannot be.
    pub fn resumed(mut decoder: Box<dyn Decoder>, place: &FeedPlace) -> Result<Self, String> {
        if place.byte > 0 {
            decoder.resume(&place.text)?;
        }
        Ok(Self { taken: place.byte, ..Self::new(decoder) })
    }

    /// Where the next row begins; to be asked when all rows that were decoded have been taken.
    pub fn place(&self) -> FeedPlace {
        FeedPlace { byte: self.taken, text: self.decoder.place() }
    }

    /// Is an error what comes next?
    pub fn has_failed(&self) -> bool {
        self.decoder.has_failed()
    }

    /// Reads a piece of `reader` and says how long it was; 0 is the end.
    pub fn fill(&mut self, reader: &mut impl Read) -> io::Result<usize> {
        let mut length = reader.read(self.space(CHUNK_BYTES));
        while matches!(&length, Err(e) if e.kind() == io::ErrorKind::Interrupted) {
            length = reader.read(self.space(CHUNK_BYTES));
        }
        let length = length?;
        self.end += length;
        self.is_complete |= length == 0;
        Ok(length)
    }

    /// Appends `bytes`.
    pub fn push(&mut self, bytes: &[u8]) {
        self.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// There will be no more bytes.
    pub fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Have all bytes become rows that have been taken?
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Rows: a full batch, or with `eager` whatever whole rows there are. `None` means that more bytes are needed, or
    /// that it [is finished](Self::is_finished).
    pub fn next_batch(&mut self, eager: bool) -> Result<Option<RecordBatch>, RuntimeError> {
        loop {
            let last = self.is_complete || self.end - self.start >= MAX_ROW_BYTES;
            let used = self.decoder.decode(&self.buffer[self.start..self.end], last);
            self.start += used;
            self.taken += used as u64;
            let is_drained = used == 0 || self.start == self.end;
            if (self.decoder.is_full() || (is_drained && (eager || self.is_complete)))
                && let Some(batch) = self.decoder.take()?
            {
                return Ok(Some(batch));
            }
            if is_drained {
                self.is_finished = self.is_complete;
                return Ok(None);
            }
        }
    }

    /// Room for at least `length` bytes behind those held.
    fn space(&mut self, length: usize) -> &mut [u8] {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + length {
            let doubled = (self.buffer.len() * 2).max(self.end + length);
            self.buffer.resize(doubled, 0);
        }
        &mut self.buffer[self.end..]
    }
}
