use super::gdb::{Pattern, Shown, Verdict, compare};
use super::{Flow, Instruction, InstructionSet, call, conditional, decode, jump};
use crate::format::itrace::instruction::t32::if_then;

const SET: InstructionSet = InstructionSet::T32;

fn narrow(address: u64, half_word: u16) -> Option<Flow> {
    let found = decode(SET, address, &half_word.to_le_bytes());
    assert!(found.is_none_or(|found| found.size == 2), "{half_word:#x}");
    found.map(|found| found.flow)
}

/// An encoding as Arm writes it: the first half word is the high one.
fn bytes(encoding: u32) -> [u8; 4] {
    encoding.rotate_left(16).to_le_bytes()
}

fn wide(address: u64, encoding: u32) -> Option<Flow> {
    let found = decode(SET, address, &bytes(encoding));
    assert!(found.is_none_or(|found| found.size == 4), "{encoding:#x}");
    found.map(|found| found.flow)
}

#[test]
fn branches_name_their_target() {
    assert_eq!(narrow(0x1000, 0xe7fe), Some(jump(0x1000, SET)));
    assert_eq!(narrow(0x1000, 0xd0fe), Some(conditional(0x1000, SET)));
    // cbz, cbnz to the farthest place
    assert_eq!(narrow(0x1000, 0xb108), Some(conditional(0x1006, SET)));
    assert_eq!(narrow(0x1000, 0xbbf8), Some(conditional(0x1082, SET)));
    // b.w, beq.w, bl, blx from an address that is not one of a word
    assert_eq!(wide(0x1000, 0xf7ff_bffe), Some(jump(0x1000, SET)));
    assert_eq!(wide(0x1000, 0xf43f_affe), Some(conditional(0x1000, SET)));
    assert_eq!(wide(0x1000, 0xf000_f801), Some(call(0x1006, SET)));
    assert_eq!(wide(0x1002, 0xf000_e802), Some(call(0x1008, InstructionSet::A32)));
    assert_eq!(narrow(0, 0xe7fd), Some(jump(0xffff_fffe, SET)));
    // wls lr, r0; le lr; le
    assert_eq!(wide(0x1000, 0xf040_c001), Some(conditional(0x1004, SET)));
    assert_eq!(wide(0x1000, 0xf00f_c003), Some(conditional(0x1000, SET)));
    assert_eq!(wide(0x1000, 0xf02f_c801), Some(conditional(0x1002, SET)));
}

#[test]
fn whatever_writes_the_program_counter_is_a_branch() {
    // bx r1, bxns r1, mov pc, r1, add pc, r1
    for half_word in [0x4708, 0x470c, 0x468f, 0x448f] {
        assert_eq!(narrow(0, half_word), Some(Flow::INDIRECT_JUMP), "{half_word:#x}");
    }
    // blx r1, blxns r1
    for half_word in [0x4788, 0x478c] {
        assert_eq!(narrow(0, half_word), Some(Flow::INDIRECT_CALL), "{half_word:#x}");
    }
    // tbb, tbh, ldr.w pc, [r0], ldr.w pc, [pc, #4], ldr.w pc, [r0, r1], ldmia.w r0, {r1, pc}, bxj r1
    for encoding in [0xe8df_f000, 0xe8df_f010, 0xf8d0_f000, 0xf8df_f004, 0xf850_f001, 0xe890_8002, 0xf3c1_8f00] {
        assert_eq!(wide(0, encoding), Some(Flow::INDIRECT_JUMP), "{encoding:#x}");
    }
}

#[test]
fn returns() {
    // bx lr, mov pc, lr, pop {r4, pc}
    for half_word in [0x4770, 0x46f7, 0xbd10] {
        assert_eq!(narrow(0, half_word), Some(Flow::RETURN), "{half_word:#x}");
    }
    // pop.w {r4, pc}, ldr.w pc, [sp], #4
    for encoding in [0xe8bd_8010, 0xf85d_fb04] {
        assert_eq!(wide(0, encoding), Some(Flow::RETURN), "{encoding:#x}");
    }
    // subs pc, lr, #4, eret, rfeia sp!, rfedb r0
    for encoding in [0xf3de_8f04, 0xf3de_8f00, 0xe9bd_c000, 0xe810_c000] {
        assert_eq!(wide(0, encoding), Some(Flow::EXCEPTION_RETURN), "{encoding:#x}");
    }
}

