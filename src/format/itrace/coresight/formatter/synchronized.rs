//! Frames in the stream of a trace port.
//!
//! Between frames there can be frame synchronizations, and between any two pairs of bytes halfword synchronizations,
//! which keep the port busy (Arm IHI 0029). Neither can be mistaken for data: in the first byte of a pair `ff` would be
//! ID 0x7f, which no source has.

use super::frame::FRAME_BYTES;
use super::{FrameDamage, Next, Pieces};

pub(super) const FRAME_SYNCHRONIZATION: [u8; 4] = [0xff, 0xff, 0xff, 0x7f];
const HALFWORD_SYNCHRONIZATION: [u8; 2] = [0xff, 0x7f];

impl Pieces<'_> {
    /// The next frame of a sink with synchronization.
    pub(super) fn synchronized(&mut self) -> Next {
        if !self.is_synchronized {
            let rest = self.sink.get(self.at..).unwrap_or(&[]);
            let Some(found) = memchr::memmem::find(rest, &FRAME_SYNCHRONIZATION) else {
                self.at = self.sink.len();
                return Next::End;
            };
            self.at += found;
            self.is_synchronized = true;
        }
        let mut frame = [0; FRAME_BYTES];
        let mut places = [0; FRAME_BYTES / 2];
        for (index, (pair, place)) in frame.chunks_exact_mut(2).zip(&mut places).enumerate() {
            let found = 2 * index;
            loop {
                let rest = self.sink.get(self.at..).unwrap_or(&[]);
                let at = self.at as u64;
                let Some((next, _)) = rest.split_first_chunk::<2>() else {
                    self.at = self.sink.len();
                    let found = found + rest.len();
                    return if found == 0 { Next::End } else { Next::Damaged(at, FrameDamage::Cut { found }) };
                };
                if *next == HALFWORD_SYNCHRONIZATION {
                    self.at += 2;
                } else if rest.starts_with(&FRAME_SYNCHRONIZATION) {
                    self.at += 4;
                    if found > 0 {
                        return Next::Damaged(at, FrameDamage::Interrupted { found });
                    }
                } else if *next == [0xff, 0xff] {
                    // Where the stream is cut inside a frame synchronization nothing is wrong.
                    self.is_synchronized = false;
                    self.at += 1;
                    let is_end = found == 0 && FRAME_SYNCHRONIZATION.starts_with(rest);
                    return if is_end { Next::End } else { Next::Damaged(at, FrameDamage::NotAFrame) };
                } else {
                    pair.copy_from_slice(next);
                    *place = at;
                    self.at += 2;
                    break;
                }
            }
        }
        Next::Frame(frame, places)
    }
}
