//! The ELF file: sections that hold nothing, the symbols, and the debug information.
//!
//! Facts: System V ABI (gABI), chapter 4. It has no segments: nothing of it is ever loaded.

use super::sections::{Section, cover};
use super::symbols::{Placed, placed};
use super::{MadeImage, dwarf, frames};
use crate::arch::Machine;
use crate::source::ByteOrder;
use gimli::RunTimeEndian;
use gimli::write::{EndianVec, Sections};
use object::Endianness;
use object::elf;
use object::write::elf::{FileHeader, SectionHeader, SinglePhase, Sym, Writer};
use std::ops::Range;

type Elf<'a> = Writer<'a, SinglePhase>;

/// What was given does not fit into an ELF file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the recorded symbols and types do not fit into a program image: {0}")]
pub struct TooLarge(String);

/// Makes the file: an executable at fixed addresses (`ET_EXEC`).
///
/// # Errors
///
/// The names or the types have more than 4 GiB.
pub fn write(image: &MadeImage<'_>) -> Result<Vec<u8>, TooLarge> {
    let machine = &image.machine;
    let text = text(image);
    let symbols = placed(image, &text);
    let (sections, numbers) = cover(&symbols, &text);
    let debug = debug(image, &sections)?;

    let mut file = Vec::new();
    let endian = match machine.byte_order {
        ByteOrder::Little => Endianness::Little,
        ByteOrder::Big => Endianness::Big,
    };
    let mut writer = Writer::new_single_phase(endian, machine.address_size == 8, &mut file);
    writer.write_file_header(&header(machine)).map_err(too_large)?;
    let debug: Vec<_> = debug.iter().map(|(name, bytes)| contents(&mut writer, name, bytes)).collect();
    let covered: Vec<_> = sections.iter().map(|section| nothing(&mut writer, section)).collect();
    let locals = table(&mut writer, &symbols, &numbers, machine);
    writer.write_strtab().map_err(too_large)?;
    writer.write_shstrtab().map_err(too_large)?;

    writer.write_null_section_header();
    // The symbols count on these being the first.
    for header in covered.iter().chain(&debug) {
        writer.write_section_header(header);
    }
    writer.write_strtab_section_header();
    writer.write_symtab_section_header(locals);
    writer.write_shstrtab_section_header();

    // Where the table of sections lies is known only now.
    let mut start = Vec::new();
    writer.write_file_header_to(&mut start).map_err(too_large)?;
    if let Some(place) = file.get_mut(..start.len()) {
        place.copy_from_slice(&start);
    }
    Ok(file)
}

/// The main code as far as the machine has addresses for it; empty if it makes no sense.
fn text(image: &MadeImage<'_>) -> Range<u64> {
    let Range { start, end } = image.text;
    start..end.min(image.machine.last_address()).max(start)
}

/// The debug sections, by name. An empty one is left out.
fn debug(image: &MadeImage<'_>, sections: &[Section]) -> Result<Vec<(&'static str, Vec<u8>)>, TooLarge> {
    let machine = &image.machine;
    let mut found = Vec::new();
    if let Some(rule) = &image.frame_rule {
        found.push((".debug_frame", frames::table(machine, rule, sections).map_err(too_large)?));
    }
    if !image.types.is_empty() {
        let mut sections = Sections::new(EndianVec::new(RunTimeEndian::from(machine.byte_order)));
        dwarf::unit(&image.types).write(&mut sections).map_err(too_large)?;
        let Sections { debug_info, debug_abbrev, debug_str, .. } = sections;
        found.push((".debug_info", debug_info.0.into_vec()));
        found.push((".debug_abbrev", debug_abbrev.0.into_vec()));
        found.push((".debug_str", debug_str.0.into_vec()));
    }
    found.retain(|(_, bytes)| !bytes.is_empty());
    Ok(found)
}

fn header(machine: &Machine) -> FileHeader {
    FileHeader {
        e_type: elf::ET_EXEC,
        e_machine: elf::Machine(machine.elf_machine),
        e_flags: elf::FileFlags(machine.elf_flags),
        ..FileHeader::default()
    }
}

/// Writes a section's contents; its header.
fn contents(writer: &mut Elf<'_>, name: &'static str, bytes: &[u8]) -> SectionHeader {
    let name = writer.add_section_name(name.as_bytes());
    let offset = writer.offset();
    writer.write(bytes);
    SectionHeader {
        sh_name: writer.section_name_offset(Some(name)),
        sh_type: elf::SHT_PROGBITS,
        sh_offset: offset,
        sh_size: bytes.len() as u64,
        sh_addralign: 1,
        ..SectionHeader::default()
    }
}

/// The header of a section that says where something lies, not what.
fn nothing(writer: &mut Elf<'_>, section: &Section) -> SectionHeader {
    let (name, kind) = if section.is_code { (".text", elf::SHF_EXECINSTR) } else { (".data", elf::SHF_WRITE) };
    let name = writer.add_section_name(name.as_bytes());
    SectionHeader {
        sh_name: writer.section_name_offset(Some(name)),
        sh_type: elf::SHT_NOBITS,
        sh_flags: elf::SHF_ALLOC | kind,
        sh_addr: section.addresses.start,
        sh_offset: writer.offset(),
        sh_size: section.addresses.end - section.addresses.start,
        sh_addralign: 1,
        ..SectionHeader::default()
    }
}

/// Writes the symbol table; how many of its symbols are local, the null symbol among them. Local symbols come first.
fn table<'a>(writer: &mut Elf<'a>, symbols: &[Placed<'_, 'a>], numbers: &[u32], machine: &Machine) -> u32 {
    writer.write_null_symbol();
    let mut written = 1;
    let mut locals = 1;
    for is_global in [false, true] {
        let bind = if is_global { elf::STB_GLOBAL } else { elf::STB_LOCAL };
        for (symbol, section) in symbols.iter().zip(numbers) {
            if symbol.is_global() != is_global {
                continue;
            }
            let name = writer.add_string(symbol.name());
            writer.write_symbol(&Sym {
                section: (*section != 0).then_some(*section),
                st_name: writer.string_offset(Some(name)),
                st_info: elf::SymbolInfo::new(bind, if symbol.is_function() { elf::STT_FUNC } else { elf::STT_OBJECT }),
                st_other: elf::SymbolOther::default(),
                st_shndx: elf::SHN_ABS,
                st_value: symbol.address(),
                st_size: symbol.size().min(machine.last_address()),
            });
            written += 1;
        }
        if !is_global {
            locals = written;
        }
    }
    locals
}

fn too_large(error: impl std::fmt::Display) -> TooLarge {
    TooLarge(error.to_string())
}
