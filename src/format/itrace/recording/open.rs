//! From what a person says of a dump to a recording: the files that it names are opened, and what lay where is settled.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::elf;

use super::super::capture::{Capture, ElfAt, ImageAt, Mismatch, TraceSource};
use super::super::etrace::Fit;
use super::super::instruction::InstructionSet;
use super::{Dump, InstructionTrace, Memory, Parts, Protocol, Source, beginning};
use crate::arch::{self, ArchError, Known, Machine};
use crate::image::{Image, ImageError, PlacedImage, Placement};
use crate::source::{self, ByteOrder, SourceError};

/// How many addresses tell where a position-independent program lay.
const ADDRESSES: usize = 256;

/// What a person says beside a capture.
#[derive(Clone, Default)]
pub struct OpenOptions<'a> {
    /// The program that was traced.
    pub program: Option<Arc<Image>>,
    /// What is added to its addresses.
    pub load_bias: Option<u64>,
    /// A target description, as XML.
    pub description: Option<&'a str>,
    /// The name of an architecture.
    pub architecture: Option<&'a str>,
    /// Whether a program is used that is another build than the capture says.
    pub allow_mismatch: bool,
    /// Told, while a sink is expanded, how many bytes there are so far.
    pub expanding: Option<&'a dyn Fn(u64)>,
}

/// A recording, and the programs that it was made with.
pub struct Opened {
    /// The recording.
    pub recording: InstructionTrace,
    /// The program that is told to gdb.
    pub program: Option<Arc<Image>>,
    /// The other programs and libraries.
    pub others: Vec<Arc<Image>>,
}

/// Why a capture cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A program cannot be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A program is another build than what ran.
    #[error(transparent)]
    Mismatch(Box<Mismatch>),
    /// A program for another machine than the others.
    #[error("{}: is for another machine than {} (a trace is of one)", path.display(), other.display())]
    Machines {
        /// The program.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// A program for another machine than the sources trace.
    #[error("{}: is for another machine than {source_name}, which is {protocol} (is it the program that was traced?)", path.display())]
    Foreign {
        /// The program.
        path: PathBuf,
        /// The source.
        source_name: String,
        /// Its protocol.
        protocol: &'static str,
    },
    /// Nobody says what lay in memory.
    #[error("{}: nothing is known of what lay in memory, without which a trace means nothing (give the program with --exec, and libraries or memory with --image)", name.display())]
    NoMemory {
        /// The file as the user named it.
        name: PathBuf,
    },
    /// A program of which nobody knows where it lay.
    #[error("{}: is position-independent, and neither the trace nor anybody says where it lay (give the address of its first page: {})", path.display(), hint(*is_program))]
    Unplaced {
        /// The program.
        path: PathBuf,
        /// Whether it is that of `--exec`.
        is_program: bool,
    },
    /// A program that is said to lie where it cannot.
    #[error("{}: {bias:#x} would be added to its addresses, which is no multiple of {}: no instruction could begin where it lies (give the address of its first page)", path.display(), ALIGNMENT)]
    Misplaced {
        /// The program.
        path: PathBuf,
        /// What was to be added.
        bias: u64,
    },
    /// No target description fits.
    #[error("{}: {cause}", name.display())]
    Arch {
        /// The file as the user named it.
        name: PathBuf,
        /// Why none fits.
        cause: ArchError,
    },
}

/// What is added to the addresses of a program is a multiple of this on every machine: as many bytes as most instructions
/// have.
const ALIGNMENT: u64 = 4;

fn hint(is_program: bool) -> &'static str {
    if is_program { "--load-bias ADDR" } else { "--image FILE@ADDR, or address in a description" }
}

/// Programs, each opened once, and where they lay.
struct Programs<'a> {
    /// The user's, and what is added to its addresses.
    program: Option<Arc<Image>>,
    load_bias: Option<u64>,
    opened: Vec<Arc<Image>>,
    mismatches: Vec<Mismatch>,
    allow_mismatch: bool,
    /// Addresses that were executed, which take a look through the sinks: asked for only if a place is to be found.
    addresses: &'a dyn Fn() -> Vec<u64>,
}

