//! The program that was recorded, as its ELF file holds it.
//!
//! Owns: read-only contents, symbols, source lines, build ID, and where a position-independent program lay; and the
//! making of such a file where there is none ([`made`]).
//! Knows nothing of traces and packets.
//!
//! Invariant: a byte of memory comes from here only if the running program cannot have changed it, and an address
//! means something only as long as it is known where the program lay.

mod activation;
mod agreement;
mod contents;
mod debug;
mod elf;
mod error;
mod line_program;
mod lines;
mod location;
pub mod made;
mod names;
mod placed;
mod placement;
mod ranges;
mod stack;
mod statements;
mod symbols;
#[cfg(test)]
mod tests;
mod units;
mod unwind;
mod usual;

pub use activation::{Activation, Unwinding, unwinding};
pub use error::ImageError;
pub use names::Asked;
pub use placed::PlacedImage;
pub use placement::{Anchor, Placement};
pub use stack::Stack;
pub use statements::{SourceFile, SourceFiles, Statement};
pub use unwind::{CallerRule, MachineState, Saved};

use crate::arch::Machine;
use crate::source::Source;
use contents::Contents;
use lines::{Lines, SourceLine};
use names::Names;
use ranges::Ranges;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use symbols::Symbols;
use unwind::Unwind;

/// An ELF file. All addresses are those of the file (link-time addresses).
///
/// Threads may share it.
pub struct Image {
    source: Source,
    path: PathBuf,
    machine: Machine,
    position_independent: bool,
    entry: u64,
    alignment: u64,
    dynamic: Option<u64>,
    has_segments: bool,
    loaded_sections: usize,
    build_id: Option<Vec<u8>>,
    is_m_profile: bool,
    contents: Contents,
    code: Ranges,
    /// The first and last address of what is loaded.
    span: Option<(u64, u64)>,
    symbols: Symbols,
    lines: Lines,
    names: Names,
    unwind: Unwind,
    damage: Vec<String>,
}

impl Image {
    /// Opens an ELF file: an executable or a shared object, of either class and byte order.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no ELF file, is an object file or a core dump, or its ELF header is damaged.
    /// Other damage is no error: see [`Image::damage`].
    pub fn open(path: &Path) -> Result<Image, ImageError> {
        let source = Source::open(path)?;
        let absolute = path.canonicalize().map_err(|cause| ImageError::Path { path: path.to_owned(), cause })?;
        Image::new(source, absolute)
    }

    /// Reads an ELF file that is already at hand; its path is the source's name.
    ///
    /// # Errors
    ///
    /// As [`Image::open`].
    pub fn from_source(source: Source) -> Result<Image, ImageError> {
        let path = source.name().to_owned();
        Image::new(source, path)
    }

    fn new(source: Source, path: PathBuf) -> Result<Image, ImageError> {
        let elf = elf::read(&source)?;
        let code = code(&elf);
        Ok(Image {
            path,
            machine: elf.machine,
            position_independent: elf.position_independent,
            entry: elf.entry,
            alignment: alignment(&elf),
            has_segments: elf.segments.iter().any(|segment| segment.kind == elf::SegmentKind::Load),
            loaded_sections: elf.sections.iter().filter(|section| section.is_allocated()).count(),
            dynamic: elf.sections.iter().find(|section| section.name == b".dynamic").map(|section| section.address),
            span: span(&elf),
            contents: Contents::new(&elf),
            symbols: Symbols::new(&elf, &code),
            lines: Lines::new(&elf),
            names: Names::new(&elf),
            unwind: Unwind::new(&elf),
            code,
            build_id: elf.build_id,
            is_m_profile: elf.is_m_profile,
            damage: elf.damage,
            source,
        })
    }

    /// The path that is announced to clients: absolute, symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, byte for byte.
    pub fn file(&self) -> &Source {
        &self.source
    }

    /// The machine it is for.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Whether the loader may place it anywhere (`ET_DYN`).
    pub fn is_position_independent(&self) -> bool {
        self.position_independent
    }

