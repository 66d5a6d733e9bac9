//! z/Architecture with 64 bits, without vector registers.

use super::table::{Architecture, Feature, Variant, named, numbered};

pub(super) static S390X: Architecture = Architecture {
    name: "s390x",
    gdb: "s390:64-bit",
    aliases: &[],
    osabi: None,
    address_size: 8,
    variants: &[
        Variant { what: "as on GNU/Linux", features: &[&CORE, &ACCESS, &FLOAT, &LINUX] },
        Variant { what: "without registers of GNU/Linux", features: &[&CORE, &ACCESS, &FLOAT] },
        Variant { what: "with last_break, as on GNU/Linux", features: &[&CORE, &ACCESS, &FLOAT, &LINUX_1] },
        Variant {
            what: "with last_break and system_call, as on GNU/Linux",
            features: &[&CORE, &ACCESS, &FLOAT, &LINUX_2],
        },
    ],
};

static CORE: Feature = Feature {
    name: "org.gnu.gdb.s390.core",
    types: &[],
    registers: &[named(&["pswm", "pswa"], 64, "uint64"), numbered("r", 0, 15, 64, "uint64")],
};

static ACCESS: Feature =
    Feature { name: "org.gnu.gdb.s390.acr", types: &[], registers: &[numbered("acr", 0, 15, 32, "uint32")] };

static FLOAT: Feature = Feature {
    name: "org.gnu.gdb.s390.fpr",
    types: &[],
    registers: &[named(&["fpc"], 32, "uint32"), numbered("f", 0, 15, 64, "ieee_double")],
};

static LINUX: Feature = Feature {
    name: "org.gnu.gdb.s390.linux",
    types: &[],
    registers: &[named(&["orig_r2"], 64, "uint64").in_group("system")],
};

static LINUX_1: Feature = Feature {
    name: "org.gnu.gdb.s390.linux",
    types: &[],
    registers: &[
        named(&["orig_r2"], 64, "uint64").in_group("system"),
        named(&["last_break"], 64, "code_ptr").in_group("system"),
    ],
};

static LINUX_2: Feature = Feature {
    name: "org.gnu.gdb.s390.linux",
    types: &[],
    registers: &[
        named(&["orig_r2"], 64, "uint64").in_group("system"),
        named(&["last_break"], 64, "code_ptr").in_group("system"),
        named(&["system_call"], 32, "uint32").in_group("system"),
    ],
};
