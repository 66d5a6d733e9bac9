//! The frames as gdb's trace buffer holds them, for gdb's `tsave`.

use std::sync::Mutex;

use super::TraceDat;
use crate::format::tfile::encode_frame;
use crate::trace::Location;

/// How far somebody has read who reads from the front to the end, as gdb does.
#[derive(Default)]
pub(super) struct Sequence(Mutex<Place>);

/// Of one frame in so many it is kept where it begins, for whoever reads beside another.
const STEP: u64 = 64;

#[derive(Default)]
struct Place {
    /// Where the frame begins.
    offset: u64,
    frame: u64,
    /// Where frames [`STEP`], twice [`STEP`] and so on begin, as far as somebody has read.
    marks: Vec<u64>,
}

impl Place {
    /// Goes back to a frame that begins at an offset or before.
    fn go_back(&mut self, offset: u64) {
        let passed = self.marks.partition_point(|mark| *mark <= offset);
        self.offset = passed.checked_sub(1).and_then(|last| self.marks.get(last)).copied().unwrap_or(0);
        self.frame = STEP * passed as u64;
    }

    /// Goes on behind the frame, which has so many bytes.
    fn pass(&mut self, length: u64) {
        self.offset = self.offset.saturating_add(length);
        self.frame += 1;
        if self.frame == STEP * (self.marks.len() as u64 + 1) {
            self.marks.push(self.offset);
        }
    }
}

impl TraceDat {
    /// Bytes of the trace buffer. Without registers: TRACE0 has no word for a part of them, and nothing is invented.
    pub(super) fn buffer(&self, offset: u64, length: usize) -> Vec<u8> {
        let Ok(mut place) = self.sequence.0.lock() else { return Vec::new() };
        if offset < place.offset {
            place.go_back(offset);
        }
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let Some(position) = self.positions.get(place.frame) else { break };
            let mut frame = self.read(Location(place.frame), position);
            frame.registers = None;
            // One that the format has no room for is left out.
            let frame = encode_frame(&frame, self.target.byte_order).unwrap_or_default();
            let skipped = offset.saturating_sub(place.offset);
            let inside = usize::try_from(skipped).unwrap_or(usize::MAX);
            bytes.extend_from_slice(frame.get(inside..).unwrap_or(&[]));
            if bytes.len() >= length {
                // The next request may be for the rest of this frame.
                break;
            }
            place.pass(frame.len() as u64);
        }
        bytes.truncate(length);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_goes_back_finds_a_frame_near_by() {
        let mut place = Place::default();
        // Frames of 3 bytes, read twice.
        for _ in 0..2 {
            (0..1000).for_each(|_| place.pass(3));
            assert_eq!(place.marks.len() as u64, 1000 / STEP);
            for offset in [2990, 1000, 3 * STEP, 3 * STEP - 1, 0] {
                place.go_back(offset);
                assert!(place.offset <= offset && offset - place.offset < 3 * STEP);
                assert_eq!(place.offset, 3 * place.frame);
            }
        }
    }
}
