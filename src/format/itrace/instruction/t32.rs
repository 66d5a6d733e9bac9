//! T32 (Thumb).
//!
//! Facts: Arm ARM (DDI 0487), F3.1 "T32 instruction set encoding"; of loops with low overhead and calls between security
//! states: Armv8-M ARM (DDI 0553); which of them trace units count: IHI 0064 (ETMv4), "Branch instructions".
//!
//! Data processing in four bytes does not branch: what it does to the program counter Arm leaves open.

use super::{Branch, Flow, Instruction, InstructionSet, bit, bits, half_word, jump_or_return, signed};

const PROGRAM_COUNTER: u32 = 15;
const LINK_REGISTER: u32 = 14;
const STACK_POINTER: u32 = 13;

/// The instruction, whether or not an IT instruction before it makes it conditional.
#[inline]
pub(super) fn decode(address: u64, bytes: &[u8]) -> Option<Instruction> {
    let first = u32::from(half_word(bytes)?);
    if bits(first, 11, 5) < 0b11101 {
        return Some(Instruction { size: 2, flow: narrow(address, first)? });
    }
    let second = u32::from(half_word(bytes.get(2..)?)?);
    Some(Instruction { size: 4, flow: wide(address, first, second)? })
}

/// How many instructions behind it an IT instruction makes conditional; 0 for every other instruction.
pub(super) fn if_then(bytes: &[u8]) -> u32 {
    match half_word(bytes) {
        // The lowest bit that is set ends the list of conditions.
        Some(first) if first & 0xff00 == 0xbf00 && first & 0x000f != 0 => 4 - first.trailing_zeros(),
        _ => 0,
    }
}

/// Instructions of two bytes.
fn narrow(address: u64, first: u32) -> Option<Flow> {
    let branch = |offset, is_conditional| branch(address, offset, InstructionSet::T32, is_conditional, false);
    let flow = match first >> 8 {
        // ADD PC, PC, Rm and MOV PC, Rm; MOV PC, LR
        0x44 | 0x46 if first & 0x87 == 0x87 => jump_or_return(first == 0x46f7),
        // BLX, BLXNS; BX, BXNS
        0x47 if bit(first, 7) => Flow::INDIRECT_CALL,
        0x47 => jump_or_return(bits(first, 3, 4) == LINK_REGISTER),
        // CBZ, CBNZ: only forwards
        0xb1 | 0xb3 | 0xb9 | 0xbb => branch(u64::from(bits(first, 9, 1) << 6 | bits(first, 3, 5) << 1), true),
        // HLT
        0xba if bits(first, 6, 2) == 0b10 => Flow::Call,
        // POP {…, PC}
        0xbd => Flow::RETURN,
        // BKPT
        0xbe => Flow::Call,
        // WFE, WFI
        0xbf if matches!(first, 0xbf20 | 0xbf30) => Flow::Wait,
        // B with a condition
        0xd0..=0xdd => branch(signed(bits(first, 0, 8), 8) << 1, true),
        // UDF
        0xde => return None,
        // SVC
        0xdf => Flow::Call,
        // B
        0xe0..=0xe7 => branch(signed(bits(first, 0, 11), 11) << 1, false),
        _ => Flow::Next,
    };
    Some(flow)
}

/// Instructions of four bytes.
fn wide(address: u64, first: u32, second: u32) -> Option<Flow> {
    match bits(first, 11, 2) {
        0b01 => Some(load_multiple_or_table(first, second)),
        0b10 if bit(second, 15) => branch_or_control(address, first, second),
        0b11 => Some(load(first, second)),
        _ => Some(Flow::Next),
    }
}

/// The group that begins with 11101: LDM, STM, RFE, SRS; loads and stores of two words, exclusive, by table;
/// data processing of registers; coprocessors.
fn load_multiple_or_table(first: u32, second: u32) -> Flow {
    let base = bits(first, 0, 4);
    match first & 0xffd0 {
        // RFE, before and after
        0xe810 | 0xe990 if second == 0xc000 => return Flow::EXCEPTION_RETURN,
        // CLRM, which clears registers
        0xe890 if first == 0xe89f => {}
        // LDM, after and before
        0xe890 | 0xe910 if bit(second, PROGRAM_COUNTER) => {
            // POP {…, PC}
            return jump_or_return(base == STACK_POINTER);
        }
        _ => {}
    }
    if first & 0xfff0 == 0xe8d0 && second & 0xffe0 == 0xf000 {
        // TBB, TBH
        return Flow::INDIRECT_JUMP;
    }
    if first == 0xee07 && second & 0x0fff == 0x0f95 {
        // The write to CP15 that was ISB before Armv7.
        return Flow::Barrier;
    }
    Flow::Next
}