impl Programs<'_> {
    fn open(&mut self, elf: &ElfAt) -> Result<Arc<Image>, OpenError> {
        let path = elf.path.canonicalize().unwrap_or_else(|_| elf.path.clone());
        let image = match self.opened.iter().find(|image| image.path() == path) {
            Some(image) => Arc::clone(image),
            None => {
                let image = Arc::new(Image::open(&elf.path)?);
                self.opened.push(Arc::clone(&image));
                image
            }
        };
        if let Some(Err(mismatch)) = elf.build_id.as_ref().map(|expected| expected.check(&image)) {
            if !self.allow_mismatch {
                return Err(OpenError::Mismatch(Box::new(mismatch)));
            }
            if !self.mismatches.contains(&mismatch) {
                self.mismatches.push(mismatch);
            }
        }
        Ok(image)
    }

    /// A program where it lay.
    fn place(&self, image: Arc<Image>) -> Result<PlacedImage, OpenError> {
        let is_program = self.program.as_ref().is_some_and(|program| Arc::ptr_eq(program, &image));
        let load_bias = self.load_bias.filter(|_| is_program);
        let is_to_be_found = load_bias.is_none() && image.is_position_independent();
        let addresses = if is_to_be_found { (self.addresses)() } else { Vec::new() };
        let placed = PlacedImage::place(image, load_bias, &[], &addresses);
        match placed.is_placed() {
            true => aligned(placed),
            false => Err(OpenError::Unplaced { path: placed.image.path().to_owned(), is_program }),
        }
    }

    /// What lay in memory, opened and placed.
    fn images(&mut self, said: &[ImageAt], remarks: &mut Vec<String>) -> Result<Images, OpenError> {
        let (mut placed, mut dumps) = (Vec::new(), Vec::new());
        for image in said {
            match image {
                ImageAt::Elf(elf) => {
                    let image = self.open(elf)?;
                    placed.push(match elf.bias(&image) {
                        Some(bias) => {
                            let placement = if elf.load.is_none() { Placement::Fixed } else { Placement::Described };
                            aligned(PlacedImage { image, bias, placement })?
                        }
                        None => self.place(image)?,
                    });
                }
                ImageAt::Memory(memory) => {
                    let source = Arc::new(source::Source::open(&memory.path)?);
                    let length = memory.bytes(&source).len();
                    let from = usize::try_from(memory.offset).unwrap_or(usize::MAX).min(source.bytes().len());
                    if length == 0 {
                        let path = memory.path.display();
                        remarks.push(format!("{path} has no byte of the memory that it is said to hold"));
                    }
                    dumps.push(Dump { address: memory.address, source, bytes: from..from.saturating_add(length) });
                }
            }
        }
        Ok((placed, dumps))
    }
}

/// A program that lies where instructions can begin.
fn aligned(placed: PlacedImage) -> Result<PlacedImage, OpenError> {
    match placed.bias.is_multiple_of(ALIGNMENT) {
        true => Ok(placed),
        false => Err(OpenError::Misplaced { path: placed.image.path().to_owned(), bias: placed.bias }),
    }
}

/// Programs and pieces of memory.
type Images = (Vec<PlacedImage>, Vec<Dump>);

/// Whether a program is among placed ones, wherever that is.
fn has(placed: &[PlacedImage], image: &Arc<Image>) -> bool {
    placed.iter().any(|found| Arc::ptr_eq(&found.image, image))
}

impl InstructionTrace {
    /// Opens what a capture describes; `name` is the file that the user named.
    pub fn open(name: &Path, capture: &Capture, options: &OpenOptions<'_>) -> Result<Opened, OpenError> {
        let progress = options.expanding.unwrap_or(&|_| ());
        let open = |path: &Path| source::Source::open(path)?.expanded(progress);
        let sinks = capture.sinks.iter().map(|sink| open(&sink.path)).collect::<Result<Vec<_>, _>>()?;
        let mut remarks = capture.remarks.clone();
        let described: Vec<(usize, &TraceSource, Protocol)> = (0..)
            .zip(&capture.sinks)
            .flat_map(|(at, sink)| {
                let harts = Protocol::harts(sink, bytes(&sinks, at));
                let sources = sink.sources.iter();
                sources.filter_map(move |source| Some((at, source, Protocol::new(sink.framing, source, &harts)?)))
            })
            .collect();
        let addresses = || -> Vec<u64> {
            let of =
                |(at, _, protocol): &(usize, &TraceSource, Protocol)| protocol.addresses(bytes(&sinks, *at), ADDRESSES);
            described.iter().flat_map(of).collect()
        };
        let mut programs = Programs {
            program: options.program.clone(),
            load_bias: options.load_bias,
            opened: options.program.iter().cloned().collect(),
            mismatches: Vec::new(),
            allow_mismatch: options.allow_mismatch,
            addresses: &addresses,
        };
        let (mut placed, dumps) = programs.images(&capture.images, &mut remarks)?;
        let program = options.program.clone().or_else(|| placed.first().map(|placed| Arc::clone(&placed.image)));
        if let Some(program) = &options.program {
            // Where the capture says where the user's program lay, it lay there.
            let described = placed.iter().position(|found| Arc::ptr_eq(&found.image, program));
            let described = described.map(|at| placed.remove(at)).filter(|_| options.load_bias.is_none());
            let first = match described {
                Some(described) => described,
                None => programs.place(Arc::clone(program))?,
            };
            placed.insert(0, first);
        }
        let (mut sources, mut doubts) = (Vec::new(), Vec::new());
        let mut all = placed.clone();
        let mut shared: Option<Arc<Memory>> = None;
        for (sink, source, protocol) in &described {
            let own = source.core.as_deref().map_or(&[][..], |core| &core.images);
            let memory = if own.is_empty() {
                Arc::clone(shared.get_or_insert_with(|| Arc::new(Memory::new(placed.clone(), dumps.clone()))))
            } else {
                let (own_programs, own_dumps) = programs.images(own, &mut remarks)?;
                let new: Vec<_> = own_programs.iter().filter(|own| !has(&all, &own.image)).cloned().collect();
                all.extend(new);
                Arc::new(Memory::new([own_programs, placed.clone()].concat(), [own_dumps, dumps.clone()].concat()))
            };
            if memory.is_empty() {
                return Err(OpenError::NoMemory { name: name.to_owned() });
            }
            let (protocol, fit) = protocol.clone().fitted(bytes(&sinks, *sink), &memory);
            let name = &source.name;
            match fit {
                Fit::AsSaid => {}
                Fit::Keeps(what) => {
                    remarks.push(format!("{name}: its trace fits an encoder that keeps {what} over a synchronization"));
                }
                Fit::Open(what) => doubts.push(format!(
                    "{name}: {what} must be named: what is shown depends on it, and the trace does not tell it (0 is \
                     what the specification says, and is taken)"
                )),
            }
            sources.push(Source { name: source.name.clone(), sink: *sink, protocol, memory });
        }
        doubts.extend(programs.mismatches.iter().map(doubt));
        for source in &sources {
            let sink = bytes(&sinks, source.sink);
            match beginning::remark(source, sink) {
                Ok(remark) => remarks.extend(remark),
                Err(nothing) => doubts.push(nothing),
            }
        }
        let machine = machine(&all, &sources, &sinks)?;
        let known = Known {
            recorded: None,
            given: options.description,
            name: options.architecture,
            machine: Some(machine),
            byte_order: None,
            block_size: None,
        };
        let refused = |cause| OpenError::Arch { name: name.to_owned(), cause };
        let mut choice = arch::resolve(&known).map_err(refused)?;
        remarks.append(&mut choice.remarks);
        let target = choice.with_byte_order(machine.byte_order);
        let program = program.or_else(|| all.first().map(|placed| Arc::clone(&placed.image)));
        let is_program = |image: &Arc<Image>| program.as_ref().is_some_and(|program| Arc::ptr_eq(program, image));
        let others = all.iter().map(|placed| Arc::clone(&placed.image)).filter(|image| !is_program(image)).collect();
        let parts = Parts { name: name.to_owned(), sinks, sources, programs: all, machine, target, remarks, doubts };
        Ok(Opened { recording: InstructionTrace::new(parts), program, others })
    }
}

