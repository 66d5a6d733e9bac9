//! The tables of an ELF file, as plain values: one shape for both classes and both byte orders.
//!
//! A table that is damaged costs that table and is told of; only the ELF header must be sound.
//! Facts: System V ABI (gABI), chapters 4 and 5.

use super::error::{ImageError, describe};
use crate::arch::Machine;
use crate::source::{ByteOrder, Source};
use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, Rel, Rela, SectionHeader, Sym};
use std::ops::Range;

/// No name that is of interest here is longer; it bounds the search for a name's end.
const LONGEST_SECTION_NAME: usize = 64;
/// More places for notes than any linker makes; it bounds the search in a damaged file.
const MOST_NOTE_PLACES: usize = 64;

/// What the ELF header and the tables behind it say.
pub(super) struct Elf<'data> {
    pub(super) machine: Machine,
    pub(super) position_independent: bool,
    pub(super) entry: u64,
    pub(super) segments: Vec<Segment>,
    pub(super) sections: Vec<Section<'data>>,
    pub(super) symbols: Vec<Symbol>,
    /// Addresses of words that the loader changes, with their sizes.
    pub(super) relocated: Vec<(u64, u64)>,
    pub(super) build_id: Option<Vec<u8>>,
    /// What could not be read, and what was left out for it.
    pub(super) damage: Vec<String>,
}

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentKind {
    /// `PT_LOAD`.
    Load,
    /// `PT_GNU_RELRO`: written by the loader, then protected.
    RelocatedReadOnly,
}

/// A segment that says something about memory.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) kind: SegmentKind,
    pub(super) address: u64,
    /// Size in memory, in bytes.
    pub(super) size: u64,
    /// Where its contents lie in the file; no longer than the segment is in memory.
    pub(super) file: Range<usize>,
    pub(super) writable: bool,
    pub(super) executable: bool,
    pub(super) alignment: u64,
}

/// A section.
#[derive(Clone, Debug)]
pub(super) struct Section<'data> {
    pub(super) name: &'data [u8],
    pub(super) address: u64,
    pub(super) size: u64,
    /// Where its contents lie in the file; `None` if it has none (`SHT_NOBITS`).
    pub(super) file: Option<Range<usize>>,
    flags: u64,
}

impl Section<'_> {
    fn has(&self, flag: elf::SectionFlags) -> bool {
        self.flags & u64::from(flag.0) != 0
    }

    /// Whether it has a place in memory. A thread's uninitialised variables have addresses but no such place.
    pub(super) fn is_in_memory(&self) -> bool {
        self.has(elf::SHF_ALLOC) && !(self.has(elf::SHF_TLS) && self.file.is_none())
    }

    pub(super) fn is_writable(&self) -> bool {
        self.has(elf::SHF_WRITE)
    }

    pub(super) fn is_code(&self) -> bool {
        self.has(elf::SHF_ALLOC) && self.has(elf::SHF_EXECINSTR)
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.has(elf::SHF_COMPRESSED)
    }
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolKind {
    /// `STT_FUNC`, `STT_GNU_IFUNC`.
    Function,
    /// `STT_NOTYPE`: a label of hand-written assembler.
    Label,
}

/// A symbol that may name code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    pub(super) kind: SymbolKind,
    pub(super) address: u64,
    /// Size in bytes; 0 if the file does not say.
    pub(super) size: u64,
    /// Offset in the file of its name, which ends with a zero byte.
    pub(super) name: usize,
    /// Whether other files may see it; between two names of one place, that one is shown.
    pub(super) global: bool,
}

/// Reads the tables.
pub(super) fn read(source: &Source) -> Result<Elf<'_>, ImageError> {
    let data = source.bytes();
    let path = source.name().to_owned();
    if !data.starts_with(&elf::ELFMAG) {
        return Err(ImageError::NotElf { path, found: describe(data) });
    }
    let header = |cause: String| ImageError::Header { path: source.name().to_owned(), cause };
    let class = data.get(4).copied().map(elf::FileClass);
    let read = match class {
        Some(elf::ELFCLASS32) => tables::<elf::FileHeader32<Endianness>>(data),
        Some(elf::ELFCLASS64) => tables::<elf::FileHeader64<Endianness>>(data),
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

fn tables<H: FileHeader<Endian = Endianness>>(data: &[u8]) -> object::Result<Result<Elf<'_>, Refused>> {
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
        damage: tables.damage,
    }))
}

struct Tables<'data, H: FileHeader> {
    data: &'data [u8],
    header: &'data H,
    endian: Endianness,
    machine: Machine,
    damage: Vec<String>,
    /// The end, in the file, of what the headers speak of.
    furthest: u64,
}

