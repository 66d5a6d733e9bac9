//! What frames are looked for.

use std::ops::{Range, RangeInclusive};

use super::dictionary::Dictionary;
use super::kind::{Kind, REACH};

/// What a frame must be to be found (gdb manual, "Tracepoint Packets", `QTFrame`).
///
/// A program counter that was inferred counts like a recorded one; a frame whose program counter is unknown is
/// found by its tracepoint and its thread only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Made by the tracepoint of this number, as the recording machine counted.
    Tracepoint(i32),
    /// Recorded on this thread.
    Thread(u32),
    /// With this program counter.
    Pc(u64),
    /// With a program counter from `low` to `high`, both included; none where `low` is above `high`.
    Range {
        /// The lowest address that matches.
        low: u64,
        /// The highest address that matches.
        high: u64,
    },
    /// With a program counter below `low` or above `high`; every one where `low` is above `high`.
    Outside {
        /// The lowest address that does not match.
        low: u64,
        /// The highest address that does not match.
        high: u64,
    },
    /// Recorded on a thread, with a program counter as of [`Query::Outside`].
    ThreadOutside {
        /// The thread.
        thread: u32,
        /// The lowest address that does not match.
        low: u64,
        /// The highest address that does not match.
        high: u64,
    },
}

impl Query {
    /// The thread on which alone frames match, if it is one.
    pub(super) fn thread(&self) -> Option<u32> {
        match *self {
            Query::Thread(thread) | Query::ThreadOutside { thread, .. } => Some(thread),
            _ => None,
        }
    }

    /// The program counters with which alone frames match, if that decides.
    pub(super) fn addresses(&self) -> Option<Addresses> {
        match *self {
            Query::Tracepoint(_) | Query::Thread(_) => None,
            Query::Pc(address) => Some(Addresses::Within(address, address)),
            Query::Range { low, high } => Some(Addresses::Within(low, high)),
            Query::Outside { low, high } | Query::ThreadOutside { low, high, .. } if low > high => {
                Some(Addresses::Within(0, u64::MAX))
            }
            Query::Outside { low, high } | Query::ThreadOutside { low, high, .. } => {
                Some(Addresses::Outside(low, high))
            }
        }
    }

    /// Whether no frame at all can match.
    pub(super) fn is_empty(&self) -> bool {
        self.addresses().is_some_and(|addresses| addresses.ranges().iter().all(Option::is_none))
    }
}

/// What an interruption must be to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterruptionQuery {
    /// Of this thread, if of one only.
    pub thread: Option<u32>,
    /// Whether it may be a gap.
    pub gaps: bool,
    /// Whether it may be an exception.
    pub exceptions: bool,
}

/// A set of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addresses {
    /// From the first to the second, both included; none where the first is above the second.
    Within(u64, u64),
    /// Below the first or above the second, which is not below the first.
    Outside(u64, u64),
}

impl Addresses {
    /// The beginnings of a kind that lie at these addresses.
    pub(super) fn hits(self, kind: Kind) -> u64 {
        match self {
            Addresses::Within(low, high) => kind.within(low, high),
            Addresses::Outside(low, high) => kind.beginnings & !kind.within(low, high),
        }
    }

    /// The ranks of the kinds that hit, of one thread.
    ///
    /// A kind that starts at one of the addresses hits. The others that may start a little below them, and are looked
    /// at one by one: as many as end differently.
    pub(super) fn ranks(self, kinds: &Dictionary<3>, thread: u64) -> Vec<Range<u32>> {
        let starting = |starts: RangeInclusive<u64>| {
            // Not those whose program counter is unknown, which have no beginning.
            kinds.ranks([thread, *starts.start(), 1], [thread, *starts.end(), u64::MAX])
        };
        let mut ranks: Vec<_> = self.ranges().into_iter().flatten().map(starting).collect();
        for rank in self.before().map(starting).into_iter().flatten() {
            let kind = kinds.get(rank as usize).map(|[_, start, beginnings]| Kind { start, beginnings });
            if kind.is_some_and(|kind| self.hits(kind) != 0) {
                match ranks.last_mut() {
                    Some(last) if last.end == rank => last.end = rank + 1,
                    _ => ranks.push(rank..rank + 1),
                }
            }
        }
        ranks
    }

    /// The addresses.
    fn ranges(self) -> [Option<RangeInclusive<u64>>; 2] {
        match self {
            Addresses::Within(low, high) => [Some(low..=high).filter(|range| !range.is_empty()), None],
            Addresses::Outside(low, high) => {
                [low.checked_sub(1).map(|below| 0..=below), high.checked_add(1).map(|above| above..=u64::MAX)]
            }
        }
    }

    /// The other addresses from which a kind may reach these.
    fn before(self) -> Option<RangeInclusive<u64>> {
        match self {
            Addresses::Within(low, high) if low > high => None,
            Addresses::Within(low, _) => low.checked_sub(1).map(|last| low.saturating_sub(REACH)..=last),
            Addresses::Outside(low, high) => Some(low.max(high.saturating_sub(REACH))..=high),
        }
    }
}

/// A tracepoint's number as a key of its column, in the order of the numbers.
pub(super) fn tracepoint_key(number: i32) -> u64 {
    u64::from(number.wrapping_sub(i32::MIN).cast_unsigned())
}

/// The number that [`tracepoint_key`] made this key of.
pub(super) fn tracepoint_number(key: u64) -> i32 {
    (key as u32).cast_signed().wrapping_add(i32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_of_tracepoint_numbers() {
        let numbers = [i32::MIN, -1, 0, 1, i32::MAX];
        let keys = numbers.map(tracepoint_key);
        assert!(keys.is_sorted());
        assert_eq!(keys.map(tracepoint_number), numbers);
    }

    #[test]
    fn ranges_at_the_ends_of_the_address_space() {
        let ranges = |low, high| Query::Outside { low, high }.addresses().map(Addresses::ranges);
        assert!(Query::Range { low: 5, high: 4 }.is_empty());
        assert!(Query::Outside { low: 0, high: u64::MAX }.is_empty());
        assert!(Query::ThreadOutside { thread: 1, low: 0, high: u64::MAX }.is_empty());
        assert!(!Query::Thread(1).is_empty());
        assert_eq!(ranges(5, 4), Some([Some(0..=u64::MAX), None]));
        assert_eq!(ranges(0, 4), Some([None, Some(5..=u64::MAX)]));
        assert_eq!(ranges(4, u64::MAX), Some([Some(0..=3), None]));
    }
}
