//! The option TSC2NSEC (14).

use super::Wrong;
use crate::source::Cursor;

/// How a time stamp counter becomes nanoseconds: `(counter * multiplier) >> shift`, with a product of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TscToNanoseconds {
    /// The multiplier.
    pub multiplier: u32,
    /// The shift in bits.
    pub shift: u32,
    /// An offset in nanoseconds, which trace-cmd report does not add (trace-input.c, `timestamp_calc`).
    pub offset: u64,
}

impl TscToNanoseconds {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<TscToNanoseconds, Wrong> {
        Ok(TscToNanoseconds { multiplier: cursor.u32()?, shift: cursor.u32()?, offset: cursor.u64()? })
    }
}
