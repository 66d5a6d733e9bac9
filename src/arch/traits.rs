//! What the name of an architecture says, for all that gdb knows.

use super::builtin;
use crate::source::ByteOrder;

/// The byte order that the architecture has, where it has only one.
///
/// ARM, AArch64, MIPS, PowerPC, Nios II, SuperH and others have both: only a program image or a person can tell.
pub(super) fn fixed_byte_order(architecture: &str) -> Option<ByteOrder> {
    match family(architecture) {
        "i386" | "i8086" | "alpha" | "avr" | "Loongarch64" | "Loongarch32" => Some(ByteOrder::Little),
        "s390" | "m68k" => Some(ByteOrder::Big),
        _ => None,
    }
}

/// The byte order to take where nothing tells: RISC-V has both in theory, and little in all recordings yet.
pub(super) fn usual_byte_order(architecture: &str) -> Option<ByteOrder> {
    is_riscv(architecture).then_some(ByteOrder::Little)
}

/// The size of an address in bytes, where the name tells. `mips` alone is the name of all MIPS machines.
pub(super) fn address_size(architecture: &str) -> Option<usize> {
    match architecture {
        "mips" => None,
        "s390:31-bit" => Some(4),
        _ => builtin::find(architecture).map(|found| found.address_size),
    }
}

/// Whether it is a MIPS machine, of any kind.
pub(super) fn is_mips(architecture: &str) -> bool {
    family(architecture) == "mips"
}

/// Whether it is a RISC-V machine, of any kind.
pub(super) fn is_riscv(architecture: &str) -> bool {
    family(architecture) == "riscv"
}

fn family(architecture: &str) -> &str {
    architecture.split(':').next().unwrap_or(architecture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_orders() {
        assert_eq!(fixed_byte_order("i386:x86-64"), Some(ByteOrder::Little));
        assert_eq!(fixed_byte_order("s390:64-bit"), Some(ByteOrder::Big));
        for either in ["powerpc:common", "mips", "arm", "aarch64", "nios2", "riscv:rv64", ""] {
            assert_eq!(fixed_byte_order(either), None, "{either}");
        }
        assert_eq!(usual_byte_order("riscv:rv64"), Some(ByteOrder::Little));
        assert_eq!(usual_byte_order("mips"), None);
    }

    #[test]
    fn address_sizes() {
        let names = [("i386:x64-32", 4), ("i386:x86-64", 8), ("i386", 4), ("aarch64:ilp32", 4), ("powerpc:620", 8)];
        for (name, size) in names {
            assert_eq!(address_size(name), Some(size), "{name}");
        }
        assert_eq!(address_size("mips"), None);
        assert_eq!(address_size("sparc"), None);
    }
}
