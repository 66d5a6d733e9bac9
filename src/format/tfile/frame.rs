//! What the blocks of a frame mean.
//!
//! Blocks (gdb manual, "Trace File Format"; gdbserver's tracepoint.cc for `S`), all in target byte order:
//!
//! * `R`, then as many bytes as the description says: registers as in the remote protocol's `g` reply;
//! * `M`, 8-byte address, 2-byte length, and the bytes: memory. The address has 8 bytes for 32-bit targets too;
//! * `V`, 4-byte signed number, 8-byte signed value: a trace state variable;
//! * `S`, 2-byte length, and the bytes: what a static tracepoint's marker passed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::chain::RawFrame;
use crate::arch::Addresses;
use crate::source::{ByteOrder, Cursor, OutOfBytes};
use crate::trace::{Damage, Frame, Location, MemoryBlock, ProgramCounter, RegisterBlock, Tracepoint};

/// How many zeroes are a hole that gdbserver left, and not some block of type 0, where they do not reach to the end of
/// the frame.
const SHORTEST_HOLE: usize = 16;

/// How many zeroes in a row are counted: more than any hole of gdbserver's has. A file with holes may have billions, and
/// a frame is read each time it is asked for.
const MOST_ZEROES: usize = 1 << 16;

/// How many blocks of a frame are read: a hundred times as many as there are actions in the longest list known. A frame
/// of nothing but blocks of one byte would take several times the file's size.
const MOST_BLOCKS: usize = 1 << 20;

/// All that is needed to give the bytes of a frame their meaning.
#[derive(Debug)]
pub(super) struct FrameReader {
    pub order: ByteOrder,
    /// How addresses are written: gdb records those of memory as it keeps them itself.
    pub addresses: Addresses,
    /// Size of a register block in bytes; `None` where the file does not say.
    pub register_block_size: Option<usize>,
    /// Where the program counter lies in a register block.
    pub pc: Option<Range<usize>>,
    /// The program counters of frames without registers, by tracepoint number.
    pub inferred: HashMap<i32, u64>,
}

/// Why a block could not be read.
#[derive(Debug, thiserror::Error)]
enum BlockError {
    #[error("block `{kind}`: {cause} in the frame")]
    Cut { kind: char, cause: OutOfBytes },
    #[error(
        "block `R`: the description does not say how long it is, in an R line (the rest of the frame, {lost} bytes, is \
         lost)"
    )]
    Unmeasured { lost: usize },
    #[error("the frame has more than {MOST_BLOCKS} blocks (the rest of the frame, {lost} bytes, is lost)")]
    TooMany { lost: usize },
    #[error("block type {kind:#04x} is not R, M, V or S (the rest of the frame, {lost} bytes, is lost)")]
    Unknown { kind: u8, lost: usize },
    #[error(
        "{zeroes}{more} zero bytes where a block should begin, as gdbserver leaves them where its circular buffer wraps \
         round (the rest of the frame, {lost} bytes, is lost)"
    )]
    Zeroed { zeroes: usize, more: &'static str, lost: usize },
}

