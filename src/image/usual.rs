//! Where Linux places a position-independent program when it does not randomise, as under gdbserver.

use super::Image;
use object::elf;

/// The smallest page size of the machines below, in bytes.
pub(super) const PAGE: u64 = 0x1000;

/// The load biases to be expected of a program that gdbserver started.
///
/// gdbserver switches randomisation off. Linux then maps the program at `ELF_ET_DYN_BASE`
/// (`arch/*/include/asm/elf.h`), rounded down to a page, and since version 5.10 to the alignment of the program's
/// segments (`fs/binfmt_elf.c`, `load_elf_binary`).
pub(super) fn biases(image: &Image) -> Vec<u64> {
    let machine = image.machine();
    let bases: &[u64] = match (elf::Machine(machine.elf_machine), machine.address_size) {
        // Two thirds of 47 bits, less a page.
        (elf::EM_X86_64, 8) => &[0x5555_5555_4aaa],
        // Under a 64-bit kernel as observed; under a 32-bit one as in its source.
        (elf::EM_386, 4) => &[0x5655_5000, 0x40_0000],
        // Two thirds of 48 and of 39 bits.
        (elf::EM_AARCH64, 8) => &[0xaaaa_aaaa_aaaa, 0x55_5555_5555],
        (elf::EM_ARM | elf::EM_PPC, 4) => &[0x40_0000],
        (elf::EM_PPC64, 8) => &[0x1_0000_0000],
        // Two thirds of 42 bits, rounded down to 4 GiB.
        (elf::EM_S390, 8) => &[0x2aa_0000_0000],
        // Two thirds of 38 bits.
        (elf::EM_RISCV, 8) => &[0x2a_aaaa_aaaa],
        _ => &[],
    };
    let mut biases = Vec::new();
    for base in bases {
        for alignment in [PAGE, image.alignment()] {
            let bias = base & !alignment.saturating_sub(1);
            if !biases.contains(&bias) {
                biases.push(bias);
            }
        }
    }
    biases
}
