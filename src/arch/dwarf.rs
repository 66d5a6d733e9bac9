//! The numbers that DWARF gives registers, as far as call frame information uses them: general registers.
//!
//! From the ABI supplements of the processors (System V ABI for AMD64, figure 3.36, and Intel386; DWARF for the Arm
//! Architecture and for the Arm 64-bit Architecture; RISC-V ELF psABI; Power ELF V1 and V2; MIPS; IBM Z ELF ABI).

use super::Machine;
use object::elf;

/// The numbers of the registers that a function's frame is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRegisters {
    /// The frame pointer, by the habit of compilers where the ABI names none.
    pub frame_pointer: u16,
    /// The stack pointer.
    pub stack_pointer: u16,
}

impl Machine {
    /// The number of the register in which a call leaves the return address; `None` where it is put on the stack, or where
    /// that is not known here.
    pub fn link_register(&self) -> Option<u16> {
        Some(match elf::Machine(self.elf_machine) {
            elf::EM_AARCH64 => 30,
            elf::EM_ARM => 14,
            elf::EM_RISCV => 1,
            _ => return None,
        })
    }

    /// The numbers of the frame pointer and the stack pointer; `None` where they are not known here.
    pub fn frame_registers(&self) -> Option<FrameRegisters> {
        let (frame_pointer, stack_pointer) = match elf::Machine(self.elf_machine) {
            elf::EM_X86_64 => (6, 7),
            elf::EM_386 => (5, 4),
            elf::EM_AARCH64 => (29, 31),
            elf::EM_ARM => (11, 13),
            elf::EM_RISCV => (8, 2),
            elf::EM_PPC | elf::EM_PPC64 => (31, 1),
            elf::EM_S390 => (11, 15),
            _ => return None,
        };
        Some(FrameRegisters { frame_pointer, stack_pointer })
    }
}

/// gdb's name of the register that has this number in DWARF on an architecture of gdb's name; `None` where there is none,
/// or it is no general register.
pub(super) fn register_name(architecture: &str, number: u16) -> Option<String> {
    const X86_64: [&str; 8] = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"];
    const I386: [&str; 8] = ["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"];
    const RISCV: [&str; 32] = [
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
        "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    ];
    let named = |names: &[&str]| names.get(usize::from(number)).map(|name| (*name).to_owned());
    let numbered = |letter: &str, count| (number < count).then(|| format!("{letter}{number}"));
    match architecture {
        "i386:x86-64" | "i386:x64-32" => named(&X86_64).or_else(|| numbered("r", 16)),
        "aarch64" | "aarch64:ilp32" => numbered("x", 31).or_else(|| (number == 31).then(|| "sp".to_owned())),
        _ => match architecture.split(':').next()? {
            "i386" => named(&I386),
            arm if arm.starts_with("arm") => numbered("r", 13).or_else(|| {
                let names = [(13, "sp"), (14, "lr")];
                names.iter().find(|(found, _)| *found == number).map(|(_, name)| (*name).to_owned())
            }),
            "riscv" => named(&RISCV),
            "powerpc" | "rs6000" | "mips" => numbered("r", 32),
            "s390" => numbered("r", 16),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_has_its_own_order() {
        for (architecture, number, name) in [
            ("i386:x86-64", 1, Some("rdx")),
            ("i386:x86-64", 10, Some("r10")),
            ("i386:x86-64", 16, None),
            ("i386", 5, Some("ebp")),
            ("aarch64", 29, Some("x29")),
            ("aarch64", 31, Some("sp")),
            ("armv7", 11, Some("r11")),
            ("arm", 13, Some("sp")),
            ("riscv:rv64", 8, Some("fp")),
            ("powerpc:common64", 31, Some("r31")),
            ("s390:64-bit", 15, Some("r15")),
            ("", 0, None),
        ] {
            assert_eq!(register_name(architecture, number).as_deref(), name, "{architecture} {number}");
        }
    }

    #[test]
    fn the_names_are_those_of_the_built_in_descriptions() {
        let mut known = 0;
        for built_in in super::super::built_in() {
            let architecture = super::super::builtin::find(built_in.architecture).unwrap().gdb;
            for name in (0..40).filter_map(|number| register_name(architecture, number)) {
                assert!(built_in.layout.by_name(&name).is_some(), "{}: {name}", built_in.architecture);
                known += 1;
            }
        }
        assert!(known > 200, "{known}");
    }
}
