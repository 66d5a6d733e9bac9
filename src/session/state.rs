//! Registers, memory and variables at a position: one function for each, used in a frame and outside.

use std::cell::RefCell;

use super::{Moment, Position, Session};
use crate::image::MachineState;
use crate::index::Answer;
use crate::trace::Frame;

/// A whole `g` reply: the bytes of every register, `None` where they were not collected.
pub type RegisterBytes = Vec<Option<u8>>;

/// The length of a `g` reply where no description tells it. gdb takes a short reply for registers that are not
/// available, as long as it does not end inside one, and has no use for an empty one.
const SHORTEST_REPLY: usize = 8;

/// What gdb is shown of a machine, with zeros for memory that is not known, and what of that was looked at.
struct Supposed<'a> {
    /// The last visited frame, if it holds registers; else they are all zero.
    shown: Option<Moment<'a>>,
    zeros: RefCell<Vec<(u64, usize)>>,
}

impl MachineState for Supposed<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        self.shown.as_ref().map_or(Some(0), |moment| moment.register_of_dwarf(number))
    }

    fn memory(&self, address: u64, length: usize) -> Option<u64> {
        let known = self.shown.as_ref().and_then(|moment| moment.number(address, length));
        known.or_else(|| {
            self.zeros.borrow_mut().push((address, length));
            Some(0)
        })
    }
}

impl Session {
    /// Whether the frame that the position speaks of is indexed. Until then there is no state to show.
    pub fn is_settled(&self) -> bool {
        self.replay.index().locate(0) != Answer::NotYet
    }

