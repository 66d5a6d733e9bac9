//! ARM with 32 bits: application and real-time profiles, and the microcontroller profile.

use super::table::{Architecture, Feature, Run, Variant, named, numbered};

pub(super) static ARM: Architecture = Architecture {
    name: "arm",
    gdb: "arm",
    aliases: &["armv2*", "armv3*", "armv4*", "armv5*", "armv6*", "armv7*", "armv8-*", "armv9-*", "xscale", "iwmmxt*"],
    osabi: None,
    address_size: 4,
    variants: &[
        Variant { what: "with the registers of the old FPA", features: &[&CORE, &FPA] },
        Variant { what: "without floating point", features: &[&CORE] },
        Variant { what: "with 16 floating-point registers", features: &[&CORE, &VFP_D16] },
        Variant { what: "with 16 floating-point registers and the thread pointer", features: &[&CORE, &VFP_D16, &TLS] },
        Variant { what: "with 32 floating-point registers", features: &[&CORE, &VFP_D32] },
        Variant { what: "with 32 floating-point registers and the thread pointer", features: &[&CORE, &VFP_D32, &TLS] },
    ],
};

/// Cortex-M and its like. An ELF file's header does not tell it from the other profiles.
pub(super) static ARM_M: Architecture = Architecture {
    name: "arm-m",
    gdb: "arm",
    aliases: &[
        "armv6-m",
        "armv6s-m",
        "armv7-m",
        "armv7e-m",
        "armv8-m.base",
        "armv8-m.main",
        "armv8.1-m.main",
        "cortex-m",
    ],
    osabi: None,
    address_size: 4,
    variants: &[
        Variant { what: "without floating point", features: &[&M_PROFILE] },
        Variant { what: "with floating point", features: &[&M_PROFILE, &VFP_D16] },
    ],
};

const GENERAL: Run = numbered("r", 0, 12, 32, "uint32");
const STACK_POINTER: Run = named(&["sp"], 32, "data_ptr");
const LINK: Run = named(&["lr"], 32, "int");
const PROGRAM_COUNTER: Run = named(&["pc"], 32, "code_ptr");

// The status register has number 25: 16 to 24 were those of the FPA.
static CORE: Feature = Feature {
    name: "org.gnu.gdb.arm.core",
    types: &[],
    registers: &[GENERAL, STACK_POINTER, LINK, PROGRAM_COUNTER, named(&["cpsr"], 32, "int").at(25)],
};

static M_PROFILE: Feature = Feature {
    name: "org.gnu.gdb.arm.m-profile",
    types: &[],
    registers: &[GENERAL, STACK_POINTER, LINK, PROGRAM_COUNTER, named(&["xpsr"], 32, "int").at(25)],
};

static FPA: Feature = Feature {
    name: "org.gnu.gdb.arm.fpa",
    types: &[],
    registers: &[numbered("f", 0, 7, 96, "arm_fpa_ext").at(16), named(&["fps"], 32, "int")],
};

const fn vfp(last: usize) -> [Run; 2] {
    [numbered("d", 0, last, 64, "ieee_double").at(26), named(&["fpscr"], 32, "int").in_group("float")]
}

static VFP_D16: Feature = Feature { name: "org.gnu.gdb.arm.vfp", types: &[], registers: &vfp(15) };
static VFP_D32: Feature = Feature { name: "org.gnu.gdb.arm.vfp", types: &[], registers: &vfp(31) };

static TLS: Feature =
    Feature { name: "org.gnu.gdb.arm.tls", types: &[], registers: &[named(&["tpidruro"], 32, "data_ptr")] };
