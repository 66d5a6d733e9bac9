use super::gdb::{Pattern, Shown, Verdict, compare};
use super::{Flow, InstructionSet, call, conditional, flow, jump};

const SET: InstructionSet = InstructionSet::A32;

fn at(address: u64, word: u32) -> Option<Flow> {
    flow(SET, address, &word.to_le_bytes())
}

#[test]
fn branches_name_their_target() {
    assert_eq!(at(0x1000, 0xeaff_fffe), Some(jump(0x1000, SET)));
    assert_eq!(at(0x1000, 0xeb00_0000), Some(call(0x1008, SET)));
    assert_eq!(at(0x1000, 0x1a00_0001), Some(conditional(0x100c, SET)));
    // blx, with and without the bit for a half word
    assert_eq!(at(0x1000, 0xfa00_0000), Some(call(0x1008, InstructionSet::T32)));
    assert_eq!(at(0x1000, 0xfbff_fffe), Some(call(0x1002, InstructionSet::T32)));
    assert_eq!(at(0, 0xeaff_fffc), Some(jump(0xffff_fff8, SET)));
    assert_eq!(at(0xffff_fff8, 0xea00_0001), Some(jump(4, SET)));
}

#[test]
fn whatever_writes_the_program_counter_is_a_branch() {
    // bx r1, bxj r1, mov pc, r1, mov pc, #0, add pc, pc, r0 lsl #2, ldr pc, [r0], ldr pc, [pc, r0, lsl #2],
    // ldm r0, {r1, pc}, mvn pc, r0, add pc, r0, r1 lsl r2
    for word in [
        0xe12f_ff11,
        0xe12f_ff21,
        0xe1a0_f001,
        0xe3a0_f000,
        0xe08f_f100,
        0xe590_f000,
        0xe79f_f100,
        0xe890_8002,
        0xe1e0_f000,
        0xe080_f211,
    ] {
        assert_eq!(at(0, word), Some(Flow::INDIRECT_JUMP), "{word:#x}");
    }
    assert_eq!(at(0, 0xe12f_ff31), Some(Flow::INDIRECT_CALL));
    assert_eq!(at(0, 0x012f_ff31), Some(Flow::INDIRECT_CALL.under_condition()));
}

#[test]
fn returns() {
    // bx lr, mov pc, lr, pop {r4, pc}, ldr pc, [sp], #4, ldm sp, {fp, sp, pc}, ldmdb fp, {fp, sp, pc}
    for word in [0xe12f_ff1e, 0xe1a0_f00e, 0xe8bd_8010, 0xe49d_f004, 0xe89d_a800, 0xe91b_a800] {
        assert_eq!(at(0, word), Some(Flow::RETURN), "{word:#x}");
    }
    assert_eq!(at(0, 0x012f_ff1e), Some(Flow::RETURN.under_condition()));
    // subs pc, lr, #4, movs pc, lr, ldm sp!, {r0, pc}^, rfeia sp!, eret
    for word in [0xe25e_f004, 0xe1b0_f00e, 0xe8fd_8001, 0xf8bd_0a00, 0xe160_006e] {
        assert_eq!(at(0, word), Some(Flow::EXCEPTION_RETURN), "{word:#x}");
    }
    assert_eq!(at(0, 0x025e_f004), Some(Flow::EXCEPTION_RETURN.under_condition()));
}

