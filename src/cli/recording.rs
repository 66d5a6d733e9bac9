//! The options that every command with a recording has, and the opening of it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::failure::Failure;
use super::progress::Progress;
use crate::arch;
use crate::format::itrace::capture::{self, Capture};
use crate::format::itrace::recording::{self, InstructionTrace, Opened};
use crate::format::{self, OpenOptions, tracedat};
use crate::image::Image;
use crate::index::InterruptionQuery;
use crate::report;
use crate::session::{Programs, Replay};
use crate::source::{ByteOrder, Source};
use crate::trace::Placed;

/// A recording, and what the user says about it.
#[derive(Debug, Args)]
pub struct RecordingOptions {
    /// The recording: a GDB trace file (what gdb's tsave writes), a Nios II .tr file, a trace.dat of trace-cmd, or an
    /// instruction trace: the dump of a trace buffer with --source, a TOML file that describes one, or the directory of an
    /// OpenCSD snapshot
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The program that was recorded: an ELF file. gdb gets it from here, with symbols, lines and read-only memory
    #[arg(long, value_name = "ELF")]
    exec: Option<PathBuf>,
    /// What to add to the program's addresses (0x… or decimal), where a position-independent program cannot be placed
    /// from the recording
    #[arg(long, value_name = "ADDR", requires = "exec", value_parser = report::parse_number)]
    load_bias: Option<u64>,
    /// A shared library of the program, where the recording says at which address it lay (trace-cmd record --proc-map); may
    /// be given several times
    #[arg(long, value_name = "ELF", requires = "exec")]
    library: Vec<PathBuf>,
    /// The target description (gdb's XML), instead of the one in the recording
    #[arg(long, value_name = "XML")]
    tdesc: Option<PathBuf>,
    /// The machine, where neither recording nor program tells it: x86-64, i386, aarch64, arm, riscv32, riscv64, powerpc,
    /// powerpc64, mips, mips64, s390x, nios2, or gdb's own name
    #[arg(long, value_name = "NAME")]
    arch: Option<String>,
    /// The byte order, where neither recording nor program tells it
    #[arg(long, value_enum, value_name = "ORDER")]
    endian: Option<Endian>,
    /// Refuse a recording that is damaged anywhere, or that contradicts the program
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    events: EventOptions,
    #[command(flatten)]
    trace: TraceOptions,
}

/// What of a trace-cmd recording is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for trace-cmd recordings")]
struct EventOptions {
    /// A tracing instance, by its name, '' for the top one; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    instance: Vec<String>,
    /// A CPU, by its number; may be given several times [default: all]
    #[arg(long, value_name = "N")]
    cpu: Vec<u32>,
    /// An event, by its name or as SYSTEM:NAME; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,
    /// What a field of a probe is: FIELD=REGISTER, or FIELD=+OFFSET(%REGISTER) for memory, as in the probe's definition.
    /// Without it, fields named as registers are these, and stk or stack what lay at the stack pointer
    #[arg(long, value_name = "FIELD=WHAT")]
    map: Vec<tracedat::Mapping>,
    /// The process whose maps (trace-cmd record --proc-map) tell where the program and its libraries lay
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
}

impl EventOptions {
    fn choices(&self) -> tracedat::Choices {
        let EventOptions { instance, cpu, event, map, process } = self;
        let (instances, cpus, events) = (instance.clone(), cpu.clone(), event.clone());
        tracedat::Choices { instances, cpus, events, mappings: map.clone(), process: *process }
    }
}

/// What is in the dump of an instruction trace.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for instruction traces")]
struct TraceOptions {
    /// A trace source in the dump: ID=etm4,TRCCONFIGR=…,TRCIDR0=…,TRCIDR1=…,TRCIDR2=…,TRCIDR8=… (ete with TRCDEVARCH for
    /// TRCIDR1), or ID=etrace,isa=rv64,iaddress_width_p=64,… with the encoder's parameters; name=… names it. May be given
    /// several times
    #[arg(long, value_name = "ID=PROTOCOL,…")]
    source: Vec<capture::SourceOption>,
    /// How the sources are mixed in the dump: coresight (a trace buffer's frames), tpiu (with synchronization), unformatted,
    /// smi[,hart_bits=N], encapsulation,source_bits=N,timestamp_bytes=N [default: coresight, or smi for etrace]
    #[arg(long, value_name = "FRAMING")]
    sink: Option<capture::Framing>,
    /// What else lay in memory: an ELF file (a library, a kernel) at the address of its first page, or bytes of memory at
    /// their address. May be given several times
    #[arg(long, value_name = "FILE[@ADDR]")]
    image: Vec<capture::ImageOption>,
    /// Go on with a program whose build ID is not the one that the description names; everything shown is marked
    #[arg(long)]
    allow_mismatch: bool,
}

impl TraceOptions {
    fn options(&self) -> capture::Options {
        capture::Options { framing: self.sink, sources: self.source.clone(), images: self.image.clone() }
    }

