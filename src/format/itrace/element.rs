//! What a trace source tells, whatever its protocol.

use super::atoms::Atoms;
use super::instruction::InstructionSet;
use super::state::State;

/// Something that a trace source told, with the place in the sink where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Offset in the sink's bytes of the packet that told it.
    pub at: u64,
    /// What it told.
    pub kind: ElementKind,
}

/// What a trace source told, in the order of execution. What was speculated and cancelled is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// Tracing began, or began again behind something that was not traced (a filter, a state in which tracing is
    /// forbidden). Where execution is comes next.
    TraceOn,
    /// The source lost packets: what was executed until the next full address is not known.
    Overflow,
    /// Packets cannot be read from here on, until the next full address: what was found, and what was expected. What was
    /// read just before may have been damaged, too.
    Damaged(String),
    /// What comes does not go on with what was told, which ends here, and why.
    Cut(String),
    /// In which state instructions are executed from here on.
    Context(State),
    /// Nothing that was told before is needed to understand what comes: the source and its reader begin anew, their
    /// return stacks among what is empty behind the next waypoint.
    Synchronized,
    /// Where execution goes on.
    Address(Target),
    /// The next instructions that can lead elsewhere (waypoints) did, or did not.
    Atoms(Atoms),
    /// The waypoint at this address did lead elsewhere, and none before it since the last element that moved execution.
    /// It is encoded as what was executed before it.
    SourceAddress(u64),
    /// An exception, or an interrupt, was taken.
    Exception(Exception),
    /// A handler returned.
    ExceptionReturn,
    /// Something became of a transaction.
    Transaction(Transaction),
    /// The time by the source's clock for timestamps, which lies somewhere between the element before and the one
    /// behind, or, if there was a [`ElementKind::TimestampMarker`], is the time of that.
    Timestamp(u64),
    /// The next timestamp is the time of here.
    TimestampMarker,
    /// So many cycles passed since the last count; None if the source does not know how many.
    Cycles(Option<u64>),
    /// Events happened that the source was told to watch for: bit n is set for event n.
    Events(u8),
    /// The program told something, by an instruction that is there for it.
    Instrumentation {
        /// The exception level at which it did, 0 to 3.
        exception_level: u8,
        /// What it told.
        value: u64,
    },
    /// So many instructions were executed, nobody knows which.
    Unknown(Option<u64>),
    /// Nothing more is traced until the next [`ElementKind::TraceOn`].
    TraceOff,
}

impl ElementKind {
    /// Whether it tells what was executed, or that nobody knows; others tell of circumstances.
    pub(super) fn moves_execution(&self) -> bool {
        !matches!(
            self,
            ElementKind::Context(_)
                | ElementKind::Synchronized
                | ElementKind::Timestamp(_)
                | ElementKind::TimestampMarker
                | ElementKind::Cycles(_)
                | ElementKind::Events(_)
                | ElementKind::Instrumentation { .. }
        )
    }
}

/// Where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The address of the instruction.
    pub address: u64,
    /// How it is encoded.
    pub instruction_set: InstructionSet,
    /// Whether the packet had every bit of the address; else some are those of one before.
    pub is_full: bool,
}

/// An exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Its number, as the protocol has it.
    pub number: u16,
    /// Where the handler is expected to return to: the instruction that was not executed any more, or the one behind a
    /// call of the supervisor. None where nobody knows, as behind a reset. All instructions up to there were executed,
    /// and no waypoint among them led elsewhere.
    pub returns_to: Option<Target>,
}

/// What became of a transaction, which is executed as a whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// It began, or tracing began in it.
    Started,
    /// It was completed.
    Committed,
    /// It failed: what was executed since it began is undone, and was never seen by others.
    Failed,
}