#[test]
fn what_goes_on_behind_itself() {
    // isb, mcr 15, 0, r0, cr7, cr5, {4}
    for word in [0xf57f_f06f, 0xee07_0f95] {
        assert_eq!(at(0, word), Some(Flow::Barrier), "{word:#x}");
    }
    // wfe, wfi
    for word in [0xe320_f002, 0xe320_f003] {
        assert_eq!(at(0, word), Some(Flow::Wait), "{word:#x}");
    }
    // svc, svcne, bkpt, hvc, smc, hlt
    for word in [0xef00_0000, 0x1f00_0000, 0xe120_0070, 0xe140_0070, 0xe160_0070, 0xe100_0070] {
        assert_eq!(at(0, word), Some(Flow::Call), "{word:#x}");
    }
    // andeq r0, r0, r0, nop, dsb, str pc, [r0], cmp pc, r0, tst pc, #0, ldrb, pld [pc], push {pc}, mrc to the flags
    for word in [
        0,
        0xe320_f000,
        0xf57f_f04f,
        0xe580_f000,
        0xe15f_0000,
        0xe31f_0000,
        0xe5d0_1000,
        0xf5df_f000,
        0xe92d_8000,
        0xee11_ff10,
    ] {
        assert_eq!(at(0, word), Some(Flow::Next), "{word:#x}");
    }
    assert_eq!(at(0, 0xe7f0_00f0), None);
}

const PATTERNS: [Pattern; 30] = [
    // b, bl, blx
    (0x0a00_0000, 0x0e00_0000),
    (0xea00_0000, 0xfe00_0000),
    (0xfa00_0000, 0xfe00_0000),
    // bx, bxj, blx
    (0x012f_ff10, 0x0fff_fff0),
    (0x012f_ff20, 0x0fff_fff0),
    (0x012f_ff30, 0x0fff_fff0),
    (0xe12f_ff1e, 0xffff_ffff),
    // Data processing with pc: shifted by an immediate, by a register, an immediate; moves, mov pc, lr
    (0x0000_f000, 0x0e00_f010),
    (0x0000_f010, 0x0e00_f090),
    (0x0200_f000, 0x0e00_f000),
    (0x01a0_f000, 0x0fef_fff0),
    (0xe1a0_f00e, 0xffff_ffff),
    (0x0210_f000, 0x0e10_f000),
    // Loads, ldr pc, [sp], #4
    (0x0410_f000, 0x0e10_f000),
    (0x0610_f000, 0x0e10_f010),
    (0x041d_f000, 0x0f7f_f000),
    // ldm, pop, ldm with sp
    (0x0810_8000, 0x0e10_8000),
    (0x08bd_8000, 0x0fff_8000),
    (0x0810_a000, 0x0e10_a000),
    // rfe, eret
    (0xf810_0a00, 0xfe50_ffff),
    (0x0160_006e, 0x0fff_ffff),
    // Miscellaneous; hints
    (0x0100_0000, 0x0f90_0080),
    (0x0100_0070, 0x0f90_00f0),
    (0x0320_f000, 0x0fff_ff00),
    // svc, coprocessors, cp15
    (0x0f00_0000, 0x0f00_0000),
    (0x0e00_0f10, 0x0f00_0f10),
    (0x0e07_0f95, 0x0fff_0fff),
    // Barriers, media instructions, udf
    (0xf57f_f000, 0xffff_ff00),
    (0x0600_0010, 0x0e00_0010),
    (0xe7f0_00f0, 0xfff0_00f0),
];

const CONDITIONS: [&str; 15] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"];

/// Whether a condition follows the name in a mnemonic; `None` if the mnemonic is another.
fn condition_of(mnemonic: &str, name: &str) -> Option<bool> {
    let rest = mnemonic.strip_prefix(name)?;
    if rest.is_empty() { Some(false) } else { CONDITIONS.contains(&rest).then_some(true) }
}

/// What a mnemonic means whose instruction does that if its condition is met; `None` if it has none of the names.
fn named(mnemonic: &str, names: &[&str], flow: Flow) -> Option<Flow> {
    let is_conditional = names.iter().find_map(|name| condition_of(mnemonic, name))?;
    Some(if is_conditional { flow.under_condition() } else { flow })
}

const DATA_PROCESSING: [&str; 17] = [
    "and", "eor", "sub", "rsb", "add", "adc", "sbc", "rsc", "orr", "mov", "lsl", "lsr", "asr", "ror", "rrx", "bic",
    "mvn",
];

