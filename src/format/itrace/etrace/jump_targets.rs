//! The cache of jump targets of an encoder, of which the decoder has the same ("Jump target cache mode").

use std::collections::BTreeMap;

/// Where jumps led of which the program does not say where.
///
/// It is small where there were few, however large the encoder's is: places in a trace are kept with it.
#[derive(Clone, Debug, Default)]
pub(super) struct JumpTargets {
    entries: BTreeMap<u16, u64>,
    /// The number of entries is 2 to this power; there are none where that is 0.
    size: u8,
    /// How many of the lowest bits of an address are no part of an entry's number.
    unused: u8,
}

impl JumpTargets {
    /// With 2 to the power of `size` entries, 16 at most, empty; none of size 0.
    pub fn new(size: u8, unused: u8) -> JumpTargets {
        JumpTargets { entries: BTreeMap::new(), size, unused }
    }

    /// Forgets all, as the encoder's does.
    pub fn empty(&mut self) {
        self.entries.clear();
    }

    /// What it has at a place.
    pub fn at(&self, place: usize) -> Option<u64> {
        self.entries.get(&u16::try_from(place).ok()?).copied()
    }

    /// A jump led to an address.
    #[inline]
    pub fn keep(&mut self, target: u64) {
        if self.size > 0 {
            let place = target.checked_shr(self.unused.into()).unwrap_or(0) & ((1 << self.size) - 1);
            self.entries.insert(place as u16, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_targets_with_the_same_place_it_has_the_later() {
        let mut targets = JumpTargets::new(2, 1);
        [0x10, 0x16, 0x20].into_iter().for_each(|target| targets.keep(target));
        assert_eq!([0, 1, 2, 3, 4].map(|place| targets.at(place)), [Some(0x20), None, None, Some(0x16), None]);
        targets.empty();
        assert_eq!(targets.at(3), None);
        let mut none = JumpTargets::new(0, 1);
        none.keep(0x10);
        assert_eq!(none.at(0), None);
    }
}
