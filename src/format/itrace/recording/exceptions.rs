//! What exceptions are called.

/// Of Arm's A- and R-profile: the exception types of ETMv4 and ETE (Arm IHI 0064, "Exception instruction trace packet";
/// Arm DDI 0487, D5.3). Others have their number.
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

/// Of Arm's M-profile: the numbers of its exceptions, with those of the trace unit (Arm IHI 0064, "Exception instruction trace
/// packet", as OpenCSD 1.8.0 has it).
pub fn of_arm_m(number: u64) -> String {
    let name = match number {
        1 => "reset",
        2 => "NMI",
        3 => "HardFault",
        4 => "MemManage",
        5 => "BusFault",
        6 => "UsageFault",
        11 => "SVCall",
        12 => "DebugMonitor",
        14 => "PendSV",
        15 => "SysTick",
        16..=23 => return format!("IRQ {}", number - 16),
        24 => "debug halt",
        25 => "lazy floating-point state preservation",
        26 => "lockup",
        0x208..=0x3ef => return format!("IRQ {}", number - 0x200),
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
