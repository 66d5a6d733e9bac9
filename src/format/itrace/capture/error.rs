//! Why a description of a capture cannot be used: what was found, what was expected, and where to find it.

use std::path::PathBuf;

use super::snapshot::SnapshotError;
use super::{Kind, NotRead};
use crate::format::itrace::coresight::etm4::{ConfigurationError, Version};
use crate::format::itrace::etrace::ParametersError;
use crate::source::SourceError;

/// Why a capture cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A file could not be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file that is not the text that it should be.
    #[error("{}{}: {cause}", path.display(), behind(*line))]
    Text {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong with it.
        cause: String,
    },
    /// Something that was said of a source, a sink or what lay in memory.
    #[error("{place}: {cause}")]
    Description {
        /// Where it was said.
        place: String,
        /// What is wrong with it.
        cause: DescriptionError,
    },
    /// Something that a snapshot says.
    #[error("{}{}: {cause}", path.display(), behind(*line))]
    Snapshot {
        /// The file of the snapshot that says it.
        path: PathBuf,
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong with it.
        cause: SnapshotError,
    },
    /// A file that describes its sources, and options that do.
    #[error("{}: is {kind}, which says itself which sources there are (leave out --source and --sink)", path.display())]
    Twice {
        /// The file or directory.
        path: PathBuf,
        /// What it is.
        kind: Kind,
    },
}

