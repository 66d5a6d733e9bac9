//! One trace frame: what was collected at one moment.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::{Damage, Location};
use crate::source::ByteOrder;

/// The program counter of a frame, and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProgramCounter {
    /// Neither recorded nor to be inferred.
    Unknown,
    /// The frame holds no registers; its tracepoint has one location and no while-stepping, so this is its address. Or an
    /// earlier boot of the machine recorded another address, and this is where the same code is now.
    Inferred(u64),
    /// In the frame.
    Recorded(u64),
}

impl ProgramCounter {
    /// The address, recorded or inferred.
    pub fn address(self) -> Option<u64> {
        match self {
            ProgramCounter::Unknown => None,
            ProgramCounter::Inferred(address) | ProgramCounter::Recorded(address) => Some(address),
        }
    }

    /// Whether the address was not in the frame.
    pub fn is_inferred(self) -> bool {
        matches!(self, ProgramCounter::Inferred(_))
    }
}

/// The registers of a frame, laid out as in the remote protocol's `g` reply: target byte order, the order and sizes
/// of the target description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterBlock<'a> {
    /// The bytes. What lies behind them in the description was not collected.
    pub bytes: Cow<'a, [u8]>,
    /// Byte ranges within `bytes` that were not collected, in ascending order.
    pub unavailable: Vec<Range<usize>>,
}

impl RegisterBlock<'_> {
    /// A block of so many bytes in which nothing but these is there: offset, size and value of each register. What does not
    /// lie in it is left out.
    pub fn holding(size: usize, order: ByteOrder, mut known: Vec<(usize, usize, u64)>) -> RegisterBlock<'static> {
        let mut bytes = vec![0; size];
        let mut unavailable = Vec::new();
        known.sort_unstable();
        let mut behind = 0;
        for (offset, length, value) in known {
            let end = offset.saturating_add(length);
            let Some(place) = bytes.get_mut(offset..end) else { continue };
            order.store(value, place);
            if behind < offset {
                unavailable.push(behind..offset);
            }
            behind = end;
        }
        if behind < size {
            unavailable.push(behind..size);
        }
        RegisterBlock { bytes: Cow::Owned(bytes), unavailable }
    }

    /// The bytes `range` of the block, if all of them were recorded.
    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        let hidden = |hole: &Range<usize>| hole.start < range.end && range.start < hole.end;
        if self.unavailable.iter().any(hidden) {
            return None;
        }
        self.bytes.get(range)
    }
}

/// A contiguous piece of memory that a frame holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryBlock<'a> {
    /// Address of the first byte.
    pub address: u64,
    /// The bytes. Never reaches past the end of the 64-bit address space.
    pub bytes: Cow<'a, [u8]>,
}

impl MemoryBlock<'_> {
    /// The bytes of the block from `address` on; `None` where the block does not hold that address.
    pub fn from(&self, address: u64) -> Option<&[u8]> {
        let skip = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(skip..).filter(|rest| !rest.is_empty())
    }
}

/// What one frame holds: views of the recording, in the order they were recorded.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// Where the recording keeps it.
    pub location: Location,
    /// The number of the tracepoint that made it, as the recording machine counted; it need not be defined.
    pub tracepoint: i32,
    /// The thread it was recorded on. A recording that knows no threads has thread 1.
    pub thread: u32,
    /// When it was recorded, in nanoseconds of the recording's clock.
    pub time: Option<u64>,
    /// Its program counter.
    pub pc: ProgramCounter,
    /// Its registers, if any were collected.
    pub registers: Option<RegisterBlock<'a>>,
    /// Its memory blocks; they may overlap, and then the first holds.
    pub memory: Vec<MemoryBlock<'a>>,
    /// Trace state variables by number; a number may come twice, and then the last holds.
    pub variables: Vec<(i32, i64)>,
    /// What a static tracepoint's marker passed (`$_sdata` in gdb).
    pub static_data: Option<Cow<'a, [u8]>>,
    /// What of this frame could not be read.
    pub damage: Option<Damage>,
}

