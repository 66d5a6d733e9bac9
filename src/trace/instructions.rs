//! Frames of which each is one instruction that was executed.

use super::Location;

/// Instructions that a thread executed one behind the other, as they lie in memory: a frame each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// Where the recording keeps the first frame; each of the others lies one further on.
    pub location: Location,
    /// The number of the tracepoint that gdb takes for the maker of the frames.
    pub tracepoint: i32,
    /// The thread that executed them.
    pub thread: u32,
    /// The address of the first.
    pub start: u64,
    /// Bit n is set where an instruction begins 2n bytes behind the start; the lowest is.
    pub beginnings: u64,
}

impl Instructions {
    /// How many there are.
    pub fn count(&self) -> u32 {
        self.beginnings.count_ones()
    }

    /// The address of the instruction of this number, counted from 0.
    pub fn address(&self, nth: u32) -> Option<u64> {
        nth_address(self.start, self.beginnings, nth.into())
    }
}

/// The address of the instruction of this number, counted from 0, of those that begin 2n bytes behind the start for each bit n
/// that is set.
#[inline]
pub fn nth_address(start: u64, beginnings: u64, nth: u64) -> Option<u64> {
    let left = without_lowest(beginnings, nth);
    (left != 0).then(|| start.wrapping_add(2 * u64::from(left.trailing_zeros())))
}

/// Bits without so many of the lowest that are set.
#[inline]
pub fn without_lowest(mut bits: u64, count: u64) -> u64 {
    for _ in 0..count.min(u64::BITS.into()) {
        bits &= bits.wrapping_sub(1);
    }
    bits
}

/// Something between two frames of a thread, or before its first, or behind its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// The thread.
    pub thread: u32,
    /// Offset in the recording's file, in bytes, of what tells it.
    pub at: u64,
    /// What it is.
    pub kind: InterruptionKind,
}

/// What lies between two frames of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterruptionKind {
    /// Nobody knows what was executed here, nor how much. Why: a phrase in lower case, without a full stop.
    Gap(String),
    /// An exception was taken, or an interrupt: what the machine calls it.
    Exception(String),
}

impl InterruptionKind {
    /// The reason of a gap that is meant: the trace unit was told not to trace.
    pub const NOT_TRACED: &str = "tracing was off (a filter, or a state in which it is not allowed)";

    /// Whether trace was lost, or does not fit the program.
    pub fn is_damage(&self) -> bool {
        matches!(self, InterruptionKind::Gap(reason) if reason != InterruptionKind::NOT_TRACED)
    }

    /// Whether nobody knows what was executed here.
    pub fn is_gap(&self) -> bool {
        matches!(self, InterruptionKind::Gap(_))
    }
}

/// An interruption, and the frames that it lies between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// What it is.
    pub interruption: Interruption,
    /// The number of the thread's last frame before it, if there is one.
    pub before: Option<u64>,
    /// The number of the thread's first frame behind it, if there is one.
    pub after: Option<u64>,
}
