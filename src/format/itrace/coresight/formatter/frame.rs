//! One frame.

use super::Run;

/// The bytes of a frame.
pub const FRAME_BYTES: usize = 16;
/// The most bytes of data in a frame: the last one holds flags.
pub(super) const DATA_BYTES: usize = FRAME_BYTES - 1;

/// The IDs of sources; the others are padding, the formatter's own, or reserved.
const SOURCES: std::ops::RangeInclusive<u8> = 0x01..=0x6f;

/// In a frame, the bit of each byte at an even place that says that it is an ID.
const IDS: u128 = u128::from_le_bytes([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);

/// Whether bytes begin with a frame without an ID.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|frame| u128::from_le_bytes(*frame) & IDS == 0)
}

/// A frame that is taken apart.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    bytes: [u8; FRAME_BYTES],
    /// Offset in the sink of each pair of bytes.
    places: [u64; FRAME_BYTES / 2],
    /// The next byte that was not looked at.
    next: usize,
    /// Whose bytes come next, in this frame and behind it.
    source: Option<u8>,
    /// Whose they were before the last ID.
    before: Option<u8>,
}

impl Frame {
    /// What is before the first frame: nothing.
    pub(super) fn none() -> Frame {
        Frame { bytes: [0; FRAME_BYTES], places: [0; FRAME_BYTES / 2], next: DATA_BYTES, source: None, before: None }
    }

    /// Goes on with another frame. `places` are the offsets in the sink of its pairs of bytes.
    pub(super) fn go_on(&mut self, bytes: [u8; FRAME_BYTES], places: [u64; FRAME_BYTES / 2]) {
        (self.bytes, self.places, self.next) = (bytes, places, 0);
    }

    /// Whose bytes come next is not known.
    pub(super) fn lose(&mut self) {
        self.source = None;
    }

    /// All bytes, where they are of one source and lie side by side, as those of a source alone mostly are.
    fn whole(&self) -> Option<Run> {
        let source = self.source.filter(|source| SOURCES.contains(source))?;
        let [first, .., last] = self.places;
        let [.., flags] = self.bytes;
        let mut data = u128::from_le_bytes(self.bytes);
        if data & IDS != 0 || last - first != FRAME_BYTES as u64 - 2 {
            return None;
        }
        for pair in 0..FRAME_BYTES / 2 {
            data |= u128::from((flags >> pair) & 1) << (16 * pair);
        }
        Some(Run::all(first, source, *data.to_le_bytes().first_chunk()?))
    }

    /// The next bytes that are of one source and lie side by side.
    pub(super) fn next_run(&mut self) -> Option<Run> {
        if self.next == 0
            && let Some(run) = self.whole()
        {
            self.next = DATA_BYTES;
            return Some(run);
        }
        let mut run: Option<Run> = None;
        let [.., flags] = self.bytes;
        while self.next < DATA_BYTES {
            let (pair, is_second) = (self.next / 2, self.next % 2 == 1);
            let (Some(&[first, second]), Some(place)) =
                (self.bytes.as_chunks::<2>().0.get(pair), self.places.get(pair))
            else {
                break;
            };
            let is_id = first & 1 == 1;
            let flag = (flags >> pair) & 1;
            if is_id && !is_second {
                self.before = self.source.replace(first >> 1);
                self.next += 1;
                continue;
            }
            let (source, byte) = match (is_second, is_id && flag == 1) {
                (false, _) => (self.source, first | flag),
                (true, false) => (self.source, second),
                (true, true) => (self.before, second),
            };
            if let Some(source) = source.filter(|source| SOURCES.contains(source)) {
                let at = *place + u64::from(is_second);
                match &mut run {
                    None => run = Some(Run::one(at, source, byte)),
                    Some(run) if run.goes_on(at, source) => run.push(byte),
                    Some(_) => break,
                }
            }
            self.next += 1;
        }
        run
    }
}
