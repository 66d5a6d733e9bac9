//! Line number programs: finding them in `.debug_line`, running them, and naming the files they speak of
//! (DWARF 5, section 6.2; versions 2 to 5).

use super::debug::Bytes;
use super::ranges::{Ranges, Span, Spans};
use super::statements::{Statement, resolved};
use crate::arch::Machine;
use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, EndianSlice, LineProgramHeader, LineRow, Reader, RunTimeEndian,
};
use std::collections::HashMap;
use std::num::NonZeroU64;

type Slice<'data> = EndianSlice<'data, RunTimeEndian>;
pub(super) type Header<'data> = LineProgramHeader<Slice<'data>>;

/// The shortest program in bytes behind its length: the fields of a header of version 2, and empty tables (DWARF 2,
/// section 6.2.4). What is shorter holds no row.
const SHORTEST: usize = 12;

/// The longest path of a file, in bytes (Linux's `PATH_MAX`).
const LONGEST_PATH: usize = 4096;

/// The sections that line number programs lie in and refer to.
#[derive(Debug)]
pub(super) struct Sections {
    pub(super) line: Bytes,
    pub(super) strings: Bytes,
    pub(super) line_strings: Bytes,
}

/// Which sequence of which program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    /// Index of the program.
    pub(super) program: usize,
    /// How many sequences of the program are before it.
    pub(super) number: usize,
}

/// What a program makes.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The rows of each sequence by ascending address, one row an address.
    pub(super) sequences: Vec<Vec<Row>>,
    /// The files that the rows name, by their numbers in the program.
    files: HashMap<u64, SourceFile>,
}

/// What a row says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) address: u64,
    /// The file's number in the program.
    file: u64,
    /// 0 for code that belongs to no line.
    line: u64,
    /// Whether a statement begins here: a place for a breakpoint.
    pub(super) is_statement: bool,
}

/// Where a file's path is found. It is put together when it is asked for: many files can share a damaged name.
#[derive(Clone, Copy, Debug)]
struct SourceFile {
    name: Text,
    directory: Option<Text>,
}

/// Where a text begins in a section. It ends with a zero byte.
#[derive(Clone, Copy, Debug)]
enum Text {
    Line(usize),
    Strings(usize),
    LineStrings(usize),
}

/// The line number programs of a file.
#[derive(Clone, Copy)]
pub(super) struct Programs<'data> {
    pub(super) file: &'data [u8],
    pub(super) machine: Machine,
    pub(super) sections: &'data Sections,
}

