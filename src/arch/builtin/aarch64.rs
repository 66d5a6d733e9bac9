//! AArch64 without the scalable vectors, whose size each machine has its own.

use super::table::{Architecture, Feature, Type, Variant, named, numbered};

pub(super) static AARCH64: Architecture = Architecture {
    name: "aarch64",
    gdb: "aarch64",
    aliases: &["arm64", "aarch64:armv8-r"],
    osabi: None,
    address_size: 8,
    variants: VARIANTS,
};

/// AArch64 with pointers of 32 bits.
pub(super) static AARCH64_ILP32: Architecture = Architecture {
    name: "aarch64-ilp32",
    gdb: "aarch64:ilp32",
    aliases: &[],
    // gdb 13 has no convention of GNU/Linux for it, and would say so each time.
    osabi: Some("none"),
    address_size: 4,
    variants: &[
        Variant { what: "with floating point", features: &[&CORE_ILP32, &FPU] },
        Variant { what: "without floating point", features: &[&CORE_ILP32] },
    ],
};

const VARIANTS: &[Variant] = &[
    Variant { what: "with floating point", features: &[&CORE, &FPU] },
    Variant { what: "without floating point", features: &[&CORE] },
    Variant { what: "with floating point and the thread pointer", features: &[&CORE, &FPU, &TLS] },
    Variant {
        what: "with floating point and pointer authentication",
        features: &[&CORE, &FPU, &POINTER_AUTHENTICATION],
    },
    Variant {
        what: "with floating point, pointer authentication and the thread pointer",
        features: &[&CORE, &FPU, &POINTER_AUTHENTICATION, &TLS],
    },
];

const CPSR: Type = Type::Flags(
    "cpsr_flags",
    &[
        ("SP", 0),
        ("", 2),
        ("", 3),
        ("nRW", 4),
        ("F", 6),
        ("I", 7),
        ("A", 8),
        ("D", 9),
        ("", 10),
        ("", 11),
        ("SSBS", 12),
        ("IL", 20),
        ("SS", 21),
        ("PAN", 22),
        ("UAO", 23),
        ("DIT", 24),
        ("TCO", 25),
        ("V", 28),
        ("C", 29),
        ("Z", 30),
        ("N", 31),
    ],
);

static CORE: Feature = Feature {
    name: "org.gnu.gdb.aarch64.core",
    types: &[CPSR],
    registers: &[
        numbered("x", 0, 30, 64, "int"),
        named(&["sp"], 64, "data_ptr"),
        named(&["pc"], 64, "code_ptr"),
        named(&["cpsr"], 32, "cpsr_flags"),
    ],
};

// Pointers have 32 bits here, and the registers 64: their types cannot be pointers.
static CORE_ILP32: Feature = Feature {
    name: "org.gnu.gdb.aarch64.core",
    types: &[CPSR],
    registers: &[
        numbered("x", 0, 30, 64, "int"),
        named(&["sp", "pc"], 64, "uint64"),
        named(&["cpsr"], 32, "cpsr_flags"),
    ],
};

static FPU: Feature = Feature {
    name: "org.gnu.gdb.aarch64.fpu",
    types: &[
        Type::Vector("v2d", "ieee_double", 2),
        Type::Vector("v2u", "uint64", 2),
        Type::Vector("v2i", "int64", 2),
        Type::Vector("v4f", "ieee_single", 4),
        Type::Vector("v4u", "uint32", 4),
        Type::Vector("v4i", "int32", 4),
        Type::Vector("v8u", "uint16", 8),
        Type::Vector("v8i", "int16", 8),
        Type::Vector("v16u", "uint8", 16),
        Type::Vector("v16i", "int8", 16),
        Type::Vector("v1u", "uint128", 1),
        Type::Vector("v1i", "int128", 1),
        Type::Union("vnd", &[("f", "v2d"), ("u", "v2u"), ("s", "v2i")]),
        Type::Union("vns", &[("f", "v4f"), ("u", "v4u"), ("s", "v4i")]),
        Type::Union("vnh", &[("u", "v8u"), ("s", "v8i")]),
        Type::Union("vnb", &[("u", "v16u"), ("s", "v16i")]),
        Type::Union("vnq", &[("u", "v1u"), ("s", "v1i")]),
        Type::Union("aarch64v", &[("d", "vnd"), ("s", "vns"), ("h", "vnh"), ("b", "vnb"), ("q", "vnq")]),
    ],
    registers: &[numbered("v", 0, 31, 128, "aarch64v"), named(&["fpsr", "fpcr"], 32, "int")],
};

static TLS: Feature =
    Feature { name: "org.gnu.gdb.aarch64.tls", types: &[], registers: &[named(&["tpidr"], 64, "data_ptr")] };

static POINTER_AUTHENTICATION: Feature = Feature {
    name: "org.gnu.gdb.aarch64.pauth",
    types: &[],
    registers: &[named(&["pauth_dmask", "pauth_cmask"], 64, "int")],
};