impl<'a> Frame<'a> {
    /// A frame that holds nothing.
    pub fn empty(location: Location, tracepoint: i32) -> Frame<'a> {
        Frame {
            location,
            tracepoint,
            thread: 1,
            time: None,
            pc: ProgramCounter::Unknown,
            registers: None,
            memory: Vec::new(),
            variables: Vec::new(),
            static_data: None,
            damage: None,
        }
    }

    /// The memory blocks that hold any of `length` bytes from `address` on.
    pub fn memory_within(&self, address: u64, length: usize) -> MemoryView<'_> {
        let last = address.saturating_add((length as u64).saturating_sub(1));
        let overlaps = |block: &&MemoryBlock<'_>| {
            let reach = (block.bytes.len() as u64).checked_sub(1);
            reach.is_some_and(|reach| block.address <= last && address <= block.address.saturating_add(reach))
        };
        MemoryView { blocks: self.memory.iter().filter(overlaps).collect() }
    }

    /// The recorded bytes from `address` on, as far as they reach without a hole, `length` at most.
    pub fn read_memory(&self, address: u64, length: usize) -> Vec<u8> {
        let view = self.memory_within(address, length);
        let mut bytes = Vec::new();
        let mut at = Some(address);
        while let Some(found) = at.filter(|_| bytes.len() < length).and_then(|at| view.from(at)) {
            let taken = found.len().min(length - bytes.len());
            bytes.extend_from_slice(&found[..taken]);
            at = at.and_then(|at| at.checked_add(taken as u64));
        }
        bytes
    }

    /// The memory the frame holds: first address and length of each piece, ascending, merged where pieces touch.
    pub fn memory_ranges(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = self
            .memory
            .iter()
            .filter(|block| !block.bytes.is_empty())
            .map(|block| (block.address, block.bytes.len() as u64))
            .collect();
        ranges.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (start, length) in ranges {
            // Compared as distances from the range before, which cannot overflow at the top of the address space.
            match merged.last_mut() {
                Some((last, reach)) if start - *last <= *reach => *reach = (*reach).max(start - *last + length),
                _ => merged.push((start, length)),
            }
        }
        merged
    }

    /// The value the frame holds of a trace state variable.
    pub fn variable(&self, number: i32) -> Option<i64> {
        self.variables.iter().rev().find(|(found, _)| *found == number).map(|(_, value)| *value)
    }

    /// The values of all trace state variables that the frame holds, by their numbers.
    pub fn variable_values(&self) -> BTreeMap<i32, i64> {
        self.variables.iter().copied().collect()
    }
}

/// Some of a frame's memory blocks, in the order they were recorded.
#[derive(Clone, Debug)]
pub struct MemoryView<'f> {
    blocks: Vec<&'f MemoryBlock<'f>>,
}

impl MemoryView<'_> {
    /// The bytes from `address` on, to the end of a block.
    ///
    /// Where blocks overlap, the first that holds the address gives them, as in gdbserver.
    pub fn from(&self, address: u64) -> Option<&[u8]> {
        self.blocks.iter().find_map(|block| block.from(address))
    }

    /// The first address at or above `address` that a block begins at.
    pub fn next_block(&self, address: u64) -> Option<u64> {
        self.blocks.iter().map(|block| block.address).filter(|start| *start >= address).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(blocks: &[(u64, &'static [u8])]) -> Frame<'static> {
        let mut frame = Frame::empty(Location(0), 1);
        frame.memory = blocks
            .iter()
            .map(|(address, bytes)| MemoryBlock { address: *address, bytes: Cow::Borrowed(*bytes) })
            .collect();
        frame
    }

    #[test]
    fn reads_join_touching_blocks_and_stop_at_holes() {
        let frame = frame(&[(0x104, &[4, 5]), (0x100, &[0, 1, 2, 3]), (0x108, &[8])]);
        assert_eq!(frame.read_memory(0x101, 16), [1, 2, 3, 4, 5]);
        assert_eq!(frame.read_memory(0x101, 2), [1, 2]);
        assert!(frame.read_memory(0x106, 4).is_empty());
        assert_eq!(frame.memory_ranges(), [(0x100, 6), (0x108, 1)]);
        let view = frame.memory_within(0x103, 6);
        assert_eq!(view.from(0x103), Some(&[3][..]));
        assert_eq!((view.from(0x106), view.next_block(0x106)), (None, Some(0x108)));
        assert_eq!((view.from(0x109), view.next_block(0x109)), (None, None));
        let view = frame.memory_within(0x106, 2);
        assert_eq!((view.from(0x105), view.next_block(0)), (None, None), "only what was asked for");
    }

    #[test]
    fn the_first_of_overlapping_blocks_holds() {
        let frame = frame(&[(0x100, &[1, 1, 1, 1]), (0x102, &[2, 2, 2, 2])]);
        assert_eq!(frame.read_memory(0x100, 8), [1, 1, 1, 1, 2, 2]);
        assert_eq!(frame.memory_ranges(), [(0x100, 6)]);
    }

    #[test]
    fn blocks_at_the_top_of_the_address_space_do_not_overflow() {
        let frame = frame(&[(u64::MAX - 3, &[1, 2, 3, 4]), (u64::MAX - 5, &[9, 9])]);
        assert_eq!(frame.read_memory(u64::MAX - 5, 100), [9, 9, 1, 2, 3, 4]);
        assert_eq!(frame.memory_ranges(), [(u64::MAX - 5, 6)]);
    }

    #[test]
    fn the_last_value_of_a_variable_holds() {
        let mut frame = frame(&[]);
        frame.variables = vec![(2, 5), (3, 1), (2, -9)];
        assert_eq!(frame.variable(2), Some(-9));
        assert_eq!(frame.variable(4), None);
        assert_eq!(frame.variable_values(), [(2, -9), (3, 1)].into());
    }

    #[test]
    fn an_uncollected_byte_hides_its_register_only() {
        let block = RegisterBlock { bytes: Cow::Owned(vec![0; 24]), unavailable: vec![4..8, 20..24] };
        assert!(block.get(0..4).is_some());
        assert!(block.get(7..9).is_none());
        assert!(block.get(8..16).is_some());
        assert!(block.get(16..21).is_none());
        assert!(block.get(16..20).is_some());
    }
}
