//! Addresses of 4 bytes, as they are kept here and as gdb writes them.

/// How the addresses of a machine are written.
///
/// gdb keeps the addresses of 32-bit MIPS sign-extended to 8 bytes, in packets and in what it saves: the program
/// counter `80001000` of a register is `ffffffff80001000` there (gdb 13.1: mips-tdep.c, `signed_pointer_to_address`,
/// and for programs BFD's `elf_backend_sign_extend_vma`; seen with gdb-multiarch 13.1). Here such an address is kept as
/// the low 4 bytes, as registers and program images have it, whoever says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Size of an address in bytes, 4 or 8.
    pub size: usize,
    /// Whether gdb writes an address of 4 bytes sign-extended.
    pub is_signed: bool,
}

/// The lowest address whose 8 bytes can be the sign extension of 4.
const LOWEST_EXTENDED: u64 = 0xffff_ffff_8000_0000;

impl Addresses {
    /// The address as it is kept here: without its sign extension.
    pub fn kept(self, address: u64) -> u64 {
        if self.size == 4 && address >= LOWEST_EXTENDED { address & 0xffff_ffff } else { address }
    }

    /// The address as gdb expects it.
    pub fn for_gdb(self, address: u64) -> u64 {
        match u32::try_from(address) {
            Ok(low) if self.size == 4 && self.is_signed => i64::from(low.cast_signed()).cast_unsigned(),
            _ => address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_lose_their_sign_extension_and_get_it_back_for_gdb() {
        let signed = Addresses { size: 4, is_signed: true };
        let plain = Addresses { size: 4, is_signed: false };
        let wide = Addresses { size: 8, is_signed: true };
        for (address, kept, for_gdb) in [
            (0xffff_ffff_8000_1000, 0x8000_1000, 0xffff_ffff_8000_1000),
            (0x8000_1000, 0x8000_1000, 0xffff_ffff_8000_1000),
            (u64::MAX, 0xffff_ffff, u64::MAX),
            (0x40_0000, 0x40_0000, 0x40_0000),
            // Not an address of 4 bytes, and left to speak for itself.
            (0xffff_ffff_7fff_ffff, 0xffff_ffff_7fff_ffff, 0xffff_ffff_7fff_ffff),
            (0x1_8000_0000, 0x1_8000_0000, 0x1_8000_0000),
        ] {
            assert_eq!(signed.kept(address), kept, "{address:#x}");
            assert_eq!(signed.for_gdb(kept), for_gdb, "{address:#x}");
            assert_eq!(plain.kept(address), kept, "{address:#x}");
            assert_eq!(plain.for_gdb(kept), kept, "{address:#x}");
            assert_eq!((wide.kept(address), wide.for_gdb(address)), (address, address));
        }
    }
}
