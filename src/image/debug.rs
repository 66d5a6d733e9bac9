//! The sections of debug information that the line table needs, expanded if they are compressed.

use super::elf::{Elf, Section};
use crate::arch::Machine;
use crate::source::{ByteOrder, Cursor};
use gimli::RunTimeEndian;
use object::elf;
use object::read::{CompressedData, CompressionFormat};
use std::ops::Range;

/// How many bytes a byte of a section is expanded to at most. Those of compilers come from 2 to 6 bytes; zlib can make
/// a thousand zeroes of one, and zstd any number, and then a small file would fill the memory.
const MOST_EXPANSION: u64 = 32;
/// No line table or name table comes near this size, in bytes.
const LARGEST: u64 = 1 << 30;

/// Where a section of debug information lies in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct DebugSection {
    file: Range<usize>,
    compressed: bool,
}

/// The bytes of a section.
#[derive(Debug)]
pub(super) enum Bytes {
    /// As they lie in the file.
    File(Range<usize>),
    /// Expanded.
    Expanded(Vec<u8>),
}

impl From<ByteOrder> for RunTimeEndian {
    fn from(order: ByteOrder) -> RunTimeEndian {
        match order {
            ByteOrder::Little => RunTimeEndian::Little,
            ByteOrder::Big => RunTimeEndian::Big,
        }
    }
}

impl DebugSection {
    /// The section of that name; an empty one if the file has none.
    pub(super) fn named(elf: &Elf<'_>, name: &str) -> DebugSection {
        let section = elf.sections.iter().find(|section| section.name == name.as_bytes());
        section.and_then(DebugSection::of).unwrap_or_default()
    }

    fn of(section: &Section<'_>) -> Option<DebugSection> {
        Some(DebugSection { file: section.file.clone()?, compressed: section.is_compressed() })
    }

    /// Its bytes; none if they are compressed in a way that cannot be undone.
    pub(super) fn bytes(&self, file: &[u8], machine: Machine) -> Bytes {
        if !self.compressed {
            return Bytes::File(self.file.clone());
        }
        let stored = file.get(self.file.clone()).unwrap_or(&[]);
        Bytes::Expanded(expand(stored, machine).unwrap_or_default())
    }
}

impl Bytes {
    pub(super) fn get<'bytes>(&'bytes self, file: &'bytes [u8]) -> &'bytes [u8] {
        match self {
            Bytes::File(range) => file.get(range.clone()).unwrap_or(&[]),
            Bytes::Expanded(bytes) => bytes,
        }
    }
}

/// Undoes the compression of a section (gABI, chapter 4, `Elf32_Chdr` and `Elf64_Chdr`).
fn expand(stored: &[u8], machine: Machine) -> Option<Vec<u8>> {
    let order: ByteOrder = machine.byte_order;
    let mut header = Cursor::new(stored, 0, order);
    let kind = header.u32().ok()?;
    let size = if machine.address_size == 8 {
        header.u32().ok()?;
        let size = header.u64().ok()?;
        header.u64().ok()?;
        size
    } else {
        let size = header.u32().ok()?;
        header.u32().ok()?;
        u64::from(size)
    };
    let format = match elf::CompressionType(kind) {
        elf::ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
        elf::ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
        _ => return None,
    };
    let data = header.rest();
    // The buffer is allocated by the size that the file tells, so the size must be one that can be true.
    if size > LARGEST.min((data.len() as u64).saturating_mul(MOST_EXPANSION)) {
        return None;
    }
    CompressedData { format, data, uncompressed_size: size }.decompress().ok().map(std::borrow::Cow::into_owned)
}
