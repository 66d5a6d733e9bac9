//! Instructions, as far as they tell where execution can go.
//!
//! Owns: one instruction from its bytes ([`decode`], one file an instruction set), and straight stretches of them
//! ([`Blocks`]).
//! Knows nothing of packets, of programs' files and of what was executed.
//!
//! Invariant: what A64 and RISC-V do not define between their branches is no instruction, so that nobody walks on behind
//! what may be a branch.

mod a32;
mod a64;
mod block;
mod blocks;
mod riscv;
mod t32;
#[cfg(test)]
mod tests;

pub use block::{Block, Ending};
pub use blocks::{Blocks, Code, Ends};

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
    /// To a place that the code does not tell, or, if there is a condition, to the next instruction. One of RISC-V that
    /// is a call and a return swaps coroutines.
    Indirect {
        /// Whether it need not go there.
        is_conditional: bool,
        /// Whether it leaves the address of the next instruction as one to return to.
        is_call: bool,
        /// Whether it is how functions return.
        is_return: bool,
        /// Whether the instruction before it says where ([`sequential_jump_target`]). [`decode`] does not see that;
        /// [`Blocks`] sees it where the two are in one block.
        is_sequential: bool,
    },
    /// To where an exception came from, or, if there is a condition, to the next instruction.
    ExceptionReturn {
        /// Whether it need not go there.
        is_conditional: bool,
    },
    /// To the next instruction, but the processor begins anew there: ISB, TSTART. Arm's trace units count them among
    /// the branches.
    Barrier,
    /// To the next instruction, when something happens (WFI, WFE of Arm); some trace units count it among the branches
    /// (ETMv4 with TRCIDR2.WFXMODE).
    Wait,
    /// Into the supervisor, by an exception (SVC, HVC, SMC, ECALL, a breakpoint). Trace units tell of the exception:
    /// where they do not, as of an SVC whose condition was not met, execution goes to the next instruction.
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

/// The instruction at an address, from the bytes that lie there; there may be more of them than it has.
///
/// `None` where they are too few, or are no instruction that can be executed. Addresses and targets of sets whose
/// addresses have 32 bits wrap there. Instructions are little-endian, as they are in programs of every byte order
/// but old Arm ones (BE-32).
///
/// In T32 an instruction may be conditional by an IT instruction before it, which is not seen here; [`Blocks`] sees it.
#[inline]
pub fn decode(instruction_set: InstructionSet, address: u64, bytes: &[u8]) -> Option<Instruction> {
    let of_four_bytes = |flow| Instruction { size: 4, flow };
    match instruction_set {
        InstructionSet::A64 => a64::flow(address, word(bytes)?).map(of_four_bytes),
        InstructionSet::A32 => a32::flow(address, word(bytes)?).map(of_four_bytes),
        InstructionSet::T32 => t32::decode(address, bytes),
        InstructionSet::Rv32 | InstructionSet::Rv64 => riscv::decode(instruction_set, address, bytes),
    }
}

/// Where a jump at `at` leads, of which the program says so only together with the instruction before it: that is the last
/// of those from `from` on, which lie one behind the other.
///
/// Trace encoders of RISC-V can take such a jump for one that needs not be told ("sequentially inferable", Efficient Trace
/// for RISC-V, "Instruction trace interface"). Other sets have none.
pub fn sequential_jump_target(instruction_set: InstructionSet, from: u64, at: u64, code: &impl Code) -> Option<u64> {
    match instruction_set {
        InstructionSet::Rv32 | InstructionSet::Rv64 => riscv::sequential_jump_target(instruction_set, from, at, code),
        InstructionSet::A64 | InstructionSet::A32 | InstructionSet::T32 => None,
    }
}

impl Flow {
    const INDIRECT_JUMP: Flow = jump_or_return(false);
    const INDIRECT_CALL: Flow =
        Flow::Indirect { is_conditional: false, is_call: true, is_return: false, is_sequential: false };
    const RETURN: Flow = jump_or_return(true);
    const EXCEPTION_RETURN: Flow = Flow::ExceptionReturn { is_conditional: false };

    /// The same, if it is executed under a condition.
    fn under_condition(mut self) -> Flow {
        match &mut self {
            Flow::Branch(Branch { is_conditional, .. })
            | Flow::Indirect { is_conditional, .. }
            | Flow::ExceptionReturn { is_conditional } => *is_conditional = true,
            Flow::Next | Flow::Barrier | Flow::Wait | Flow::Call => {}
        }
        self
    }
}

/// An indirect jump, or a return.
const fn jump_or_return(is_return: bool) -> Flow {
    Flow::Indirect { is_conditional: false, is_call: false, is_return, is_sequential: false }
}

fn half_word(bytes: &[u8]) -> Option<u16> {
    bytes.first_chunk().copied().map(u16::from_le_bytes)
}

fn word(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_le_bytes)
}

/// `count` bits of an encoding, the lowest of them at `lowest`.
fn bits(encoding: u32, lowest: u32, count: u32) -> u32 {
    encoding >> lowest & ((1 << count) - 1)
}

/// Whether a bit of an encoding is set.
fn bit(encoding: u32, at: u32) -> bool {
    bits(encoding, at, 1) == 1
}

/// A number of so many bits with its sign, to be added to an address.
fn signed(number: u32, count: u32) -> u64 {
    let unused = 32 - count;
    ((number << unused) as i32 >> unused) as u64
}
