//! The cache of jump targets of an encoder, of which the decoder has the same ("Jump target cache mode").

/// Where jumps led of which the program does not say where.
#[derive(Clone, Debug, Default)]
pub(super) struct JumpTargets {
    /// As many as a power of 2; none where there is no cache.
    entries: Vec<Option<u64>>,
    /// How many of the lowest bits of an address are no part of an entry's number.
    unused: u32,
}

impl JumpTargets {
    /// With 2 to the power of `size` entries, empty; none of size 0.
    pub fn new(size: u8, unused: u8) -> JumpTargets {
        let entries = if size == 0 { 0 } else { 1 << size };
        JumpTargets { entries: vec![None; entries], unused: unused.into() }
    }

    /// Forgets all, as the encoder's does.
    pub fn empty(&mut self) {
        self.entries.fill(None);
    }

    /// What it has at a place.
    pub fn at(&self, place: usize) -> Option<u64> {
        self.entries.get(place).copied().flatten()
    }

    /// A jump led to an address.
    pub fn keep(&mut self, target: u64) {
        let place = (target >> self.unused) as usize & self.entries.len().wrapping_sub(1);
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = Some(target);
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
