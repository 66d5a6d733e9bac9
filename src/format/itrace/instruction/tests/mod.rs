//! Instructions: by tables, by what gdb shows of them, by programs that were executed.

mod a32;
mod a64;
mod blocks;
mod gdb;
mod programs;
mod properties;
mod riscv;
mod t32;

use super::{Branch, Flow, Instruction, InstructionSet, decode};

const ALL: [InstructionSet; 5] =
    [InstructionSet::A64, InstructionSet::A32, InstructionSet::T32, InstructionSet::Rv32, InstructionSet::Rv64];

/// Where the instruction of these bytes leads.
fn flow(instruction_set: InstructionSet, address: u64, bytes: &[u8]) -> Option<Flow> {
    decode(instruction_set, address, bytes).map(|instruction| instruction.flow)
}

fn branch(target: u64, instruction_set: InstructionSet) -> Branch {
    Branch { target, instruction_set, is_conditional: false, is_call: false }
}

fn jump(target: u64, instruction_set: InstructionSet) -> Flow {
    Flow::Branch(branch(target, instruction_set))
}

fn conditional(target: u64, instruction_set: InstructionSet) -> Flow {
    Flow::Branch(Branch { is_conditional: true, ..branch(target, instruction_set) })
}

fn call(target: u64, instruction_set: InstructionSet) -> Flow {
    Flow::Branch(Branch { is_call: true, ..branch(target, instruction_set) })
}

/// Numbers that look random and are the same each time (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}
