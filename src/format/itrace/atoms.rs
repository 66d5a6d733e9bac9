//! Whether branches, and what else can lead elsewhere, did.

/// For each of some waypoints, in the order of execution, whether it led elsewhere: 24 at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Atoms {
    /// Whether each led elsewhere (an E atom of ETMv4), the oldest in bit 0; the bits above are 0.
    taken: u32,
    count: u8,
}

impl Atoms {
    /// So many, 24 at most, with whether the oldest led elsewhere in bit 0.
    pub const fn new(taken: u32, count: u8) -> Atoms {
        let count = if count < 24 { count } else { 24 };
        Atoms { taken: taken & ((1 << count) - 1), count }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        u32::from(self.count)
    }

    /// Takes the oldest away; whether it led elsewhere.
    #[inline]
    pub fn take_oldest(&mut self) -> Option<bool> {
        self.count = self.count.checked_sub(1)?;
        let taken = self.taken & 1 == 1;
        self.taken >>= 1;
        Some(taken)
    }

    /// Takes so many of the oldest away.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> Atoms {
        let count = count.min(self.count()) as u8;
        let oldest = Atoms::new(self.taken, count);
        *self = Atoms::new(self.taken >> count, self.count - count);
        oldest
    }

    /// Takes so many of the newest away.
    pub(super) fn cancel_newest(&mut self, count: u32) {
        *self = Atoms::new(self.taken, self.count().saturating_sub(count) as u8);
    }

    /// Makes the newest the opposite of what it was.
    pub(super) fn mispredict_newest(&mut self) {
        self.taken ^= 1_u32.checked_shl(self.count().saturating_sub(1)).unwrap_or(0);
    }
}
