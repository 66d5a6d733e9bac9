//! The tables of an ELF file, as plain values: one shape for both classes and both byte orders.
//!
//! A table that is damaged costs that table and is told of; only the ELF header must be sound.
//! Facts: System V ABI (gABI), chapters 4 and 5.

mod profile;
mod tables;

use super::error::{ImageError, describe};
use crate::arch::Machine;
use crate::source::{ByteOrder, Source};
use object::Endianness;
use object::elf;
use object::read::elf::FileHeader;
use std::ops::Range;
use tables::Tables;

/// What the ELF header and the tables behind it say.
pub(in crate::image) struct Elf<'data> {
    pub(in crate::image) machine: Machine,
    pub(in crate::image) position_independent: bool,
    pub(in crate::image) entry: u64,
    pub(in crate::image) segments: Vec<Segment>,
    pub(in crate::image) sections: Vec<Section<'data>>,
    pub(in crate::image) symbols: Vec<Symbol>,
    /// Addresses of words that the loader changes, with their sizes.
    pub(in crate::image) relocated: Vec<(u64, u64)>,
    pub(in crate::image) build_id: Option<Vec<u8>>,
    /// Whether it is for a processor of Arm's M-profile.
    pub(in crate::image) is_m_profile: bool,
    /// What could not be read, and what was left out for it.
    pub(in crate::image) damage: Vec<String>,
}

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::image) enum SegmentKind {
    /// `PT_LOAD`.
    Load,
    /// `PT_GNU_RELRO`: written by the loader, then protected.
    RelocatedReadOnly,
}

/// A segment that says something about memory.
#[derive(Clone, Debug)]
pub(in crate::image) struct Segment {
    pub(in crate::image) kind: SegmentKind,
    pub(in crate::image) address: u64,
    /// Size in memory, in bytes.
    pub(in crate::image) size: u64,
    /// Where its contents lie in the file; no longer than the segment is in memory.
    pub(in crate::image) file: Range<usize>,
    pub(in crate::image) writable: bool,
    pub(in crate::image) executable: bool,
    pub(in crate::image) alignment: u64,
}

/// A section.
#[derive(Clone, Debug)]
pub(in crate::image) struct Section<'data> {
    pub(in crate::image) name: &'data [u8],
    pub(in crate::image) address: u64,
    pub(in crate::image) size: u64,
    /// Where its contents lie in the file; `None` if it has none (`SHT_NOBITS`).
    pub(in crate::image) file: Option<Range<usize>>,
    flags: u64,
}

impl Section<'_> {
    fn has(&self, flag: elf::SectionFlags) -> bool {
        self.flags & flag.0 != 0
    }

    /// Whether a program needs it to run (`SHF_ALLOC`).
    pub(in crate::image) fn is_allocated(&self) -> bool {
        self.has(elf::SHF_ALLOC)
    }

    /// Whether it has a place in memory. A thread's uninitialised variables have addresses but no such place.
    pub(in crate::image) fn is_in_memory(&self) -> bool {
        self.is_allocated() && !(self.has(elf::SHF_TLS) && self.file.is_none())
    }

    pub(in crate::image) fn is_writable(&self) -> bool {
        self.has(elf::SHF_WRITE)
    }

    pub(in crate::image) fn is_code(&self) -> bool {
        self.is_allocated() && self.has(elf::SHF_EXECINSTR)
    }

    pub(in crate::image) fn is_compressed(&self) -> bool {
        self.has(elf::SHF_COMPRESSED)
    }
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::image) enum SymbolKind {
    /// `STT_FUNC`, `STT_GNU_IFUNC`.
    Function,
    /// `STT_NOTYPE`: a label of hand-written assembler.
    Label,
    /// `STT_OBJECT`: a variable.
    Data,
}

/// A symbol that names something in memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::image) struct Symbol {
    pub(in crate::image) kind: SymbolKind,
    pub(in crate::image) address: u64,
    /// Size in bytes; 0 if the file does not say.
    pub(in crate::image) size: u64,
    /// Offset in the file of its name, which ends with a zero byte.
    pub(in crate::image) name: usize,
    /// Whether other files may see it; between two names of one place, that one is shown.
    pub(in crate::image) global: bool,
}

/// Reads the tables.
pub(in crate::image) fn read(source: &Source) -> Result<Elf<'_>, ImageError> {
    let data = source.bytes();
    let path = source.name().to_owned();
    if !data.starts_with(&elf::ELFMAG) {
        return Err(ImageError::NotElf { path, found: describe(data) });
    }
    let header = |cause: String| ImageError::Header { path: source.name().to_owned(), cause };
    let class = data.get(4).copied().map(elf::FileClass);
    let read = match class {
        Some(elf::ELFCLASS32) => read_class::<elf::FileHeader32<Endianness>>(data),
        Some(elf::ELFCLASS64) => read_class::<elf::FileHeader64<Endianness>>(data),
        Some(other) => {
            return Err(header(format!("class is {}, expected 1 (32 bits) or 2 (64 bits)", other.0)));
        }
        None => return Err(header(format!("the file ends after {} bytes", data.len()))),
    };
    match read.map_err(|cause| header(cause.to_string().to_lowercase()))? {
        Ok(elf) => Ok(elf),
        Err((found, hint)) => Err(ImageError::Type { path, found, hint }),
    }
}

/// A type that is refused: what it is, and what to give instead.
type Refused = (String, &'static str);

fn accept(kind: elf::FileType) -> Result<bool, Refused> {
    match kind {
        elf::ET_EXEC => Ok(false),
        elf::ET_DYN => Ok(true),
        elf::ET_REL => {
            Err(("an object file, which has no addresses yet".to_owned(), "give the program it was linked into"))
        }
        elf::ET_CORE => Err(("a core dump".to_owned(), "give the program that left it")),
        elf::FileType(other) => {
            Err((format!("an ELF file of type {other:#x}"), "give the linked program that was recorded"))
        }
    }
}

fn read_class<H: FileHeader<Endian = Endianness>>(data: &[u8]) -> object::Result<Result<Elf<'_>, Refused>> {
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let position_independent = match accept(header.e_type(endian)) {
        Ok(position_independent) => position_independent,
        Err(refused) => return Ok(Err(refused)),
    };
    let machine = Machine {
        elf_machine: header.e_machine(endian).0,
        elf_flags: header.e_flags(endian).0,
        address_size: if H::is_type_64_sized() { 8 } else { 4 },
        byte_order: if endian == Endianness::Little { ByteOrder::Little } else { ByteOrder::Big },
    };
    let mut tables = Tables::<H> { data, header, endian, machine, damage: Vec::new(), furthest: 0 };
    let program_headers = header.program_headers(endian, data).unwrap_or_else(|error| tables.lost("segments", error));
    let section_headers = header.section_headers(endian, data).unwrap_or_else(|error| tables.lost("sections", error));
    let segments = tables.segments(program_headers);
    let sections = tables.sections(section_headers);
    let symbols = tables.symbols(section_headers, &sections);
    let relocated = tables.relocated(section_headers, &sections);
    let build_id = tables.build_id(program_headers, section_headers);
    if tables.furthest > data.len() as u64 {
        tables.damage.push(format!(
            "the file ends at byte {:#x}, but its headers speak of {:#x} bytes: what lies behind the end is missing",
            data.len(),
            tables.furthest
        ));
    }
    Ok(Ok(Elf {
        machine,
        position_independent,
        entry: header.e_entry(endian).into(),
        segments,
        sections,
        symbols,
        relocated,
        build_id,
        is_m_profile: profile::is_m::<H>(data, endian, section_headers),
        damage: tables.damage,
    }))
}
