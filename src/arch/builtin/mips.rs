//! MIPS with registers of 32 and 64 bits. gdb takes no description without floating-point registers.

use super::table::{Architecture, Feature, Run, Variant, named, numbered};

pub(super) static MIPS: Architecture = Architecture {
    name: "mips",
    gdb: "mips",
    aliases: &["mipsel", "mips32", "mips:isa32*", "mips:3000", "mips:3900", "mips:6000", "mips:16", "mips:micromips"],
    osabi: None,
    address_size: 4,
    variants: &[
        Variant { what: "with floating point", features: &[&CPU32, &CP0_32, &FPU32] },
        Variant { what: "with floating point, as on GNU/Linux", features: &[&CPU32, &CP0_32, &FPU32, &LINUX32] },
        Variant { what: "with all places of gdb's own layout", features: &[&CPU32, &CP0_32, &FPU32, &UNNAMED32] },
    ],
};

// The description says `mips` here, too, as gdb's own does: the sizes of the registers tell.
pub(super) static MIPS64: Architecture = Architecture {
    name: "mips64",
    gdb: "mips",
    aliases: &["mips64el", "mips:*"],
    osabi: None,
    address_size: 8,
    variants: &[
        Variant { what: "with floating point", features: &[&CPU64, &CP0_64, &FPU64] },
        Variant { what: "with floating point, as on GNU/Linux", features: &[&CPU64, &CP0_64, &FPU64, &LINUX64] },
        Variant { what: "with all places of gdb's own layout", features: &[&CPU64, &CP0_64, &FPU64, &UNNAMED64] },
    ],
};

const fn cpu(bits: usize) -> [Run; 3] {
    [numbered("r", 0, 31, bits, "int"), named(&["lo", "hi"], bits, "int").at(33), named(&["pc"], bits, "int").at(37)]
}

const fn cp0(bits: usize) -> [Run; 2] {
    [named(&["status"], bits, "int").at(32), named(&["badvaddr", "cause"], bits, "int").at(35)]
}

const fn fpu(bits: usize, kind: &'static str) -> [Run; 2] {
    [numbered("f", 0, 31, bits, kind).at(38), named(&["fcsr", "fir"], bits, "int").in_group("float")]
}

static CPU32: Feature = Feature { name: "org.gnu.gdb.mips.cpu", types: &[], registers: &cpu(32) };
static CPU64: Feature = Feature { name: "org.gnu.gdb.mips.cpu", types: &[], registers: &cpu(64) };
static CP0_32: Feature = Feature { name: "org.gnu.gdb.mips.cp0", types: &[], registers: &cp0(32) };
static CP0_64: Feature = Feature { name: "org.gnu.gdb.mips.cp0", types: &[], registers: &cp0(64) };
static FPU32: Feature = Feature { name: "org.gnu.gdb.mips.fpu", types: &[], registers: &fpu(32, "ieee_single") };
static FPU64: Feature = Feature { name: "org.gnu.gdb.mips.fpu", types: &[], registers: &fpu(64, "ieee_double") };

static LINUX32: Feature = Feature {
    name: "org.gnu.gdb.mips.linux",
    types: &[],
    registers: &[named(&["restart"], 32, "int").at(72).in_group("system")],
};
static LINUX64: Feature = Feature {
    name: "org.gnu.gdb.mips.linux",
    types: &[],
    registers: &[named(&["restart"], 64, "int").at(72).in_group("system")],
};

// Without a description gdb reads 90 registers; what the last 18 are depends on the processor (mips-tdep.c,
// `mips_generic_reg_names` and its like).
static UNNAMED32: Feature = Feature {
    name: "traceframe.mips.unnamed",
    types: &[],
    registers: &[numbered("unnamed", 72, 89, 32, "int").at(72)],
};
static UNNAMED64: Feature = Feature {
    name: "traceframe.mips.unnamed",
    types: &[],
    registers: &[numbered("unnamed", 72, 89, 64, "int").at(72)],
};
