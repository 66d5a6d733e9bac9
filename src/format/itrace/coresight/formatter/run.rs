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
    /// The first of `bytes`, as many as a run can have. None if there are none.
    pub(super) fn new(at: u64, source: u8, bytes: &[u8]) -> Option<Run> {
        let mut run = Run { at, source, length: 0, bytes: [0; DATA_BYTES] };
        for (to, from) in run.bytes.iter_mut().zip(bytes) {
            *to = *from;
            run.length += 1;
        }
        (run.length > 0).then_some(run)
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
