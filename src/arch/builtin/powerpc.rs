//! PowerPC with 32 and 64 bits. The registers that only GNU/Linux gives lie before the vectors.

use super::table::{Architecture, Feature, Run, Type, Variant, named, numbered};

pub(super) static POWERPC: Architecture = Architecture {
    name: "powerpc",
    gdb: "powerpc:common",
    aliases: &["ppc", "ppc32", "powerpc:*"],
    osabi: None,
    address_size: 4,
    variants: &[
        Variant { what: "with AltiVec", features: &[&CORE32, &FPU, &ALTIVEC] },
        Variant { what: "without floating point", features: &[&CORE32] },
        Variant { what: "with floating point", features: &[&CORE32, &FPU] },
        Variant { what: "with floating point, as on GNU/Linux", features: &[&CORE32, &FPU, &LINUX32] },
        Variant { what: "with AltiVec, as on GNU/Linux", features: &[&CORE32, &FPU, &LINUX32, &ALTIVEC] },
        Variant { what: "with VSX", features: &[&CORE32, &FPU, &ALTIVEC, &VSX] },
        Variant { what: "with VSX, as on GNU/Linux", features: &[&CORE32, &FPU, &LINUX32, &ALTIVEC, &VSX] },
    ],
};

pub(super) static POWERPC64: Architecture = Architecture {
    name: "powerpc64",
    gdb: "powerpc:common64",
    aliases: &[
        "ppc64",
        "ppc64le",
        "powerpc64le",
        "powerpc:620",
        "powerpc:630",
        "powerpc:a35",
        "powerpc:rs64*",
        "powerpc:e500mc64",
        "powerpc:e5500",
        "powerpc:e6500",
    ],
    osabi: None,
    address_size: 8,
    variants: &[
        Variant { what: "with AltiVec", features: &[&CORE64, &FPU, &ALTIVEC] },
        Variant { what: "without floating point", features: &[&CORE64] },
        Variant { what: "with floating point", features: &[&CORE64, &FPU] },
        Variant { what: "with floating point, as on GNU/Linux", features: &[&CORE64, &FPU, &LINUX64] },
        Variant { what: "with AltiVec, as on GNU/Linux", features: &[&CORE64, &FPU, &LINUX64, &ALTIVEC] },
        Variant { what: "with VSX", features: &[&CORE64, &FPU, &ALTIVEC, &VSX] },
        Variant { what: "with VSX, as on GNU/Linux", features: &[&CORE64, &FPU, &LINUX64, &ALTIVEC, &VSX] },
    ],
};

const fn core(bits: usize, kind: &'static str) -> [Run; 7] {
    [
        numbered("r", 0, 31, bits, kind),
        named(&["pc"], bits, "code_ptr").at(64),
        named(&["msr"], bits, kind),
        named(&["cr"], 32, "uint32"),
        named(&["lr"], bits, "code_ptr"),
        named(&["ctr"], bits, kind),
        named(&["xer"], 32, "uint32"),
    ]
}

static CORE32: Feature = Feature { name: "org.gnu.gdb.power.core", types: &[], registers: &core(32, "uint32") };
static CORE64: Feature = Feature { name: "org.gnu.gdb.power.core", types: &[], registers: &core(64, "uint64") };

static FPU: Feature = Feature {
    name: "org.gnu.gdb.power.fpu",
    types: &[],
    registers: &[numbered("f", 0, 31, 64, "ieee_double").at(32), named(&["fpscr"], 32, "int").at(70).in_group("float")],
};

static LINUX32: Feature = Feature {
    name: "org.gnu.gdb.power.linux",
    types: &[],
    registers: &[named(&["orig_r3", "trap"], 32, "int").at(71)],
};
static LINUX64: Feature = Feature {
    name: "org.gnu.gdb.power.linux",
    types: &[],
    registers: &[named(&["orig_r3", "trap"], 64, "int").at(71)],
};

static ALTIVEC: Feature = Feature {
    name: "org.gnu.gdb.power.altivec",
    types: &[
        Type::Vector("v4f", "ieee_single", 4),
        Type::Vector("v4i32", "int32", 4),
        Type::Vector("v8i16", "int16", 8),
        Type::Vector("v16i8", "int8", 16),
        Type::Union(
            "vec128",
            &[
                ("uint128", "uint128"),
                ("v4_float", "v4f"),
                ("v4_int32", "v4i32"),
                ("v8_int16", "v8i16"),
                ("v16_int8", "v16i8"),
            ],
        ),
    ],
    registers: &[numbered("vr", 0, 31, 128, "vec128"), named(&["vscr", "vrsave"], 32, "int").in_group("vector")],
};

static VSX: Feature = Feature {
    name: "org.gnu.gdb.power.vsx",
    types: &[],
    registers: &[numbered("vs", 0, 31, 64, "uint64").ending_in("h")],
};