impl<'data> Programs<'data> {
    fn line_section(self) -> Slice<'data> {
        Slice::new(self.sections.line.get(self.file), self.machine.byte_order.into())
    }

    /// Where in the section each program begins. A program that cannot be read is known by its length all the same.
    pub(super) fn offsets(self) -> impl Iterator<Item = usize> {
        let section = self.line_section().slice();
        let mut next = Some(0usize);
        std::iter::from_fn(move || {
            loop {
                let offset = next?;
                let mut rest =
                    Slice::new(section.get(offset..).filter(|rest| !rest.is_empty())?, self.machine.byte_order.into());
                let (length, format) = rest.read_initial_length().ok()?;
                next =
                    offset.checked_add(usize::from(format.initial_length_size())).and_then(|at| at.checked_add(length));
                if length >= SHORTEST {
                    return Some(offset);
                }
            }
        })
    }

    fn program(self, offset: usize) -> Option<gimli::IncompleteLineProgram<Slice<'data>>> {
        let address_size = u8::try_from(self.machine.address_size).ok()?;
        DebugLine::from(self.line_section()).program(DebugLineOffset(offset), address_size, None, None).ok()
    }

    /// Runs a program up to its end or its first damage.
    pub(super) fn run(self, offset: usize, mut visit: impl FnMut(&Header<'data>, &LineRow)) {
        let Some(program) = self.program(offset) else { return };
        let mut rows = program.rows();
        while let Ok(Some((header, row))) = rows.next_row() {
            visit(header, row);
        }
    }

    /// The addresses of all sequences that begin in code; the others belong to functions that the linker dropped.
    pub(super) fn sequences(self, offsets: &[usize], code: &Ranges) -> Spans<Sequence> {
        let mut spans = Vec::new();
        for (program, offset) in offsets.iter().enumerate() {
            let mut number = 0;
            let mut first = None;
            self.run(*offset, |_, row| {
                let start = *first.get_or_insert(row.address());
                if row.end_sequence() {
                    if start < row.address() && code.contains(start) {
                        spans.push(Span::new(start, row.address().saturating_sub(1), Sequence { program, number }));
                    }
                    number += 1;
                    first = None;
                }
            });
        }
        Spans::new(spans)
    }

    /// Everything that a program makes.
    pub(super) fn rows(self, offset: usize) -> Rows {
        let mut made = Rows::default();
        let mut sequence: Vec<Row> = Vec::new();
        self.run(offset, |header, row| {
            if row.end_sequence() {
                sequence.shrink_to_fit();
                made.sequences.push(std::mem::take(&mut sequence));
                return;
            }
            if !made.files.contains_key(&row.file_index())
                && let Some(file) = self.source_file(header, row.file_index())
            {
                made.files.insert(row.file_index(), file);
            }
            let row = Row {
                address: row.address(),
                file: row.file_index(),
                line: row.line().map_or(0, NonZeroU64::get),
                is_statement: row.is_stmt(),
            };
            // Of rows for one address, the last one at which a statement begins counts.
            match sequence.last_mut().filter(|before| before.address == row.address) {
                Some(before) if before.is_statement && !row.is_statement => {}
                Some(before) => *before = row,
                None => sequence.push(row),
            }
        });
        made
    }

    /// The statements of the sequences that begin in code, up to the program's first damage. `place` tells where a
    /// file is in a list.
    pub(super) fn statements(
        self,
        offset: usize,
        code: &Ranges,
        mut place: impl FnMut(&Header<'data>, u64) -> Option<u32>,
        visit: &mut dyn FnMut(Statement),
    ) {
        let mut sequence: Vec<Statement> = Vec::new();
        let mut first = None;
        self.run(offset, |header, row| {
            let address = row.address();
            let start = *first.get_or_insert(address);
            if row.end_sequence() {
                // At the end begins no instruction of these.
                sequence.drain(..).filter(|statement| statement.address < address).for_each(&mut *visit);
                first = None;
                return;
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            let line = line.filter(|_| row.is_stmt() && code.contains(start) && code.contains(address));
            if let Some(line) = line
                && let Some(file) = place(header, row.file_index())
            {
                sequence.push(Statement { address, file, line });
            }
        });
    }

    /// The file and line of a row.
    pub(super) fn place(self, rows: &Rows, row: &Row) -> Option<(String, u32)> {
        let line = u32::try_from(row.line).ok().filter(|line| *line != 0)?;
        Some((self.path(*rows.files.get(&row.file)?)?, line))
    }

    /// The files of a program, by their numbers in it.
    pub(super) fn paths(self, offset: usize) -> impl Iterator<Item = (u64, String)> {
        self.program(offset).into_iter().flat_map(move |program| {
            let header = program.header().clone();
            // Files are numbered from 1 up to DWARF 4 and from 0 in DWARF 5.
            let numbers = 0..=header.file_names().len() as u64;
            numbers.filter_map(move |number| Some((number, self.path(self.source_file(&header, number)?)?)))
        })
    }

    /// The name of a file, and its path from where the compiler ran: `directory` tells that for programs that do not.
    pub(super) fn name_and_path(
        self,
        header: &Header<'data>,
        number: u64,
        directory: impl FnOnce() -> Option<String>,
    ) -> Option<(String, String)> {
        let name = self.path(self.source_file(header, number)?)?;
        if is_absolute(&name) {
            let path = resolved(&name);
            return Some((name, path));
        }
        // Directory 0 is in the table from DWARF 5 on.
        let own = header.directory(0).filter(|_| header.version() >= 5);
        let own = own.and_then(|own| self.read(self.text(own)?));
        let directory = own.or_else(directory).filter(|directory| !directory.is_empty());
        let path = match directory {
            Some(directory) => resolved(&format!("{directory}/{name}")),
            None => resolved(&name),
        };
        Some((name, path))
    }

    fn source_file(self, header: &Header<'data>, number: u64) -> Option<SourceFile> {
        let file = header.file(number)?;
        let directory = match file.directory_index() {
            0 => None,
            _ => file.directory(header).and_then(|directory| self.text(directory)),
        };
        Some(SourceFile { name: self.text(file.path_name())?, directory })
    }

    fn text(self, value: AttributeValue<Slice<'data>>) -> Option<Text> {
        match value {
            AttributeValue::String(text) => Some(Text::Line(text.offset_from(self.line_section()))),
            AttributeValue::DebugStrRef(at) => Some(Text::Strings(at.0)),
            AttributeValue::DebugLineStrRef(at) => Some(Text::LineStrings(at.0)),
            _ => None,
        }
    }

    fn path(self, file: SourceFile) -> Option<String> {
        let name = self.read(file.name)?;
        let directory = file.directory.and_then(|directory| self.read(directory));
        match directory.filter(|directory| !directory.is_empty() && !is_absolute(&name)) {
            Some(directory) => Some(format!("{}/{name}", directory.trim_end_matches('/'))),
            None => Some(name),
        }
    }

    fn read(self, text: Text) -> Option<String> {
        let (section, at) = match text {
            Text::Line(at) => (&self.sections.line, at),
            Text::Strings(at) => (&self.sections.strings, at),
            Text::LineStrings(at) => (&self.sections.line_strings, at),
        };
        let bytes = section.get(self.file).get(at..)?;
        let window = bytes.get(..bytes.len().min(LONGEST_PATH))?;
        let end = memchr::memchr(0, window).unwrap_or(window.len());
        Some(String::from_utf8_lossy(window.get(..end)?).into_owned())
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/")
}
