//! Source lines of addresses, and addresses of source lines.
//!
//! All line number programs are run once, at the first question, to note which addresses each of them covers. The
//! rows of a program are kept from the first question about one of its addresses on. So memory is used for what is
//! asked about, a damaged program costs its compilation unit only, and a thread waits for another one only while
//! that runs the very program it needs. `.debug_info` is not needed, nor split debug information: line number
//! programs stay in the program file; only where a compiler ran it tells, in files older than DWARF 5.

use super::debug::DebugSection;
use super::elf::Elf;
use super::line_program::{Programs, Row, Rows, Sections, Sequence};
use super::ranges::{Ranges, Spans};
use super::statements::{SourceFiles, Statement};
use crate::arch::Machine;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::OnceLock;

/// How many places a line can have before further ones are left out.
const MOST_STATEMENTS: usize = 10_000;
/// How many programs are asked about one address. Sound files have one, or a few for code that the linker merged.
const MOST_PROGRAMS: usize = 8;

/// The line table of a program.
#[derive(Debug)]
pub(super) struct Lines {
    line: DebugSection,
    strings: DebugSection,
    line_strings: DebugSection,
    machine: Machine,
    table: OnceLock<Table>,
}

#[derive(Debug)]
struct Table {
    sections: Sections,
    /// Where each program begins.
    offsets: Vec<usize>,
    /// What each program makes, once it is asked for. Boxed, since most programs of a large file never are.
    rows: Vec<OnceLock<Box<Rows>>>,
    sequences: Spans<Sequence>,
}

/// A file and line that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SourceLine<'name> {
    /// The file, as a person typed it: any number of trailing components of its path.
    pub(super) file: &'name str,
    pub(super) line: u64,
}

impl Lines {
    pub(super) fn new(elf: &Elf<'_>) -> Lines {
        Lines {
            line: DebugSection::named(elf, ".debug_line"),
            strings: DebugSection::named(elf, ".debug_str"),
            line_strings: DebugSection::named(elf, ".debug_line_str"),
            machine: elf.machine,
            table: OnceLock::new(),
        }
    }

    /// The file and line of `address`.
    pub(super) fn find(&self, file: &[u8], code: &Ranges, address: u64) -> Option<(String, u32)> {
        let table = self.table(file, code);
        let programs = self.programs(file, &table.sections);
        let (rows, row) = table.containing(programs, address).find_map(|(rows, sequence)| {
            let behind = sequence.partition_point(|row| row.address <= address);
            Some((rows, sequence.get(behind.checked_sub(1)?)?))
        })?;
        programs.place(rows, row)
    }

