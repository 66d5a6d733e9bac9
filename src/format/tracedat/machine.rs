//! The machine that was recorded, by what uname(2) says; where a recording does not hold that (one that trace-cmd
//! extracted or split), by a function that only one machine's kernel has.

use super::container::Container;
use crate::arch::Machine;
use crate::source::ByteOrder;
use object::elf;

/// uname's names of machines; ELF's number, and the size of an address in bytes. What ends in `*` begins so.
const MACHINES: &[(&str, elf::Machine, usize)] = &[
    ("x86_64", elf::EM_X86_64, 8),
    ("i386", elf::EM_386, 4),
    ("i486", elf::EM_386, 4),
    ("i586", elf::EM_386, 4),
    ("i686", elf::EM_386, 4),
    ("aarch64*", elf::EM_AARCH64, 8),
    ("arm*", elf::EM_ARM, 4),
    ("riscv64", elf::EM_RISCV, 8),
    ("riscv32", elf::EM_RISCV, 4),
    ("ppc64*", elf::EM_PPC64, 8),
    ("ppc*", elf::EM_PPC, 4),
    ("s390x", elf::EM_S390, 8),
    ("mips64*", elf::EM_MIPS, 8),
    ("mips*", elf::EM_MIPS, 4),
];

/// The kernel's entries for system calls or traps that no other machine has, and uname's name of the machine (in
/// `arch`: `x86/entry/entry_64.S`, `x86/entry/entry_32.S`, `arm64/kernel`, `arm/kernel/entry-common.S`,
/// `riscv/kernel/traps.c`). A kernel for 64 bits has its own beside that for programs of 32.
const ENTRIES: &[(&str, usize, &str)] = &[
    ("entry_SYSCALL_64", 8, "x86_64"),
    ("entry_INT80_32", 4, "i686"),
    ("el0_svc", 8, "aarch64"),
    ("vector_swi", 4, "armv7l"),
    ("do_trap_insn_illegal", 8, "riscv64"),
    ("do_trap_insn_illegal", 4, "riscv32"),
];

/// The machine by its kernel's functions, and a sentence that says so.
pub(super) fn of_symbols(container: &Container, long: usize, byte_order: ByteOrder) -> Option<(Machine, String)> {
    let known = |name: &str| ENTRIES.iter().find(|(entry, size, _)| *entry == name && *size == long);
    let (entry, _, uname) = container.kallsyms()?.symbols().find_map(|symbol| known(symbol.name))?;
    let remark = format!(
        "the recording does not say which machine it is of: taken as {uname}, whose kernel alone has the function {entry}"
    );
    Some((of_uname(uname, byte_order)?, remark))
}

/// The machine that has gdb's name of an architecture.
pub(super) fn of_architecture(name: &str, byte_order: ByteOrder) -> Option<Machine> {
    let mut machines = MACHINES.iter().filter_map(|(uname, ..)| of_uname(uname.trim_end_matches('*'), byte_order));
    machines.find(|machine| machine.gdb_architecture() == Some(name))
}

/// The machine of a line of uname(2), such as `Linux host 6.18.44 x86_64`.
pub(super) fn of_uname(uname: &str, byte_order: ByteOrder) -> Option<Machine> {
    uname.split_whitespace().rev().find_map(|word| {
        let fits = |name: &&str| match name.strip_suffix('*') {
            Some(start) => word.starts_with(start),
            None => word == *name,
        };
        let (_, elf_machine, address_size) = MACHINES.iter().find(|(name, ..)| fits(name))?;
        Some(Machine { elf_machine: elf_machine.0, elf_flags: 0, address_size: *address_size, byte_order })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_the_last_word_that_is_one() {
        for (uname, machine) in [
            ("Linux vm 6.18.44 x86_64", Some((62, 8))),
            ("Linux armada 5.10 aarch64", Some((183, 8))),
            ("Linux pi 5.10.0-rpi armv7l", Some((40, 4))),
            ("Linux x86_64 6.1 ppc64le", Some((21, 8))),
            ("Linux vm 6.18.44 sparc", None),
            ("", None),
        ] {
            let found = of_uname(uname, ByteOrder::Little);
            assert_eq!(found.map(|found| (found.elf_machine, found.address_size)), machine, "{uname}");
        }
    }
}
