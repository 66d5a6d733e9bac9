//! Source lines, from the line number programs in `.debug_line` (DWARF 5, section 6.2; versions 2 to 5).
//!
//! The programs are run once, at the first question, to note which addresses each of them covers; an answer runs
//! the one program that covers the address again. So nothing but the covered ranges is kept, a damaged program
//! costs that compilation unit only, and no lock is held. `.debug_info` is not needed, nor split debug information:
//! line number programs stay in the program file.

use super::debug::{Bytes, DebugSection};
use super::elf::Elf;
use super::ranges::{Ranges, Span, Spans};
use crate::arch::Machine;
use crate::source::ByteOrder;
use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, EndianSlice, LineProgramHeader, LineRow, Reader, RunTimeEndian,
};
use std::collections::HashMap;
use std::sync::OnceLock;

type Slice<'data> = EndianSlice<'data, RunTimeEndian>;
type Header<'data> = LineProgramHeader<Slice<'data>>;

/// The longest path of a file, in bytes (Linux's `PATH_MAX`).
const LONGEST_PATH: usize = 4096;
/// How many places a line can have before further ones are left out.
const MOST_STATEMENTS: usize = 10_000;
/// How many programs are run for one address. Sound files have one, or a few for code that the linker merged.
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
    line: Bytes,
    strings: Bytes,
    line_strings: Bytes,
    /// The addresses of each sequence of rows, and the offset of its program.
    sequences: Spans<usize>,
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
    ///
    /// The file is as the compiler was told of it, with its directory unless that is the compiler's working
    /// directory: `case.c`, `src/case.c`, `/usr/include/stdio.h`.
    pub(super) fn find(&self, file: &[u8], code: &Ranges, address: u64) -> Option<(String, u32)> {
        let programs = self.programs(file, code);
        let mut sequences = programs.table.sequences.containing(address).take(MOST_PROGRAMS);
        sequences.find_map(|sequence| {
            let mut nearest: Option<Row> = None;
            let mut found = None;
            programs.run(sequence.value, |header, row, first| {
                if found.is_some() || first != sequence.first {
                    return;
                }
                match nearest {
                    Some(nearest) if row.address() > address => found = Some(programs.place(header, nearest)),
                    _ if row.end_sequence() => nearest = None,
                    // Of rows for one address, the last one at which a statement begins counts.
                    Some(Row { address, is_stmt: true, .. }) if row.address() == address && !row.is_stmt() => {}
                    _ => nearest = Some(Row::from(row)),
                }
            });
            found.flatten()
        })
    }

    /// The addresses at which statements of each line begin; where a line has none, those of the next line of its
    /// file that has (as gdb chooses a place for a breakpoint; gdb's linespec.c, `decode_digits_ordinary`).
    pub(super) fn statements<'name>(
        &self,
        file: &[u8],
        code: &Ranges,
        wanted: &[SourceLine<'name>],
    ) -> HashMap<SourceLine<'name>, Vec<u64>> {
        let programs = self.programs(file, code);
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, wanted) in wanted.iter().enumerate() {
            let name = components(wanted.file).next().unwrap_or_default();
            by_name.entry(name).or_default().push(index);
        }
        let mut nearest: Vec<(u64, Vec<u64>)> = vec![(u64::MAX, Vec::new()); wanted.len()];
        for offset in programs.offsets() {
            let Some(files) = programs.files(offset, &by_name, wanted) else { continue };
            programs.run(offset, |_, row, _| {
                let Some(line) = row.line().map(std::num::NonZeroU64::get).filter(|_| row.is_stmt()) else { return };
                if row.end_sequence() || !code.contains(row.address()) {
                    return;
                }
                for index in files.get(&row.file_index()).into_iter().flatten() {
                    let (Some(wanted), Some((best, addresses))) = (wanted.get(*index), nearest.get_mut(*index)) else {
                        continue;
                    };
                    if line < wanted.line || line > *best {
                        continue;
                    }
                    if line < *best {
                        *best = line;
                        addresses.clear();
                    }
                    if addresses.len() < MOST_STATEMENTS {
                        addresses.push(row.address());
                    }
                }
            });
        }
        wanted.iter().copied().zip(nearest.into_iter().map(|(_, addresses)| addresses)).collect()
    }

    /// The addresses from `first` to `last` at which statements begin.
    pub(super) fn statements_within(&self, file: &[u8], code: &Ranges, first: u64, last: u64) -> Vec<u64> {
        let programs = self.programs(file, code);
        let mut addresses = Vec::new();
        for sequence in programs.table.sequences.containing(first).take(MOST_PROGRAMS) {
            programs.run(sequence.value, |_, row, _| {
                let counts = row.is_stmt() && !row.end_sequence() && (first..=last).contains(&row.address());
                if counts && addresses.len() < MOST_STATEMENTS {
                    addresses.push(row.address());
                }
            });
        }
        addresses
    }

    fn programs<'data>(&'data self, file: &'data [u8], code: &Ranges) -> Programs<'data> {
        let table = self.table.get_or_init(|| {
            let mut table = Table {
                line: self.line.bytes(file, self.machine),
                strings: self.strings.bytes(file, self.machine),
                line_strings: self.line_strings.bytes(file, self.machine),
                sequences: Spans::default(),
            };
            table.sequences = Programs { file, machine: self.machine, table: &table }.sequences(code);
            table
        });
        Programs { file, machine: self.machine, table }
    }
}

