//! Finding the frames behind the hole that gdbserver leaves where its circular trace buffer wraps round.
//!
//! While gdb saves, gdbserver 13.1 answers the request that reaches over the end of its buffer with zeroes from there
//! on, up to 2000 bytes of them. They may cover headers of frames, and then look like an end mark with whole frames
//! behind it. A buffer wraps round in one place only, so there is one hole at most.

use super::chain::{Chain, Link};
use super::frame::FrameReader;
use crate::trace::{Frame, Location};

/// How far behind a false end mark a frame may begin: the longest hole and the rest of the frame that it ends in,
/// generously.
const REACH: usize = 0x1_0000;

/// How many frames in a row must be whole before they are believed, unless the file ends properly before.
const CONVINCING: usize = 4;

/// How many bytes of frames are read in the search: more than a buffer of the usual size holds. A file that was made to
/// look like one frame at each offset would take hours otherwise.
const BUDGET: usize = 16 << 20;

/// The offset of the first of the whole frames behind offset `at`, if there are such: at least [`CONVINCING`] of
/// tracepoints that `is_defined`, or fewer and then the end mark.
pub(super) fn next_frame(file: &[u8], at: u64, reader: &FrameReader, is_defined: impl Fn(i32) -> bool) -> Option<u64> {
    let reach = at.saturating_add(REACH as u64).min(file.len() as u64);
    let mut budget = BUDGET;
    for offset in at..reach {
        if is_convincing(Chain::new(file, offset, reader.order), reader, &is_defined, &mut budget) {
            return Some(offset);
        }
        if budget == 0 {
            break;
        }
    }
    None
}

/// Whether whole frames begin here. What is read of them is taken off the budget.
fn is_convincing(
    mut chain: Chain<'_>,
    reader: &FrameReader,
    is_defined: &impl Fn(i32) -> bool,
    budget: &mut usize,
) -> bool {
    let mut frame = Frame::empty(Location(0), 0);
    for whole in 0..CONVINCING {
        match chain.next() {
            Link::Frame(raw) if is_defined(raw.tracepoint.into()) => {
                reader.read(&raw, None, &mut frame);
                let read = frame.damage.as_ref().map_or(raw.end(), |damage| damage.at).saturating_sub(raw.at);
                *budget = budget.saturating_sub(usize::try_from(read).unwrap_or(usize::MAX));
                if frame.damage.is_some() {
                    return false;
                }
            }
            Link::EndMark { .. } => return whole > 0,
            _ => return false,
        }
    }
    true
}
