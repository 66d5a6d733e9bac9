//! One frame.

use super::Run;

/// The size of a frame.
pub(super) const FRAME_BYTES: usize = 16;
/// The most bytes of data in a frame.
pub(super) const DATA_BYTES: usize = FRAME_BYTES - 1;

/// The IDs of sources; the others are padding, the formatter's own, or reserved.
const SOURCES: std::ops::RangeInclusive<u8> = 0x01..=0x6f;

/// The data of a frame that were not handed out yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// Offset in the sink of each byte.
    places: [u64; DATA_BYTES],
    sources: [u8; DATA_BYTES],
    bytes: [u8; DATA_BYTES],
    /// How many bytes of data there are.
    length: usize,
    /// How many were handed out.
    taken: usize,
}

impl Frame {
    /// Takes a frame apart. `places` are the offsets in the sink of its pairs of bytes; `source` is whose bytes come
    /// first, and becomes whose come next.
    pub(super) fn new(bytes: &[u8; FRAME_BYTES], places: &[u64; FRAME_BYTES / 2], source: &mut Option<u8>) -> Frame {
        let mut frame = Frame::default();
        let mut flags = bytes.last().copied().unwrap_or(0);
        for (index, (pair, place)) in bytes.chunks_exact(2).zip(places).enumerate() {
            let &[first, second] = pair else { continue };
            // The second byte of the last pair holds the flags.
            let is_last = index == FRAME_BYTES / 2 - 1;
            let flag = flags & 1;
            flags >>= 1;
            if first & 1 == 0 {
                frame.push(*source, *place, first | flag);
                if !is_last {
                    frame.push(*source, *place + 1, second);
                }
                continue;
            }
            let before = source.replace(first >> 1);
            if !is_last {
                frame.push(if flag == 1 { before } else { *source }, *place + 1, second);
            }
        }
        frame
    }

    fn push(&mut self, source: Option<u8>, place: u64, byte: u8) {
        let Some(source) = source.filter(|source| SOURCES.contains(source)) else { return };
        let slots =
            (self.places.get_mut(self.length), self.sources.get_mut(self.length), self.bytes.get_mut(self.length));
        if let (Some(to_place), Some(to_source), Some(to_byte)) = slots {
            (*to_place, *to_source, *to_byte) = (place, source, byte);
            self.length += 1;
        }
    }

    /// The next bytes that are of one source and lie side by side.
    pub(super) fn next_run(&mut self) -> Option<Run> {
        let places = self.places.get(self.taken..self.length)?;
        let sources = self.sources.get(self.taken..self.length)?;
        let (at, source) = (*places.first()?, *sources.first()?);
        let length = (at..)
            .zip(places.iter().zip(sources))
            .take_while(|(expected, (place, next))| expected == *place && source == **next)
            .count();
        let bytes = self.bytes.get(self.taken..self.taken + length)?;
        self.taken += length;
        Run::new(at, source, bytes)
    }
}