#[test]
fn what_goes_on_behind_itself() {
    // isb, mcr 15, 0, r0, cr7, cr5, {4}
    for encoding in [0xf3bf_8f6f, 0xee07_0f95] {
        assert_eq!(wide(0, encoding), Some(Flow::Barrier), "{encoding:#x}");
    }
    assert_eq!(narrow(0, 0xbf20), Some(Flow::Wait));
    assert_eq!(narrow(0, 0xbf30), Some(Flow::Wait));
    assert_eq!(wide(0, 0xf3af_8003), Some(Flow::Wait));
    // svc, bkpt, hlt; hvc, smc
    for half_word in [0xdf00, 0xbe00, 0xba80] {
        assert_eq!(narrow(0, half_word), Some(Flow::Call), "{half_word:#x}");
    }
    for encoding in [0xf7e0_8000, 0xf7f0_8000] {
        assert_eq!(wide(0, encoding), Some(Flow::Call), "{encoding:#x}");
    }
    // movs r0, r0; it eq; cmp pc, r1; push {lr}; pld [r0]; dsb; stm with a list; dls lr, r0
    for half_word in [0, 0xbf08, 0x458f, 0xb500] {
        assert_eq!(narrow(0, half_word), Some(Flow::Next), "{half_word:#x}");
    }
    for encoding in [0xf890_f000, 0xf3bf_8f4f, 0xe880_8002, 0xf040_e001] {
        assert_eq!(wide(0, encoding), Some(Flow::Next), "{encoding:#x}");
    }
}

#[test]
fn what_cannot_be_executed() {
    assert_eq!(narrow(0, 0xde00), None);
    // udf.w, dcps1
    assert_eq!(wide(0, 0xf7f0_a000), None);
    assert_eq!(wide(0, 0xf78f_8001), None);
    // Half of an instruction.
    assert_eq!(decode(SET, 0, &[0x00, 0xf0]), None);
    assert_eq!(decode(SET, 0, &[0x00]), None);
    assert_eq!(decode(SET, 0, &[0x00, 0x00]), Some(Instruction { size: 2, flow: Flow::Next }));
}

#[test]
fn if_then_tells_how_many_instructions_are_conditional() {
    for (half_word, count) in [(0xbf08_u16, 1), (0xbf0c, 2), (0xbf02, 3), (0xbf01, 4), (0xbf00, 0), (0xbe08, 0)] {
        assert_eq!(if_then(&half_word.to_le_bytes()), count, "{half_word:#x}");
    }
    assert_eq!(if_then(&[]), 0);
}

/// Of instructions of two bytes the low half word is what lies behind them.
const PATTERNS: [Pattern; 40] = [
    // b, b with a condition, cbz and cbnz
    (0xe000_0000, 0xf800_0000),
    (0xd000_0000, 0xf000_0000),
    (0xb100_0000, 0xf500_0000),
    // bx, blx, bxns, blxns, bx lr
    (0x4700_0000, 0xff87_0000),
    (0x4780_0000, 0xff87_0000),
    (0x4704_0000, 0xff87_0000),
    (0x4784_0000, 0xff87_0000),
    (0x4770_0000, 0xffff_0000),
    // add, cmp and mov of high registers
    (0x4400_0000, 0xfc00_0000),
    (0x4487_0000, 0xff87_0000),
    (0x4687_0000, 0xff87_0000),
    (0x46f7_0000, 0xffff_0000),
    // pop, bkpt and hints, hlt, all of the group
    (0xbd00_0000, 0xff00_0000),
    (0xbe00_0000, 0xfe00_0000),
    (0xba80_0000, 0xffc0_0000),
    (0xb000_0000, 0xf000_0000),
    // b.w, b.w with a condition, bl, blx
    (0xf000_9000, 0xf800_d000),
    (0xf000_8000, 0xf800_d000),
    (0xf000_d000, 0xf800_d000),
    (0xf000_c000, 0xf800_d001),
    // wls, wlstp, le, letp, and what lies around
    (0xf040_c001, 0xfff0_f001),
    (0xf000_c001, 0xffc0_f001),
    (0xf00f_c001, 0xffff_f001),
    (0xf01f_c001, 0xffff_f001),
    (0xf02f_c001, 0xffff_f001),
    // Control: hints, barriers, bxj, subs pc, lr, hvc, smc, udf, dcps
    (0xf3af_8000, 0xffff_ff00),
    (0xf3bf_8f00, 0xffff_ff00),
    (0xf3c0_8f00, 0xfff0_ffff),
    (0xf3de_8f00, 0xffff_ff00),
    (0xf7e0_8000, 0xffe0_d000),
    (0xf380_8000, 0xfb80_d000),
    (0xf78f_8000, 0xffff_fffc),
    // ldm and rfe, pop.w, tbb and tbh
    (0xe800_8000, 0xfe40_8000),
    (0xe8bd_8000, 0xffff_a000),
    (0xe810_c000, 0xfe50_ffff),
    (0xe8d0_f000, 0xfff0_ffe0),
    // ldr of pc; what else loads
    (0xf850_f000, 0xff70_f000),
    (0xf85d_f800, 0xffff_f800),
    (0xf800_f000, 0xfe00_f000),
    // mcr
    (0xee07_0f95, 0xffff_0fff),
];

