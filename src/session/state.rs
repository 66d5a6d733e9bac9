//! Registers, memory and variables at a position: one function for each, used in a frame and outside.

use super::{Position, Session};
use crate::index::Answer;
use crate::trace::Frame;

/// A whole `g` reply: the bytes of every register, `None` where they were not collected.
pub type RegisterBytes = Vec<Option<u8>>;

/// The length of a `g` reply where no description tells it. gdb takes a short reply for registers that are not
/// available, as long as it does not end inside one, and has no use for an empty one.
const SHORTEST_REPLY: usize = 8;

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
    /// where that has no registers at all. (gdb 13.1 on eight architectures.)
    ///
    /// Where naming a frame takes memory, there are zeros only: gdb names the function's frame at the program
    /// counter before each `tfind`, and outside any frame takes memory that is not there for an error. In code
    /// inlined into such a function that error ends every `tfind` (gdb 13.1 and 18.1, inline-frame.c).
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
        let place = pc.zip(self.replay.image());
        if place.is_some_and(|(pc, image)| image.frame_is_named_by_memory(pc)) {
            return self.blank(Some(0));
        }
        if visited {
            return self.registers_of(frame, Some(0));
        }
        let mut bytes = self.blank(Some(0));
        self.put_pc(pc, &mut bytes);
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
    pub fn memory(&self, address: u64, length: usize) -> Vec<u8> {
        self.replay.memory(self.frame().as_ref(), address, length)
    }

    /// A trace state variable: in a frame its value there, outside the last recorded one.
    pub fn variable(&self, number: i32) -> Answer<i64> {
        match self.cursor.position() {
            Position::Frame(frame) => match self.replay.frame(frame).and_then(|frame| frame.variable(number)) {
                Some(value) => Answer::Found(value),
                None => Answer::Nothing,
            },
            Position::Start | Position::After(_) => self.replay.index().last_value(number),
        }
    }
}
