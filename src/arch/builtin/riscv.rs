//! RISC-V without control and status registers.

use super::table::{Architecture, Feature, Run, Type, Variant, named};

// gdb takes the convention of GNU/Linux where nothing is said, and then steps by a breakpoint at the next
// instruction as it computes it, which runs through gaps of a recording (riscv-linux-tdep.c).
const OSABI: Option<&str> = Some("none");

pub(super) static RISCV32: Architecture = Architecture {
    name: "riscv32",
    gdb: "riscv:rv32",
    aliases: &["rv32"],
    osabi: OSABI,
    address_size: 4,
    variants: &[
        Variant { what: "without floating point", features: &[&CPU32] },
        Variant { what: "with single-precision floating point", features: &[&CPU32, &SINGLE] },
        Variant { what: "with double-precision floating point", features: &[&CPU32, &DOUBLE] },
    ],
};

pub(super) static RISCV64: Architecture = Architecture {
    name: "riscv64",
    gdb: "riscv:rv64",
    aliases: &["rv64"],
    osabi: OSABI,
    address_size: 8,
    variants: &[
        Variant { what: "without floating point", features: &[&CPU64] },
        Variant { what: "with single-precision floating point", features: &[&CPU64, &SINGLE] },
        Variant { what: "with double-precision floating point", features: &[&CPU64, &DOUBLE] },
    ],
};

const fn cpu(bits: usize) -> [Run; 7] {
    [
        named(&["zero"], bits, "int"),
        named(&["ra"], bits, "code_ptr"),
        named(&["sp", "gp", "tp"], bits, "data_ptr"),
        named(&["t0", "t1", "t2"], bits, "int"),
        named(&["fp"], bits, "data_ptr"),
        named(
            &[
                "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
                "s10", "s11", "t3", "t4", "t5", "t6",
            ],
            bits,
            "int",
        ),
        named(&["pc"], bits, "code_ptr"),
    ]
}

static CPU32: Feature = Feature { name: "org.gnu.gdb.riscv.cpu", types: &[], registers: &cpu(32) };
static CPU64: Feature = Feature { name: "org.gnu.gdb.riscv.cpu", types: &[], registers: &cpu(64) };

const fn fpu(bits: usize, kind: &'static str) -> [Run; 2] {
    [
        named(
            &[
                "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3",
                "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11",
                "ft8", "ft9", "ft10", "ft11",
            ],
            bits,
            kind,
        ),
        named(&["fflags", "frm", "fcsr"], 32, "int"),
    ]
}

static SINGLE: Feature = Feature { name: "org.gnu.gdb.riscv.fpu", types: &[], registers: &fpu(32, "ieee_single") };

static DOUBLE: Feature = Feature {
    name: "org.gnu.gdb.riscv.fpu",
    types: &[Type::Union("riscv_double", &[("float", "ieee_single"), ("double", "ieee_double")])],
    registers: &fpu(64, "riscv_double"),
};
