use super::gdb::{Pattern, Shown, Verdict, compare};
use super::{Flow, InstructionSet, call, conditional, flow, jump};

const SET: InstructionSet = InstructionSet::A64;

fn at(address: u64, word: u32) -> Option<Flow> {
    flow(SET, address, &word.to_le_bytes())
}

#[test]
fn branches_name_their_target() {
    assert_eq!(at(0x1000, 0x1400_0002), Some(jump(0x1008, SET)));
    assert_eq!(at(0x1000, 0x17ff_ffff), Some(jump(0xffc, SET)));
    assert_eq!(at(0x1000, 0x9400_0001), Some(call(0x1004, SET)));
    // b.ne, bc.eq, cbz, cbnz, tbz, tbnz
    assert_eq!(at(0x1000, 0x54ff_ffe1), Some(conditional(0xffc, SET)));
    assert_eq!(at(0x1000, 0x5400_0050), Some(conditional(0x1008, SET)));
    assert_eq!(at(0x1000, 0xb400_0041), Some(conditional(0x1008, SET)));
    assert_eq!(at(0x1000, 0x35ff_ffe1), Some(conditional(0xffc, SET)));
    assert_eq!(at(0x1000, 0x3600_0041), Some(conditional(0x1008, SET)));
    assert_eq!(at(0x1000, 0xb707_ffe1), Some(conditional(0xffc, SET)));
    assert_eq!(at(0, 0x17ff_ffff), Some(jump(u64::MAX - 3, SET)));
}

#[test]
fn compare_and_branch_names_its_target() {
    // cbgt w1, w2; cbne x1, x2; cbbgt, cbhgt; cbgt w1, #5
    for word in [0x7402_0041, 0xf4e2_0041, 0x7402_8041, 0x7402_c041, 0x7502_8041] {
        assert_eq!(at(0x1000, word), Some(conditional(0x1008, SET)), "{word:#x}");
    }
    assert_eq!(at(0x1000, 0x7402_3fe1), Some(conditional(0xffc, SET)));
    // No condition, no size, and bytes with 64 bits.
    for word in [0x7482_0041, 0x74a2_0041, 0x7402_4041, 0xf402_8041, 0x7502_4041] {
        assert_eq!(at(0x1000, word), None, "{word:#x}");
    }
}

#[test]
fn branches_to_where_a_register_says() {
    // br x1, braaz, brabz, braa, brab
    for word in [0xd61f_0020, 0xd61f_083f, 0xd61f_0c3f, 0xd71f_0822, 0xd71f_0c22] {
        assert_eq!(at(0, word), Some(Flow::INDIRECT_JUMP), "{word:#x}");
    }
    for word in [0xd63f_0020, 0xd63f_083f, 0xd63f_0c3f, 0xd73f_0822, 0xd73f_0c22] {
        assert_eq!(at(0, word), Some(Flow::INDIRECT_CALL), "{word:#x}");
    }
    // ret, ret x1, retaa, retab, retaasppc, retabsppc, with a register
    for word in [0xd65f_03c0, 0xd65f_0020, 0xd65f_0bff, 0xd65f_0fff, 0x5500_003f, 0x5520_003f, 0xd65f_0be1, 0xd65f_0fe1]
    {
        assert_eq!(at(0, word), Some(Flow::RETURN), "{word:#x}");
    }
    // eret, eretaa, eretab, texit
    for word in [0xd69f_03e0, 0xd69f_0bff, 0xd69f_0fff, 0xd6ff_03e0, 0xd6ff_07e0] {
        assert_eq!(at(0, word), Some(Flow::EXCEPTION_RETURN), "{word:#x}");
    }
}

#[test]
fn what_goes_on_behind_itself() {
    // isb, isb #0, tstart x1
    for word in [0xd503_3fdf, 0xd503_30df, 0xd523_3061] {
        assert_eq!(at(0, word), Some(Flow::Barrier), "{word:#x}");
    }
    // wfe, wfi, wfet x1, wfit x1
    for word in [0xd503_205f, 0xd503_207f, 0xd503_1001, 0xd503_1021] {
        assert_eq!(at(0, word), Some(Flow::Wait), "{word:#x}");
    }
    // svc, hvc, smc, brk, hlt
    for word in [0xd400_0001, 0xd400_0022, 0xd400_0003, 0xd420_0000, 0xd440_0000] {
        assert_eq!(at(0, word), Some(Flow::Call), "{word:#x}");
    }
    // nop, dsb, sb, tcommit, ldr x0, adr
    for word in [0xd503_201f, 0xd503_3f9f, 0xd503_30ff, 0xd503_307f, 0xf940_0000, 0x1000_0000] {
        assert_eq!(at(0, word), Some(Flow::Next), "{word:#x}");
    }
}

