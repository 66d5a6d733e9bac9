use super::gdb::{Pattern, Shown, Verdict, compare};
use super::{Flow, InstructionSet, call, conditional, decode, jump};

const RV64: InstructionSet = InstructionSet::Rv64;
const RV32: InstructionSet = InstructionSet::Rv32;

const COROUTINES: Flow = Flow::Indirect { is_conditional: false, is_call: true, is_return: true, is_sequential: false };

fn full(instruction_set: InstructionSet, address: u64, word: u32) -> Option<Flow> {
    let found = decode(instruction_set, address, &word.to_le_bytes());
    assert!(found.is_none_or(|found| found.size == 4), "{word:#x}");
    found.map(|found| found.flow)
}

fn compressed(instruction_set: InstructionSet, address: u64, half_word: u16) -> Option<Flow> {
    let found = decode(instruction_set, address, &half_word.to_le_bytes());
    assert!(found.is_none_or(|found| found.size == 2), "{half_word:#x}");
    found.map(|found| found.flow)
}

#[test]
fn branches_name_their_target() {
    // beq zero, zero, .+8, bne a0, zero, .-4
    assert_eq!(full(RV64, 0x1000, 0x0000_0463), Some(conditional(0x1008, RV64)));
    assert_eq!(full(RV64, 0x1000, 0xfe05_1ee3), Some(conditional(0xffc, RV64)));
    // jal zero, .-4, jal ra, .+0x800, jal t0, .+4, jal a0, .+4
    assert_eq!(full(RV64, 0x1000, 0xffdf_f06f), Some(jump(0xffc, RV64)));
    assert_eq!(full(RV64, 0x1000, 0x0010_00ef), Some(call(0x1800, RV64)));
    assert_eq!(full(RV64, 0x1000, 0x0040_02ef), Some(call(0x1004, RV64)));
    assert_eq!(full(RV64, 0x1000, 0x0040_056f), Some(jump(0x1004, RV64)));
    // c.j .-2, c.beqz s0, .+2, c.bnez a0, .-2
    assert_eq!(compressed(RV64, 0x1000, 0xbffd), Some(jump(0xffe, RV64)));
    assert_eq!(compressed(RV64, 0x1000, 0xc009), Some(conditional(0x1002, RV64)));
    assert_eq!(compressed(RV64, 0x1000, 0xfd7d), Some(conditional(0xffe, RV64)));
    // c.jal .+2, which is c.addiw for 64 bits
    assert_eq!(compressed(RV32, 0x1000, 0x2009), Some(call(0x1002, RV32)));
    assert_eq!(compressed(RV64, 0x1000, 0x2009), Some(Flow::Next));
    // What wraps.
    assert_eq!(full(RV32, 0, 0xffdf_f06f), Some(jump(0xffff_fffc, RV32)));
    assert_eq!(full(RV64, 0, 0xffdf_f06f), Some(jump(u64::MAX - 3, RV64)));
}

#[test]
fn a_jump_from_zero_names_its_target() {
    // jr 0x10(zero), jalr ra, -3(zero)
    assert_eq!(full(RV64, 0x1000, 0x0100_0067), Some(jump(0x10, RV64)));
    assert_eq!(full(RV64, 0x1000, 0xffd0_00e7), Some(call(u64::MAX - 3, RV64)));
    assert_eq!(full(RV32, 0x1000, 0xffd0_00e7), Some(call(0xffff_fffc, RV32)));
}

#[test]
fn link_registers_tell_calls_from_returns() {
    // jr a0, jalr a0, a1; c.jr a0
    assert_eq!(full(RV64, 0, 0x0005_0067), Some(Flow::INDIRECT_JUMP));
    assert_eq!(full(RV64, 0, 0x0005_8567), Some(Flow::INDIRECT_JUMP));
    assert_eq!(compressed(RV64, 0, 0x8502), Some(Flow::INDIRECT_JUMP));
    // jalr ra, a0, jalr t0, a0, jalr ra, ra, jalr t0, t0; c.jalr a0, c.jalr ra
    for word in [0x0005_00e7, 0x0005_02e7, 0x0000_80e7, 0x0002_82e7] {
        assert_eq!(full(RV64, 0, word), Some(Flow::INDIRECT_CALL), "{word:#x}");
    }
    for half_word in [0x9502, 0x9082] {
        assert_eq!(compressed(RV64, 0, half_word), Some(Flow::INDIRECT_CALL), "{half_word:#x}");
    }
    // ret, jr t0, jalr a0, ra; c.jr ra, c.jr t0
    for word in [0x0000_8067, 0x0002_8067, 0x0000_8567] {
        assert_eq!(full(RV64, 0, word), Some(Flow::RETURN), "{word:#x}");
    }
    for half_word in [0x8082, 0x8282] {
        assert_eq!(compressed(RV64, 0, half_word), Some(Flow::RETURN), "{half_word:#x}");
    }
    // jalr ra, t0, jalr t0, ra; c.jalr t0
    assert_eq!(full(RV64, 0, 0x0002_80e7), Some(COROUTINES));
    assert_eq!(full(RV64, 0, 0x0000_82e7), Some(COROUTINES));
    assert_eq!(compressed(RV64, 0, 0x9282), Some(COROUTINES));
}