impl FrameReader {
    /// Reads a frame into `frame`, whose vectors are used again. `number` counts from 0, where it is known.
    pub fn read<'a>(&self, raw: &RawFrame<'a>, number: Option<u64>, frame: &mut Frame<'a>) {
        frame.location = Location(raw.at);
        frame.tracepoint = i32::from(raw.tracepoint);
        frame.registers = None;
        frame.memory.clear();
        frame.variables.clear();
        frame.static_data = None;
        frame.damage = None;
        let mut blocks = Cursor::new(raw.body, raw.at.saturating_add(super::chain::HEADER), self.order);
        let mut last = None;
        while !blocks.is_at_end() {
            let at = blocks.position();
            let kind = blocks.rest().first().copied();
            let memory = frame.memory.len();
            match self.block(&mut blocks, frame) {
                // An empty block of memory is not kept, and the one before it is not the last.
                Ok(None) => last = kind.filter(|kind| *kind != b'M' || frame.memory.len() > memory),
                Ok(Some(what)) => {
                    frame.damage.get_or_insert(Damage { at, frame: number, what });
                }
                Err(error) => {
                    if matches!(error, BlockError::Zeroed { .. }) {
                        distrust_zeroes(frame, last);
                    }
                    frame.damage.get_or_insert_with(|| Damage { at, frame: number, what: error.to_string() });
                    break;
                }
            }
        }
        frame.pc = self.program_counter(frame);
    }

    /// Reads one block. Something that is wrong with its contents, but not with its length, is `Ok(Some)`.
    fn block<'a>(&self, blocks: &mut Cursor<'a>, frame: &mut Frame<'a>) -> Result<Option<String>, BlockError> {
        let rest = blocks.rest();
        if frame.memory.len() + frame.variables.len() >= MOST_BLOCKS {
            return Err(BlockError::TooMany { lost: rest.len() });
        }
        let Ok(kind) = blocks.u8() else { return Ok(None) };
        let cut = |cause| BlockError::Cut { kind: char::from(kind), cause };
        match kind {
            b'R' => {
                let size = self.register_block_size.ok_or(BlockError::Unmeasured { lost: rest.len() })?;
                let bytes = blocks.take(size).map_err(cut)?;
                // The first counts, as in gdb and gdbserver.
                if frame.registers.is_none() && !bytes.is_empty() {
                    frame.registers = Some(RegisterBlock { bytes: Cow::Borrowed(bytes), unavailable: Vec::new() });
                }
            }
            b'M' => {
                let address = blocks.u64().map_err(cut)?;
                let length = blocks.u16().map_err(cut)?;
                let bytes = blocks.take(length.into()).map_err(cut)?;
                // How many bytes there are up to the end of the address space; 0 stands for all of them.
                let space = usize::try_from(address.wrapping_neg()).unwrap_or(usize::MAX);
                let inside = if space == 0 { bytes } else { bytes.get(..space).unwrap_or(bytes) };
                // An empty block tells nothing, and a frame may have millions of them.
                if !inside.is_empty() {
                    let address = self.addresses.kept(address);
                    frame.memory.push(MemoryBlock { address, bytes: Cow::Borrowed(inside) });
                }
                if inside.len() < bytes.len() {
                    return Ok(Some(format!(
                        "the memory block of {length} bytes at {address:#x} reaches past the end of the address space \
                         and is cut there"
                    )));
                }
            }
            b'V' => {
                let number = blocks.i32().map_err(cut)?;
                let value = blocks.i64().map_err(cut)?;
                frame.variables.push((number, value));
            }
            b'S' => {
                let length = blocks.u16().map_err(cut)?;
                let bytes = blocks.take(length.into()).map_err(cut)?;
                frame.static_data.get_or_insert(Cow::Borrowed(bytes));
            }
            0 => {
                let zeroes = rest.iter().take(MOST_ZEROES).take_while(|byte| **byte == 0).count();
                let more = if zeroes == MOST_ZEROES { " or more" } else { "" };
                return Err(match zeroes == rest.len() || zeroes >= SHORTEST_HOLE {
                    true => BlockError::Zeroed { zeroes, more, lost: rest.len() },
                    false => BlockError::Unknown { kind, lost: rest.len() },
                });
            }
            _ => return Err(BlockError::Unknown { kind, lost: rest.len() }),
        }
        Ok(None)
    }

    fn program_counter(&self, frame: &Frame<'_>) -> ProgramCounter {
        let recorded = || {
            let bytes = frame.registers.as_ref()?.get(self.pc.clone()?)?;
            // A wider register is a capability: it holds an address, and what may be done there.
            let address = match (self.order, bytes.len().checked_sub(8)) {
                (ByteOrder::Big, Some(above)) => &bytes[above..],
                (ByteOrder::Little, Some(_)) => &bytes[..8],
                (_, None) => bytes,
            };
            self.order.unsigned(address).map(|address| self.addresses.kept(address))
        };
        match recorded() {
            Some(address) => ProgramCounter::Recorded(address),
            None => match self.inferred.get(&frame.tracepoint) {
                Some(address) => ProgramCounter::Inferred(*address),
                None => ProgramCounter::Unknown,
            },
        }
    }
}

/// Takes the zeroes at the end of the last block for lost: where a hole of zeroes follows, nobody can tell whether
/// they were recorded or belong to it.
fn distrust_zeroes(frame: &mut Frame<'_>, last: Option<u8>) {
    let trusted = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    match last {
        Some(b'R') => {
            if let Some(block) = &mut frame.registers {
                let from = trusted(&block.bytes);
                block.unavailable.push(from..block.bytes.len());
            }
        }
        Some(b'M') => {
            if let Some(MemoryBlock { bytes: Cow::Borrowed(bytes), .. }) = frame.memory.last_mut() {
                *bytes = bytes.get(..trusted(bytes)).unwrap_or(bytes);
            }
        }
        // A small value ends in zeroes of its own.
        Some(b'V') => {
            frame.variables.pop();
        }
        Some(b'S') => {
            if let Some(Cow::Borrowed(bytes)) = &mut frame.static_data {
                *bytes = bytes.get(..trusted(bytes)).unwrap_or(bytes);
            }
        }
        _ => {}
    }
}

