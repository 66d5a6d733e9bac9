//! A32.
//!
//! Facts: Arm ARM (DDI 0487), F4.1 "A32 instruction set encoding"; which of them trace units count: IHI 0064 (ETMv4),
//! "Branch instructions", and IHI 0035 (PFT), "Waypoint instructions".
//!
//! Whatever writes the program counter is a branch, even where Arm leaves open what it does.

use super::{Branch, Flow, InstructionSet, bit, bits, jump_or_return, signed};

const PROGRAM_COUNTER: u32 = 15;
const LINK_REGISTER: u32 = 14;
const STACK_POINTER: u32 = 13;

/// Where an instruction leads; `None` if it cannot be executed.
#[inline]
pub(super) fn flow(address: u64, word: u32) -> Option<Flow> {
    match word >> 28 {
        0b1111 => Some(without_condition(address, word)),
        0b1110 => executed(address, word),
        _ => executed(address, word).map(Flow::under_condition),
    }
}

/// The space of instructions without a condition.
fn without_condition(address: u64, word: u32) -> Flow {
    if bits(word, 25, 3) == 0b101 {
        // BLX: bit 24 is bit 1 of the offset.
        let half_word = bits(word, 24, 1) << 1;
        return branch(address, word, half_word, InstructionSet::T32, true);
    }
    if word & 0xfe50_ffff == 0xf810_0a00 {
        // RFE
        return Flow::EXCEPTION_RETURN;
    }
    if word & 0xffff_fff0 == 0xf57f_f060 {
        // ISB
        return Flow::Barrier;
    }
    Flow::Next
}

/// What an instruction does if its condition is met.
fn executed(address: u64, word: u32) -> Option<Flow> {
    let flow = match bits(word, 25, 3) {
        // Multiplications, and loads and stores of other sizes than words and bytes.
        0b000 if bit(word, 7) && bit(word, 4) => Flow::Next,
        0b000 | 0b001 => data_processing(word),
        0b011 if bit(word, 4) => {
            // UDF among the media instructions.
            if bits(word, 20, 5) == 0b11111 && bits(word, 5, 3) == 0b111 {
                return None;
            }
            Flow::Next
        }
        0b010 | 0b011 => load(word),
        0b100 => load_multiple(word),
        // B, BL
        0b101 => branch(address, word, 0, InstructionSet::A32, bit(word, 24)),
        _ => coprocessor(word),
    };
    Some(flow)
}

fn data_processing(word: u32) -> Flow {
    let sets_flags = bit(word, 20);
    if matches!(bits(word, 21, 4), 0b1000..=0b1011) {
        // TST, TEQ, CMP and CMN have no result. What sets no flags is not one of them.
        return if sets_flags { Flow::Next } else { miscellaneous(word) };
    }
    if bits(word, 12, 4) != PROGRAM_COUNTER {
        return Flow::Next;
    }
    if sets_flags {
        // SUBS PC, LR and the like restore the status register.
        return Flow::EXCEPTION_RETURN;
    }
    // MOV PC, LR
    jump_or_return(word & 0x0fff_ffff == 0x01a0_f00e)
}

fn miscellaneous(word: u32) -> Flow {
    if bit(word, 25) {
        // Wide moves, writes of the status register, and hints: WFE, WFI.
        return if word & 0x0fff_fffe == 0x0320_f002 { Flow::Wait } else { Flow::Next };
    }
    match word & 0x0fff_fff0 {
        // BX, BXJ
        0x012f_ff10 | 0x012f_ff20 => return jump_or_return(bits(word, 0, 4) == LINK_REGISTER),
        // BLX
        0x012f_ff30 => return Flow::INDIRECT_CALL,
        // ERET
        0x0160_0060 if bits(word, 0, 4) == 0b1110 => return Flow::EXCEPTION_RETURN,
        _ => {}
    }
    match word & 0x0ff0_00f0 {
        // HLT and BKPT, which have no condition
        0x0100_0070 | 0x0120_0070 if bits(word, 28, 4) == 0b1110 => Flow::Call,
        // HVC, SMC
        0x0140_0070 | 0x0160_0070 => Flow::Call,
        _ => Flow::Next,
    }
}

/// LDR, LDRB, STR and STRB.
fn load(word: u32) -> Flow {
    let (is_load, is_byte) = (bit(word, 20), bit(word, 22));
    if !is_load || is_byte || bits(word, 12, 4) != PROGRAM_COUNTER {
        return Flow::Next;
    }
    // LDR PC, [SP], #4, which is POP {PC}; more than 4 drops more of the stack.
    jump_or_return(word & 0x0fff_f000 == 0x049d_f000)
}

/// LDM and STM.
fn load_multiple(word: u32) -> Flow {
    let (is_load, loads_program_counter) = (bit(word, 20), bit(word, PROGRAM_COUNTER));
    if !is_load || !loads_program_counter {
        return Flow::Next;
    }
    if bit(word, 22) {
        // With ^ it restores the status register.
        return Flow::EXCEPTION_RETURN;
    }
    // POP {…, PC}, LDM SP, {…, PC}, and LDMDB FP, {FP, SP, PC} of functions with a frame.
    jump_or_return(bits(word, 16, 4) == STACK_POINTER || bit(word, STACK_POINTER))
}

fn coprocessor(word: u32) -> Flow {
    if bits(word, 24, 4) == 0b1111 {
        // SVC
        return Flow::Call;
    }
    if word & 0x0fff_0fff == 0x0e07_0f95 {
        // The write to CP15 that was ISB before Armv7.
        return Flow::Barrier;
    }
    Flow::Next
}

/// A branch by an immediate that counts words.
fn branch(address: u64, word: u32, more: u32, instruction_set: InstructionSet, is_call: bool) -> Flow {
    // The program counter is two instructions ahead.
    let offset = (signed(bits(word, 0, 24), 24) << 2).wrapping_add(8 + u64::from(more));
    let target = address.wrapping_add(offset) & u64::from(u32::MAX);
    Flow::Branch(Branch { target, instruction_set, is_conditional: false, is_call })
}
