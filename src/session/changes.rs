//! Where the recorded value of a piece of memory changes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::{Replay, Work};

/// The frames that hold all of a piece of memory, and those of them that hold another value than the one before. Two
/// bits a frame; what a frame did not collect changes nothing.
///
/// Filled from the first frame on as far as it is asked for, once for all clients.
#[derive(Debug)]
pub struct Changes {
    address: u64,
    length: usize,
    holding: Bitmap,
    changed: Bitmap,
    /// How many frames have been looked at.
    looked_at: u64,
    value: Option<Vec<u8>>,
}

/// The clock is asked once for so many frames.
const CLOCK_EVERY: u64 = 64;

impl Changes {
    fn new(address: u64, length: usize) -> Changes {
        let (holding, changed) = (Bitmap::default(), Bitmap::default());
        Changes { address, length, holding, changed, looked_at: 0, value: None }
    }

    /// The first frame from `from` to `last` that holds another value than was recorded before it.
    pub fn next(&mut self, from: u64, last: u64, replay: &Replay, deadline: Instant) -> Work<Option<u64>> {
        loop {
            let found = self.changed.next(from).filter(|frame| *frame <= last);
            if found.is_some() || self.looked_at > last {
                return Work::Done(found);
            }
            // A piece at a time, so that a near change is found without looking at all frames.
            match self.look_on(replay, deadline) {
                Work::Done(true) => {}
                Work::Done(false) => return Work::Done(None),
                Work::NotYet => return Work::NotYet,
                Work::Searching(at) => return Work::Searching(at),
            }
        }
    }

    /// The last frame before frame `at` that holds another value than was recorded last at `at`.
    pub fn previous(&mut self, at: u64, replay: &Replay, deadline: Instant) -> Work<Option<u64>> {
        while self.looked_at <= at {
            match self.look_on(replay, deadline) {
                Work::Done(true) => {}
                Work::Done(false) => break,
                Work::NotYet => return Work::NotYet,
                Work::Searching(at) => return Work::Searching(at),
            }
        }
        let change = self.changed.previous(at.saturating_add(1));
        Work::Done(change.and_then(|change| self.holding.previous(change)))
    }

    /// Looks at some more frames; whether there were any.
    fn look_on(&mut self, replay: &Replay, deadline: Instant) -> Work<bool> {
        if Instant::now() >= deadline {
            return Work::Searching(self.looked_at);
        }
        let progress = replay.index().progress();
        let end = progress.frames.min(self.looked_at.saturating_add(CLOCK_EVERY));
        if end == self.looked_at {
            return if progress.complete { Work::Done(false) } else { Work::NotYet };
        }
        while self.looked_at < end {
            let frame = replay.frame(self.looked_at);
            let value = frame.map(|frame| frame.read_memory(self.address, self.length));
            let value = value.filter(|value| value.len() == self.length);
            self.holding.push(value.is_some());
            self.changed.push(value.is_some() && self.value.is_some() && value != self.value);
            self.value = value.or(self.value.take());
            self.looked_at += 1;
        }
        Work::Done(true)
    }
}

/// One bit a frame.
#[derive(Debug, Default)]
struct Bitmap {
    words: Vec<u64>,
    length: u64,
}

impl Bitmap {
    fn push(&mut self, bit: bool) {
        if self.length.is_multiple_of(64) {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(bit) << (self.length % 64);
        }
        self.length += 1;
    }

    /// The first one that is set from `from` on.
    fn next(&self, from: u64) -> Option<u64> {
        let start = usize::try_from(from / 64).ok()?;
        let masks = std::iter::once(u64::MAX << (from % 64)).chain(std::iter::repeat(u64::MAX));
        let mut words = self.words.get(start..)?.iter().zip(masks).map(|(word, mask)| word & mask).zip(start as u64..);
        let (word, at) = words.find(|(word, _)| *word != 0)?;
        Some(at * 64 + u64::from(word.trailing_zeros()))
    }

    /// The last one that is set before `before`.
    fn previous(&self, before: u64) -> Option<u64> {
        let before = before.min(self.length);
        let end = usize::try_from(before.div_ceil(64)).ok()?;
        let first = if before.is_multiple_of(64) { u64::MAX } else { (1 << (before % 64)) - 1 };
        let masks = std::iter::once(first).chain(std::iter::repeat(u64::MAX));
        let words = self.words.get(..end)?.iter().enumerate().rev();
        let mut words = words.zip(masks).map(|((at, word), mask)| (word & mask, at as u64));
        let (word, at) = words.find(|(word, _)| *word != 0)?;
        Some(at * 64 + u64::from(word.ilog2()))
    }
}

/// The pieces of memory that clients watched last.
#[derive(Debug, Default)]
pub struct Watched {
    pieces: Mutex<Vec<Arc<Mutex<Changes>>>>,
}

impl Watched {
    /// Of so many pieces it is kept what is known of them.
    const KEPT: usize = 16;

    /// The changes of a piece of memory, as far as they are known.
    pub fn changes(&self, address: u64, length: usize) -> Arc<Mutex<Changes>> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |piece: &Arc<Mutex<Changes>>| {
            let piece = piece.lock().unwrap_or_else(PoisonError::into_inner);
            (piece.address, piece.length) == (address, length)
        };
        let known = pieces.iter().position(is_it);
        if known.is_none() && pieces.len() == Self::KEPT {
            pieces.remove(0);
        }
        let piece = match known {
            Some(at) => pieces.remove(at),
            None => Arc::new(Mutex::new(Changes::new(address, length))),
        };
        pieces.push(piece.clone());
        piece
    }
}