impl<'data, H: FileHeader<Endian = Endianness>> Tables<'data, H> {
    fn lost<T>(&mut self, what: &str, error: object::Error) -> &'data [T] {
        self.damage.push(format!("no {what}: {}", error.to_string().to_lowercase()));
        &[]
    }

    /// The part of the file at `offset` that exists.
    fn file_range(&mut self, offset: u64, size: u64) -> Range<usize> {
        let end = offset.saturating_add(size);
        if size != 0 {
            self.furthest = self.furthest.max(end);
        }
        let clip = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.data.len());
        clip(offset)..clip(end)
    }

    fn bytes(&self, range: Range<usize>) -> &'data [u8] {
        self.data.get(range).unwrap_or(&[])
    }

    fn segments(&mut self, headers: &[H::ProgramHeader]) -> Vec<Segment> {
        let endian = self.endian;
        let mut segments = Vec::new();
        for header in headers {
            let kind = match header.p_type(endian) {
                elf::PT_LOAD => SegmentKind::Load,
                elf::PT_GNU_RELRO => SegmentKind::RelocatedReadOnly,
                _ => continue,
            };
            let size: u64 = header.p_memsz(endian).into();
            let flags = header.p_flags(endian).0;
            segments.push(Segment {
                kind,
                address: header.p_vaddr(endian).into(),
                size,
                file: self.file_range(header.p_offset(endian).into(), size.min(header.p_filesz(endian).into())),
                writable: flags & elf::PF_W.0 != 0,
                executable: flags & elf::PF_X.0 != 0,
                alignment: header.p_align(endian).into(),
            });
        }
        segments
    }

    fn sections(&mut self, headers: &[H::SectionHeader]) -> Vec<Section<'data>> {
        let endian = self.endian;
        let names = self
            .header
            .shstrndx(endian, self.data)
            .ok()
            .and_then(|index| headers.get(usize::try_from(index).ok()?)?.file_range(endian))
            .map_or(0..0, |(offset, size)| self.file_range(offset, size));
        let mut sections = Vec::new();
        for header in headers {
            sections.push(Section {
                name: name(self.bytes(names.clone()), header.sh_name(endian)),
                address: header.sh_addr(endian).into(),
                size: header.sh_size(endian).into(),
                file: header.file_range(endian).map(|(offset, size)| match header.sh_type(endian) {
                    elf::SHT_NULL => 0..0,
                    _ => self.file_range(offset, size),
                }),
                flags: header.sh_flags(endian).0.into(),
            });
        }
        sections
    }

    /// The symbols that may name code: of the symbol table, or, in a stripped file, of the dynamic one.
    fn symbols(&self, headers: &[H::SectionHeader], sections: &[Section<'data>]) -> Vec<Symbol> {
        for table in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
            let header = headers.iter().find(|header| header.sh_type(self.endian) == table);
            match header.and_then(|header| self.symbol_table(header, sections)) {
                Some(symbols) if !symbols.is_empty() => return symbols,
                _ => continue,
            }
        }
        Vec::new()
    }

    fn symbol_table(&self, header: &H::SectionHeader, sections: &[Section<'data>]) -> Option<Vec<Symbol>> {
        let endian = self.endian;
        let index = usize::try_from(header.sh_link(endian)).ok()?;
        let names = sections.get(index)?.file.clone()?;
        let entries: &[H::Sym] = header.data_as_array(endian, self.data).ok()?;
        let descriptors = self.descriptors(sections);
        let mut symbols = Vec::new();
        for entry in entries {
            let defined = entry.st_shndx(endian);
            if defined == elf::SHN_UNDEF || defined == elf::SHN_ABS || defined == elf::SHN_COMMON {
                continue;
            }
            let kind = match entry.st_type() {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => SymbolKind::Function,
                elf::STT_NOTYPE => SymbolKind::Label,
                _ => continue,
            };
            let Some(name) = usize::try_from(entry.st_name(endian)).ok().and_then(|at| names.start.checked_add(at))
            else {
                continue;
            };
            if name >= names.end || is_unspoken(self.bytes(name..names.end), kind) {
                continue;
            }
            symbols.push(Symbol {
                kind,
                address: self.code_address(entry.st_value(endian).into(), kind, descriptors),
                size: entry.st_size(endian).into(),
                name,
                global: !entry.is_local(),
            });
        }
        Some(symbols)
    }

    /// The function descriptors of 64-bit PowerPC's first ABI: a function's symbol is at its descriptor, whose
    /// first word is the address of the code (64-bit PowerPC ELF ABI supplement, 3.2.5).
    fn descriptors(&self, sections: &[Section<'data>]) -> Option<(u64, &'data [u8])> {
        let is_second_abi = self.machine.elf_flags & elf::EF_PPC64_ABI == 2;
        if self.machine.elf_machine != elf::EM_PPC64.0 || is_second_abi {
            return None;
        }
        let section = sections.iter().find(|section| section.name == b".opd")?;
        Some((section.address, self.bytes(section.file.clone()?)))
    }

    /// Where the code of a symbol lies.
    fn code_address(&self, value: u64, kind: SymbolKind, descriptors: Option<(u64, &[u8])>) -> u64 {
        if kind != SymbolKind::Function {
            return value;
        }
        if self.machine.elf_machine == elf::EM_ARM.0 {
            // Bit 0 says that the function is in Thumb code (ELF for the Arm Architecture, 5.5.3).
            return value & !1;
        }
        let described = descriptors.and_then(|(address, bytes)| {
            let at = usize::try_from(value.checked_sub(address)?).ok()?;
            self.machine.byte_order.unsigned(bytes.get(at..at.checked_add(8)?)?)
        });
        described.unwrap_or(value)
    }

    /// The words that dynamic relocations change. They seldom lie in read-only parts, but they do where position-
    /// independent code keeps addresses in its text (`DT_TEXTREL`, boot loaders that relocate themselves).
    fn relocated(&self, headers: &[H::SectionHeader], sections: &[Section<'data>]) -> Vec<(u64, u64)> {
        let endian = self.endian;
        let word = self.machine.address_size as u64;
        let writable: super::ranges::Ranges = sections
            .iter()
            .filter(|section| section.is_in_memory() && section.is_writable())
            .map(|section| (section.address, section.size))
            .collect();
        let mut changed: Vec<(u64, u64)> = Vec::new();
        let mut left = self.data.len();
        for (header, section) in headers.iter().zip(sections).filter(|(_, section)| section.is_in_memory()) {
            let size = section.file.as_ref().map_or(0, |range| range.len());
            let is_table = matches!(header.sh_type(endian), elf::SHT_REL | elf::SHT_RELA | elf::SHT_RELR);
            if !is_table {
                continue;
            }
            // Tables that lie over each other could make the list longer than the file.
            let Some(rest) = left.checked_sub(size) else { break };
            left = rest;
            let interesting = |address: &u64| !writable.contains(*address);
            if let Ok(Some((entries, _))) = header.rel(endian, self.data) {
                let addresses = entries.iter().map(|entry| entry.r_offset(endian).into());
                changed.extend(addresses.filter(interesting).map(|address| (address, word)));
            } else if let Ok(Some((entries, _))) = header.rela(endian, self.data) {
                let addresses = entries.iter().map(|entry| entry.r_offset(endian).into());
                changed.extend(addresses.filter(interesting).map(|address| (address, word)));
            } else if let Ok(Some(entries)) = header.relr(endian, self.data) {
                // One entry tells of up to 63 words. What lies between two of them is given up, so that the list
                // stays as long as the section.
                let reach = 64 * word;
                for address in entries.map(Into::into).filter(interesting) {
                    match changed.last_mut() {
                        Some((first, size)) if address.wrapping_sub(*first) < reach => {
                            *size = address.wrapping_sub(*first).saturating_add(word).max(*size);
                        }
                        _ => changed.push((address, word)),
                    }
                }
            }
        }
        changed
    }

    /// The note that the linker leaves (`NT_GNU_BUILD_ID`), in a note segment or a note section.
    fn build_id(&self, programs: &[H::ProgramHeader], sections: &[H::SectionHeader]) -> Option<Vec<u8>> {
        let in_segments = programs.iter().filter_map(|header| header.notes(self.endian, self.data).ok().flatten());
        let in_sections = sections.iter().filter_map(|header| header.notes(self.endian, self.data).ok().flatten());
        in_segments.chain(in_sections).take(MOST_NOTE_PLACES).find_map(|notes| self.find_build_id(notes))
    }

    fn find_build_id(&self, mut notes: NoteIterator<'data, H>) -> Option<Vec<u8>> {
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(self.endian) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc().to_vec());
            }
        }
        None
    }
}

/// The name at `offset` of a section name table; a name of unlikely length is cut.
fn name(names: &[u8], offset: u32) -> &[u8] {
    let from = usize::try_from(offset).ok().and_then(|at| names.get(at..)).unwrap_or(&[]);
    let window = from.get(..from.len().min(LONGEST_SECTION_NAME)).unwrap_or(&[]);
    window.split(|byte| *byte == 0).next().unwrap_or(&[])
}

/// Whether a symbol is there for tools only: nameless, a compiler's own label, or a mapping symbol that tells
/// code from data (`$a`, `$d`, `$t`, `$x`; ELF for the Arm Architecture, 5.5.5, and the RISC-V ELF psABI).
fn is_unspoken(name: &[u8], kind: SymbolKind) -> bool {
    match name {
        [] | [0, ..] => true,
        [b'.', b'L', ..] => true,
        [b'$', b'a' | b'd' | b't' | b'x', ..] => kind == SymbolKind::Label,
        _ => false,
    }
}