    /// The frame whose state is seen: the selected one, the last visited one, or none before the first move.
    pub fn frame(&self) -> Option<Frame<'_>> {
        match self.cursor.position() {
            Position::Frame(number) | Position::After(number) => self.replay.frame(number),
            Position::Start => None,
        }
    }

    /// The registers, in the order and the length of the `g` reply.
    ///
    /// In a frame these are the recorded ones; where its program counter is not among them, the inferred one. Outside
    /// any frame gdb needs a whole register set to stay connected, and on several architectures a program counter:
    /// before the first move that is the first frame's program counter, after it the last visited frame; zeros stand
    /// where that has no registers at all, and for a program counter that is not known. (gdb 13.1 on eight
    /// architectures.)
    ///
    /// Outside any frame these are a thread's, which may stand at another frame than the last visited one; what a
    /// thread holds that made no frame so far is made up like what there is before the first move.
    pub fn registers(&self, thread: u32) -> RegisterBytes {
        let (number, visited) = match (self.cursor.position(), self.frame_of(thread)) {
            (Position::Frame(number), _) => return self.registers_of(self.replay.frame(number), None),
            (Position::After(_), Some(number)) => (number, true),
            (Position::After(_), None) => return self.blank(Some(0)),
            (Position::Start, _) => (0, false),
        };
        let frame = self.replay.frame(number);
        let pc = frame.as_ref().and_then(|frame| frame.pc.address());
        let mut bytes = self.blank(Some(0));
        match frame.filter(|frame| visited && frame.registers.is_some()) {
            Some(frame) => {
                bytes = self.registers_of(Some(frame), Some(0));
                self.put_pc(Some(0).filter(|_| pc.is_none()), &mut bytes);
            }
            None => self.put_pc(pc, &mut bytes),
        }
        bytes
    }

    /// What a frame tells of the registers; each is `others` where it holds none at all.
    fn registers_of(&self, frame: Option<Frame<'_>>, others: Option<u8>) -> RegisterBytes {
        let Some(frame) = frame else { return self.blank(others) };
        let mut bytes = self.recorded(&frame).unwrap_or_else(|| self.blank(others));
        self.put_pc(frame.pc.address().filter(|_| frame.pc.is_inferred()), &mut bytes);
        bytes
    }

    /// The registers that a frame holds.
    fn recorded(&self, frame: &Frame<'_>) -> Option<RegisterBytes> {
        let block = frame.registers.as_ref()?;
        let mut bytes: RegisterBytes = Vec::with_capacity(block.bytes.len());
        match &self.replay.recording().target().layout {
            // A register of which a part is missing is missing: gdb looks at a register's first byte only.
            Some(layout) => {
                bytes.resize(layout.size(), None);
                for register in layout.registers() {
                    let range = register.offset..register.offset + register.size;
                    let Some(value) = block.get(range.clone()) else { continue };
                    for (to, from) in bytes[range].iter_mut().zip(value) {
                        *to = Some(*from);
                    }
                }
            }
            None => bytes.extend((0..block.bytes.len()).map(|at| block.get(at..at + 1).map(|byte| byte[0]))),
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    /// A register set that tells nothing.
    fn blank(&self, others: Option<u8>) -> RegisterBytes {
        let size = match &self.replay.recording().target().layout {
            Some(layout) => layout.size(),
            None => self.replay.block_size().max(SHORTEST_REPLY),
        };
        vec![others; size]
    }

    /// Writes the program counter, where it is known and has a place.
    fn put_pc(&self, address: Option<u64>, bytes: &mut RegisterBytes) {
        let target = self.replay.recording().target();
        let (Some(address), Some(layout)) = (address, &target.layout) else { return };
        let register = layout.pc();
        let mut value = vec![0; register.size];
        target.byte_order.store(target.addresses().for_gdb(address), &mut value);
        for (to, from) in bytes[register.offset..].iter_mut().zip(value) {
            *to = Some(from);
        }
    }

    /// Memory from `address` on, as far as it is known without a hole, `length` bytes at most: what the frame
    /// recorded, else what the program image's read-only parts hold.
    ///
    /// Outside any frame the frame is that of a thread, as with [registers](Session::registers): another may be of
    /// another process, and have other memory at the same addresses. There are also zeros where gdb must read memory to
    /// name the function's frame, and it was not collected. It names the function's frame at the program counter before
    /// each `tfind`, and outside any frame takes memory that is not there for an error. In code inlined into such a
    /// function that error ends every `tfind` (gdb 13.1 and 18.1, inline-frame.c).
    pub fn memory(&self, thread: u32, address: u64, length: usize) -> Vec<u8> {
        let number = match self.cursor.position() {
            Position::Frame(number) => Some(number),
            Position::After(_) => self.frame_of(thread),
            Position::Start => None,
        };
        let frame = number.and_then(|number| self.replay.frame(number));
        let mut bytes = self.replay.memory(frame.as_ref(), address, length);
        if bytes.len() == length {
            return bytes;
        }
        for (start, zeros) in self.made_up_memory(thread) {
            let Some(hole) = address.checked_add(bytes.len() as u64) else { break };
            let skipped = hole.checked_sub(start).and_then(|skipped| usize::try_from(skipped).ok());
            let Some(left) = skipped.and_then(|skipped| zeros.checked_sub(skipped)) else { continue };
            bytes.resize(length.min(bytes.len() + left), 0);
            let Some(behind) = address.checked_add(bytes.len() as u64) else { break };
            bytes.extend(self.replay.memory(frame.as_ref(), behind, length - bytes.len()));
        }
        bytes
    }

    /// The memory that is zero so that gdb can name a frame: addresses and lengths.
    fn made_up_memory(&self, thread: u32) -> Vec<(u64, usize)> {
        let (number, visited) = match (self.cursor.position(), self.frame_of(thread)) {
            (Position::Frame(_), _) | (Position::After(_), None) => return Vec::new(),
            (Position::After(_), Some(number)) => (number, true),
            (Position::Start, _) => (0, false),
        };
        let Some(frame) = self.replay.frame(number) else { return Vec::new() };
        let Some((pc, image)) = frame.pc.address().zip(self.replay.image()) else { return Vec::new() };
        let shown = Some(&frame).filter(|frame| visited && frame.registers.is_some());
        let shown = shown.map(|frame| Moment::new(&self.replay, frame));
        let supposed = Supposed { shown, zeros: RefCell::default() };
        image.frame_address(pc, &supposed);
        let addresses = self.replay.recording().target().addresses();
        supposed.zeros.into_inner().into_iter().map(|(start, length)| (addresses.kept(start), length)).collect()
    }

    /// A trace state variable: in a frame its value there, outside the last recorded one; of the fields of events, which
    /// variables with [`Recording::holders`](crate::trace::Recording::holders) are, the one in the frame visited last.
    pub fn variable(&self, number: i32) -> Answer<i64> {
        // Of content, a field is the address in its own event's record.
        let is_field = self.replay.recording().holders(number).is_some();
        match self.cursor.position() {
            Position::Frame(frame) => self.value_in(frame, number),
            Position::After(frame) if is_field => self.value_in(frame, number),
            Position::Start if is_field => Answer::Nothing,
            Position::Start | Position::After(_) => self.replay.last_value(number),
        }
    }

    fn value_in(&self, frame: u64, number: i32) -> Answer<i64> {
        let value = self.replay.frame(frame).and_then(|frame| frame.variable(number));
        value.map_or(Answer::Nothing, Answer::Found)
    }
}