    /// Whether it is for a processor of Arm's M-profile, as its build attributes say.
    pub fn is_m_profile(&self) -> bool {
        self.is_m_profile
    }

    /// The entry point (`e_entry`).
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// The build ID: the contents of the note that the linker leaves, usually 20 bytes.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// What could not be read of a damaged file, and what is missing for it. Phrases in lower case, no full stop.
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    /// The bytes from `address` to the end of the read-only part that holds it; empty outside read-only parts.
    ///
    /// Read-only are the loaded sections and segments that are not writable, without what the loader changes
    /// (`PT_GNU_RELRO`, places of dynamic relocations) and without addresses that the file fills in two ways.
    pub fn read_only(&self, address: u64) -> &[u8] {
        self.contents.from(self.source.bytes(), address)
    }

    /// The first address at or above `address` that lies in a read-only part.
    pub fn next_read_only(&self, address: u64) -> Option<u64> {
        self.contents.next(address)
    }

    /// Whether code lies at `address`: in an executable section, or, in a file without any, an executable segment.
    pub fn is_code(&self, address: u64) -> bool {
        self.code.contains(address)
    }

    /// The function that holds `address`, and the offset from its start in bytes.
    ///
    /// The name is the symbol's, as gdb shows names of C; names of Rust are demangled, those of C++ are not.
    pub fn function(&self, address: u64) -> Option<(String, u64)> {
        let (name, first, _) = self.symbols.find(self.source.bytes(), address)?;
        Some((name, address.wrapping_sub(first)))
    }

    /// The source file and line of `address`.
    ///
    /// The file is as the compiler was told of it, with its directory unless that is the compiler's working
    /// directory: `case.c`, `src/case.c`, `/usr/include/stdio.h`. gdb shows the same.
    pub fn line(&self, address: u64) -> Option<(String, u32)> {
        self.lines.find(self.source.bytes(), &self.code, address)
    }

    /// Shows where each statement begins, of all lines that have code, and returns the files that they are of: what
    /// the line table has, up to where it is damaged, in no order of addresses.
    ///
    /// Several statements can begin at an address, and a statement at several addresses. Nothing of what is shown is
    /// kept.
    pub fn each_statement(&self, visit: &mut dyn FnMut(Statement)) -> SourceFiles {
        let directories = || self.names.directories(self.source.bytes());
        self.lines.each_statement(self.source.bytes(), &self.code, directories, visit)
    }

    /// The first and last addresses of all functions, in ascending order of the first, which no two share; labels in
    /// functions of which the file tells the size are none. [`Image::function`] tells their names.
    pub fn functions(&self) -> impl Iterator<Item = (u64, u64)> {
        self.symbols.functions()
    }

    /// The name that the linker has for the function that holds `address`: of C++ and Rust, the mangled one.
    pub fn symbol(&self, address: u64) -> Option<String> {
        self.symbols.symbol(self.source.bytes(), address)
    }

