//! RISC-V, with addresses of 32 and of 64 bits.
//!
//! Facts: the RISC-V Instruction Set Manual, volume I, chapters "RV32I" (with the hints to return address stacks at
//! JALR) and "C", volume II, chapter "RISC-V Privileged Instruction Set Listings"; which of them trace encoders tell
//! of: Efficient Trace for RISC-V, "Instruction trace interface", the table of instruction types.
//!
//! Compressed jumps of Zcmp and Zcmt are not known here: their encodings are also those of C.FSDSP, and the code does
//! not tell which is meant.

use super::{Branch, Code, Flow, Instruction, InstructionSet, bit, bits, half_word, signed, word};

/// Register `zero`, which is always 0.
const ZERO: u32 = 0;

/// Register `sp`.
const STACK_POINTER: u32 = 2;

/// The instruction; `None` if it cannot be executed or is longer than four bytes.
#[inline]
pub(super) fn decode(instruction_set: InstructionSet, address: u64, bytes: &[u8]) -> Option<Instruction> {
    let place = Place { instruction_set, address };
    let first = u32::from(half_word(bytes)?);
    if bits(first, 0, 2) != 0b11 {
        return Some(Instruction { size: 2, flow: place.compressed(first)? });
    }
    if bits(first, 2, 3) == 0b111 {
        return None;
    }
    Some(Instruction { size: 4, flow: place.full(word(bytes)?)? })
}

/// Opcodes.
const LUI: u32 = 0b011_0111;
const AUIPC: u32 = 0b001_0111;

/// Whether this is C.LUI, or C.ADDI16SP, which is one of the stack pointer.
fn is_compressed_lui(half_word: u32) -> bool {
    bits(half_word, 0, 2) == 0b01 && bits(half_word, 13, 3) == 0b011
}

/// Where a jump leads, if the instruction before it is a LUI, C.LUI or AUIPC of the register that the jump uses.
pub(super) fn sequential_jump_target(
    instruction_set: InstructionSet,
    from: u64,
    at: u64,
    code: &impl Code,
) -> Option<u64> {
    // Few have such an instruction before them: whether there is one is seen without taking apart what is before that.
    let ahead = code.code(at.wrapping_sub(4));
    let can_be = |ahead: &[u8]| {
        let is_long = word(ahead).is_some_and(|word| matches!(bits(word, 0, 7), LUI | AUIPC));
        is_long || ahead.get(2..).and_then(half_word).is_some_and(|half_word| is_compressed_lui(half_word.into()))
    };
    if !ahead.is_empty() && !can_be(ahead) {
        return None;
    }
    let (mut before, mut next) = (None, from);
    while next < at {
        before = Some(next);
        next = next.wrapping_add(decode(instruction_set, next, code.code(next))?.size.into());
    }
    let (before, bytes) = (before.filter(|_| next == at)?, code.code(before?));
    let (register, loaded) = match half_word(bytes).map(u32::from)? {
        half_word if is_compressed_lui(half_word) => {
            let page = bits(half_word, 12, 1) << 17 | bits(half_word, 2, 5) << 12;
            (bits(half_word, 7, 5), signed(page, 18))
        }
        half_word if bits(half_word, 0, 2) != 0b11 => return None,
        _ => {
            let word = word(bytes)?;
            let page = signed(word & !0xfff, 32);
            match bits(word, 0, 7) {
                LUI => (bits(word, 7, 5), page),
                AUIPC => (bits(word, 7, 5), before.wrapping_add(page)),
                _ => return None,
            }
        }
    };
    let bytes = code.code(at);
    let jump = u32::from(half_word(bytes)?);
    let (source, offset) = match bits(jump, 0, 2) {
        // C.JR and C.JALR, as whoever asks knows.
        0b10 => (bits(jump, 7, 5), 0),
        0b11 => (bits(word(bytes)?, 15, 5), signed(bits(word(bytes)?, 20, 12), 12)),
        _ => return None,
    };
    let target = loaded.wrapping_add(offset) & !1;
    let is_32 = instruction_set == InstructionSet::Rv32;
    // C.LUI of the stack pointer is another instruction.
    (register == source && register != STACK_POINTER).then_some(if is_32 {
        target & u64::from(u32::MAX)
    } else {
        target
    })
}

/// Where an instruction lies.
struct Place {
    instruction_set: InstructionSet,
    address: u64,
}

