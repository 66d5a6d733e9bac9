//! The cache of jump targets of an encoder, of which the decoder has the same ("Jump target cache mode").

use std::collections::BTreeMap;

use super::entries::Entries;

/// Where jumps led of which the program does not say where.
///
/// It is small where there were few, however large the encoder's is: places in a trace are kept with it.
#[derive(Clone, Debug, Default)]
pub(super) struct JumpTargets {
    targets: BTreeMap<u16, u64>,
    entries: Entries,
}

impl JumpTargets {
    /// An empty one.
    pub fn new(entries: Entries) -> JumpTargets {
        JumpTargets { targets: BTreeMap::new(), entries }
    }

    /// Forgets all, as the encoder's does.
    pub fn empty(&mut self) {
        self.targets.clear();
    }

    /// What it has at a place.
    pub fn at(&self, place: usize) -> Option<u64> {
        self.targets.get(&u16::try_from(place).ok()?).copied()
    }

    /// A jump led to an address. Whoever walks without a cache does not carry its code along.
    #[inline(never)]
    pub fn keep(&mut self, target: u64) {
        if let Some(entry) = self.entries.of(target) {
            self.targets.insert(entry, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_targets_with_the_same_place_it_has_the_later() {
        let mut targets = JumpTargets::new(Entries { size: 2, unused: 1 });
        [0x10, 0x16, 0x20].into_iter().for_each(|target| targets.keep(target));
        assert_eq!([0, 1, 2, 3, 4].map(|place| targets.at(place)), [Some(0x20), None, None, Some(0x16), None]);
        targets.empty();
        assert_eq!(targets.at(3), None);
        let mut none = JumpTargets::new(Entries { size: 0, unused: 1 });
        none.keep(0x10);
        assert_eq!(none.at(0), None);
    }
}