/// The program counter of a frame without registers, by tracepoint number: the tracepoint's address where it has one
/// location and no while-stepping, as in gdb's `target tfile`. Elsewhere it would be a guess.
pub(super) fn inferred(tracepoints: &[Tracepoint]) -> HashMap<i32, u64> {
    let mut addresses: HashMap<i32, Option<u64>> = HashMap::new();
    for tracepoint in tracepoints {
        let only = Some(tracepoint.address).filter(|_| tracepoint.step_count == 0);
        addresses.entry(tracepoint.number).and_modify(|address| *address = None).or_insert(only);
    }
    addresses.into_iter().filter_map(|(number, address)| Some((number, address?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(order: ByteOrder) -> FrameReader {
        let addresses = Addresses { size: 8, is_signed: false };
        FrameReader {
            order,
            addresses,
            register_block_size: Some(8),
            pc: Some(4..8),
            inferred: HashMap::from([(2, 0x8000)]),
        }
    }

    fn read<'a>(order: ByteOrder, tracepoint: i16, body: &'a [u8]) -> Frame<'a> {
        let mut frame = Frame::empty(Location(0), 0);
        reader(order).read(&RawFrame { at: 0x100, tracepoint, body }, Some(5), &mut frame);
        frame
    }

    #[test]
    fn blocks_in_any_order_and_number() {
        let body = b"V\x02\0\0\0\x06\0\0\0\0\0\0\0S\x02\0hiM\0\x10\0\0\0\0\0\0\x03\0abcR\x01\0\0\0\x34\x12\0\0\
                     M\x02\x10\0\0\0\0\0\0\x02\0XYV\x02\0\0\0\xf7\xff\xff\xff\xff\xff\xff\xffR\xff\xff\xff\xff\
                     \xff\xff\xff\xffS\x01\0!M\0\0\0\0\0\0\0\0\0\0";
        let frame = read(ByteOrder::Little, -3, body);
        assert_eq!(frame.damage, None);
        assert_eq!((frame.location, frame.tracepoint, frame.thread), (Location(0x100), -3, 1));
        assert_eq!(frame.pc, ProgramCounter::Recorded(0x1234));
        assert_eq!(frame.registers.as_ref().unwrap().bytes[..], body[33..41]);
        assert_eq!(frame.memory.len(), 2, "the empty one is not kept");
        assert_eq!(frame.read_memory(0x1000, 8), b"abcY");
        assert_eq!(frame.variables, [(2, 6), (2, -9)]);
        assert_eq!(frame.static_data.as_deref(), Some(&b"hi"[..]));
    }

    #[test]
    fn big_endian_blocks() {
        let frame =
            read(ByteOrder::Big, 2, b"M\0\0\0\0\0\0\x10\0\0\x01aR\0\0\0\0\0\0\x12\x34V\0\0\0\x07\0\0\0\0\0\0\x01\0");
        assert_eq!(frame.pc, ProgramCounter::Recorded(0x1234));
        assert_eq!(frame.read_memory(0x1000, 1), b"a");
        assert_eq!(frame.variables, [(7, 256)]);
    }

    #[test]
    fn without_registers_the_pc_is_inferred_or_unknown() {
        assert_eq!(read(ByteOrder::Little, 2, b"").pc, ProgramCounter::Inferred(0x8000));
        assert_eq!(read(ByteOrder::Little, 3, b"").pc, ProgramCounter::Unknown);
        let short = FrameReader { register_block_size: Some(7), ..reader(ByteOrder::Little) };
        let mut frame = Frame::empty(Location(0), 0);
        short.read(&RawFrame { at: 0, tracepoint: 2, body: b"R1234567" }, None, &mut frame);
        assert_eq!(frame.pc, ProgramCounter::Inferred(0x8000));
        assert!(frame.registers.is_some());
    }

    #[test]
    fn the_pc_is_the_address_in_a_wider_register() {
        let block = b"R\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
        for (order, expected) in [(ByteOrder::Little, 0x0807_0605_0403_0201), (ByteOrder::Big, 0x090a_0b0c_0d0e_0f10)] {
            let wide = FrameReader { register_block_size: Some(16), pc: Some(0..16), ..reader(order) };
            let mut frame = Frame::empty(Location(0), 0);
            wide.read(&RawFrame { at: 0, tracepoint: 2, body: block }, None, &mut frame);
            assert_eq!(frame.pc, ProgramCounter::Recorded(expected));
        }
    }

    #[test]
    fn empty_memory_is_not_kept_and_keeps_what_came_before_it_trusted() {
        let empty = b"M\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(read(ByteOrder::Little, 1, &empty.repeat(1000)).memory.len(), 0);
        let body = [&b"M\x10\0\0\0\0\0\0\0\x04\0a\0\0\0"[..], empty, &[0; 20]].concat();
        let frame = read(ByteOrder::Little, 1, &body);
        assert_eq!(frame.read_memory(0x10, 8), b"a\0\0\0");
        assert!(frame.damage.is_some());
    }

    #[test]
    fn what_comes_before_a_bad_block_is_kept() {
        for (tail, expected) in [
            (&b"Qxyz"[..], "block type 0x51 is not R, M, V or S (the rest of the frame, 4 bytes, is lost)"),
            (b"\0\0x", "block type 0x00 is not R, M, V or S (the rest of the frame, 3 bytes, is lost)"),
            (b"R1234567", "block `R`: 8 bytes wanted at byte 0x114, 7 are left in the frame"),
            (b"M\0\0\0\0\0\0\0\0\x03\0ab", "block `M`: 3 bytes wanted at byte 0x11e, 2 are left in the frame"),
            (b"V\0\0\0\0\0", "block `V`: 8 bytes wanted"),
            (b"S\x01", "block `S`: 2 bytes wanted"),
        ] {
            let body = [b"V\x02\0\0\0\x06\0\0\0\0\0\0\0", tail].concat();
            let frame = read(ByteOrder::Little, 1, &body);
            assert_eq!(frame.variables, [(2, 6)]);
            let damage = frame.damage.unwrap().to_string();
            let expected = format!("frame 5 at byte 0x113: {expected}");
            assert!(damage.starts_with(&expected), "{damage}");
        }
    }

    #[test]
    fn a_register_block_of_unknown_length_is_no_empty_one() {
        // Read as an empty block, it would make a variable of what it holds.
        let body = b"V\x02\0\0\0\x06\0\0\0\0\0\0\0RV\x03\0\0\0\x07\0\0\0\0\0\0\0";
        let unmeasured = FrameReader { register_block_size: None, ..reader(ByteOrder::Little) };
        let mut frame = Frame::empty(Location(0), 0);
        unmeasured.read(&RawFrame { at: 0x100, tracepoint: 1, body }, Some(5), &mut frame);
        assert_eq!((&frame.variables[..], &frame.registers), (&[(2, 6)][..], &None));
        let damage = frame.damage.unwrap().to_string();
        assert!(damage.starts_with("frame 5 at byte 0x113: block `R`: the description does not say"), "{damage}");
        assert!(damage.ends_with("14 bytes, is lost)"), "{damage}");
    }

    #[test]
    fn more_zeroes_than_a_hole_has_are_not_counted() {
        let frame = read(ByteOrder::Little, 1, &[0; 3 * MOST_ZEROES]);
        let damage = frame.damage.unwrap().what;
        assert!(damage.starts_with("65536 or more zero bytes where") && damage.ends_with("196608 bytes, is lost)"));
    }

    #[test]
    fn blocks_beyond_all_measure_are_left_out() {
        let body = b"V\x02\0\0\0\x06\0\0\0\0\0\0\0".repeat(MOST_BLOCKS + 2);
        let frame = read(ByteOrder::Little, 1, &body);
        assert_eq!(frame.variables.len(), MOST_BLOCKS);
        assert!(frame.damage.unwrap().what.ends_with("26 bytes, is lost)"));
    }

    #[test]
    fn memory_ends_with_the_address_space() {
        let body = b"M\xfe\xff\xff\xff\xff\xff\xff\xff\x02\0abM\xff\xff\xff\xff\xff\xff\xff\xff\x02\0cd\
              V\x02\0\0\0\x06\0\0\0\0\0\0\0";
        let frame = read(ByteOrder::Little, 1, body);
        assert_eq!(frame.memory_ranges(), [(u64::MAX - 1, 2)]);
        assert_eq!(frame.memory[1].bytes[..], b"c"[..]);
        assert_eq!(frame.variables.len(), 1);
        assert!(frame.damage.unwrap().what.contains("past the end of the address space"));
    }
}