impl Place {
    /// Instructions of four bytes.
    fn full(&self, word: u32) -> Option<Flow> {
        let (destination, function, source) = (bits(word, 7, 5), bits(word, 12, 3), bits(word, 15, 5));
        match bits(word, 0, 7) {
            // BEQ, BNE, BLT, BGE, BLTU, BGEU
            0b110_0011 => {
                let offset =
                    bits(word, 31, 1) << 12 | bits(word, 7, 1) << 11 | bits(word, 25, 6) << 5 | bits(word, 8, 4) << 1;
                (!matches!(function, 0b010 | 0b011)).then(|| self.branch(signed(offset, 13), true, false))
            }
            // JALR
            0b110_0111 => (function == 0).then(|| {
                let offset = signed(bits(word, 20, 12), 12);
                if source == ZERO {
                    self.to(offset & !1, false, is_link(destination))
                } else {
                    jump(destination, source)
                }
            }),
            // JAL
            0b110_1111 => {
                let offset = bits(word, 31, 1) << 20
                    | bits(word, 12, 8) << 12
                    | bits(word, 20, 1) << 11
                    | bits(word, 21, 10) << 1;
                Some(self.branch(signed(offset, 21), false, is_link(destination)))
            }
            0b111_0011 => Some(system(word)),
            _ => Some(Flow::Next),
        }
    }

    /// Instructions of two bytes.
    fn compressed(&self, half_word: u32) -> Option<Flow> {
        let bit_at = |from, to| bits(half_word, from, 1) << to;
        let jump_offset = || {
            let low = bits(half_word, 3, 3) << 1 | bit_at(11, 4) | bit_at(2, 5) | bit_at(7, 6);
            signed(low | bit_at(6, 7) | bits(half_word, 9, 2) << 8 | bit_at(8, 10) | bit_at(12, 11), 12)
        };
        let branch_offset = || {
            let low = bits(half_word, 3, 2) << 1 | bits(half_word, 10, 2) << 3;
            signed(low | bit_at(2, 5) | bits(half_word, 5, 2) << 6 | bit_at(12, 8), 9)
        };
        let flow = match (bits(half_word, 0, 2), bits(half_word, 13, 3)) {
            // Defined to be illegal.
            (0b00, 0b000) if half_word == 0 => return None,
            // C.JAL; for 64 bits it is C.ADDIW.
            (0b01, 0b001) if self.instruction_set == InstructionSet::Rv32 => self.branch(jump_offset(), false, true),
            // C.J
            (0b01, 0b101) => self.branch(jump_offset(), false, false),
            // C.BEQZ, C.BNEZ
            (0b01, 0b110 | 0b111) => self.branch(branch_offset(), true, false),
            (0b10, 0b100) if bits(half_word, 2, 5) == 0 => match (bit(half_word, 12), bits(half_word, 7, 5)) {
                (false, ZERO) => return None,
                // C.EBREAK
                (true, ZERO) => Flow::Call,
                // C.JR, C.JALR
                (false, source) => jump(ZERO, source),
                (true, source) => jump(1, source),
            },
            _ => Flow::Next,
        };
        Some(flow)
    }

    fn branch(&self, offset: u64, is_conditional: bool, is_call: bool) -> Flow {
        self.to(self.address.wrapping_add(offset), is_conditional, is_call)
    }

    fn to(&self, target: u64, is_conditional: bool, is_call: bool) -> Flow {
        let target = match self.instruction_set {
            InstructionSet::Rv32 => target & u64::from(u32::MAX),
            _ => target,
        };
        Flow::Branch(Branch { target, instruction_set: self.instruction_set, is_conditional, is_call })
    }
}

/// Whether a register is one of those that hold a return address by convention: `ra`, `t0`.
fn is_link(register: u32) -> bool {
    matches!(register, 1 | 5)
}

/// A jump to where a register says. From one link register to the other it swaps coroutines.
fn jump(destination: u32, source: u32) -> Flow {
    let is_return = is_link(source) && source != destination;
    Flow::Indirect { is_conditional: false, is_call: is_link(destination), is_return, is_sequential: false }
}

/// System instructions. No trace encoder counts WFI among the branches.
fn system(word: u32) -> Flow {
    match word {
        // ECALL, EBREAK
        0x0000_0073 | 0x0010_0073 => Flow::Call,
        // URET, SRET, MRET, MNRET, DRET
        0x0020_0073 | 0x1020_0073 | 0x3020_0073 | 0x7020_0073 | 0x7b20_0073 => Flow::EXCEPTION_RETURN,
        _ => Flow::Next,
    }
}
