//! The blocks of a program, as far as they were asked for lately.

use std::sync::Arc;

use super::block::{Block, Ending};
use super::{Flow, InstructionSet, decode, sequential_jump_target, t32};

/// What gives the bytes of code. It never changes.
pub trait Code {
    /// The bytes from an address to the end of the part of memory that holds it; empty where there is no code, or
    /// where it can change.
    fn code(&self, address: u64) -> &[u8];

    /// Whether the program can have instructions of a set; a trace that tells otherwise is not of it.
    fn can_have(&self, _instruction_set: InstructionSet) -> bool {
        true
    }
}

impl<C: Code + ?Sized> Code for &C {
    fn code(&self, address: u64) -> &[u8] {
        (**self).code(address)
    }

    fn can_have(&self, instruction_set: InstructionSet) -> bool {
        (**self).can_have(instruction_set)
    }
}

impl<C: Code + ?Sized> Code for Arc<C> {
    fn code(&self, address: u64) -> &[u8] {
        (**self).code(address)
    }

    fn can_have(&self, instruction_set: InstructionSet) -> bool {
        (**self).can_have(instruction_set)
    }
}

/// What ends a block besides the instructions that can lead elsewhere than to the next: what the trace unit counts
/// among the branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// [`Flow::Barrier`].
    pub barriers: bool,
    /// [`Flow::Wait`].
    pub waits: bool,
}

impl Ends {
    fn at(self, flow: Flow) -> bool {
        match flow {
            Flow::Next => false,
            Flow::Barrier => self.barriers,
            Flow::Wait => self.waits,
            Flow::Branch(_) | Flow::Indirect { .. } | Flow::ExceptionReturn { .. } | Flow::Call => true,
        }
    }
}

/// The blocks of a program. Each is decoded once, as long as no other takes its place.
///
/// Memory: about 1 MiB, whatever is asked for.
pub struct Blocks<C> {
    code: C,
    ends: Ends,
    /// Each block has one place that it may take.
    places: Vec<Place>,
}

/// A place for a block, in one line of the cache.
#[derive(Clone)]
#[repr(align(64))]
struct Place(Option<Block>);

/// The number of places is 2 to this power.
const PLACES: u32 = 14;

impl<C: Code> Blocks<C> {
    /// What gives the bytes of code.
    pub fn code(&self) -> &C {
        &self.code
    }

    /// No blocks yet.
    pub fn new(code: C, ends: Ends) -> Blocks<C> {
        Blocks { code, ends, places: vec![Place(None); 1 << PLACES] }
    }

    /// The block that begins at an address.
    ///
    /// A branch is conditional in it where the instruction is, or where an IT instruction makes it so: one in the block,
    /// or one before it that reaches so far if the bytes there are executed as instructions.
    #[inline]
    pub fn block(&mut self, instruction_set: InstructionSet, address: u64) -> &Block {
        // Its number has as many bits as there are places.
        let Place(place) = &mut self.places[place(instruction_set, address)];
        let is_it = |block: &Block| block.start == address && block.instruction_set == instruction_set;
        if !place.as_ref().is_some_and(is_it) {
            *place = None;
        }
        place.get_or_insert_with(|| read(&self.code, self.ends, instruction_set, address))
    }
}

/// Multiplying by the golden ratio spreads addresses that lie close together (Knuth, The Art of Computer Programming,
/// 6.4).
fn place(instruction_set: InstructionSet, address: u64) -> usize {
    let spread = (address ^ (instruction_set as u64) << 60).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread >> (u64::BITS - PLACES)) as usize
}

fn read(code: &impl Code, ends: Ends, instruction_set: InstructionSet, start: u64) -> Block {
    let (mut end, mut beginnings) = (start, 0);
    let block = |end, ending, beginnings| Block::new(instruction_set, start, end, ending, beginnings);
    if !code.can_have(instruction_set) {
        return block(end, Ending::NoInstruction, beginnings);
    }
    let is_t32 = instruction_set == InstructionSet::T32;
    let mut conditional = if is_t32 { conditional_from(code, start) } else { 0 };
    let mut bytes: &[u8] = &[];
    loop {
        let behind = end.wrapping_sub(start);
        if behind + 4 > Block::LONGEST {
            return block(end, Ending::Length, beginnings);
        }
        if bytes.is_empty() {
            bytes = code.code(end);
        }
        let Some(instruction) = decode(instruction_set, end, bytes) else {
            return block(end, Ending::NoInstruction, beginnings);
        };
        beginnings |= 1 << (behind / 2);
        end = end.wrapping_add(u64::from(instruction.size));
        let mut flow = instruction.flow;
        if conditional > 0 {
            conditional -= 1;
            flow = flow.under_condition();
        } else if is_t32 {
            conditional = t32::if_then(bytes);
        }
        if ends.at(flow) {
            let mut block = block(end, Ending::Flow(flow), beginnings);
            if let Ending::Flow(Flow::Indirect { is_sequential, .. }) = &mut block.ending {
                *is_sequential = sequential_jump_target(instruction_set, start, block.last, code).is_some();
            }
            return block;
        }
        bytes = bytes.get(usize::from(instruction.size)..).unwrap_or_default();
    }
}

/// How many T32 instructions from an address on an IT instruction before it makes conditional, if one does.
fn conditional_from(code: &impl Code, address: u64) -> u32 {
    // The last of four lies at most three of four bytes and the IT instruction behind its address.
    let before = (1..=7).map(|half_words| address.wrapping_sub(2 * half_words));
    let left = before.filter_map(|if_then| {
        let mut left = t32::if_then(code.code(if_then));
        let mut at = if_then.wrapping_add(2);
        while at != address {
            left = left.checked_sub(1)?;
            at = at.wrapping_add(u64::from(decode(InstructionSet::T32, at, code.code(at))?.size));
        }
        Some(left)
    });
    left.max().unwrap_or(0)
}
