//! The sections that hold a whole file: the kernel's BTF, and /proc/modules.
//!
//! trace-cmd.dat.v7(5) puts the size of the file in 8 bytes in front; trace-cmd 3.4 writes no such size. Both are read.

use super::extent::Extent;
use crate::source::{ByteOrder, Source};

/// The size in front, in bytes.
const SIZE: u64 = 8;

/// BTF, which begins with the number 0xeb9f in the byte order of the recorded machine (Linux's btf.rst).
pub(super) fn btf(content: &Extent, source: &Source) -> Option<Extent> {
    [0, SIZE]
        .into_iter()
        .map(|start| content.part(start, u64::MAX))
        .find(|part| matches!(part.bytes(source), [0x9f, 0xeb, ..] | [0xeb, 0x9f, ..]))
}

/// The text of /proc/modules.
pub(super) fn modules(content: &Extent, source: &Source, order: ByteOrder) -> Extent {
    let stated = content.cursor(source, order).u64().ok();
    let has_size = stated.is_some() && stated == (content.length() as u64).checked_sub(SIZE);
    content.part(if has_size { SIZE } else { 0 }, u64::MAX)
}
