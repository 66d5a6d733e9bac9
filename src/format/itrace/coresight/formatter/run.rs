//! Bytes of one source that lie side by side.

use super::frame::DATA_BYTES;

/// Bytes of one source that lie side by side in a sink: at most those of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    at: u64,
    source: u8,
    length: u8,
    bytes: [u8; DATA_BYTES],
}

impl Run {
    /// One byte.
    pub(super) fn one(at: u64, source: u8, byte: u8) -> Run {
        let mut run = Run { at, source, ..Run::default() };
        run.push(byte);
        run
    }

    /// As many bytes as a run can have.
    pub(super) fn all(at: u64, source: u8, bytes: [u8; DATA_BYTES]) -> Run {
        Run { at, source, length: DATA_BYTES as u8, bytes }
    }

    /// The first of `bytes`, as many as a run can have. None if there are none.
    pub(super) fn first_of(at: u64, source: u8, bytes: &[u8]) -> Option<Run> {
        let mut run = Run { at, source, ..Run::default() };
        bytes.iter().take(DATA_BYTES).for_each(|byte| run.push(*byte));
        (run.length > 0).then_some(run)
    }

    /// Whether a byte of a source goes on with this run.
    pub(super) fn goes_on(&self, at: u64, source: u8) -> bool {
        self.source == source && self.at + u64::from(self.length) == at
    }

    /// Adds a byte, if there is room.
    pub(super) fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(usize::from(self.length)) {
            *slot = byte;
            self.length += 1;
        }
    }

    /// Offset in the sink of the first byte.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The ID of the source; 0 in a sink that is not formatted.
    pub fn source(&self) -> u8 {
        self.source
    }

    /// The bytes, as the source sent them.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&[])
    }
}
