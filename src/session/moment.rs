//! What is known at one frame, wherever a client stands: a register, a number in memory, a trace state variable.

use super::Replay;
use crate::arch::{Layout, Register};
use crate::trace::{Frame, MemoryView};

/// A frame, with the program behind it.
pub struct Moment<'a> {
    replay: &'a Replay,
    frame: &'a Frame<'a>,
}

impl<'a> Moment<'a> {
    /// The state at a frame.
    pub fn new(replay: &'a Replay, frame: &'a Frame<'a>) -> Moment<'a> {
        Moment { replay, frame }
    }

    /// The value of a register of up to 64 bits, by its number in the target description; without a sign.
    pub fn register(&self, number: u16) -> Option<u64> {
        let layout = self.replay.recording().target().layout.as_ref()?;
        self.value(layout, layout.by_number(usize::from(number))?)
    }

    /// The same by the register's number in DWARF, for general registers.
    pub fn register_of_dwarf(&self, number: u16) -> Option<u64> {
        let target = self.replay.recording().target();
        self.value(target.layout.as_ref()?, target.dwarf_register(number)?)
    }

    fn value(&self, layout: &Layout, register: &Register) -> Option<u64> {
        let recorded = self.frame.registers.as_ref();
        let recorded = recorded.and_then(|block| block.get(register.offset..register.end()));
        match recorded {
            Some(bytes) => self.replay.recording().target().byte_order.unsigned(bytes),
            None if register.number == layout.pc().number => self.frame.pc.address(),
            None => None,
        }
    }

    /// How many bits a register has.
    pub fn register_bits(&self, number: u16) -> Option<u32> {
        let layout = self.replay.recording().target().layout.as_ref()?;
        u32::try_from(layout.by_number(usize::from(number))?.size * 8).ok()
    }

    /// The program counter, recorded or inferred.
    pub fn pc(&self) -> Option<u64> {
        self.frame.pc.address()
    }

    /// The number of so many bytes, 8 at most, that lies at an address.
    pub fn number(&self, address: u64, length: usize) -> Option<u64> {
        let target = self.replay.recording().target();
        let bytes = self.replay.memory(Some(self.frame), target.addresses().kept(address), length);
        if bytes.len() == length { target.byte_order.unsigned(&bytes) } else { None }
    }

    /// The value of a trace state variable.
    pub fn variable(&self, number: i32) -> Option<i64> {
        self.frame.variable(number)
    }
}

impl Replay {
    /// Memory from `address` on, as far as it is known without a hole, `length` bytes at most: what the frame
    /// recorded, else what the program image's read-only parts hold.
    pub(super) fn memory(&self, frame: Option<&Frame<'_>>, address: u64, length: usize) -> Vec<u8> {
        let recorded = frame.map(|frame| frame.memory_within(address, length));
        let mut bytes = Vec::new();
        let mut at = Some(address);
        while let Some(next) = at.filter(|_| bytes.len() < length) {
            let known = recorded.as_ref().and_then(|recorded| recorded.from(next));
            let known = known.unwrap_or_else(|| self.read_only(next, recorded.as_ref()));
            let taken = known.len().min(length - bytes.len());
            if taken == 0 {
                break;
            }
            bytes.extend_from_slice(&known[..taken]);
            at = next.checked_add(taken as u64);
        }
        bytes
    }

    /// The image's read-only bytes from `address` on, up to where the frame recorded something itself.
    fn read_only(&self, address: u64, recorded: Option<&MemoryView<'_>>) -> &[u8] {
        let programs = self.image().into_iter().chain(self.beside()).map(|image| image.read_only(address));
        let bytes =
            programs.chain([self.recording().code(address)]).find(|bytes| !bytes.is_empty()).unwrap_or_default();
        let until = recorded
            .and_then(|recorded| recorded.next_block(address))
            .and_then(|next| usize::try_from(next - address).ok())
            .unwrap_or(usize::MAX);
        &bytes[..bytes.len().min(until)]
    }
}
