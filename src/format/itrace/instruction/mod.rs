//! Instructions, as far as they tell where execution can go.

/// How instructions are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InstructionSet {
    /// AArch64.
    A64,
    /// AArch32, instructions of 4 bytes.
    A32,
    /// AArch32, instructions of 2 and 4 bytes (Thumb).
    T32,
    /// RISC-V with addresses of 32 bits.
    Rv32,
    /// RISC-V with addresses of 64 bits.
    Rv64,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its size in bytes: 2 or 4.
    pub size: u8,
    /// Where it can lead.
    pub flow: Flow,
}

/// Where execution can go behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To the next instruction, or to a place that the instruction names.
    Branch(Branch),
    /// To a place that the code does not tell, or, if there is a condition, to the next instruction.
    Indirect {
        /// Whether it need not go there.
        is_conditional: bool,
        /// Whether it leaves the address of the next instruction as one to return to.
        is_call: bool,
        /// Whether it is how functions return.
        is_return: bool,
    },
    /// To where an exception came from.
    ExceptionReturn,
    /// To the next instruction, but the processor begins anew there: a barrier (ISB), which trace units count among the
    /// branches.
    Barrier,
    /// To the next instruction, when something happens (WFI, WFE); some trace units count it among the branches.
    Wait,
    /// Into the supervisor, by an exception (SVC, HVC, SMC, ECALL, a breakpoint).
    Call,
}

/// A branch to a place that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where to.
    pub target: u64,
    /// How instructions there are encoded.
    pub instruction_set: InstructionSet,
    /// Whether it need not go there.
    pub is_conditional: bool,
    /// Whether it leaves the address of the next instruction as one to return to.
    pub is_call: bool,
}
