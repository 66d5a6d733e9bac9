//! From the header of an ELF file to a table of this program.

use super::builtin::{self, Architecture};
use crate::source::ByteOrder;
use object::elf;

/// The machine an ELF file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// `e_machine`.
    pub elf_machine: u16,
    /// `e_flags`.
    pub elf_flags: u32,
    /// Size of an address in bytes, by the file's class: 4 or 8.
    pub address_size: usize,
    /// By the file's data encoding.
    pub byte_order: ByteOrder,
}

impl Machine {
    /// The last address that its addresses can name.
    pub(crate) fn last_address(&self) -> u64 {
        if self.address_size < 8 { u64::from(u32::MAX) } else { u64::MAX }
    }

    /// gdb's name of its architecture (`i386:x86-64`); `None` where this program has no table for it.
    pub(crate) fn gdb_architecture(&self) -> Option<&'static str> {
        self.architecture().map(|found| found.gdb)
    }

    /// The table for this machine; `None` where this program has none.
    pub(super) fn architecture(&self) -> Option<&'static Architecture> {
        let name = match (elf::Machine(self.elf_machine), self.address_size) {
            (elf::EM_386, _) => "i386",
            (elf::EM_X86_64, 4) => "x32",
            (elf::EM_X86_64, _) => "x86-64",
            (elf::EM_AARCH64, 4) => "aarch64-ilp32",
            (elf::EM_AARCH64, _) => "aarch64",
            (elf::EM_ARM, _) => "arm",
            (elf::EM_RISCV, 4) => "riscv32",
            (elf::EM_RISCV, _) => "riscv64",
            (elf::EM_PPC, _) => "powerpc",
            (elf::EM_PPC64, _) => "powerpc64",
            (elf::EM_MIPS, _) if self.has_wide_mips_registers() => "mips64",
            (elf::EM_MIPS, _) => "mips",
            (elf::EM_S390, 8) => "s390x",
            (elf::EM_ALTERA_NIOS2, _) => "nios2",
            _ => return None,
        };
        builtin::find(name)
    }

    /// Whether a MIPS program sees registers of 64 bits: all but the ABIs o32 and EABI32 do.
    ///
    /// Without a flag for the ABI, the class and the instruction set decide (MIPS ABI supplement, `EF_MIPS_*`).
    fn has_wide_mips_registers(&self) -> bool {
        const EF_MIPS_ABI2: u32 = 0x20;
        const EF_MIPS_ABI: u32 = 0xf000;
        const EF_MIPS_ABI_O32: u32 = 0x1000;
        const EF_MIPS_ABI_EABI32: u32 = 0x3000;
        const MIPS_III_IV_V_64_64R2_64R6: [u32; 6] = [2, 3, 4, 6, 8, 10];
        match self.elf_flags & EF_MIPS_ABI {
            _ if self.address_size == 8 || self.elf_flags & EF_MIPS_ABI2 != 0 => true,
            EF_MIPS_ABI_O32 | EF_MIPS_ABI_EABI32 => false,
            0 => MIPS_III_IV_V_64_64R2_64R6.contains(&(self.elf_flags >> 28)),
            _ => true,
        }
    }

    /// The size in bytes of the floating-point registers that gdb demands of a description for this program.
    ///
    /// gdb refuses a RISC-V description with shorter ones than the program's ABI passes arguments in
    /// (riscv-tdep.c, `riscv_gdbarch_init`).
    pub(super) fn float_size(&self) -> usize {
        const EF_RISCV_FLOAT_ABI: u32 = 0x6;
        match (elf::Machine(self.elf_machine), self.elf_flags & EF_RISCV_FLOAT_ABI) {
            (elf::EM_RISCV, 0x2) => 4,
            (elf::EM_RISCV, 0x4 | 0x6) => 8,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(elf_machine: elf::Machine, address_size: usize, elf_flags: u32) -> Option<&'static str> {
        let machine = Machine { elf_machine: elf_machine.0, elf_flags, address_size, byte_order: ByteOrder::Big };
        machine.architecture().map(|found| found.name)
    }

    #[test]
    fn each_machine_has_its_table() {
        let machines = [
            (elf::EM_386, 4, "i386"),
            (elf::EM_X86_64, 8, "x86-64"),
            (elf::EM_X86_64, 4, "x32"),
            (elf::EM_AARCH64, 8, "aarch64"),
            (elf::EM_AARCH64, 4, "aarch64-ilp32"),
            (elf::EM_ARM, 4, "arm"),
            (elf::EM_RISCV, 4, "riscv32"),
            (elf::EM_RISCV, 8, "riscv64"),
            (elf::EM_PPC, 4, "powerpc"),
            (elf::EM_PPC64, 8, "powerpc64"),
            (elf::EM_S390, 8, "s390x"),
            (elf::EM_ALTERA_NIOS2, 4, "nios2"),
        ];
        for (machine, address_size, table) in machines {
            assert_eq!(name(machine, address_size, 0), Some(table));
        }
        assert_eq!(name(elf::EM_S390, 4, 0), None);
        assert_eq!(name(elf::EM_SPARC, 4, 0), None);
    }

    #[test]
    fn mips_registers_are_as_wide_as_the_abi_says() {
        assert_eq!(name(elf::EM_MIPS, 8, 0x6000_0000), Some("mips64"), "n64");
        assert_eq!(name(elf::EM_MIPS, 4, 0x8000_0020), Some("mips64"), "n32");
        assert_eq!(name(elf::EM_MIPS, 4, 0x2000_2000), Some("mips64"), "o64");
        assert_eq!(name(elf::EM_MIPS, 4, 0x8000_1000), Some("mips"), "o32 on a 64-bit processor");
        assert_eq!(name(elf::EM_MIPS, 4, 0x5000_0000), Some("mips"), "no ABI, mips32");
        assert_eq!(name(elf::EM_MIPS, 4, 0xa000_0000), Some("mips64"), "no ABI, mips64r6");
    }
}
