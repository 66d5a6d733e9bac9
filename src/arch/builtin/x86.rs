//! x86: the registers that gdb and gdbserver use on GNU/Linux and on bare machines.

use super::table::{Architecture, Feature, Run, Type, Variant, named, numbered};

pub(super) static X86_64: Architecture = Architecture {
    name: "x86-64",
    gdb: "i386:x86-64",
    aliases: &["i386:x86-64:intel", "x86_64", "amd64"],
    osabi: None,
    address_size: 8,
    variants: &[
        Variant { what: "with SSE, as on GNU/Linux", features: &[&CORE64, &SSE64, &LINUX64, &SEGMENTS] },
        Variant { what: "with SSE", features: &[&CORE64, &SSE64] },
        Variant { what: "with SSE and orig_rax", features: &[&CORE64, &SSE64, &LINUX64] },
        Variant { what: "with SSE, fs_base and gs_base", features: &[&CORE64, &SSE64, &SEGMENTS] },
        Variant { what: "with AVX, as on GNU/Linux", features: &[&CORE64, &SSE64, &LINUX64, &SEGMENTS, &AVX64] },
        Variant { what: "with AVX", features: &[&CORE64, &SSE64, &AVX64] },
        Variant { what: "with AVX and orig_rax", features: &[&CORE64, &SSE64, &LINUX64, &AVX64] },
        Variant { what: "with AVX, fs_base and gs_base", features: &[&CORE64, &SSE64, &SEGMENTS, &AVX64] },
        Variant {
            what: "with AVX-512, as on GNU/Linux",
            features: &[&CORE64, &SSE64, &LINUX64, &SEGMENTS, &AVX64, &AVX512_64],
        },
        Variant {
            what: "with AVX-512 and protection keys, as on GNU/Linux",
            features: &[&CORE64, &SSE64, &LINUX64, &SEGMENTS, &AVX64, &AVX512_64, &PROTECTION_KEYS],
        },
    ],
};

/// x86-64 with pointers of 32 bits.
pub(super) static X32: Architecture = Architecture {
    name: "x32",
    gdb: "i386:x64-32",
    aliases: &["i386:x64-32:intel"],
    osabi: None,
    address_size: 4,
    variants: &[
        Variant { what: "with SSE, as on GNU/Linux", features: &[&CORE_X32, &SSE64, &LINUX64, &SEGMENTS] },
        Variant { what: "with AVX, as on GNU/Linux", features: &[&CORE_X32, &SSE64, &LINUX64, &SEGMENTS, &AVX64] },
        Variant {
            what: "with AVX-512, as on GNU/Linux",
            features: &[&CORE_X32, &SSE64, &LINUX64, &SEGMENTS, &AVX64, &AVX512_64],
        },
    ],
};

pub(super) static I386: Architecture = Architecture {
    name: "i386",
    gdb: "i386",
    aliases: &["i386:intel", "x86", "i486", "i586", "i686"],
    osabi: None,
    address_size: 4,
    variants: &[
        Variant { what: "with SSE, as on GNU/Linux", features: &[&CORE32, &SSE32, &LINUX32] },
        Variant { what: "without SSE", features: &[&CORE32] },
        Variant { what: "without SSE, as on GNU/Linux", features: &[&CORE32, &LINUX32] },
        Variant { what: "with SSE", features: &[&CORE32, &SSE32] },
        Variant { what: "with AVX", features: &[&CORE32, &SSE32, &AVX32] },
        Variant { what: "with AVX, as on GNU/Linux", features: &[&CORE32, &SSE32, &LINUX32, &AVX32] },
        Variant { what: "with AVX-512, as on GNU/Linux", features: &[&CORE32, &SSE32, &LINUX32, &AVX32, &AVX512_32] },
        Variant {
            what: "with AVX-512 and protection keys, as on GNU/Linux",
            features: &[&CORE32, &SSE32, &LINUX32, &AVX32, &AVX512_32, &PROTECTION_KEYS],
        },
    ],
};

const EFLAGS: Type = Type::Flags(
    "i386_eflags",
    &[
        ("CF", 0),
        ("", 1),
        ("PF", 2),
        ("AF", 4),
        ("ZF", 6),
        ("SF", 7),
        ("TF", 8),
        ("IF", 9),
        ("DF", 10),
        ("OF", 11),
        ("NT", 14),
        ("RF", 16),
        ("VM", 17),
        ("AC", 18),
        ("VIF", 19),
        ("VIP", 20),
        ("ID", 21),
    ],
);

const SELECTORS: Run = named(&["cs", "ss", "ds", "es", "fs", "gs"], 32, "int32");
const X87: Run = numbered("st", 0, 7, 80, "i387_ext");
const X87_CONTROL: Run =
    named(&["fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop"], 32, "int").in_group("float");

static CORE64: Feature = Feature {
    name: "org.gnu.gdb.i386.core",
    types: &[EFLAGS],
    registers: &[
        named(&["rax", "rbx", "rcx", "rdx", "rsi", "rdi"], 64, "int64"),
        named(&["rbp", "rsp"], 64, "data_ptr"),
        numbered("r", 8, 15, 64, "int64"),
        named(&["rip"], 64, "code_ptr"),
        named(&["eflags"], 32, "i386_eflags"),
        SELECTORS,
        X87,
        X87_CONTROL,
    ],
};

