//! What was executed, in order: the one thing that every protocol comes to.

use super::instruction::{Block, Ending, Flow, InstructionSet};

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Instructions were executed.
    Run(Run),
    /// An exception was taken, or an interrupt.
    Trap {
        /// Its number, as the protocol has it.
        cause: u64,
        /// Whether it is an interrupt: no instruction asked for it.
        is_interrupt: bool,
        /// The instruction that the handler is expected to return to, or that raised it, if that is known.
        at: Option<u64>,
    },
    /// Nobody knows what was executed here.
    Discontinuity(Discontinuity),
    /// Tracing ended here, as it was meant to: a filter, or the end of the recording.
    End,
    /// The time by the source's clock, which lies between what was executed before and what comes next.
    Time(u64),
}

/// Instructions that were executed one behind the other, as they lie in memory: a block, or its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// How they are encoded.
    pub instruction_set: InstructionSet,
    /// The address of the first.
    pub start: u64,
    /// The address of the last.
    pub last: u64,
    /// How many there are.
    pub instructions: u32,
    /// The address behind the last.
    pub end: u64,
    /// Where the last can lead.
    pub flow: Flow,
    /// Bit n is set where an instruction begins 2n bytes behind the start.
    pub beginnings: u64,
}

impl Run {
    /// The instructions of a block; `None` where it has none.
    pub fn of(block: &Block) -> Option<Run> {
        let Block { instruction_set, start, end, ending, beginnings } = *block;
        let flow = if let Ending::Flow(flow) = ending { flow } else { Flow::Next };
        let (last, instructions) = (block.last()?, block.instructions());
        Some(Run { instruction_set, start, last, instructions, end, flow, beginnings })
    }
}

/// A place where trace was lost, or does not fit the program.
///
/// What was executed last before it is certain, and so is what comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discontinuity {
    /// Offset in the sink's bytes of what tells it.
    pub at: u64,
    /// Why.
    pub reason: String,
}
