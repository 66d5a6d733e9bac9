//! The bytes of one source.

use super::super::formatter::{FrameDamage, Framing, Piece, Pieces, Run};
use super::fault::Fault;

/// The bytes of one source, with the place in the sink of each.
#[derive(Clone, Debug)]
pub(super) struct Bytes<'a> {
    pieces: Pieces<'a>,
    /// Whose bytes are wanted; None if all are.
    source: Option<u8>,
    run: Run,
    /// The place of the next byte in `run`.
    next: usize,
    /// Offset in the sink of the last byte that was read.
    last: u64,
    /// How many zeros there are up to and with the last byte, and whether an alignment synchronization ended there.
    zeros: u8,
    is_aligned: bool,
    /// What could not be taken apart behind the last byte.
    damage: Option<FrameDamage>,
}

/// How many zeros begin an alignment synchronization, and what ends it.
pub(super) const ALIGNMENT_ZEROS: u8 = 11;
pub(super) const ALIGNMENT_END: u8 = 0x80;

impl<'a> Bytes<'a> {
    /// Of these those of the source with an ID, or all of a sink that is not formatted.
    pub(super) fn new(pieces: Pieces<'a>, source: u8) -> Bytes<'a> {
        Bytes {
            source: (pieces.framing() != Framing::Unformatted).then_some(source),
            pieces,
            run: Run::default(),
            next: 0,
            last: 0,
            zeros: 0,
            is_aligned: false,
            damage: None,
        }
    }

    /// The same place in the same bytes, lent by somebody else.
    pub(super) fn over<'b>(self, sink: &'b [u8]) -> Bytes<'b> {
        let Bytes { pieces, source, run, next, last, zeros, is_aligned, damage } = self;
        Bytes { pieces: pieces.over(sink), source, run, next, last, zeros, is_aligned, damage }
    }

    /// Offset in the sink of the last byte that was read, or of what is damaged behind it.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The next byte. None at the end, and where the sink is damaged: see [`Bytes::take_damage`].
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            if let Some(byte) = self.run.bytes().get(self.next) {
                self.last = self.run.at() + self.next as u64;
                self.next += 1;
                self.is_aligned = *byte == ALIGNMENT_END && self.zeros >= ALIGNMENT_ZEROS;
                self.zeros = if *byte == 0 { self.zeros.saturating_add(1) } else { 0 };
                return Some(*byte);
            }
            self.go_on()?;
        }
    }

    /// The next few bytes at once, where all lie in the same run as the last.
    #[inline]
    pub(super) fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        const { assert!(N > 1 && N < ALIGNMENT_ZEROS as usize, "or it could have an alignment synchronization inside") };
        let chunk = *self.run.bytes().get(self.next..)?.first_chunk::<N>()?;
        let zeros = chunk.iter().rev().take_while(|byte| **byte == 0).count();
        let are_zeros_before_last = chunk.iter().take(N - 1).all(|byte| *byte == 0);
        self.is_aligned = chunk.last() == Some(&ALIGNMENT_END)
            && are_zeros_before_last
            && self.zeros.saturating_add(N as u8 - 1) >= ALIGNMENT_ZEROS;
        self.zeros = if zeros == N { self.zeros.saturating_add(N as u8) } else { zeros as u8 };
        self.next += N;
        self.last = self.run.at() + self.next as u64 - 1;
        Some(chunk)
    }

    /// The next byte, where it lies in the same run as the last: it stays the next.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.run.bytes().get(self.next).copied()
    }

    /// Goes on with the next run.
    fn go_on(&mut self) -> Option<()> {
        if self.damage.is_some() {
            return None;
        }
        loop {
            match self.pieces.next()? {
                Piece::Run(run) if self.source.is_none_or(|source| source == run.source()) => {
                    (self.run, self.next) = (run, 0);
                    return Some(());
                }
                Piece::Run(_) => {}
                Piece::Damaged { at, damage } => {
                    (self.zeros, self.is_aligned) = (0, false);
                    (self.last, self.damage) = (at, Some(damage));
                    return None;
                }
            }
        }
    }

    /// What ended the bytes before the end of the sink. They go on behind it.
    pub(super) fn take_damage(&mut self) -> Option<FrameDamage> {
        self.damage.take()
    }

    /// Why there is no next byte of a packet.
    pub(super) fn end_in(&mut self, packet: &'static str) -> Fault {
        self.take_damage().map_or(Fault::Cut { packet }, Fault::Frame)
    }

    /// Moves behind the next alignment synchronization, which may have begun before. False at the end.
    pub(super) fn align(&mut self) -> bool {
        while !self.is_aligned {
            if self.next().is_none() && self.take_damage().is_none() {
                return false;
            }
        }
        self.is_aligned = false;
        true
    }
}
