//! A64.
//!
//! Facts: Arm ARM (DDI 0487), C4.1 "A64 instruction set encoding", the group of branches, exception generating and
//! system instructions; which of them trace units count: IHI 0064 (ETMv4), "Branch instructions", and for TSTART and
//! TEXIT OpenCSD's `trc_idec_arminst.cpp`.

use super::{Branch, Flow, InstructionSet, bit, bits, signed};

/// Where an instruction leads; `None` if it cannot be executed.
#[inline]
pub(super) fn flow(address: u64, word: u32) -> Option<Flow> {
    let branch = |offset, is_conditional, is_call| {
        let target = address.wrapping_add(offset);
        Flow::Branch(Branch { target, instruction_set: InstructionSet::A64, is_conditional, is_call })
    };
    // Immediates count words.
    let immediate = |lowest, count| signed(bits(word, lowest, count), count) << 2;
    let flow = match word >> 24 {
        // UDF
        0x00 if word >> 16 == 0 => return None,
        // B, BL
        0x14..=0x17 => branch(immediate(0, 26), false, false),
        0x94..=0x97 => branch(immediate(0, 26), false, true),
        // CBZ, CBNZ; B.cond, BC.cond
        0x34 | 0x35 | 0xb4 | 0xb5 | 0x54 => branch(immediate(5, 19), true, false),
        // TBZ, TBNZ
        0x36 | 0x37 | 0xb6 | 0xb7 => branch(immediate(5, 14), true, false),
        // CB of two registers, CB with an immediate (FEAT_CMPBR)
        0x74 | 0x75 | 0xf4 | 0xf5 => {
            if !is_compare_and_branch(word) {
                return None;
            }
            branch(immediate(5, 9), true, false)
        }
        // RETAASPPC, RETABSPPC: the immediate tells where the stack pointer was signed.
        0x55 if word & 0x00c0_001f == 0x0000_001f => Flow::RETURN,
        0x55 => return None,
        0xd4 => return exception(word),
        0xd5 => system(word),
        0xd6 | 0xd7 => return register_branch(word),
        _ => Flow::Next,
    };
    Some(flow)
}

/// Whether an encoding between those of CB, CBB and CBH is one of them.
fn is_compare_and_branch(word: u32) -> bool {
    let has_condition = !matches!(bits(word, 21, 3), 0b100 | 0b101);
    let has_size = if bit(word, 24) {
        !bit(word, 14)
    } else {
        // CB, CBB, CBH; the latter two have no form for 64 bits.
        matches!((bits(word, 14, 2), bit(word, 31)), (0b00, _) | (0b10 | 0b11, false))
    };
    has_condition && has_size
}

/// Instructions that cause an exception.
fn exception(word: u32) -> Option<Flow> {
    match word & 0xffe0_001f {
        // SVC, HVC, SMC, BRK, HLT
        0xd400_0001..=0xd400_0003 | 0xd420_0000 | 0xd440_0000 => Some(Flow::Call),
        // DCPS1, DCPS2, DCPS3 are for a debugger to execute while the processor is halted.
        0xd4a0_0001..=0xd4a0_0003 => None,
        _ => Some(Flow::Next),
    }
}

/// System instructions.
fn system(word: u32) -> Flow {
    if word & 0xffff_f0ff == 0xd503_30df {
        // ISB
        Flow::Barrier
    } else if word & 0xffff_ffe0 == 0xd523_3060 {
        // TSTART
        Flow::Barrier
    } else if word & 0xffff_ffdf == 0xd503_205f || word & 0xffff_ffc0 == 0xd503_1000 {
        // WFE, WFI; WFET, WFIT
        Flow::Wait
    } else {
        Flow::Next
    }
}

/// Branches to where registers say.
fn register_branch(word: u32) -> Option<Flow> {
    const NONE: u32 = 0b11111;
    let (operation, target, modifier) = (bits(word, 21, 4), bits(word, 5, 5), bits(word, 0, 5));
    if bits(word, 16, 5) != NONE || bit(word, 24) != (operation >= 0b1000) {
        return None;
    }
    // With keys A and B of pointer authentication, or without.
    let is_plain = bits(word, 10, 6) == 0b00_0000 && modifier == 0;
    let is_signed = matches!(bits(word, 10, 6), 0b00_0010 | 0b00_0011);
    let is_signed_with_zero = is_signed && modifier == NONE;
    match operation {
        // BR, BRAAZ, BRABZ
        0b0000 if is_plain || is_signed_with_zero => Some(Flow::INDIRECT_JUMP),
        // BLR, BLRAAZ, BLRABZ
        0b0001 if is_plain || is_signed_with_zero => Some(Flow::INDIRECT_CALL),
        // RET
        0b0010 if is_plain => Some(Flow::RETURN),
        // RETAA, RETAB; with another modifier RETAASPPCR, RETABSPPCR
        0b0010 if is_signed && target == NONE => Some(Flow::RETURN),
        // ERET, ERETAA, ERETAB
        0b0100 if (is_plain || is_signed_with_zero) && target == NONE => Some(Flow::EXCEPTION_RETURN),
        // TEXIT
        0b0111 if word & 0x0000_fbff == 0x0000_03e0 => Some(Flow::EXCEPTION_RETURN),
        // BRAA, BRAB
        0b1000 if is_signed => Some(Flow::INDIRECT_JUMP),
        // BLRAA, BLRAB
        0b1001 if is_signed => Some(Flow::INDIRECT_CALL),
        // DRPS among the rest is for a debugger to execute while the processor is halted.
        _ => None,
    }
}