    /// Whether any was given.
    fn are_given(&self) -> bool {
        self.sink.is_some() || !self.source.is_empty() || !self.image.is_empty() || self.allow_mismatch
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Endian {
    /// Least significant byte first
    Little,
    /// Most significant byte first
    Big,
}

impl RecordingOptions {
    /// The program that was recorded, as the user named it.
    pub fn program(&self) -> Option<&Path> {
        self.exec.as_deref()
    }

    /// The files that are read, also those that a description of an instruction trace names.
    fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs: Vec<PathBuf> = vec![self.file.clone()];
        inputs.extend(self.exec.iter().chain(&self.library).chain(&self.tdesc).cloned());
        // What cannot be opened is told of when it is to be read.
        let capture = Capture::open(&self.file, &self.trace.options()).ok().flatten();
        if let Some(capture) = &capture {
            inputs.extend(capture.sinks.iter().map(|sink| sink.path.clone()));
            inputs.extend(capture.all_images().map(|image| match image {
                capture::ImageAt::Elf(elf) => elf.path.clone(),
                capture::ImageAt::Memory(memory) => memory.path.clone(),
            }));
        }
        inputs
    }

    /// Whether a path is the recording or a program, under this name or another: neither is written over.
    pub fn reads(&self, path: &Path) -> bool {
        let file = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        let written = file(path);
        written.is_some() && self.inputs().iter().any(|input| file(input) == written)
    }

    /// Opens the recording and the program, and begins to index. With `--strict` the index is waited for.
    pub fn open(&self) -> Result<Arc<Replay>, Failure> {
        let image = self.exec.as_deref().map(Image::open).transpose()?.map(Arc::new);
        let description = self.tdesc.as_deref().map(read_description).transpose()?;
        let progress = Progress::new();
        let show = |bytes| progress.show(|| format!("reading: {} MB", bytes / 1_000_000));
        let replay = match Capture::open(&self.file, &self.trace.options())? {
            Some(capture) => self.open_trace(&capture, image, description.as_deref(), &show)?,
            None if self.trace.are_given() => return Err(Failure::NoTrace { path: self.file.clone() }),
            None => self.open_frames(image, description.as_deref(), &show)?,
        };
        drop(progress);
        let replay = Arc::new(replay);
        if self.strict {
            refuse_damage(&replay)?;
        }
        Ok(replay)
    }

    /// Opens an instruction trace.
    fn open_trace(
        &self,
        capture: &Capture,
        program: Option<Arc<Image>>,
        description: Option<&str>,
        show: &dyn Fn(u64),
    ) -> Result<Replay, Failure> {
        let options = recording::OpenOptions {
            program,
            load_bias: self.load_bias,
            description,
            architecture: self.arch.as_deref(),
            allow_mismatch: self.trace.allow_mismatch,
            expanding: Some(show),
        };
        let Opened { recording, program, others } = InstructionTrace::open(&self.file, capture, &options)?;
        let programs = Programs { program, load_bias: self.load_bias, libraries: others };
        Ok(Replay::new(Arc::new(recording), programs)?)
    }

    /// Opens a recording of frames.
    fn open_frames(
        &self,
        image: Option<Arc<Image>>,
        description: Option<&str>,
        show: &dyn Fn(u64),
    ) -> Result<Replay, Failure> {
        let options = OpenOptions {
            expanding: Some(show),
            tracedat: self.events.choices(),
            image: image.as_deref(),
            description,
            architecture: self.arch.as_deref(),
            byte_order: self.endian.map(|endian| match endian {
                Endian::Little => ByteOrder::Little,
                Endian::Big => ByteOrder::Big,
            }),
        };
        let recording = format::open(Source::open(&self.file)?, &options)?;
        let libraries = self.library.iter().map(|path| Image::open(path).map(Arc::new)).collect::<Result<_, _>>()?;
        let programs = Programs { program: image, load_bias: self.load_bias, libraries };
        Ok(Replay::new(recording, programs)?)
    }
}

fn refuse_damage(replay: &Replay) -> Result<(), Failure> {
    replay.index().wait();
    let damaged = !replay.recording().damage().is_empty() || !replay.index().damage().is_empty();
    if damaged {
        return Err(Failure::Strict(report::damage(replay).trim_end().to_owned()));
    }
    if let Some(gap) = first_damage(replay) {
        return Err(Failure::Strict(report::interruption(replay, &gap).trim_end().to_owned()));
    }
    match report::warnings(replay).into_iter().next() {
        Some(warning) => Err(Failure::Strict(warning)),
        None => Ok(()),
    }
}

/// The first gap of an instruction trace that is none by a filter.
fn first_damage(replay: &Replay) -> Option<Placed> {
    let query = InterruptionQuery { thread: None, gaps: true, exceptions: false };
    let mut from = 0;
    loop {
        match replay.index().next_interruption(from, &query).found() {
            Some(gap) if gap.interruption.kind.is_damage() => return Some(gap),
            Some(gap) => from = gap.after? + 1,
            None => break,
        }
    }
    let mut behind = replay.index().interruptions_behind(usize::MAX).into_iter();
    behind.find(|placed| placed.interruption.kind.is_damage())
}

/// A target description with the files that it includes, which are looked for beside it.
fn read_description(path: &Path) -> Result<String, Failure> {
    let failed = |what: String| Failure::Description { path: path.to_owned(), what };
    let text = |path: &Path| {
        String::from_utf8(Source::open(path)?.bytes().to_vec()).map_err(|_| failed("not UTF-8 text".to_owned()))
    };
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let mut include = |name: &str| {
        // A plain name only: a description is no way to read other folders.
        let plain = Path::new(name).file_name().is_some_and(|found| found == name);
        if plain { text(&folder.join(name)).ok() } else { None }
    };
    arch::with_includes(&text(path)?, &mut include).map_err(|error| failed(error.to_string()))
}
