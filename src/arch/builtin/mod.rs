//! The tables of this program: register sets of gdb and gdbserver, for recordings that hold no description.
//!
//! A variant of an architecture is one table; the XML is written from it, and the layout read from the XML.

mod aarch64;
mod arm;
mod mips;
mod nios2;
mod powerpc;
mod riscv;
mod s390;
mod table;
mod x86;

use super::description::Description;
use super::layout::Layout;
pub(super) use table::Architecture;
use table::Variant;

/// All tables. One with names that are a special case of another's comes before it.
static ARCHITECTURES: [&Architecture; 15] = [
    &x86::X86_64,
    &x86::X32,
    &x86::I386,
    &aarch64::AARCH64,
    &aarch64::AARCH64_ILP32,
    &arm::ARM_M,
    &arm::ARM,
    &riscv::RISCV32,
    &riscv::RISCV64,
    &powerpc::POWERPC64,
    &powerpc::POWERPC,
    &mips::MIPS,
    &mips::MIPS64,
    &s390::S390X,
    &nios2::NIOS2,
];

/// The names of the built-in architectures, for `--arch`. gdb's own names are understood, too.
pub fn names() -> impl Iterator<Item = &'static str> {
    ARCHITECTURES.iter().map(|architecture| architecture.name)
}

/// The table of this name: this program's, gdb's, or another usual one.
pub(super) fn find(name: &str) -> Option<&'static Architecture> {
    let exact = ARCHITECTURES.iter().find(|architecture| architecture.name == name);
    exact.or_else(|| ARCHITECTURES.iter().find(|architecture| architecture.is_called(name))).copied()
}

/// A built-in target description.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    /// The architecture, one of [`names`].
    pub architecture: &'static str,
    /// What sets the register set apart from others of the architecture, in words: `with AVX`.
    pub variant: &'static str,
    /// The XML for gdb.
    pub xml: String,
    /// The layout of the `g` reply.
    pub layout: Layout,
}

/// All built-in target descriptions. The first of an architecture is the one that gdb takes without a description.
pub fn all() -> impl Iterator<Item = BuiltIn> {
    candidates().filter_map(Candidate::build)
}

/// All of them, before any is built.
pub(super) fn candidates() -> impl Iterator<Item = Candidate> {
    ARCHITECTURES.iter().flat_map(|architecture| of(architecture))
}

/// The candidates of one architecture.
pub(super) fn of(architecture: &'static Architecture) -> impl Iterator<Item = Candidate> {
    architecture.variants.iter().map(move |variant| Candidate { architecture, variant })
}

/// A variant of an architecture, from which a description can be built.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    /// The architecture.
    pub architecture: &'static Architecture,
    /// One of its variants.
    pub variant: &'static Variant,
}

impl Candidate {
    /// The description. A test holds that every table gives a layout.
    pub fn build(self) -> Option<BuiltIn> {
        let Candidate { architecture, variant } = self;
        let xml = architecture.xml(variant);
        let layout = Description::parse(&xml).ok()?.layout(architecture.gdb).ok()?;
        Some(BuiltIn { architecture: architecture.name, variant: variant.what, xml, layout })
    }
}

/// The description among `candidates` for register blocks of this size: the one with exactly this size, else the
/// shortest that is longer. Without a size, and with blocks of no bytes, the first.
pub(super) fn fitting(candidates: &[Candidate], block_size: Option<usize>) -> Result<BuiltIn, Misfit> {
    let sizes = || candidates.iter().map(|candidate| candidate.variant.block_size());
    let chosen = match block_size {
        None | Some(0) => candidates.first(),
        Some(size) => {
            let long_enough = candidates.iter().zip(sizes()).filter(|(_, length)| *length >= size);
            long_enough.min_by_key(|(_, length)| *length).map(|(candidate, _)| candidate)
        }
    };
    chosen.and_then(|candidate| candidate.build()).ok_or_else(|| Misfit { longest: sizes().max().unwrap_or(0) })
}