#[test]
fn what_cannot_be_executed() {
    // udf; drps and dcps1 of a halted processor; between the branches
    for word in [0, 0xffff, 0xd6bf_03e0, 0xd4a0_0001, 0xd61f_0021, 0xd65f_0820, 0xd6df_03e0, 0x5500_0000] {
        assert_eq!(at(0, word), None, "{word:#x}");
    }
    assert_eq!(flow(SET, 0, &[0x1f, 0x20, 0x03]), None);
}

/// Every encoding of a branch, and of those around it.
const PATTERNS: [Pattern; 28] = [
    // b, bl, b.cond, bc.cond, cbz and cbnz, tbz and tbnz
    (0x1400_0000, 0xfc00_0000),
    (0x9400_0000, 0xfc00_0000),
    (0x5400_0000, 0xff00_0010),
    (0x5400_0010, 0xff00_0010),
    (0x3400_0000, 0x7e00_0000),
    (0x3600_0000, 0x7e00_0000),
    // br, blr, ret
    (0xd61f_0000, 0xffff_fc1f),
    (0xd63f_0000, 0xffff_fc1f),
    (0xd65f_0000, 0xffff_fc1f),
    // braaz and brabz, blraaz and blrabz, braa and brab, blraa and blrab
    (0xd61f_081f, 0xffff_f81f),
    (0xd63f_081f, 0xffff_f81f),
    (0xd71f_0800, 0xffff_f800),
    (0xd73f_0800, 0xffff_f800),
    // retaa and retab, eret, eretaa and eretab, drps
    (0xd65f_0bff, 0xffff_fbff),
    (0xd69f_03e0, 0xffff_ffff),
    (0xd69f_0bff, 0xffff_fbff),
    (0xd6bf_03e0, 0xffff_ffff),
    // All between branches to registers.
    (0xd600_0000, 0xfe00_0000),
    (0xd61f_0000, 0xfe1f_0000),
    (0xd61f_0000, 0xfe1f_f000),
    // Exceptions
    (0xd400_0000, 0xff00_0000),
    (0xd400_0000, 0xff1f_ffe0),
    // Hints, barriers, system instructions
    (0xd503_2000, 0xffff_f01f),
    (0xd503_3000, 0xffff_f01f),
    (0xd503_1000, 0xffff_f000),
    (0xd500_0000, 0xff00_0000),
    (0xd523_3060, 0xffff_ffe0),
    // udf
    (0x0000_0000, 0xffff_0000),
];

fn verdict(shown: &Shown<'_>, word: u32) -> Verdict {
    let flow = match shown.mnemonic {
        "b" => jump(shown.target(), SET),
        "bl" => call(shown.target(), SET),
        "cbz" | "cbnz" | "tbz" | "tbnz" => conditional(shown.target(), SET),
        name if name.starts_with("b.") || name.starts_with("bc.") => conditional(shown.target(), SET),
        "br" | "braa" | "brab" | "braaz" | "brabz" => Flow::INDIRECT_JUMP,
        "blr" | "blraa" | "blrab" | "blraaz" | "blrabz" => Flow::INDIRECT_CALL,
        "ret" | "retaa" | "retab" => Flow::RETURN,
        "eret" | "eretaa" | "eretab" => Flow::EXCEPTION_RETURN,
        "isb" | "tstart" => Flow::Barrier,
        "wfe" | "wfi" | "wfet" | "wfit" => Flow::Wait,
        "svc" | "hvc" | "smc" | "brk" | "hlt" => Flow::Call,
        "udf" | "drps" | "dcps1" | "dcps2" | "dcps3" => return Verdict::NoInstruction,
        // CB, RETAASPPC and TEXIT are younger than gdb 13.1.
        ".inst" if matches!(word >> 24, 0x55 | 0x74 | 0x75 | 0xf4 | 0xf5) => return Verdict::Open,
        ".inst" if word & 0xffff_fbe0 == 0xd65f_0be0 || word & 0xffff_fbff == 0xd6ff_03e0 => return Verdict::Open,
        ".inst" => return Verdict::Unknown,
        _ => Flow::Next,
    };
    Verdict::Flow(flow)
}

#[test]
fn gdb_sees_the_same() {
    compare(SET, &PATTERNS, u32::to_le_bytes, verdict);
}
