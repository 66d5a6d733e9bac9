//! The machine that was recorded: its registers, their order and sizes, which one is the program counter.
//!
//! Owns: the target description, from the recording, from an option, or built in; one table gives the XML, the
//! order and size of registers in `g`, and the roles of registers.
//! Knows nothing of traces, images and packets.
//!
//! Invariant: the layout and the description that gdb is given come from the same table.

mod addresses;
mod builtin;
mod description;
mod dwarf;
mod layout;
mod machine;
mod operating_system;
mod resolve;
mod roles;
mod traits;

pub use addresses::Addresses;
pub use builtin::{BuiltIn, all as built_in, names};
pub use description::{DescriptionError, MAXIMUM_DESCRIPTION_LENGTH, with_includes};
pub use dwarf::FrameRegisters;
pub use layout::{Layout, Register};
pub use machine::Machine;
pub use resolve::resolve;

use crate::source::ByteOrder;

/// Where a target description came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The recording holds it.
    Recording,
    /// `--tdesc`.
    Option,
    /// A table of this program, chosen by `--arch` or by the program image's machine.
    BuiltIn,
    /// There is none: registers cannot be told apart.
    None,
}

/// The machine that was recorded.
#[derive(Clone, Debug)]
pub struct Target {
    /// gdb's name of the architecture (`i386:x86-64`); empty where it is not known.
    pub architecture: String,
    /// The order of bytes in registers, memory and the trace frames.
    pub byte_order: ByteOrder,
    /// Size of an address in bytes, 4 or 8.
    pub address_size: usize,
    /// The registers; `None` where no description is known.
    pub layout: Option<Layout>,
    /// The description as XML, as gdb is to get it.
    pub description: Option<String>,
    /// Where the description came from.
    pub origin: Origin,
    /// Whether a program image was given that is for another machine: it cannot be the program that was recorded.
    pub image_is_foreign: bool,
}

impl Target {
    /// How its addresses are written.
    pub fn addresses(&self) -> Addresses {
        Addresses { size: self.address_size, is_signed: traits::is_mips(&self.architecture) }
    }

    /// The register that has this number in DWARF, if it is a general register of the description.
    pub fn dwarf_register(&self, number: u16) -> Option<&Register> {
        self.layout.as_ref()?.by_name(&dwarf::register_name(&self.architecture, number)?)
    }

    /// What a gdb without the program must be told before it connects, as commands: no description can say it.
    pub fn settings_for_gdb(&self) -> Vec<&'static str> {
        let mut settings = Vec::new();
        // gdb takes the order of the machine it runs on, even where the architecture has only the other one.
        if self.byte_order == ByteOrder::Big {
            settings.push("set endian big");
        }
        // Without a program gdb takes the ABI o32, and cuts registers to 32 bits.
        let wide = self.layout.as_ref().is_some_and(|layout| layout.pc().size == 8);
        if wide && traits::is_mips(&self.architecture) {
            settings.push(if self.address_size == 8 { "set mips abi n64" } else { "set mips abi n32" });
        }
        settings
    }
}

/// What is known about the recorded machine before its target description is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The description in the recording, as XML.
    pub recorded: Option<&'a str>,
    /// The description that the user gives (`--tdesc`), as XML with its includes resolved ([`with_includes`]).
    pub given: Option<&'a str>,
    /// The architecture that the user names (`--arch`): a name of this program's table or gdb's own.
    pub name: Option<&'a str>,
    /// The machine of the program image.
    pub machine: Option<Machine>,
    /// The byte order that the user names (`--endian`).
    pub byte_order: Option<ByteOrder>,
    /// The size of a register block in bytes, as the recording declares it.
    pub block_size: Option<usize>,
}

/// A choice of target description.
#[derive(Clone, Debug)]
pub struct Choice {
    /// gdb's name of the architecture; empty where it is not known.
    pub architecture: String,
    /// The byte order, where the user, the architecture or the image's machine implies one.
    pub byte_order: Option<ByteOrder>,
    /// Size of an address in bytes, 4 or 8.
    pub address_size: usize,
    /// The registers.
    pub layout: Option<Layout>,
    /// The XML for gdb.
    pub description: Option<String>,
    /// Where it came from.
    pub origin: Origin,
    /// Whether a program image was given that is for another machine.
    pub image_is_foreign: bool,
    /// Why the description in the recording could not be used, or not for telling registers apart.
    pub unusable: Option<String>,
    /// What a person should know about the choice. Whole sentences, lower case, no full stop.
    pub remarks: Vec<String>,
}