// Pointers have 32 bits here, and the registers 64: their types cannot be pointers.
static CORE_X32: Feature = Feature {
    name: "org.gnu.gdb.i386.core",
    types: &[EFLAGS],
    registers: &[
        named(&["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp"], 64, "int64"),
        numbered("r", 8, 15, 64, "int64"),
        named(&["rip"], 64, "uint64"),
        named(&["eflags"], 32, "i386_eflags"),
        SELECTORS,
        X87,
        X87_CONTROL,
    ],
};

static CORE32: Feature = Feature {
    name: "org.gnu.gdb.i386.core",
    types: &[EFLAGS],
    registers: &[
        named(&["eax", "ecx", "edx", "ebx"], 32, "int32"),
        named(&["esp", "ebp"], 32, "data_ptr"),
        named(&["esi", "edi"], 32, "int32"),
        named(&["eip"], 32, "code_ptr"),
        named(&["eflags"], 32, "i386_eflags"),
        SELECTORS,
        X87,
        X87_CONTROL,
    ],
};

const V4F: Type = Type::Vector("v4f", "ieee_single", 4);
const V2D: Type = Type::Vector("v2d", "ieee_double", 2);
const V16I8: Type = Type::Vector("v16i8", "int8", 16);
const V8I16: Type = Type::Vector("v8i16", "int16", 8);
const V4I32: Type = Type::Vector("v4i32", "int32", 4);
const V2I64: Type = Type::Vector("v2i64", "int64", 2);
const VEC128: Type = Type::Union(
    "vec128",
    &[
        ("v4_float", "v4f"),
        ("v2_double", "v2d"),
        ("v16_int8", "v16i8"),
        ("v8_int16", "v8i16"),
        ("v4_int32", "v4i32"),
        ("v2_int64", "v2i64"),
        ("uint128", "uint128"),
    ],
);
const V2UI128: Type = Type::Vector("v2ui128", "uint128", 2);
const MXCSR: Type = Type::Flags(
    "i386_mxcsr",
    &[
        ("IE", 0),
        ("DE", 1),
        ("ZE", 2),
        ("OE", 3),
        ("UE", 4),
        ("PE", 5),
        ("DAZ", 6),
        ("IM", 7),
        ("DM", 8),
        ("ZM", 9),
        ("OM", 10),
        ("UM", 11),
        ("PM", 12),
        ("FZ", 15),
    ],
);

const fn sse(last: usize) -> [Run; 2] {
    [numbered("xmm", 0, last, 128, "vec128"), named(&["mxcsr"], 32, "i386_mxcsr").in_group("vector")]
}

static SSE64: Feature = Feature {
    name: "org.gnu.gdb.i386.sse",
    types: &[V4F, V2D, V16I8, V8I16, V4I32, V2I64, VEC128, MXCSR],
    registers: &sse(15),
};

static SSE32: Feature = Feature {
    name: "org.gnu.gdb.i386.sse",
    types: &[V4F, V2D, V16I8, V8I16, V4I32, V2I64, VEC128, MXCSR],
    registers: &sse(7),
};

static LINUX64: Feature =
    Feature { name: "org.gnu.gdb.i386.linux", types: &[], registers: &[named(&["orig_rax"], 64, "int")] };

static LINUX32: Feature =
    Feature { name: "org.gnu.gdb.i386.linux", types: &[], registers: &[named(&["orig_eax"], 32, "int")] };

static SEGMENTS: Feature =
    Feature { name: "org.gnu.gdb.i386.segments", types: &[], registers: &[named(&["fs_base", "gs_base"], 64, "int")] };

static AVX64: Feature = Feature {
    name: "org.gnu.gdb.i386.avx",
    types: &[],
    registers: &[numbered("ymm", 0, 15, 128, "uint128").ending_in("h")],
};

static AVX32: Feature = Feature {
    name: "org.gnu.gdb.i386.avx",
    types: &[],
    registers: &[numbered("ymm", 0, 7, 128, "uint128").ending_in("h")],
};

static AVX512_64: Feature = Feature {
    name: "org.gnu.gdb.i386.avx512",
    types: &[V4F, V2D, V16I8, V8I16, V4I32, V2I64, VEC128, V2UI128],
    registers: &[
        numbered("xmm", 16, 31, 128, "vec128"),
        numbered("ymm", 16, 31, 128, "uint128").ending_in("h"),
        numbered("k", 0, 7, 64, "uint64"),
        numbered("zmm", 0, 31, 256, "v2ui128").ending_in("h"),
    ],
};

static AVX512_32: Feature = Feature {
    name: "org.gnu.gdb.i386.avx512",
    types: &[V2UI128],
    registers: &[numbered("k", 0, 7, 64, "uint64"), numbered("zmm", 0, 7, 256, "v2ui128").ending_in("h")],
};

static PROTECTION_KEYS: Feature =
    Feature { name: "org.gnu.gdb.i386.pkeys", types: &[], registers: &[named(&["pkru"], 32, "uint32")] };
