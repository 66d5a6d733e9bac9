//! What exceptions are called.

/// Of Arm's A- and R-profile: the exception types of ETMv4 and ETE (Arm IHI 0064, "Exception instruction trace packet";
/// Arm DDI 0487, D5.3). Others, those of the M-profile among them, have their number.
pub fn of_arm(number: u64) -> String {
    let name = match number {
        0 => "reset",
        1 => "debug halt",
        2 => "call",
        3 => "trap",
        4 => "system error",
        6 => "instruction debug",
        7 => "data debug",
        10 => "alignment fault",
        11 => "instruction fault",
        12 => "data fault",
        14 => "IRQ",
        15 => "FIQ",
        _ => return format!("exception {number}"),
    };
    name.to_owned()
}

/// Of RISC-V: causes of the privileged specification (volume II, table of `mcause`).
pub fn of_riscv(cause: u64, is_interrupt: bool) -> String {
    let name = match (is_interrupt, cause) {
        (true, 1) => "supervisor software interrupt",
        (true, 3) => "machine software interrupt",
        (true, 5) => "supervisor timer interrupt",
        (true, 7) => "machine timer interrupt",
        (true, 9) => "supervisor external interrupt",
        (true, 11) => "machine external interrupt",
        (true, _) => return format!("interrupt {cause}"),
        (false, 0) => "instruction address misaligned",
        (false, 1) => "instruction access fault",
        (false, 2) => "illegal instruction",
        (false, 3) => "breakpoint",
        (false, 4) => "load address misaligned",
        (false, 5) => "load access fault",
        (false, 6) => "store address misaligned",
        (false, 7) => "store access fault",
        (false, 8) => "environment call from user mode",
        (false, 9) => "environment call from supervisor mode",
        (false, 11) => "environment call from machine mode",
        (false, 12) => "instruction page fault",
        (false, 13) => "load page fault",
        (false, 15) => "store page fault",
        (false, _) => return format!("exception {cause}"),
    };
    name.to_owned()
}