    /// Which of the names a debugger knows where they are asked for, by this file's debug information.
    pub fn known(&self, asked: &[Asked<'_>]) -> Vec<bool> {
        self.names.known(self.source.bytes(), asked)
    }

    /// Whether an address lies between the first and the last that are loaded. Nothing else lies there.
    pub fn spans(&self, address: u64) -> bool {
        self.span.is_some_and(|(first, last)| (first..=last).contains(&address))
    }

    /// The canonical frame address of the function at `address`, by which a debugger tells frames apart (DWARF 5,
    /// section 6.4.1); `None` where the file does not tell it, or what it takes is not known. Where the stack was
    /// realigned it is on the stack; everywhere else no memory is needed.
    pub fn frame_address(&self, address: u64, state: &dyn MachineState) -> Option<u64> {
        self.unwind.frame_address(self.source.bytes(), address, state)
    }

    /// The first and the last address that are loaded.
    pub fn span(&self) -> Option<(u64, u64)> {
        self.span
    }

    /// The first address that is loaded.
    pub fn first_address(&self) -> u64 {
        self.span.map_or(0, |(first, _)| first)
    }

    /// The address of the page at which the file is mapped. Files are linked so that it is enough to know of pages that
    /// they have at least 4096 bytes.
    pub fn first_page(&self) -> u64 {
        self.first_address() & !(usual::PAGE - 1)
    }

    /// Whether it says what is loaded in one piece (`PT_LOAD`). A file for a debugger alone need not.
    pub fn has_segments(&self) -> bool {
        self.has_segments
    }

    /// How many sections have room in a running program (`SHF_ALLOC`).
    pub fn loaded_sections(&self) -> usize {
        self.loaded_sections
    }

    /// The address of what the loader is told (`.dynamic`); `None` for a file that it has nothing to do with.
    pub fn dynamic(&self) -> Option<u64> {
        self.dynamic
    }

    /// The bytes of code from `address` to the end of the part that holds it; empty where there is none, or where the running
    /// program can change it.
    pub fn code(&self, address: u64) -> &[u8] {
        if self.is_code(address) { self.read_only(address) } else { &[] }
    }

    /// How the caller of the function at `address` is found, where that takes nothing but registers and offsets.
    pub fn caller_rule(&self, address: u64) -> Option<CallerRule> {
        self.unwind.rule(self.source.bytes(), address)
    }

    /// The first addresses of all functions with these names, by the name.
    pub fn addresses_of<'name>(&self, names: &[&'name str]) -> HashMap<&'name str, Vec<u64>> {
        let found = self.symbols.named(self.source.bytes(), names.iter().copied());
        let first = |functions: Vec<(u64, u64)>| functions.into_iter().map(|(first, _)| first).collect();
        found.into_iter().map(|(name, functions)| (name, first(functions))).collect()
    }

    /// The greatest alignment of a segment in bytes, a power of two.
    fn alignment(&self) -> u64 {
        self.alignment
    }

    fn functions_named<'name>(&self, names: HashSet<&'name str>) -> HashMap<&'name str, Vec<(u64, u64)>> {
        self.symbols.named(self.source.bytes(), names)
    }

    /// The first and last address of the function that holds `address`.
    pub fn function_at(&self, address: u64) -> Option<(u64, u64)> {
        self.symbols.find(self.source.bytes(), address).map(|(_, first, last)| (first, last))
    }

    fn statements<'name>(&self, lines: &[SourceLine<'name>]) -> HashMap<SourceLine<'name>, Vec<u64>> {
        self.lines.statements(self.source.bytes(), &self.code, lines)
    }

    fn statements_within(&self, first: u64, last: u64) -> Vec<u64> {
        self.lines.statements_within(self.source.bytes(), &self.code, first, last)
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({}, {:?})", self.path.display(), self.machine)
    }
}

fn code(elf: &elf::Elf<'_>) -> Ranges {
    let sections = elf.sections.iter().filter(|section| section.is_code());
    let code: Ranges = sections.map(|section| (section.address, section.size)).collect();
    if !code.is_empty() {
        return code;
    }
    let segments = elf.segments.iter().filter(|segment| segment.executable && segment.kind == elf::SegmentKind::Load);
    segments.map(|segment| (segment.address, segment.size)).collect()
}

fn span(elf: &elf::Elf<'_>) -> Option<(u64, u64)> {
    let loaded = elf.segments.iter().filter(|segment| segment.kind == elf::SegmentKind::Load);
    let segments = loaded.map(|segment| (segment.address, segment.size));
    // A file for a debugger alone may have sections only.
    let sections = elf.sections.iter().filter(|section| section.is_in_memory());
    let parts = segments.chain(sections.map(|section| (section.address, section.size)));
    let spans = parts.filter_map(|(first, size)| Some((first, ranges::last(first, size)?)));
    spans.reduce(|span, part| (span.0.min(part.0), span.1.max(part.1)))
}

fn alignment(elf: &elf::Elf<'_>) -> u64 {
    let loaded = elf.segments.iter().filter(|segment| segment.kind == elf::SegmentKind::Load);
    loaded.map(|segment| segment.alignment).filter(|alignment| alignment.is_power_of_two()).max().unwrap_or(1)
}
