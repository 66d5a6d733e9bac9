//! What lies in memory where frames are: instructions one behind the other, or one program counter.

use crate::trace::{nth_address, without_lowest};

/// How far behind the start of a kind its last instruction begins at most, in bytes.
pub(super) const REACH: u64 = 126;

/// The program counters of consecutive frames, in their order: those of a run of instructions, or that of a frame of
/// another sort, or none where that is not known.
///
/// They ascend: what would pass the end of the address space is of another kind, which starts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    /// The first.
    pub(super) start: u64,
    /// Bit n is set for one that lies 2n bytes behind the start; the lowest is, unless none is known.
    pub(super) beginnings: u64,
}

impl Kind {
    /// One frame whose program counter is not known.
    pub(super) const UNKNOWN: Kind = Kind { start: 0, beginnings: 0 };

    /// One frame.
    pub(super) fn frame(pc: Option<u64>) -> Kind {
        pc.map_or(Kind::UNKNOWN, |start| Kind { start, beginnings: 1 })
    }

    /// Instructions, of which those that begin 2n bytes behind the start for every set bit n: one kind, or two at the
    /// end of the address space, or none.
    pub(super) fn instructions(start: u64, beginnings: u64) -> [Option<Kind>; 2] {
        let starting = |start: u64, beginnings: u64| {
            let skipped = beginnings.trailing_zeros();
            let beginnings = beginnings.checked_shr(skipped)?;
            Some(Kind { start: start.wrapping_add(2 * u64::from(skipped)), beginnings })
        };
        let Some(kind) = starting(start, beginnings) else { return [None, None] };
        let below = kind.up_to(u64::MAX);
        let above = kind.beginnings & !below;
        [Some(Kind { beginnings: below, ..kind }), starting(kind.start, above)]
    }

    /// A bit for every frame.
    pub(super) fn frames(self) -> u64 {
        self.beginnings.max(1)
    }

    /// How many frames there are.
    pub(super) fn count(self) -> u64 {
        u64::from(self.frames().count_ones())
    }

    /// The program counter of the frame of this number, counted from 0.
    pub(super) fn address(self, nth: u64) -> Option<u64> {
        nth_address(self.start, self.beginnings, nth)
    }

    /// All program counters.
    pub(super) fn addresses(self) -> impl Iterator<Item = u64> {
        (0..u64::from(self.beginnings.count_ones())).filter_map(move |nth| self.address(nth))
    }

    /// The beginnings at addresses from `low` to `high`, both included.
    pub(super) fn within(self, low: u64, high: u64) -> u64 {
        self.up_to(high) & !low.checked_sub(1).map_or(0, |below| self.up_to(below))
    }

    /// The beginnings up to an address.
    fn up_to(self, address: u64) -> u64 {
        match address.checked_sub(self.start).map(|bytes| bytes / 2) {
            None => 0,
            Some(last @ 0..63) => self.beginnings & !(u64::MAX << (last + 1)),
            Some(_) => self.beginnings,
        }
    }

    /// The number of the first frame among `hits`, from the frame of the number `from` on.
    pub(super) fn first(self, hits: u64, from: u64) -> Option<u64> {
        let hits = hits & without_lowest(self.frames(), from);
        (hits != 0).then(|| self.before(hits.trailing_zeros()))
    }

    /// The number of the last frame among `hits`, before the frame of the number `before`.
    pub(super) fn last(self, hits: u64, before: u64) -> Option<u64> {
        let hits = hits & !without_lowest(self.frames(), before);
        hits.checked_ilog2().map(|bit| self.before(bit))
    }

    /// How many frames are before that of a bit.
    fn before(self, bit: u32) -> u64 {
        u64::from((self.frames() & !(u64::MAX << bit)).count_ones())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::{Instructions, Location};

    #[test]
    fn the_end_of_the_address_space_parts_a_kind() {
        let [below, above] = Kind::instructions(u64::MAX - 3, 0b1011_0100);
        // The first begins at 0, behind the end.
        assert_eq!((below, above), (Some(Kind { start: 0, beginnings: 0b10_1101 }), None));
        let [below, above] = Kind::instructions(u64::MAX - 2, 0b1101);
        assert_eq!(below, Some(Kind { start: u64::MAX - 2, beginnings: 1 }));
        assert_eq!(above, Some(Kind { start: 1, beginnings: 0b11 }));
        assert_eq!(Kind::instructions(7, 0), [None, None]);
    }

    proptest! {
        #[test]
        fn a_kind_has_the_addresses_of_its_instructions(
            start in prop_oneof![0..300_u64, any::<u64>(), u64::MAX - 300..=u64::MAX],
            beginnings: u64,
            thinner: u64,
            offsets: [u8; 2],
        ) {
            let beginnings = beginnings & thinner;
            let run = Instructions { location: Location(0), tracepoint: 1, thread: 1, start, beginnings };
            let expected: Vec<u64> = (0..run.count()).filter_map(|nth| run.address(nth)).collect();
            let kinds = Kind::instructions(start, beginnings);
            let found: Vec<u64> = kinds.into_iter().flatten().flat_map(Kind::addresses).collect();
            prop_assert_eq!(&found, &expected);
            let [low, high] = offsets.map(|offset| start.wrapping_sub(20).wrapping_add(u64::from(offset)));
            for kind in kinds.into_iter().flatten() {
                let addresses: Vec<u64> = kind.addresses().collect();
                prop_assert!(addresses.is_sorted() && kind.beginnings & 1 == 1);
                prop_assert_eq!(kind.count(), addresses.len() as u64);
                let hits = kind.within(low, high);
                let numbered = (0..).zip(&addresses);
                let wanted: Vec<u64> =
                    numbered.filter(|(_, at)| (low..=high).contains(at)).map(|(nth, _)| nth).collect();
                prop_assert_eq!(u64::from(hits.count_ones()), wanted.len() as u64);
                for at in 0..=65 {
                    prop_assert_eq!(kind.first(hits, at), wanted.iter().copied().find(|nth| *nth >= at));
                    prop_assert_eq!(kind.last(hits, at), wanted.iter().copied().rfind(|nth| *nth < at));
                }
            }
        }
    }
}
