//! The formatter's frames: which bytes of a sink are whose.
//!
//! A frame has 16 bytes. Those at even places hold either 7 bits of data, or, with bit 0 set, the ID of the source whose
//! bytes come next; those at odd places are data. The last byte has a bit for each even place: bit 0 of the data there,
//! or, behind an ID, whether that begins only one byte later (Arm IHI 0029, the chapter on the trace formatter).
//!
//! IDs from 0x01 to 0x6f are those of sources. ID 0 is padding; those from 0x70 on are the formatter's own (0x7d says
//! that a trigger was seen) or reserved. The bytes of all of these are passed over.

mod frame;
mod run;
mod synchronized;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use frame::Frame;

pub use frame::FRAME_BYTES;
pub use run::Run;

/// How the bytes of several sources are mixed in a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Not at all: every byte is of the one source.
    Unformatted,
    /// Frames, one behind another from the first byte on: a trace buffer (ETB, ETF, ETR).
    Aligned,
    /// Frames with synchronization between them (the bytes `ff ff ff 7f`) and in them (`ff 7f`): the stream of a trace
    /// port (TPIU). It can begin anywhere.
    Synchronized,
}

/// What of a sink cannot be taken apart. Each of its sources may have lost bytes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameDamage {
    /// The sink ends in a frame.
    #[error("the sink ends with {found} bytes of a frame, expected 16")]
    Cut {
        /// How many bytes of the frame there are.
        found: usize,
    },
    /// A frame ends before its time.
    #[error("a frame synchronization behind {found} bytes of a frame, expected 16")]
    Interrupted {
        /// How many bytes of the frame there are.
        found: usize,
    },
    /// Bytes that no frame can have.
    #[error("the bytes ff ff in a frame, which are no data and no ID of a source")]
    NotAFrame,
    /// A driver marked that the frames behind do not follow those before.
    #[error("a barrier, which drivers write where the frames before and behind do not belong together")]
    Barrier,
}

/// A part of a sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of a source.
    Run(Run),
    /// Something that cannot be taken apart.
    Damaged {
        /// Offset in the sink.
        at: u64,
        /// What is wrong.
        damage: FrameDamage,
    },
}

/// The bytes of a sink, in their order, each with its source.
///
/// In the middle of a recording (a buffer that was filled more than once) the bytes before the first ID are nobody's.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    sink: &'a [u8],
    framing: Framing,
    /// Offset of the next byte that is in no frame yet.
    at: usize,
    /// Whether frames follow each other from `at` on, in a sink with synchronization.
    is_synchronized: bool,
    frame: Frame,
}

/// What comes next in a sink.
enum Next {
    /// A frame, as it is.
    Frame([u8; FRAME_BYTES], [u64; FRAME_BYTES / 2]),
    Damaged(u64, FrameDamage),
    End,
}

impl<'a> Pieces<'a> {
    /// Starts at the first byte of a sink.
    pub fn new(sink: &'a [u8], framing: Framing) -> Pieces<'a> {
        Pieces { sink, framing, at: 0, is_synchronized: false, frame: Frame::none() }
    }

    /// Passes over everything that begins before an offset, but for whose bytes come next.
    pub(in crate::format::itrace) fn pass(&mut self, to: u64) {
        let to = usize::try_from(to).unwrap_or(usize::MAX).min(self.sink.len());
        while self.at < to {
            match self.framing {
                Framing::Unformatted => self.at = to,
                // Most frames have no ID.
                Framing::Aligned if frame::is_plain(self.sink.get(self.at..).unwrap_or_default()) => {
                    self.at += FRAME_BYTES;
                }
                Framing::Aligned | Framing::Synchronized => {
                    if self.next().is_none() {
                        return;
                    }
                }
            }
        }
        // What is left of the last frame begins before.
        while self.framing != Framing::Unformatted && self.frame.next_run().is_some() {}
    }

    /// The same place in the same bytes, lent by somebody else.
    pub(in crate::format::itrace) fn over<'b>(self, sink: &'b [u8]) -> Pieces<'b> {
        let Pieces { framing, at, is_synchronized, frame, .. } = self;
        Pieces { sink, framing, at, is_synchronized, frame }
    }

    /// How the bytes are mixed.
    pub(in crate::format::itrace) fn framing(&self) -> Framing {
        self.framing
    }

    /// A sink that is not formatted, in runs like those of frames. They have ID 0.
    fn unformatted(&mut self) -> Option<Piece> {
        let run = Run::first_of(self.at as u64, 0, self.sink.get(self.at..)?)?;
        self.at += run.bytes().len();
        Some(Piece::Run(run))
    }

    fn aligned(&mut self) -> Next {
        let at = self.at as u64;
        match self.sink.get(self.at..).and_then(|rest| rest.split_first_chunk::<FRAME_BYTES>()) {
            Some((frame, _)) => {
                self.at += FRAME_BYTES;
                if frame.chunks(4).all(|word| word == synchronized::FRAME_SYNCHRONIZATION) {
                    return Next::Damaged(at, FrameDamage::Barrier);
                }
                Next::Frame(*frame, std::array::from_fn(|pair| at + 2 * pair as u64))
            }
            None => match self.sink.len().saturating_sub(self.at) {
                0 => Next::End,
                found => {
                    self.at = self.sink.len();
                    Next::Damaged(at, FrameDamage::Cut { found })
                }
            },
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    #[inline]
    fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some(run) = self.frame.next_run() {
                return Some(Piece::Run(run));
            }
            let next = match self.framing {
                Framing::Unformatted => return self.unformatted(),
                Framing::Aligned => self.aligned(),
                Framing::Synchronized => self.synchronized(),
            };
            match next {
                Next::Frame(bytes, places) => self.frame.go_on(bytes, places),
                Next::Damaged(at, damage) => {
                    self.frame.lose();
                    return Some(Piece::Damaged { at, damage });
                }
                Next::End => return None,
            }
        }
    }
}

/// The IDs of the sources that have bytes in a sink.
pub fn source_ids(sink: &[u8], framing: Framing) -> BTreeSet<u8> {
    Pieces::new(sink, framing)
        .filter_map(|piece| match piece {
            Piece::Run(run) => Some(run.source()),
            Piece::Damaged { .. } => None,
        })
        .collect()
}
