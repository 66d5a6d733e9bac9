//! What is wrong with the bytes of a source.

use super::super::formatter::FrameDamage;

/// Why the bytes of a source cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No packet begins so.
    #[error("found a packet that begins with {header:#04x}, which is reserved")]
    Reserved {
        /// Its first byte.
        header: u8,
    },
    /// A packet that this source cannot send.
    #[error("found {packet} (first byte {header:#04x}), which this source cannot send: {reason}")]
    Impossible {
        /// What it is.
        packet: &'static str,
        /// Its first byte.
        header: u8,
        /// Why not.
        reason: &'static str,
    },
    /// A byte that cannot be in a packet.
    #[error("found {found:#04x} in {packet}, expected {expected}")]
    Unexpected {
        /// What packet it is.
        packet: &'static str,
        /// The byte.
        found: u8,
        /// What can be there.
        expected: &'static str,
    },
    /// A number of more bytes than it can have.
    #[error("found a number of more than {most} bytes in {packet}")]
    Overlong {
        /// What packet it is.
        packet: &'static str,
        /// How many bytes it can have.
        most: u32,
    },
    /// The trace ends in a packet.
    #[error("the trace ends inside {packet}")]
    Cut {
        /// What packet it is.
        packet: &'static str,
    },
    /// The sink cannot be taken apart.
    #[error("{0}")]
    Frame(FrameDamage),
    /// More is committed than was told.
    #[error("{said} elements are committed, {held} were speculated")]
    Commit {
        /// How many are committed.
        said: u32,
        /// How many there are.
        held: u32,
    },
    /// More is cancelled than was told.
    #[error("{said} elements are cancelled, {held} were speculated")]
    Cancel {
        /// How many are cancelled.
        said: u32,
        /// How many there are.
        held: u32,
    },
    /// There is no atom that can have been mispredicted.
    #[error("a branch was mispredicted, and none was told that can still be corrected")]
    Mispredict,
    /// The trace and its reader do not agree on how much is speculated: something is missing.
    #[error("{said} elements are said to be speculated, {held} were")]
    Speculation {
        /// How many the trace says.
        said: u32,
        /// How many there are.
        held: u32,
    },
    /// More is speculated than anything real speculates.
    #[error("more than {most} packets wait for speculation to end")]
    Waiting {
        /// How many can wait.
        most: usize,
    },
}

impl Fault {
    /// Whether what was read before is whole: the bytes end, or others are known to begin.
    pub(super) fn is_cut(self) -> bool {
        matches!(self, Fault::Cut { .. } | Fault::Frame(FrameDamage::Cut { .. } | FrameDamage::Barrier))
    }
}

/// A fault, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at:#x}: {fault}")]
pub struct Damage {
    /// Offset in the sink of the byte at which it was found.
    pub at: u64,
    /// What is wrong.
    pub fault: Fault,
}