/// No variant of an architecture has registers enough for a register block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// The size of the longest variant in bytes.
    pub(super) longest: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_gives_a_layout_with_roles() {
        for architecture in ARCHITECTURES {
            for candidate in of(architecture) {
                let one = candidate.build().unwrap();
                assert_eq!(one.layout.size(), candidate.variant.block_size(), "{} {}", one.architecture, one.variant);
                for register in one.layout.registers() {
                    assert_eq!(candidate.variant.size_of(&register.name), Some(register.size), "{}", register.name);
                }
                let names: Vec<_> = one.layout.registers().iter().map(|register| &register.name).collect();
                assert_eq!(
                    names.iter().collect::<std::collections::HashSet<_>>().len(),
                    names.len(),
                    "{} {}",
                    one.architecture,
                    one.variant
                );
                assert!(one.layout.sp().is_some());
            }
        }
    }

    #[test]
    fn a_size_means_one_variant() {
        for architecture in ARCHITECTURES {
            let mut sizes: Vec<_> = of(architecture).map(|one| one.variant.block_size()).collect();
            let count = sizes.len();
            sizes.sort_unstable();
            sizes.dedup();
            assert_eq!(sizes.len(), count, "{}: {sizes:?}", architecture.name);
        }
    }

    #[test]
    fn sizes_are_those_that_gdb_and_gdbserver_send() {
        let sizes = |name: &str| of(find(name).unwrap()).map(|one| one.variant.block_size()).collect::<Vec<_>>();
        assert_eq!(sizes("x86-64"), [560, 536, 544, 552, 816, 792, 800, 808, 2416, 2420]);
        assert_eq!(sizes("i386"), [312, 176, 180, 308, 436, 440, 760, 764]);
        assert_eq!(sizes("aarch64"), [788, 268, 796, 804, 812]);
        assert_eq!(sizes("arm"), [168, 68, 200, 204, 328, 332]);
        assert_eq!(sizes("riscv32"), [132, 272, 400]);
        assert_eq!(sizes("riscv64"), [264, 404, 532]);
        assert_eq!(sizes("powerpc"), [932, 152, 412, 420, 940, 1188, 1196]);
        assert_eq!(sizes("powerpc64"), [1076, 296, 556, 572, 1092, 1332, 1348]);
        assert_eq!(sizes("mips"), [288, 292, 360]);
        assert_eq!(sizes("mips64"), [576, 584, 720]);
        assert_eq!(sizes("s390x"), [348, 340, 356, 360]);
        assert_eq!(sizes("nios2"), [196]);
    }

    #[test]
    fn roles_and_places() {
        let places = |name: &str| {
            let one = of(find(name).unwrap()).next().unwrap().build().unwrap().layout;
            let sp = one.sp().unwrap().clone();
            (one.pc().name.clone(), one.pc().offset, sp.name, sp.offset)
        };
        let is = |pc: &str, at: usize, sp: &str, sp_at: usize| (pc.to_owned(), at, sp.to_owned(), sp_at);
        assert_eq!(places("x86-64"), is("rip", 128, "rsp", 56));
        assert_eq!(places("i386"), is("eip", 32, "esp", 16));
        assert_eq!(places("aarch64"), is("pc", 256, "sp", 248));
        assert_eq!(places("arm"), is("pc", 60, "sp", 52));
        assert_eq!(places("arm-m"), is("pc", 60, "sp", 52));
        assert_eq!(places("riscv64"), is("pc", 256, "sp", 16));
        assert_eq!(places("powerpc"), is("pc", 384, "r1", 4));
        assert_eq!(places("powerpc64"), is("pc", 512, "r1", 8));
        assert_eq!(places("mips"), is("pc", 148, "r29", 116));
        assert_eq!(places("mips64"), is("pc", 296, "r29", 232));
        assert_eq!(places("s390x"), is("pswa", 8, "r15", 136));
        assert_eq!(places("nios2"), is("pc", 128, "sp", 108));
    }

    #[test]
    fn names_of_gdb_and_of_others_are_understood() {
        let understood = [
            ("i386:x86-64", "x86-64"),
            ("amd64", "x86-64"),
            ("armv7e-m", "arm-m"),
            ("armv8-a", "arm"),
            ("powerpc:common", "powerpc"),
            ("powerpc:e500", "powerpc"),
            ("powerpc:e5500", "powerpc64"),
            ("mips", "mips"),
            ("mips:isa32r2", "mips"),
            ("mips:isa64r2", "mips64"),
            ("s390:64-bit", "s390x"),
        ];
        for (name, table) in understood {
            assert_eq!(find(name).map(|found| found.name), Some(table), "{name}");
        }
        for name in names() {
            assert_eq!(find(name).unwrap().name, name);
        }
        assert!(find("riscv").is_none() && find("").is_none() && find("s390:31-bit").is_none());
    }

    #[test]
    fn the_best_variant_for_a_block() {
        let size = |block| {
            let candidates: Vec<_> = of(&x86::X86_64).collect();
            fitting(&candidates, block).map(|one| one.layout.size()).map_err(|misfit| misfit.longest)
        };
        assert_eq!(size(None), Ok(560));
        assert_eq!(size(Some(0)), Ok(560));
        assert_eq!(size(Some(536)), Ok(536));
        assert_eq!(size(Some(164)), Ok(536));
        assert_eq!(size(Some(817)), Ok(2416));
        assert_eq!(size(Some(2421)), Err(2420));
    }
}