    /// The addresses at which statements of each line begin; where a line has none, those of the next line of its
    /// file that has (as gdb chooses a place for a breakpoint; gdb's linespec.c, `decode_digits_ordinary`).
    pub(super) fn statements<'name>(
        &self,
        file: &[u8],
        code: &Ranges,
        wanted: &[SourceLine<'name>],
    ) -> HashMap<SourceLine<'name>, Vec<u64>> {
        let table = self.table(file, code);
        let programs = self.programs(file, &table.sections);
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, wanted) in wanted.iter().enumerate() {
            by_name.entry(last_component(wanted.file)).or_default().push(index);
        }
        let mut places: Vec<Nearest> = wanted.iter().map(|wanted| Nearest::new(wanted.line)).collect();
        for offset in &table.offsets {
            let mut files: HashMap<u64, Vec<usize>> = HashMap::new();
            for (number, path) in programs.paths(*offset) {
                let candidates = by_name.get(last_component(&path)).into_iter().flatten().copied();
                let same = |index: &usize| wanted.get(*index).is_some_and(|wanted| is_same(&path, wanted.file));
                files.entry(number).or_default().extend(candidates.filter(same));
            }
            if files.values().all(Vec::is_empty) {
                continue;
            }
            programs.run(*offset, |_, row| {
                let Some(line) = row.line().map(NonZeroU64::get) else { return };
                if !row.is_stmt() || row.end_sequence() || !code.contains(row.address()) {
                    return;
                }
                for index in files.get(&row.file_index()).into_iter().flatten() {
                    if let Some(nearest) = places.get_mut(*index) {
                        nearest.add(line, row.address());
                    }
                }
            });
        }
        wanted.iter().copied().zip(places.into_iter().map(|nearest| nearest.addresses)).collect()
    }

    /// The addresses from `first` to `last` at which statements begin.
    pub(super) fn statements_within(&self, file: &[u8], code: &Ranges, first: u64, last: u64) -> Vec<u64> {
        let table = self.table(file, code);
        let programs = self.programs(file, &table.sections);
        let rows = table.containing(programs, first).flat_map(|(_, sequence)| {
            let from = sequence.partition_point(|row| row.address < first);
            sequence.get(from..).unwrap_or(&[]).iter().take_while(|row| row.address <= last)
        });
        rows.filter(|row| row.is_statement).map(|row| row.address).take(MOST_STATEMENTS).collect()
    }

    /// Shows where each statement of the program begins, program for program; the files that they are of. What is shown
    /// is not kept. `directories_of` tells where the compiler ran, by the beginnings of programs.
    pub(super) fn each_statement(
        &self,
        file: &[u8],
        code: &Ranges,
        directories_of: impl Fn() -> HashMap<usize, String>,
        visit: &mut dyn FnMut(Statement),
    ) -> SourceFiles {
        let table = self.table(file, code);
        let programs = self.programs(file, &table.sections);
        let known: OnceCell<HashMap<usize, String>> = OnceCell::new();
        let directory = |offset| known.get_or_init(&directories_of).get(offset).cloned();
        let mut files = SourceFiles::default();
        for offset in &table.offsets {
            let mut places: HashMap<u64, Option<u32>> = HashMap::new();
            let mut left_out = 0;
            let place = |header: &_, number| {
                let found = *places.entry(number).or_insert_with(|| {
                    let (name, path) = programs.name_and_path(header, number, || directory(offset))?;
                    files.place(name, path)
                });
                left_out += u64::from(found.is_none());
                found
            };
            programs.statements(*offset, code, place, visit);
            files.left_out += left_out;
        }
        files
    }

    fn programs<'data>(&self, file: &'data [u8], sections: &'data Sections) -> Programs<'data> {
        Programs { file, machine: self.machine, sections }
    }

    fn table(&self, file: &[u8], code: &Ranges) -> &Table {
        self.table.get_or_init(|| {
            let bytes = |section: &DebugSection| section.bytes(file, self.machine);
            let sections = Sections {
                line: bytes(&self.line),
                strings: bytes(&self.strings),
                line_strings: bytes(&self.line_strings),
            };
            let programs = self.programs(file, &sections);
            let offsets: Vec<usize> = programs.offsets().collect();
            let sequences = programs.sequences(&offsets, code);
            let rows = offsets.iter().map(|_| OnceLock::new()).collect();
            Table { sections, offsets, rows, sequences }
        })
    }
}

impl Table {
    /// The sequences that cover `address`, with all that their programs make.
    fn containing<'table>(
        &'table self,
        programs: Programs<'table>,
        address: u64,
    ) -> impl Iterator<Item = (&'table Rows, &'table [Row])> {
        self.sequences.containing(address).take(MOST_PROGRAMS).filter_map(move |span| {
            let Sequence { program, number } = span.value;
            let offset = *self.offsets.get(program)?;
            let rows: &Rows = self.rows.get(program)?.get_or_init(|| Box::new(programs.rows(offset)));
            Some((rows, rows.sequences.get(number)?.as_slice()))
        })
    }
}

/// The places of the line nearest to a wanted one, not before it.
struct Nearest {
    wanted: u64,
    found: u64,
    addresses: Vec<u64>,
}

impl Nearest {
    fn new(wanted: u64) -> Nearest {
        Nearest { wanted, found: u64::MAX, addresses: Vec::new() }
    }

    fn add(&mut self, line: u64, address: u64) {
        if line < self.wanted || line > self.found {
            return;
        }
        if line < self.found {
            self.found = line;
            self.addresses.clear();
        }
        if self.addresses.len() < MOST_STATEMENTS {
            self.addresses.push(address);
        }
    }
}

/// The components of a path from its end, up to one that only the file system could resolve.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").take_while(|part| *part != "..")
}

fn last_component(path: &str) -> &str {
    components(path).next().unwrap_or_default()
}

/// Whether two paths can name the same file: one ends as the other is.
fn is_same(path: &str, other: &str) -> bool {
    components(path).zip(components(other)).all(|(left, right)| left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_by_their_ends() {
        assert!(is_same("case.c", "/home/user/src/case.c"));
        assert!(is_same("/home/user/src/case.c", "src/./case.c"));
        assert!(is_same("../src/case.c", "/home/user/src/case.c"));
        assert!(is_same("C:\\work\\case.c", "work/case.c"));
        assert!(!is_same("src/case.c", "lib/case.c"));
        assert!(!is_same("case.c", "showcase.c"));
    }

    #[test]
    fn the_nearest_line_is_not_before_the_wanted_one() {
        let mut nearest = Nearest::new(10);
        for (line, address) in [(9, 1), (14, 2), (12, 3), (13, 4), (12, 5)] {
            nearest.add(line, address);
        }
        assert_eq!((nearest.found, nearest.addresses), (12, vec![3, 5]));
    }
}