impl Choice {
    /// The target, once its byte order is known.
    pub fn with_byte_order(self, byte_order: ByteOrder) -> Target {
        Target {
            architecture: self.architecture,
            byte_order,
            address_size: self.address_size,
            layout: self.layout,
            description: self.description,
            origin: self.origin,
            image_is_foreign: self.image_is_foreign,
        }
    }
}

/// Why no target description fits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchError {
    /// `--arch` names nothing that is built in, and there is no other description.
    #[error("--arch: no built-in architecture is called {name:?}, expected one of {known} (or give --tdesc)")]
    UnknownArchitecture {
        /// What the user named.
        name: String,
        /// The names, with commas.
        known: String,
    },
    /// The user's description is wrong.
    #[error("--tdesc: the target description cannot be used, {0}")]
    Given(DescriptionError),
    /// The recording contradicts itself.
    #[error(
        "the target description in the recording lacks registers: they take {registers} bytes, and the register blocks have {block} (give the right one with --tdesc)"
    )]
    RecordedTooShort {
        /// Size of the registers in the description, in bytes.
        registers: usize,
        /// Size of a register block of the recording, in bytes.
        block: usize,
    },
    /// The user's description is not that of the recording.
    #[error(
        "--tdesc: the target description is not that of the recording: its registers take {registers} bytes, and the register blocks have {block} (give one with all registers of the block)"
    )]
    GivenTooShort {
        /// Size of the registers in the description, in bytes.
        registers: usize,
        /// Size of a register block of the recording, in bytes.
        block: usize,
    },
    /// No variant of an architecture has so many registers.
    #[error(
        "no built-in target description of {architecture} fits: the longest has {registers} bytes of registers, and the register blocks have {block} (give the description with --tdesc, or another architecture with --arch)"
    )]
    BuiltInTooShort {
        /// This program's name of the architecture.
        architecture: &'static str,
        /// Size of the registers of the longest variant, in bytes.
        registers: usize,
        /// Size of a register block of the recording, in bytes.
        block: usize,
    },
}

impl ArchError {
    /// Whether the size of the recording's register blocks is what does not fit.
    pub fn is_about_block_size(&self) -> bool {
        match self {
            ArchError::RecordedTooShort { .. }
            | ArchError::GivenTooShort { .. }
            | ArchError::BuiltInTooShort { .. } => true,
            ArchError::UnknownArchitecture { .. } | ArchError::Given(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(name: &str, byte_order: ByteOrder) -> Vec<&'static str> {
        let choice = resolve(&Known { name: Some(name), byte_order: Some(byte_order), ..Known::default() }).unwrap();
        choice.with_byte_order(byte_order).settings_for_gdb()
    }

    #[test]
    fn gdb_must_be_told_a_byte_order_and_an_abi_that_it_would_not_take_itself() {
        for name in ["x86-64", "arm", "aarch64", "riscv64", "powerpc64", "mips"] {
            assert_eq!(settings(name, ByteOrder::Little), [""; 0], "{name}");
        }
        for name in ["arm", "aarch64", "powerpc", "mips", "nios2", "s390x"] {
            assert_eq!(settings(name, ByteOrder::Big), ["set endian big"], "{name}");
        }
        assert_eq!(settings("mips64", ByteOrder::Little), ["set mips abi n64"]);
        assert_eq!(settings("mips64", ByteOrder::Big), ["set endian big", "set mips abi n64"]);
        let n32 = Machine { elf_machine: 8, elf_flags: 0x20, address_size: 4, byte_order: ByteOrder::Big };
        let target =
            resolve(&Known { machine: Some(n32), ..Known::default() }).unwrap().with_byte_order(ByteOrder::Big);
        assert_eq!(target.settings_for_gdb(), ["set endian big", "set mips abi n32"]);
    }
}
