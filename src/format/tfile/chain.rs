//! The frame section as a chain of sizes, before anything in a frame gets a meaning.
//!
//! A frame is an `i16` tracepoint number, a `u32` size and as many bytes (gdb manual, "Trace File Format"). The
//! tracepoint number 0 ends the section; gdb writes 4 zero bytes for it and needs the first 2 (gdb's
//! tracefile-tfile.c, `tfile_end` and `tfile_trace_find`). Others write the header of a frame of no bytes.

use crate::source::{ByteOrder, Cursor};
use crate::trace::Damage;

/// Length of a frame's header in bytes.
pub(super) const HEADER: u64 = 6;

/// A whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawFrame<'a> {
    /// Offset of its header in the file.
    pub at: u64,
    pub tracepoint: i16,
    /// Its blocks.
    pub body: &'a [u8],
}

impl RawFrame<'_> {
    /// Offset in the file of what comes behind it.
    pub fn end(&self) -> u64 {
        self.at.saturating_add(HEADER).saturating_add(self.body.len() as u64)
    }
}

/// What comes next in the frame section. Everything but a frame is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link<'a> {
    Frame(RawFrame<'a>),
    /// The end mark, and how many bytes lie behind it.
    EndMark {
        end: u64,
        behind: u64,
    },
    /// The end of the file behind a whole frame.
    EndOfFile {
        at: u64,
    },
    /// The end of the file in a frame's header.
    CutHeader {
        at: u64,
        left: u64,
    },
    /// A frame that is longer than what is left of the file.
    CutFrame {
        at: u64,
        size: u32,
        left: u64,
    },
}

impl Link<'_> {
    /// Whether the chain ends here as a file that was saved and copied whole does.
    pub fn is_proper_end(&self) -> bool {
        matches!(self, Link::EndMark { behind: 0, .. } | Link::EndOfFile { .. })
    }

    /// What is wrong with an end of the chain before which `frames` frames lie.
    pub fn damage(&self, frames: u64) -> Option<Damage> {
        let (at, frame, what) = match *self {
            Link::Frame(_) | Link::EndMark { behind: 0, .. } => return None,
            Link::EndMark { end, behind } => (end, None, format!("{behind} bytes behind the end mark are not read")),
            Link::EndOfFile { at } => {
                (at, None, "no end mark behind the last frame (the file may be cut here)".to_owned())
            }
            Link::CutHeader { at, left } => (
                at,
                Some(frames),
                format!("the file ends in the frame's header, of which {left} bytes are left, expected {HEADER}"),
            ),
            Link::CutFrame { at, size, left } => (
                at,
                Some(frames),
                format!(
                    "the frame's size is {size} bytes, but {left} are left of the file (it is cut here, or the size is \
                     wrong)"
                ),
            ),
        };
        Some(Damage { at, frame, what })
    }
}

/// A walk along the chain.
#[derive(Clone, Debug)]
pub(super) struct Chain<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Chain<'a> {
    /// Starts with the header at offset `at` of the file that `file` holds.
    pub fn new(file: &'a [u8], at: u64, order: ByteOrder) -> Chain<'a> {
        let rest = usize::try_from(at).ok().and_then(|at| file.get(at..)).unwrap_or(&[]);
        Chain { cursor: Cursor::new(rest, at, order) }
    }

    pub fn next(&mut self) -> Link<'a> {
        let at = self.cursor.position();
        let left = self.cursor.rest().len() as u64;
        if left == 0 {
            return Link::EndOfFile { at };
        }
        let Ok(tracepoint) = self.cursor.i16() else { return Link::CutHeader { at, left } };
        if tracepoint == 0 {
            // The rest of the mark belongs to it, as far as it is there.
            let rest = match self.cursor.rest() {
                [0, 0, 0, 0] => 4,
                [0, 0, ..] => 2,
                [0] => 1,
                _ => 0,
            };
            let _ = self.cursor.take(rest);
            return Link::EndMark { end: self.cursor.position(), behind: self.cursor.rest().len() as u64 };
        }
        let Ok(size) = self.cursor.u32() else { return Link::CutHeader { at, left } };
        match usize::try_from(size).ok().and_then(|length| self.cursor.take(length).ok()) {
            Some(body) => Link::Frame(RawFrame { at, tracepoint, body }),
            None => Link::CutFrame { at, size, left: left.saturating_sub(HEADER) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(file: &[u8], order: ByteOrder) -> Vec<Link<'_>> {
        let mut chain = Chain::new(file, 2, order);
        let mut links = Vec::new();
        loop {
            links.push(chain.next());
            if !matches!(links.last(), Some(Link::Frame(_))) {
                return links;
            }
        }
    }

    #[test]
    fn frames_in_both_byte_orders() {
        let little = b"..\xff\xff\x01\0\0\0a\x02\0\0\0\0\0\0\0\0\0";
        let big = b"..\xff\xff\0\0\0\x01a\0\x02\0\0\0\0\0\0\0\0";
        for (file, order) in [(little, ByteOrder::Little), (big, ByteOrder::Big)] {
            assert_eq!(
                links(file, order),
                [
                    Link::Frame(RawFrame { at: 2, tracepoint: -1, body: b"a" }),
                    Link::Frame(RawFrame { at: 9, tracepoint: 2, body: b"" }),
                    Link::EndMark { end: 19, behind: 0 },
                ]
            );
        }
    }

    #[test]
    fn every_end_is_told_apart() {
        for (file, expected) in [
            (&b".."[..], Link::EndOfFile { at: 2 }),
            (b".", Link::EndOfFile { at: 2 }),
            (b"..\0", Link::CutHeader { at: 2, left: 1 }),
            (b"..\0\0", Link::EndMark { end: 4, behind: 0 }),
            (b"..\0\0\0", Link::EndMark { end: 5, behind: 0 }),
            (b"..\0\0\0x", Link::EndMark { end: 4, behind: 2 }),
            (b"..\0\0\0\0", Link::EndMark { end: 6, behind: 0 }),
            (b"..\0\0\0\0\0\0", Link::EndMark { end: 8, behind: 0 }),
            (b"..\0\0\0\0\0", Link::EndMark { end: 6, behind: 1 }),
            (b"..\0\0\0\0\0\0\0", Link::EndMark { end: 6, behind: 3 }),
            (b"..\0\0\0\0x", Link::EndMark { end: 6, behind: 1 }),
            (b"..\x01\0\x01\0\0", Link::CutHeader { at: 2, left: 5 }),
            (b"..\x01\0\x02\0\0\0a", Link::CutFrame { at: 2, size: 2, left: 1 }),
            (b"..\x01\0\xff\xff\xff\xffa", Link::CutFrame { at: 2, size: u32::MAX, left: 1 }),
        ] {
            assert_eq!(links(file, ByteOrder::Little), [expected], "{}", file.escape_ascii());
            assert_eq!(expected.damage(7).is_none(), matches!(expected, Link::EndMark { behind: 0, .. }));
        }
        let damage = Link::CutFrame { at: 0x10, size: 9, left: 4 }.damage(7).unwrap();
        assert!(damage.to_string().starts_with("frame 7 at byte 0x10: the frame's size is 9 bytes, but 4 are left"));
    }
}
