//! A straight stretch of code.

use super::{Flow, InstructionSet};
use crate::trace::nth_address;

/// Instructions that are executed one behind the other, if the first is and no exception comes: a basic block, or a part
/// of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// How its instructions are encoded.
    pub instruction_set: InstructionSet,
    /// The address of the first instruction.
    pub start: u64,
    /// The address behind the last instruction; that of the first where there are none.
    pub end: u64,
    /// Why it ends there.
    pub ending: Ending,
    /// Bit n is set where an instruction begins 2n bytes behind the start.
    pub beginnings: u64,
    /// The address of the last instruction; the start where there are none.
    pub last: u64,
    /// The number of instructions. It is counted once, since whoever walks over blocks asks for it at each.
    count: u8,
}

/// Why a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// This is where its last instruction leads.
    Flow(Flow),
    /// Its next instruction would begin at, or reach over, an address that is not to be passed.
    Limit,
    /// Nothing that can be executed lies behind it: no code, or no instruction.
    NoInstruction,
    /// Blocks are not longer: the next goes on at its end.
    Length,
}

impl Block {
    /// Blocks have no more bytes than this.
    pub const LONGEST: u64 = 2 * u64::BITS as u64;

    /// A block of instructions with these beginnings.
    pub(super) fn new(instruction_set: InstructionSet, start: u64, end: u64, ending: Ending, beginnings: u64) -> Block {
        let count = beginnings.count_ones() as u8;
        let last = start.wrapping_add(2 * u64::from(beginnings.checked_ilog2().unwrap_or(0)));
        Block { instruction_set, start, end, ending, beginnings, count, last }
    }

    /// The number of its instructions.
    #[inline]
    pub fn instructions(&self) -> u32 {
        u32::from(self.count)
    }

    /// The address of an instruction, counted from 0.
    pub fn address(&self, nth: u32) -> Option<u64> {
        nth_address(self.start, self.beginnings, nth.into())
    }

    /// The address of the last instruction.
    #[inline]
    pub fn last(&self) -> Option<u64> {
        (self.count > 0).then_some(self.last)
    }

    /// Where its last instruction can lead.
    #[inline]
    pub fn flow(&self) -> Flow {
        if let Ending::Flow(flow) = self.ending { flow } else { Flow::Next }
    }

    /// Whether an instruction of it begins at an address.
    #[inline]
    pub fn has(&self, address: u64) -> bool {
        let distance = address.wrapping_sub(self.start);
        distance < Block::LONGEST && distance.is_multiple_of(2) && self.beginnings >> (distance / 2) & 1 == 1
    }

    /// The part of it up to the instruction at an address, with that.
    #[inline]
    pub fn through(self, address: u64) -> Block {
        let place = (address.wrapping_sub(self.start) / 2).min(63);
        let behind = self.beginnings & (u64::MAX << place << 1);
        if behind == 0 { self } else { self.up_to(self.start.wrapping_add(2 * u64::from(behind.trailing_zeros()))) }
    }

    /// The part of it that does not pass an address; all of it if that lies elsewhere.
    ///
    /// Its end is not that address where an instruction lies across it.
    #[inline]
    pub fn up_to(self, limit: u64) -> Block {
        let distance = limit.wrapping_sub(self.start);
        if distance >= self.end.wrapping_sub(self.start) {
            return self;
        }
        // Here the first instruction begins that is left out.
        let reached = self.beginnings & (u64::MAX >> (63 - (distance / 2).min(63)));
        let place = reached.checked_ilog2().unwrap_or(0);
        let end = self.start.wrapping_add(2 * u64::from(place));
        Block::new(self.instruction_set, self.start, end, Ending::Limit, reached & !(u64::MAX << place))
    }
}