/// The group of branches and control instructions.
fn branch_or_control(address: u64, first: u32, second: u32) -> Option<Flow> {
    let sign = bits(first, 10, 1);
    let (j1, j2) = (bits(second, 13, 1), bits(second, 11, 1));
    // The offset of B and BL in half words, of 24 bits: the two below the sign are inverted where it is not set.
    let far = || {
        let high = sign << 23 | (j1 ^ sign ^ 1) << 22 | (j2 ^ sign ^ 1) << 21;
        signed(high | bits(first, 0, 10) << 11 | bits(second, 0, 11), 24) << 1
    };
    let flow = match (bit(second, 14), bit(second, 12)) {
        (false, false) if bits(first, 7, 3) == 0b111 => return control(first, second),
        // B with a condition
        (false, false) => {
            let offset = sign << 19 | j2 << 18 | j1 << 17 | bits(first, 0, 6) << 11 | bits(second, 0, 11);
            branch(address, signed(offset, 20) << 1, InstructionSet::T32, true, false)
        }
        // B, BL
        (false, true) => branch(address, far(), InstructionSet::T32, false, false),
        (true, true) => branch(address, far(), InstructionSet::T32, false, true),
        (true, false) if bit(second, 0) => loop_with_low_overhead(address, first, second),
        // BLX, from an address of a word
        (true, false) => branch(address & !3, far(), InstructionSet::A32, false, true),
    };
    Some(flow)
}

/// Control instructions: they stand where conditions of B would be "always" and "never".
fn control(first: u32, second: u32) -> Option<Flow> {
    let flow = match (first, second) {
        // UDF; DCPS1, DCPS2, DCPS3, which are for a debugger to execute while the processor is halted.
        (0xf7f0..=0xf7ff, 0xa000..=0xafff) | (0xf78f, 0x8001..=0x8003) => return None,
        // HVC, SMC
        (0xf7e0..=0xf7ff, 0x8000..=0x8fff) => Flow::Call,
        // WFE, WFI
        (0xf3af, 0x8002 | 0x8003) => Flow::Wait,
        // ISB
        (0xf3bf, 0x8f60..=0x8f6f) => Flow::Barrier,
        // BXJ
        (0xf3c0..=0xf3cf, 0x8f00) => jump_or_return(bits(first, 0, 4) == LINK_REGISTER),
        // SUBS PC, LR and ERET
        (0xf3de, 0x8f00..=0x8fff) => Flow::EXCEPTION_RETURN,
        _ => Flow::Next,
    };
    Some(flow)
}

/// Loops of Armv8.1-M: WLS and WLSTP leave one that is not entered, LE and LETP lead back to its beginning.
fn loop_with_low_overhead(address: u64, first: u32, second: u32) -> Flow {
    if bits(second, 12, 4) != 0b1100 {
        return Flow::Next;
    }
    let offset = u64::from(bits(second, 1, 10) << 2 | bits(second, 11, 1) << 1);
    let branch = |offset| branch(address, offset, InstructionSet::T32, true, false);
    match first {
        0xf00f | 0xf01f | 0xf02f => branch(offset.wrapping_neg()),
        0xf000..=0xf04e => branch(offset),
        _ => Flow::Next,
    }
}

/// The group of loads and stores of one register, and what else begins with 11111.
fn load(first: u32, second: u32) -> Flow {
    if first & 0xff70 != 0xf850 || bits(second, 12, 4) != PROGRAM_COUNTER {
        return Flow::Next;
    }
    // LDR PC, [SP], #4, which is POP {PC}; more than 4 drops more of the stack.
    jump_or_return(first == 0xf85d && bits(second, 8, 4) == 0b1011)
}

fn branch(address: u64, offset: u64, instruction_set: InstructionSet, is_conditional: bool, is_call: bool) -> Flow {
    // The program counter is two instructions of two bytes ahead.
    let target = address.wrapping_add(4).wrapping_add(offset) & u64::from(u32::MAX);
    Flow::Branch(Branch { target, instruction_set, is_conditional, is_call })
}