/// The bytes of a sink, by its number.
fn bytes(sinks: &[source::Source], sink: usize) -> &[u8] {
    sinks.get(sink).map_or(&[], source::Source::bytes)
}

/// A build that is used all the same, in words that go with everything that is shown.
fn doubt(mismatch: &Mismatch) -> String {
    let Mismatch { path, expected, .. } = mismatch;
    format!(
        "{} is not the build that ran, which has the build ID {expected}: what is shown may never have been executed \
         (--allow-mismatch)",
        path.display()
    )
}

/// The machine that was traced: that of the programs, or, where there are only pieces of memory, what the trace says.
fn machine(programs: &[PlacedImage], sources: &[Source], sinks: &[source::Source]) -> Result<Machine, OpenError> {
    let Some(first) = programs.first().map(|placed| &placed.image) else {
        let found = sources.iter().find_map(|source| source.protocol.instruction_set(bytes(sinks, source.sink)));
        let (elf_machine, address_size) = match found {
            Some(InstructionSet::Rv32) => (elf::EM_RISCV, 4),
            Some(InstructionSet::Rv64) => (elf::EM_RISCV, 8),
            Some(InstructionSet::A32 | InstructionSet::T32) => (elf::EM_ARM, 4),
            Some(InstructionSet::A64) | None => (elf::EM_AARCH64, 8),
        };
        return Ok(Machine { elf_machine: elf_machine.0, elf_flags: 0, address_size, byte_order: ByteOrder::Little });
    };
    let machine = first.machine();
    let is_alike = |image: &Image| {
        (image.machine().elf_machine, image.machine().address_size) == (machine.elf_machine, machine.address_size)
    };
    if let Some(other) = programs.iter().find(|placed| !is_alike(&placed.image)) {
        return Err(OpenError::Machines { path: other.image.path().to_owned(), other: first.path().to_owned() });
    }
    let is_of = |source: &&Source| match source.protocol {
        Protocol::Etm4 { .. } => matches!(elf::Machine(machine.elf_machine), elf::EM_AARCH64 | elf::EM_ARM),
        Protocol::ETrace(ref hart) => {
            let size = if hart.instruction_set == InstructionSet::Rv32 { 4 } else { 8 };
            elf::Machine(machine.elf_machine) == elf::EM_RISCV && machine.address_size == size
        }
    };
    match sources.iter().find(|source| !is_of(source)) {
        Some(source) => Err(OpenError::Foreign {
            path: first.path().to_owned(),
            source_name: source.name.clone(),
            protocol: source.protocol.name(),
        }),
        None => Ok(machine),
    }
}
