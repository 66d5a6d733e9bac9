//! What a trace source tells, whatever its protocol.

use super::instruction::InstructionSet;

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
    /// Packets cannot be read from here on, until the next full address: what was found, and what was expected.
    Damaged(String),
    /// In which state instructions are executed from here on.
    Context {
        /// The exception level, 0 to 3.
        exception_level: u8,
        /// Whether in secure state.
        is_secure: bool,
        /// Whether in AArch64 state.
        is_64_bit: bool,
        /// The context ID, which an operating system gives to a process, if it is traced.
        context: Option<u32>,
        /// The ID of the virtual machine, if it is traced.
        machine: Option<u32>,
    },
    /// Where execution goes on.
    Address(Target),
    /// The next instruction that can lead elsewhere (a waypoint) did, or did not.
    Atom {
        /// Whether it did: a branch was taken.
        taken: bool,
    },
    /// An exception, or an interrupt, was taken.
    Exception(Exception),
    /// A handler returned.
    ExceptionReturn,
    /// The time by the source's clock for timestamps, which lies somewhere between the element before and the one
    /// behind.
    Timestamp(u64),
    /// So many cycles passed since the last count.
    Cycles(u64),
    /// So many instructions were executed, nobody knows which.
    Unknown(Option<u64>),
    /// Nothing more is traced until the next [`ElementKind::TraceOn`].
    TraceOff,
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
    /// call of the supervisor.
    pub returns_to: Target,
    /// Whether an instruction was executed since the last branch: else the exception was taken where that led.
    pub is_behind_branch: bool,
}
