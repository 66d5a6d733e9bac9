//! Where each frame lies, by its number: filled by the first walk, read by everybody.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers in the first part of the table; each further one has twice as many as the one before.
const FIRST: u64 = 1 << 12;

/// How many parts there are: room for more events than a file can hold.
const PARTS: usize = 48;

const PAGE_BITS: u32 = 26;
const OFFSET_BITS: u32 = 20;

/// A record: of which stream, in which of its pages, and where in it. 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub stream: usize,
    pub page: u64,
    pub offset: u32,
}

impl Position {
    /// How many streams can be told apart; an offset is less than the largest page.
    pub const STREAMS: usize = 1 << (63 - PAGE_BITS - OFFSET_BITS);

    /// How many pages of a stream can be told apart: 256 GiB of 4 KiB each.
    pub const PAGES: u64 = 1 << PAGE_BITS;

    /// The upper bit is set, to tell it from nothing.
    fn packed(self) -> u64 {
        let stream = self.stream as u64;
        (1 << 63) | (stream << (PAGE_BITS + OFFSET_BITS)) | (self.page << OFFSET_BITS) | u64::from(self.offset)
    }

    fn of(packed: u64) -> Option<Position> {
        let packed = packed.checked_sub(1 << 63)?;
        Some(Position {
            stream: (packed >> (PAGE_BITS + OFFSET_BITS)) as usize,
            page: (packed >> OFFSET_BITS) & (Position::PAGES - 1),
            offset: (packed & ((1 << OFFSET_BITS) - 1)) as u32,
        })
    }
}

/// The table. It grows without moving, so that readers need no lock.
pub(super) struct Positions {
    parts: [OnceLock<Box<[AtomicU64]>>; PARTS],
}

impl Positions {
    pub fn new() -> Positions {
        Positions { parts: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// The part that holds a number, and the place in it.
    fn place(number: u64) -> (usize, u64) {
        let part = (number / FIRST + 1).ilog2();
        (part as usize, number - FIRST * ((1 << part) - 1))
    }

    /// Says where a frame lies.
    pub fn set(&self, number: u64, position: Position) {
        let (part, place) = Positions::place(number);
        let Some(cell) = self.parts.get(part) else { return };
        let values = cell.get_or_init(|| (0..FIRST << part).map(|_| AtomicU64::new(0)).collect());
        if let Some(value) = values.get(place as usize) {
            value.store(position.packed(), Ordering::Release);
        }
    }

    /// Where a frame lies; `None` if that was not said.
    pub fn get(&self, number: u64) -> Option<Position> {
        let (part, place) = Positions::place(number);
        let values = self.parts.get(part)?.get()?;
        Position::of(values.get(usize::try_from(place).ok()?)?.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_found() {
        let positions = Positions::new();
        let position = |number: u64| Position {
            stream: (number as usize * 7) % Position::STREAMS,
            page: (number * 77_777) % Position::PAGES,
            offset: (number as u32).wrapping_mul(123_457) & ((1 << OFFSET_BITS) - 1),
        };
        assert_eq!(positions.get(0), None);
        for number in 0..20_000 {
            positions.set(number, position(number));
        }
        for number in (0..20_000).rev() {
            assert_eq!(positions.get(number), Some(position(number)));
        }
        for number in [20_000, 1 << 20, u64::MAX - FIRST] {
            assert_eq!(positions.get(number), None);
        }
        let last =
            Position { stream: Position::STREAMS - 1, page: Position::PAGES - 1, offset: (1 << OFFSET_BITS) - 1 };
        positions.set(3, last);
        assert_eq!(positions.get(3), Some(last));
    }
}
