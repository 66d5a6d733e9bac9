//! What frames are looked for.

use std::ops::RangeInclusive;

/// What a frame must be to be found (gdb manual, "Tracepoint Packets", `QTFrame`).
///
/// A program counter that was inferred counts like a recorded one; a frame whose program counter is unknown is
/// found by its tracepoint only.
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
}

/// What the keys of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Tracepoint,
    Thread,
    Pc,
}

impl Query {
    /// The ranges of keys that match, in the column of [`Query::key`].
    pub(super) fn ranges(&self) -> [Option<RangeInclusive<u64>>; 2] {
        match *self {
            Query::Tracepoint(number) => [Some(tracepoint_key(number)).map(|key| key..=key), None],
            Query::Thread(thread) => [Some(u64::from(thread)).map(|key| key..=key), None],
            Query::Pc(address) => [Some(address..=address), None],
            Query::Range { low, high } => [Some(low..=high).filter(|range| !range.is_empty()), None],
            Query::Outside { low, high } if low > high => [Some(0..=u64::MAX), None],
            Query::Outside { low, high } => {
                [low.checked_sub(1).map(|below| 0..=below), high.checked_add(1).map(|above| above..=u64::MAX)]
            }
        }
    }

    /// What decides.
    pub(super) fn key(&self) -> Key {
        match self {
            Query::Tracepoint(_) => Key::Tracepoint,
            Query::Thread(_) => Key::Thread,
            Query::Pc(_) | Query::Range { .. } | Query::Outside { .. } => Key::Pc,
        }
    }

    /// Whether no frame at all can match.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges().iter().all(Option::is_none)
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
        assert!(Query::Range { low: 5, high: 4 }.is_empty());
        assert!(Query::Outside { low: 0, high: u64::MAX }.is_empty());
        assert_eq!(Query::Outside { low: 5, high: 4 }.ranges(), [Some(0..=u64::MAX), None]);
        assert_eq!(Query::Outside { low: 0, high: 4 }.ranges(), [None, Some(5..=u64::MAX)]);
        assert_eq!(Query::Outside { low: 4, high: u64::MAX }.ranges(), [Some(0..=3), None]);
    }
}