fn verdict(shown: &Shown<'_>, word: u32) -> Verdict {
    let &Shown { mnemonic, operands, comment } = shown;
    if comment.contains("UNPREDICTABLE") || comment.contains("UNDEFINED") {
        return Verdict::Open;
    }
    if word & 0x0da0_f000 == 0x01a0_f000 && word & 0x000f_0000 != 0 {
        // MOV and MVN of pc with a second operand, which they do not have: Arm leaves open what it does.
        return Verdict::Open;
    }
    let first = operands.split(',').next().unwrap();
    let loads_list = operands.contains("pc}");
    let loads_stack_pointer = operands.contains("sp, ") && operands.find("sp, ") > operands.find('{');
    let is_return = mnemonic.starts_with("pop") || first.trim_end_matches('!') == "sp" || loads_stack_pointer;
    let list = if operands.ends_with('^') {
        Flow::EXCEPTION_RETURN
    } else if is_return {
        Flow::RETURN
    } else {
        Flow::INDIRECT_JUMP
    };
    let register = if operands == "lr" { Flow::RETURN } else { Flow::INDIRECT_JUMP };
    let is_immediate = operands.starts_with("0x") && mnemonic != "bkpt";
    let found = if is_immediate && mnemonic == "blx" {
        Some(call(shown.target(), InstructionSet::T32))
    } else if is_immediate && mnemonic.starts_with('b') {
        let target = shown.target();
        named(mnemonic, &["b"], jump(target, SET)).or_else(|| named(mnemonic, &["bl"], call(target, SET)))
    } else if mnemonic.starts_with("ldm") || mnemonic.starts_with("pop") {
        let names = ["ldm", "ldmia", "ldmib", "ldmda", "ldmdb", "ldmfd", "ldmea", "ldmed", "ldmfa", "pop"];
        loads_list.then(|| named(mnemonic, &names, list)).flatten()
    } else if first == "pc" && mnemonic.starts_with("ldr") {
        let is_return = operands.starts_with("pc, [sp], #") && !operands.contains('-');
        let flow = if is_return { Flow::RETURN } else { Flow::INDIRECT_JUMP };
        named(mnemonic, &["ldr", "ldrt"], flow)
    } else if operands == "pc, lr" && condition_of(mnemonic, "mov").is_some() {
        named(mnemonic, &["mov"], Flow::RETURN)
    } else if operands.starts_with("pc,") {
        DATA_PROCESSING.iter().find_map(|name| {
            let with_flags = format!("{name}s");
            let found = named(mnemonic, &[name], Flow::INDIRECT_JUMP);
            found.or_else(|| named(mnemonic, &[&with_flags], Flow::EXCEPTION_RETURN))
        })
    } else if mnemonic.starts_with("rfe") {
        Some(Flow::EXCEPTION_RETURN)
    } else {
        let names: [(&[&str], Flow); 7] = [
            (&["bx", "bxj"], register),
            (&["blx"], Flow::INDIRECT_CALL),
            (&["eret"], Flow::EXCEPTION_RETURN),
            (&["wfe", "wfi"], Flow::Wait),
            (&["svc", "bkpt", "hvc", "smc", "hlt"], Flow::Call),
            (&["isb"], Flow::Barrier),
            (&["mcr"], if is_barrier(operands) { Flow::Barrier } else { Flow::Next }),
        ];
        names.into_iter().find_map(|(names, flow)| named(mnemonic, names, flow))
    };
    match found {
        Some(flow) => Verdict::Flow(flow),
        None if mnemonic == "udf" => Verdict::NoInstruction,
        None if mnemonic == "@" => Verdict::Unknown,
        None => Verdict::Flow(Flow::Next),
    }
}

/// Whether the operands of MCR are those of ISB.
fn is_barrier(operands: &str) -> bool {
    operands.starts_with("15, 0, ") && operands.ends_with(", cr7, cr5, {4}")
}

#[test]
fn gdb_sees_the_same() {
    compare(SET, &PATTERNS, u32::to_le_bytes, verdict);
}