const CONDITIONS: [&str; 14] =
    ["beq", "bne", "bcs", "bcc", "bmi", "bpl", "bvs", "bvc", "bhi", "bls", "bge", "blt", "bgt", "ble"];

fn verdict(shown: &Shown<'_>, encoding: u32) -> Verdict {
    let &Shown { mnemonic, operands, comment } = shown;
    // BX and BLX with bits that should be zero; LDM from pc, and data processing in four bytes that writes it.
    let has_other_bits = encoding & 0xff00_0000 == 0x4700_0000 && encoding & 0x0003_0000 != 0;
    let is_of_pc = operands.starts_with("pc") && (mnemonic.starts_with("ldm") || mnemonic.ends_with(".w"));
    if comment.contains("UNPREDICTABLE") || has_other_bits || is_of_pc && !mnemonic.starts_with("ldr") {
        return Verdict::Open;
    }
    let name = mnemonic.trim_end_matches(".n").trim_end_matches(".w");
    let is_immediate = operands.starts_with("0x");
    let register = if operands == "lr" { Flow::RETURN } else { Flow::INDIRECT_JUMP };
    let flow = match name {
        "b" => jump(shown.target(), SET),
        "bl" => call(shown.target(), SET),
        "blx" if is_immediate => call(shown.target(), InstructionSet::A32),
        "cbz" | "cbnz" | "wls" | "le" | "letp" => conditional(shown.target(), SET),
        name if name.starts_with("wlstp") => conditional(shown.target(), SET),
        name if CONDITIONS.contains(&name) => conditional(shown.target(), SET),
        "blx" | "blxns" => Flow::INDIRECT_CALL,
        "bx" | "bxns" | "bxj" => register,
        "tbb" | "tbh" => Flow::INDIRECT_JUMP,
        "mov" | "add" if operands.starts_with("pc,") => {
            if operands == "pc, lr" && name == "mov" {
                Flow::RETURN
            } else {
                Flow::INDIRECT_JUMP
            }
        }
        "pop" if operands.ends_with("pc}") => Flow::RETURN,
        "ldmia" | "ldmdb" if operands.ends_with("pc}") => {
            if operands.starts_with("sp") {
                Flow::RETURN
            } else {
                Flow::INDIRECT_JUMP
            }
        }
        "ldr" | "ldrt" if operands.starts_with("pc,") => {
            if operands.starts_with("pc, [sp], #") && encoding & 0x0200 != 0 {
                Flow::RETURN
            } else {
                Flow::INDIRECT_JUMP
            }
        }
        "subs" if operands.starts_with("pc,") => Flow::EXCEPTION_RETURN,
        "eret" | "rfeia" | "rfedb" => Flow::EXCEPTION_RETURN,
        "isb" => Flow::Barrier,
        "mcr" if operands.starts_with("15, 0, ") && operands.ends_with(", cr7, cr5, {4}") => Flow::Barrier,
        "wfe" | "wfi" => Flow::Wait,
        "svc" | "bkpt" | "hlt" | "hvc" | "smc" => Flow::Call,
        "udf" | "dcps1" | "dcps2" | "dcps3" => return Verdict::NoInstruction,
        "@" | "undefined" => return Verdict::Unknown,
        _ => Flow::Next,
    };
    Verdict::Flow(flow)
}

#[test]
fn gdb_sees_the_same() {
    compare(SET, &PATTERNS, bytes, verdict);
}