/// What a row says.
#[derive(Clone, Copy)]
struct Row {
    address: u64,
    file: u64,
    line: u64,
    is_stmt: bool,
}

impl From<&LineRow> for Row {
    fn from(row: &LineRow) -> Row {
        Row {
            address: row.address(),
            file: row.file_index(),
            line: row.line().map_or(0, std::num::NonZeroU64::get),
            is_stmt: row.is_stmt(),
        }
    }
}

/// The line number programs of a file.
#[derive(Clone, Copy)]
struct Programs<'data> {
    file: &'data [u8],
    machine: Machine,
    table: &'data Table,
}

impl<'data> Programs<'data> {
    fn endian(&self) -> RunTimeEndian {
        match self.machine.byte_order {
            ByteOrder::Little => RunTimeEndian::Little,
            ByteOrder::Big => RunTimeEndian::Big,
        }
    }

    /// Where in the section each program begins. A program that cannot be read is known by its length all the same.
    fn offsets(self) -> impl Iterator<Item = usize> + 'data {
        let section = self.table.line.get(self.file);
        let mut next = Some(0usize);
        std::iter::from_fn(move || {
            let offset = next?;
            let mut rest = Slice::new(section.get(offset..).filter(|rest| !rest.is_empty())?, self.endian());
            next = rest.read_initial_length().ok().and_then(|(length, format)| {
                offset.checked_add(usize::from(format.initial_length_size()))?.checked_add(length)
            });
            Some(offset)
        })
    }

    fn program(self, offset: usize) -> Option<gimli::IncompleteLineProgram<Slice<'data>>> {
        let section = DebugLine::from(Slice::new(self.table.line.get(self.file), self.endian()));
        let address_size = u8::try_from(self.machine.address_size).ok()?;
        section.program(DebugLineOffset(offset), address_size, None, None).ok()
    }

    /// Runs a program up to its end or its first damage. `visit` is given each row, with the address of the first
    /// row of its sequence.
    fn run(self, offset: usize, mut visit: impl FnMut(&Header<'data>, &LineRow, u64)) {
        let Some(program) = self.program(offset) else { return };
        let mut rows = program.rows();
        let mut first = None;
        while let Ok(Some((header, row))) = rows.next_row() {
            let start = *first.get_or_insert(row.address());
            visit(header, row, start);
            if row.end_sequence() {
                first = None;
            }
        }
    }

    /// The sequences of rows whose first row lies in code; the others belong to functions that the linker dropped.
    fn sequences(self, code: &Ranges) -> Spans<usize> {
        let mut sequences = Vec::new();
        for offset in self.offsets() {
            self.run(offset, |_, row, first| {
                if row.end_sequence() && first < row.address() && code.contains(first) {
                    sequences.push(Span::new(first, row.address().saturating_sub(1), offset));
                }
            });
        }
        Spans::new(sequences)
    }

    fn place(self, header: &Header<'data>, row: Row) -> Option<(String, u32)> {
        let line = u32::try_from(row.line).ok().filter(|line| *line != 0)?;
        Some((self.path(header, row.file)?, line))
    }

    /// The files of a program, by their numbers in it, that are wanted: indices into `wanted`.
    fn files(
        self,
        offset: usize,
        by_name: &HashMap<&str, Vec<usize>>,
        wanted: &[SourceLine<'_>],
    ) -> Option<HashMap<u64, Vec<usize>>> {
        let program = self.program(offset)?;
        let header = program.header();
        let mut files = HashMap::new();
        // Files are numbered from 1 up to DWARF 4 and from 0 in DWARF 5.
        for number in 0..=header.file_names().len() as u64 {
            let Some(path) = self.path(header, number) else { continue };
            let name = components(&path).next().unwrap_or_default();
            let Some(candidates) = by_name.get(name) else { continue };
            let matches = |index: &&usize| wanted.get(**index).is_some_and(|wanted| is_same(&path, wanted.file));
            let indices: Vec<usize> = candidates.iter().filter(matches).copied().collect();
            if !indices.is_empty() {
                files.insert(number, indices);
            }
        }
        (!files.is_empty()).then_some(files)
    }

    fn path(self, header: &Header<'data>, number: u64) -> Option<String> {
        let file = header.file(number)?;
        let name = self.text(file.path_name())?;
        let directory = match file.directory_index() {
            0 => None,
            _ => file.directory(header).and_then(|directory| self.text(directory)),
        };
        match directory.filter(|directory| !directory.is_empty() && !is_absolute(&name)) {
            Some(directory) => Some(format!("{}/{name}", directory.trim_end_matches('/'))),
            None => Some(name),
        }
    }

    fn text(self, value: AttributeValue<Slice<'data>>) -> Option<String> {
        let bytes = match value {
            AttributeValue::String(text) => text.slice(),
            AttributeValue::DebugStrRef(at) => self.table.strings.get(self.file).get(at.0..)?,
            AttributeValue::DebugLineStrRef(at) => self.table.line_strings.get(self.file).get(at.0..)?,
            _ => return None,
        };
        let window = bytes.get(..bytes.len().min(LONGEST_PATH))?;
        let end = memchr::memchr(0, window).unwrap_or(window.len());
        Some(String::from_utf8_lossy(window.get(..end)?).into_owned())
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/")
}

/// The components of a path from its end, up to one that only the file system could resolve.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").take_while(|part| *part != "..")
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
}
