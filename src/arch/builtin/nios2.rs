//! Nios II.

use super::table::{Architecture, Feature, Variant, named, numbered};

pub(super) static NIOS2: Architecture = Architecture {
    name: "nios2",
    gdb: "nios2",
    aliases: &["nios2:r1", "nios2:r2", "nios2el", "nios2eb"],
    osabi: None,
    address_size: 4,
    variants: &[Variant { what: "with control registers", features: &[&CPU] }],
};

static CPU: Feature = Feature {
    name: "org.gnu.gdb.nios2.cpu",
    types: &[],
    registers: &[
        named(&["zero", "at"], 32, "uint32"),
        numbered("r", 2, 23, 32, "uint32"),
        named(&["et", "bt", "gp"], 32, "uint32"),
        named(&["sp"], 32, "data_ptr"),
        named(&["fp", "ea", "sstatus", "ra"], 32, "uint32"),
        named(&["pc"], 32, "code_ptr"),
        named(
            &[
                "status",
                "estatus",
                "bstatus",
                "ienable",
                "ipending",
                "cpuid",
                "ctl6",
                "exception",
                "pteaddr",
                "tlbacc",
                "tlbmisc",
                "eccinj",
                "badaddr",
                "config",
                "mpubase",
                "mpuacc",
            ],
            32,
            "uint32",
        ),
    ],
};
