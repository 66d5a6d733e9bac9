//! The compilation and type units of debug information (DWARF 5, section 3.1).

use super::debug::{Bytes, DebugSection};
use super::elf::Elf;
use crate::arch::Machine;
use gimli::{
    Abbreviations, DebugAbbrev, DebugAbbrevOffset, Dwarf, EndianSlice, Reader as _, RunTimeEndian, SectionId, Unit,
    UnitHeader,
};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::Arc;

pub(super) type Slice<'data> = EndianSlice<'data, RunTimeEndian>;

/// The sections that are read.
const SECTIONS: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugTypes,
];

/// The longest directory, in bytes (Linux's `PATH_MAX`), and how many bytes of them are kept: many units can share a
/// damaged one.
const LONGEST_DIRECTORY: usize = 4096;
const MOST_DIRECTORIES: usize = 1 << 26;

/// The sections that units lie in and refer to.
#[derive(Debug)]
pub(super) struct UnitSections {
    sections: [DebugSection; SECTIONS.len()],
    machine: Machine,
}

impl UnitSections {
    pub(super) fn new(elf: &Elf<'_>) -> UnitSections {
        let sections = SECTIONS.map(|section| DebugSection::named(elf, section.name()));
        UnitSections { sections, machine: elf.machine }
    }

    /// Shows the units to a reader.
    pub(super) fn read<T>(&self, file: &[u8], reader: impl FnOnce(&Dwarf<Slice<'_>>, &Units<'_, '_>) -> T) -> T {
        let bytes = self.sections.each_ref().map(|section| section.bytes(file, self.machine));
        let endian = self.machine.byte_order.into();
        let section = |id: SectionId| {
            let at = SECTIONS.iter().position(|found| *found == id);
            let bytes: Option<&Bytes> = at.and_then(|at| bytes.get(at));
            Slice::new(bytes.map_or(&[], |bytes| bytes.get(file)), endian)
        };
        let Ok(dwarf) = Dwarf::load(|id| Ok::<_, Infallible>(section(id)));
        reader(&dwarf, &Units::of(&dwarf, section(SectionId::DebugAbbrev)))
    }

    /// In which directory the compiler ran that made a line number program, by where the program begins.
    pub(super) fn directories(&self, file: &[u8]) -> HashMap<usize, String> {
        self.read(file, |_, units| {
            let (mut directories, mut kept) = (HashMap::new(), 0);
            units.each(|unit| {
                let program = unit.line_program.as_ref().map(|program| program.header().offset().0);
                let directory = unit.comp_dir.as_ref().map(Slice::slice);
                if let (Some(program), Some(directory)) = (program, directory) {
                    let directory = directory.get(..directory.len().min(LONGEST_DIRECTORY)).unwrap_or(directory);
                    let directory = String::from_utf8_lossy(directory).into_owned();
                    kept += directory.len();
                    directories.entry(program).or_insert(directory);
                }
                kept < MOST_DIRECTORIES
            });
            directories
        })
    }
}

/// The compilation and type units.
pub(super) struct Units<'dwarf, 'data> {
    dwarf: &'dwarf Dwarf<Slice<'data>>,
    abbreviations: Slice<'data>,
    /// Where tables of abbreviations begin.
    tables: BTreeSet<usize>,
}

impl<'dwarf, 'data> Units<'dwarf, 'data> {
    fn of(dwarf: &'dwarf Dwarf<Slice<'data>>, abbreviations: Slice<'data>) -> Units<'dwarf, 'data> {
        let tables = headers(dwarf).map(|header| header.debug_abbrev_offset().0).collect();
        Units { dwarf, abbreviations, tables }
    }

    /// Shows each unit that can be read, until one is not to be followed by another.
    pub(super) fn each(&self, mut visit: impl FnMut(&Unit<Slice<'data>>) -> bool) {
        let mut last: Option<(usize, Arc<Abbreviations>)> = None;
        for header in headers(self.dwarf) {
            let table = header.debug_abbrev_offset().0;
            let known = last.take().filter(|(found, _)| *found == table);
            let Some(found) = known.or_else(|| Some((table, Arc::new(self.table(table)?)))) else { continue };
            let unit = Unit::new_with_abbreviations(self.dwarf, header, found.1.clone());
            last = Some(found);
            if unit.is_ok_and(|unit| !visit(&unit)) {
                return;
            }
        }
    }

    /// A table of abbreviations. It ends where the next begins, so that none is read as a part of many.
    fn table(&self, at: usize) -> Option<Abbreviations> {
        let section = self.abbreviations.slice();
        let end = self.tables.range(at.checked_add(1)?..).next().copied().unwrap_or(section.len());
        let section = section.get(..end).unwrap_or(section);
        DebugAbbrev::new(section, self.abbreviations.endian()).abbreviations(DebugAbbrevOffset(at)).ok()
    }
}

/// The headers of the units, as far as they are sound.
fn headers<'data>(dwarf: &Dwarf<Slice<'data>>) -> impl Iterator<Item = UnitHeader<Slice<'data>>> {
    let (mut units, mut types) = (dwarf.units(), dwarf.type_units());
    let units = std::iter::from_fn(move || units.next().ok().flatten());
    units.chain(std::iter::from_fn(move || types.next().ok().flatten()))
}
