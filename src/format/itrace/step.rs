//! What was executed, in order: the one thing that every protocol comes to.

use super::instruction::Block;
use super::state::State;

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Instructions were executed, one at least: a block, or its beginning.
    Run(Block),
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
    /// What comes next is executed in this state.
    State(State),
    /// The time by the source's clock, which lies between what was executed before and what comes next.
    Time(u64),
}

/// A place where trace was lost, or does not fit the program.
///
/// What was executed last before it is certain, and so is what comes next, as far as a trace can be: where a packet is
/// missing, and nothing that is told later contradicts what is left, nobody can know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discontinuity {
    /// Offset in the sink's bytes of what tells it.
    pub at: u64,
    /// Why.
    pub reason: String,
}
