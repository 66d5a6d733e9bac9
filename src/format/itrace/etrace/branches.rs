//! Which branches were taken, as packets told and no instruction has used yet.

use riscv_etrace::types::branch;

/// The branches, the oldest first. A packet tells 31 at most, and one more of the packet before may be left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Branches {
    /// The oldest in the lowest bit; set where one was not taken.
    bits: u64,
    count: u32,
}

impl Branches {
    /// How many are left.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Adds one.
    pub fn push(&mut self, taken: bool) {
        self.bits |= u64::from(!taken).checked_shl(self.count).unwrap_or(0);
        self.count += 1;
    }

    /// Adds those of a packet; `false` where there are too many.
    #[must_use]
    pub fn append(&mut self, map: branch::Map) -> bool {
        let (bits, count) = (u64::from(map.raw_map()), u32::from(map.count()));
        self.bits |= bits.checked_shl(self.count).unwrap_or(0);
        self.count += count;
        self.count <= u64::BITS
    }

    /// Whether the oldest was taken; it is used then.
    pub fn pop(&mut self) -> Option<bool> {
        self.count = self.count.checked_sub(1)?;
        let taken = self.bits & 1 == 0;
        self.bits >>= 1;
        Some(taken)
    }
}