fn behind(line: Option<usize>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

/// What is wrong with what was said of a source, a sink or what lay in memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// Something that is no number.
    #[error("{name} is {found:?}, expected a number (0x… for hexadecimal)")]
    Number {
        /// What it is the value of.
        name: String,
        /// What was found.
        found: String,
    },
    /// A number that is too large.
    #[error("{name} is {found}, expected 0 to {most}")]
    TooLarge {
        /// What it is the value of.
        name: &'static str,
        /// The number.
        found: u64,
        /// The largest that it can be.
        most: u8,
    },
    /// A part of an option that is no name with a value.
    #[error("{found:?} has no value, expected NAME=VALUE, with commas between them")]
    Pair {
        /// What was found.
        found: String,
    },
    /// Something that is given twice.
    #[error("{name} is given twice, expected one value")]
    Twice {
        /// Its name.
        name: String,
    },
    /// What does not name a source.
    #[error(
        "{found:?} names no source, expected ID=PROTOCOL, as in 0x10=etm4 or 0=etrace (read are etm4, ete, etrace)"
    )]
    NoProtocol {
        /// What was found.
        found: String,
    },
    /// A protocol that nobody knows.
    #[error("{found:?} is no protocol that is known; read are ETMv4 (etm4), ETE (ete) and RISC-V E-Trace (etrace)")]
    Protocol {
        /// What was found.
        found: String,
    },
    /// A protocol that is known and not read.
    #[error("{0} is not read yet; read are ETMv4 (etm4), ETE (ete) and RISC-V E-Trace (etrace)")]
    NotRead(NotRead),
    /// A name that says nothing of such a source.
    #[error(
        "{found:?} is nothing of a source of protocol {protocol}; expected a register of its trace unit, as TRCCONFIGR"
    )]
    Unknown {
        /// The protocol.
        protocol: &'static str,
        /// What was found.
        found: String,
    },
    /// Registers that do not tell how the source is read.
    #[error("{cause}{}", found_at(protocol, cause))]
    Configuration {
        /// The protocol, as it is written.
        protocol: &'static str,
        /// What is wrong with them.
        cause: ConfigurationError,
    },
    /// Registers of another trace unit than the protocol's.
    #[error(
        "the protocol is {protocol}, but the registers are those of {} (TRCDEVARCH and TRCIDR1 tell it)", unit(*version)
    )]
    Version {
        /// The protocol, as it is written.
        protocol: &'static str,
        /// The version of the trace unit.
        version: Version,
    },
    /// Parameters that do not tell how the source is read.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
    /// An E-Trace without its instruction set.
    #[error(
        "isa is missing: say rv32 or rv64, which the hart's documentation has, and readelf -h of its program (Class)"
    )]
    NoInstructionSet,
    /// An instruction set that nobody knows.
    #[error("isa is {found:?}, expected rv32 or rv64")]
    InstructionSet {
        /// What was found.
        found: String,
    },
    /// Two IDs of one source.
    #[error("the ID of the source is {id:#x}, but its TRCTRACEIDR is {register:#x} (leave out one of them)")]
    IdDiffers {
        /// The ID.
        id: u64,
        /// What the register says.
        register: u64,
    },
    /// A source without an ID where there must be one.
    #[error("the source has no ID, which is the number of its hart or source in the headers of packets")]
    NoId,
    /// An ID that no source of CoreSight has.
    #[error("the ID of the source is {id:#x}, expected 0x1 to 0x6f (TRCTRACEIDR has it)")]
    Id {
        /// The ID.
        id: u64,
    },
    /// An ID that does not fit in the headers of packets.
    #[error(
        "the ID of the source is {id}, but {name} is {bits}, so that no packet has it (say how many bits there are)"
    )]
    IdWidth {
        /// The ID.
        id: u64,
        /// What says how many bits there are.
        name: &'static str,
        /// How many there are.
        bits: u8,
    },
    /// Two sources with one ID.
    #[error("the ID {id:#x} is that of two sources in one sink, expected one each")]
    IdTwice {
        /// The ID.
        id: u64,
    },
    /// A sink without sources.
    #[error(
        "has no source: name each that is to be read, as in --source 0x10=etm4,TRCCONFIGR=0x1,TRCIDR0=0x28000ea1,… or \
         --source 0=etrace,iaddress_width_p=64,isa=rv64"
    )]
    NoSources,
    /// Several sources where every byte is of one.
    #[error("the sink is not formatted and so has one source, but {found} are named (is it coresight or tpiu?)")]
    SeveralUnformatted {
        /// How many are named.
        found: usize,
    },
    /// A framing and a source of different families.
    #[error(
        "the sink is {framing}, which no source of {protocol} writes (coresight, tpiu and unformatted are of ETMv4 and \
         ETE, smi and encapsulation of E-Trace)"
    )]
    Family {
        /// The framing.
        framing: &'static str,
        /// The protocol.
        protocol: &'static str,
    },
    /// A framing that nobody knows.
    #[error("{found:?} is no kind of sink, expected coresight, tpiu, unformatted, smi or encapsulation")]
    Framing {
        /// What was found.
        found: String,
    },
    /// A framing that a number is missing of.
    #[error("{framing} needs {name}, which the documentation of the trace encoder has")]
    FramingNeeds {
        /// The framing.
        framing: &'static str,
        /// What is missing.
        name: &'static str,
    },
    /// A number that says nothing of a framing.
    #[error("{framing} takes no {name:?} (smi takes hart_bits, encapsulation source_bits and timestamp_bytes)")]
    FramingTakesNo {
        /// The framing.
        framing: &'static str,
        /// What was said.
        name: String,
    },
    /// Memory without an address.
    #[error("is no ELF file, so it is taken for bytes of memory, and these need an address (as in FILE@0x8000)")]
    NoAddress,
    /// An image that was not named.
    #[error("names no file, expected FILE or FILE@ADDRESS")]
    NoFile,
    /// What is not said of such an image.
    #[error("{name} is not said of {kind}; expected are {expected}")]
    NotOfImage {
        /// What was said.
        name: &'static str,
        /// What the image is.
        kind: &'static str,
        /// What is said of such.
        expected: &'static str,
    },
    /// Two places of one program.
    #[error(
        "both load_bias and address are given, expected one (address is that of the first page, as in /proc/PID/maps)"
    )]
    TwoPlaces,
    /// A build ID that is none.
    #[error("the build ID is {found:?}, expected hexadecimal digits, two a byte (readelf -n shows it)")]
    BuildId {
        /// What was found.
        found: String,
    },
    /// An address space that nobody knows.
    #[error("the space is {found:?}, expected one of {}", super::snapshot::SPACES)]
    Space {
        /// What was found.
        found: String,
    },
    /// A core that no source watches.
    #[error("the core is {found:?}, which no source watches (give the source the same core)")]
    NoCore {
        /// What was found.
        found: String,
    },
    /// A version of the file that nobody knows.
    #[error("the version is {found}, expected 1 (this file needs another traceframe)")]
    FileVersion {
        /// What was found.
        found: u64,
    },
    /// A file that is named and not there.
    #[error("names {}, which is not there (it is looked for beside this file; is its name right?)", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
    },
    /// A file without sinks.
    #[error("no sink is named, expected a table [[sink]] with file = \"…\"")]
    NoSinks,
}

fn unit(version: Version) -> String {
    if version.is_ete() {
        "an ETE".to_owned()
    } else {
        format!("an ETMv4 of version {}.{}", version.major, version.minor)
    }
}

/// Where Linux shows the registers that are missing.
fn found_at(protocol: &str, cause: &ConfigurationError) -> String {
    let ConfigurationError::Missing(registers) = cause else { return String::new() };
    let device = if protocol == "ete" { "ete0" } else { "etm0" };
    let file = |register: &&str| match *register {
        "TRCCONFIGR" => "mgmt/trcconfig".to_owned(),
        "TRCTRACEIDR" => "mgmt/trctraceid".to_owned(),
        "TRCDEVARCH" => "mgmt/trcdevarch".to_owned(),
        register => format!("trcidr/{}", register.to_ascii_lowercase()),
    };
    let files: Vec<_> = registers.iter().map(file).collect();
    match &files[..] {
        [file] => format!(" (on Linux: cat /sys/bus/coresight/devices/{device}/{file})"),
        files => format!(" (on Linux: cd /sys/bus/coresight/devices/{device}; grep . {})", files.join(" ")),
    }
}
