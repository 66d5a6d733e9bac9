//! One table of an ELF file after the other, for either class.

use super::{Section, Segment, SegmentKind, Symbol, SymbolKind};
use crate::arch::Machine;
use crate::image::ranges::Ranges;
use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, Rel, Rela, SectionHeader, Sym};
use std::ops::Range;

/// No name that is of interest here is longer; it bounds the search for a name's end.
const LONGEST_SECTION_NAME: usize = 64;
/// More places for notes than any linker makes; it bounds the search in a damaged file.
const MOST_NOTE_PLACES: usize = 64;

/// An ELF file while its tables are read.
pub(super) struct Tables<'data, H: FileHeader> {
    pub(super) data: &'data [u8],
    pub(super) header: &'data H,
    pub(super) endian: Endianness,
    pub(super) machine: Machine,
    pub(super) damage: Vec<String>,
    /// The end, in the file, of what the headers speak of.
    pub(super) furthest: u64,
}

impl<'data, H: FileHeader<Endian = Endianness>> Tables<'data, H> {
    pub(super) fn lost<T>(&mut self, what: &str, error: object::Error) -> &'data [T] {
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

    pub(super) fn segments(&mut self, headers: &[H::ProgramHeader]) -> Vec<Segment> {
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

    pub(super) fn sections(&mut self, headers: &[H::SectionHeader]) -> Vec<Section<'data>> {
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
                flags: header.sh_flags(endian).0,
            });
        }
        sections
    }

    /// The symbols that name something in memory: of the symbol table, or, in a stripped file, of the dynamic one.
    pub(super) fn symbols(&self, headers: &[H::SectionHeader], sections: &[Section<'data>]) -> Vec<Symbol> {
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
                elf::STT_OBJECT => SymbolKind::Data,
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
    pub(super) fn relocated(&self, headers: &[H::SectionHeader], sections: &[Section<'data>]) -> Vec<(u64, u64)> {
        let endian = self.endian;
        let word = self.machine.address_size as u64;
        let writable: Ranges = sections
            .iter()
            .filter(|section| section.is_in_memory() && section.is_writable())
            .map(|section| (section.address, section.size))
            .collect();
        let mut changed: Vec<(u64, u64)> = Vec::new();
        let mut left = self.data.len();
        let interesting = |address: &u64| !writable.contains(*address);
        for (header, section) in headers.iter().zip(sections).filter(|(_, section)| section.is_in_memory()) {
            if !matches!(header.sh_type(endian), elf::SHT_REL | elf::SHT_RELA | elf::SHT_RELR) {
                continue;
            }
            // Tables that lie over each other could make the list longer than the file.
            let Some(rest) = left.checked_sub(section.file.as_ref().map_or(0, |range| range.len())) else { break };
            left = rest;
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
    pub(super) fn build_id(&self, programs: &[H::ProgramHeader], sections: &[H::SectionHeader]) -> Option<Vec<u8>> {
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
