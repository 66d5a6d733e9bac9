//! Tables of an encoder whose entries are found by an instruction's address: its branch predictor, its cache of targets.

/// How such a table is numbered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entries {
    /// Their number is 2 to this power, 16 at most; there are none where that is 0.
    pub size: u8,
    /// How many of the lowest bits of an address are no part of the number: they are always 0.
    pub unused: u8,
}

impl Entries {
    /// The number of the entry for an address, if there are any.
    #[inline]
    pub fn of(self, address: u64) -> Option<u16> {
        let number = address.checked_shr(self.unused.into()).unwrap_or(0) & ((1 << self.size) - 1);
        (self.size > 0).then_some(number as u16)
    }
}