#[test]
fn the_system_and_what_goes_on_behind_itself() {
    // ecall, ebreak; c.ebreak
    assert_eq!(full(RV64, 0, 0x0000_0073), Some(Flow::Call));
    assert_eq!(full(RV64, 0, 0x0010_0073), Some(Flow::Call));
    assert_eq!(compressed(RV64, 0, 0x9002), Some(Flow::Call));
    // uret, sret, mret, mnret, dret
    for word in [0x0020_0073, 0x1020_0073, 0x3020_0073, 0x7020_0073, 0x7b20_0073] {
        assert_eq!(full(RV64, 0, word), Some(Flow::EXCEPTION_RETURN), "{word:#x}");
    }
    // wfi, fence.i, csrr, sfence.vma, nop, ld ra, 8(sp)
    for word in [0x1050_0073, 0x0000_100f, 0x3000_2573, 0x1200_0073, 0x0000_0013, 0x0081_3083] {
        assert_eq!(full(RV64, 0, word), Some(Flow::Next), "{word:#x}");
    }
    // c.nop, c.mv a0, a1, c.add a0, a1, c.fsdsp
    for half_word in [0x0001, 0x852e, 0x952e, 0xa002] {
        assert_eq!(compressed(RV64, 0, half_word), Some(Flow::Next), "{half_word:#x}");
    }
}

#[test]
fn what_cannot_be_executed() {
    // Defined to be illegal; c.jr zero
    assert_eq!(compressed(RV64, 0, 0), None);
    assert_eq!(compressed(RV64, 0, 0x8002), None);
    // Six bytes, eight bytes, all bits; branches and jalr of other functions
    for word in [0x0000_001f, 0x0000_003f, 0xffff_ffff, 0x0000_2063, 0x0000_3063, 0x0000_1067] {
        assert_eq!(full(RV64, 0, word), None, "{word:#x}");
    }
    assert_eq!(decode(RV64, 0, &[0x13, 0x00, 0x00]), None);
    assert_eq!(decode(RV64, 0, &[0x01]), None);
}

/// Of instructions of two bytes the high half word is what lies behind them.
const PATTERNS: [Pattern; 22] = [
    // Branches, jalr, jal
    (0x0000_0063, 0x0000_007f),
    (0x0000_0067, 0x0000_707f),
    (0x0000_0067, 0x0000_007f),
    (0x0000_006f, 0x0000_007f),
    // jalr from and to link registers and zero
    (0x0000_8067, 0x000f_f07f),
    (0x0002_8067, 0x000f_f07f),
    (0x0000_80e7, 0x000f_ffff),
    (0x0002_80e7, 0x000f_ffff),
    (0x0002_82e7, 0x000f_ffff),
    (0x0000_0067, 0x000f_f07f),
    // System: ecall, ebreak, returns, all of the group
    (0x0000_0073, 0xffff_ffff),
    (0x0010_0073, 0xffff_ffff),
    (0x0020_0073, 0x0fff_ffff),
    (0x7b20_0073, 0xffff_ffff),
    (0x0000_0073, 0x0000_007f),
    // c.jal or c.addiw, c.j, c.beqz and c.bnez
    (0x0000_2001, 0x0000_e003),
    (0x0000_a001, 0x0000_e003),
    (0x0000_c001, 0x0000_c003),
    // c.jr, c.mv, c.jalr, c.add, c.ebreak
    (0x0000_8002, 0x0000_e07f),
    (0x0000_8002, 0x0000_e003),
    (0x0000_9002, 0x0000_ffff),
    (0x0000_0000, 0x0000_0003),
];

fn verdict(shown: &Shown<'_>, word: u32, instruction_set: InstructionSet) -> Verdict {
    let is_link = |register: &str| matches!(register, "ra" | "t0");
    let jalr = |destination, source| Flow::Indirect {
        is_conditional: false,
        is_call: is_link(destination),
        is_return: is_link(source) && destination != source,
        is_sequential: false,
    };
    let flow = match shown.mnemonic {
        "beq" | "bne" | "blt" | "bge" | "bltu" | "bgeu" | "c.beqz" | "c.bnez" => {
            conditional(shown.target(), instruction_set)
        }
        "c.j" => jump(shown.target(), instruction_set),
        "c.jal" => call(shown.target(), instruction_set),
        "jal" if is_link(shown.operands.split(',').next().unwrap()) => call(shown.target(), instruction_set),
        "jal" => jump(shown.target(), instruction_set),
        "jalr" => {
            // `ra,-4(a0)`
            let (destination, place) = shown.operands.split_once(',').unwrap();
            let (offset, source) = place.trim_end_matches(')').split_once('(').unwrap();
            if source == "zero" {
                let target = offset.parse::<i64>().unwrap() as u64 & !1;
                let target = if instruction_set == RV32 { target & u64::from(u32::MAX) } else { target };
                if is_link(destination) { call(target, instruction_set) } else { jump(target, instruction_set) }
            } else {
                jalr(destination, source)
            }
        }
        "c.jr" => jalr("zero", shown.operands),
        "c.jalr" => jalr("ra", shown.operands),
        "ecall" | "ebreak" | "c.ebreak" => Flow::Call,
        "uret" | "sret" | "mret" | "dret" => Flow::EXCEPTION_RETURN,
        "c.unimp" => return Verdict::NoInstruction,
        // gdb 13.1 does not know MNRET.
        name if name.starts_with('.') && word == 0x7020_0073 => Flow::EXCEPTION_RETURN,
        name if name.starts_with('.') => return Verdict::Unknown,
        _ => Flow::Next,
    };
    Verdict::Flow(flow)
}

#[test]
fn gdb_sees_the_same_for_64_bits() {
    compare(RV64, &PATTERNS, u32::to_le_bytes, |shown, word| verdict(shown, word, RV64));
}

#[test]
fn gdb_sees_the_same_for_32_bits() {
    compare(RV32, &PATTERNS, u32::to_le_bytes, |shown, word| verdict(shown, word, RV32));
}
