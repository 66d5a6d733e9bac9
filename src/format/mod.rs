//! Bytes to model: one folder a format, opened by magic.
//!
//! Owns: telling formats apart by their first bytes, and a reader for each.
//! Knows nothing of the index, of searches and of packets.
//!
//! Invariant: a file's name never decides how it is read.

pub mod itrace;
pub mod tfile;
pub mod tracedat;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arch::ArchError;
use crate::image::Image;
use crate::source::{ByteOrder, Source, SourceError};
use crate::trace::Recording;

/// What the user says about a recording.
#[derive(Clone, Default)]
pub struct OpenOptions<'a> {
    /// The program that was recorded.
    pub image: Option<&'a Image>,
    /// A target description, as XML.
    pub description: Option<&'a str>,
    /// The name of an architecture.
    pub architecture: Option<&'a str>,
    /// The byte order.
    pub byte_order: Option<ByteOrder>,
    /// What of a trace.dat file is shown.
    pub tracedat: tracedat::Choices,
    /// Told, while a recording is expanded or looked at as a whole before its first frame, how many bytes there are so far.
    pub expanding: Option<&'a dyn Fn(u64)>,
}

/// Why a recording could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// A compressed file that cannot be expanded.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file without a single byte.
    #[error("{}: is empty, not a recording (was it copied whole?)", name.display())]
    Empty {
        /// The file as the user named it.
        name: PathBuf,
    },
    /// A file that is something else, and what.
    #[error("{}: is {found}, not a recording that can be read here ({hint})", name.display())]
    NotARecording {
        /// The file as the user named it.
        name: PathBuf,
        /// What it is, in words.
        found: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// A gdb trace file of a version that is not known.
    #[error(
        "{}: is a gdb trace file of version {found:?}, expected version \"0\" (save it with gdb's tsave)",
        name.display()
    )]
    Version {
        /// The file as the user named it.
        name: PathBuf,
        /// What stands where the version belongs.
        found: String,
    },
    /// A file that begins as no known format does.
    #[error("{}: begins with the bytes {found}, which no known format does; expected {expected}", name.display())]
    Unknown {
        /// The file as the user named it.
        name: PathBuf,
        /// The first bytes, in hexadecimal.
        found: String,
        /// The formats that are known, by what they begin with.
        expected: &'static str,
    },
    /// A trace.dat file whose first bytes cannot be read.
    #[error("{}: {cause}", name.display())]
    TraceDat {
        /// The file as the user named it.
        name: PathBuf,
        /// What is wrong.
        cause: tracedat::container::HeaderError,
    },
    /// What was chosen of a trace.dat file is not there.
    #[error("{}: {cause}", name.display())]
    Choice {
        /// The file as the user named it.
        name: PathBuf,
        /// What is not there, and what is.
        cause: tracedat::ChoiceError,
    },
    /// No target description fits the recording.
    #[error("{}{}: {cause}", name.display(), place(*at))]
    Arch {
        /// The file as the user named it.
        name: PathBuf,
        /// Offset in bytes of what it says that no description fits.
        at: Option<u64>,
        /// Why none fits.
        cause: ArchError,
    },
}

/// A place in a file, in words that follow its name.
fn place(at: Option<u64>) -> String {
    at.map_or_else(String::new, |at| format!(" at byte {at:#x}"))
}

/// Opens a recording of any known format, which its first bytes tell; one that was compressed as a whole is expanded in
/// memory.
pub fn open(source: Source, options: &OpenOptions<'_>) -> Result<Arc<dyn Recording>, FormatError> {
    let source = source.expanded(options.expanding.unwrap_or(&|_| ()))?;
    if source.bytes().starts_with(tfile::MAGIC) {
        return Ok(Arc::new(tfile::TraceFile::open(source, options)?));
    }
    if source.bytes().starts_with(tracedat::MAGIC) {
        return Ok(Arc::new(tracedat::TraceDat::open(source, options)?));
    }
    Err(refuse(source.name(), source.bytes()))
}

/// Files that people mistake for recordings, and recordings of formats that are not read: how they begin, what they
/// are, and what to do about it.
const NOT_READ: &[(&[u8], &str, &str)] = &[
    (b"\x7fELF", "an ELF file", "pass the program with --exec"),
    (b"\x7fTRACE0\r\n", "a gdb trace file whose line ends were changed on the way", "copy it again, in binary mode"),
    (b"\x1f\x8b", "gzip data", COMPRESSED_TWICE),
    (b"\xfd7zXZ\0", "xz data", COMPRESSED_TWICE),
    (b"\x28\xb5\x2f\xfd", "zstd data", COMPRESSED_TWICE),
    // The Common Trace Format, specification 1.8: packet and metadata magic in both byte orders, and plain metadata.
    (b"\xc1\x1f\xfc\xc1", "a stream of a CTF trace", CTF_HINT),
    (b"\xc1\xfc\x1f\xc1", "a stream of a CTF trace", CTF_HINT),
    (b"\x57\x1d\xd1\x75", "the metadata of a CTF trace", CTF_HINT),
    (b"\x75\xd1\x1d\x57", "the metadata of a CTF trace", CTF_HINT),
    (b"/* CTF", "the metadata of a CTF trace", CTF_HINT),
];

/// What was compressed once is expanded.
const COMPRESSED_TWICE: &str = "it was compressed twice, unpack it once yourself";

const CTF_HINT: &str = "save the recording with gdb's tsave, without -ctf";

fn refuse(name: &Path, bytes: &[u8]) -> FormatError {
    let name = name.to_owned();
    if bytes.is_empty() {
        return FormatError::Empty { name };
    }
    if let Some((_, found, hint)) = NOT_READ.iter().find(|(magic, _, _)| bytes.starts_with(magic)) {
        return FormatError::NotARecording { name, found, hint };
    }
    if tfile::MAGIC.starts_with(bytes) {
        let found = "a gdb trace file that is cut inside its first line";
        return FormatError::NotARecording { name, found, hint: "copy it again" };
    }
    if let Some(version) = bytes.strip_prefix(b"\x7fTRACE") {
        let version = version.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let version = version.get(..16).unwrap_or(version);
        return FormatError::Version { name, found: version.escape_ascii().to_string() };
    }
    let first = bytes.get(..8).unwrap_or(bytes);
    let found = first.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    FormatError::Unknown {
        name,
        found,
        expected: "a gdb trace file, which begins with 7f 54 52 41 43 45 30 0a, or a trace-cmd recording, 17 08 44 74 72 61 63 69 6e 67; \
                   for the dump of an instruction trace --source says what is in it, or a TOML file with a table \
                   [capture], or the directory of a snapshot",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        let source = Source::from_vec("dir/some.tf", bytes.to_vec());
        match open(source, &OpenOptions::default()) {
            Ok(_) => panic!("{} was opened", bytes.escape_ascii()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_no_recording_is_named_with_a_hint() {
        for (bytes, expected) in [
            (&b""[..], "dir/some.tf: is empty"),
            (
                b"\x7fELF\x02\x01\x01",
                "dir/some.tf: is an ELF file, not a recording that can be read here (pass the program with --exec)",
            ),
            (b"\x17\x08\x44tracing5\0", "dir/some.tf: "),
            (b"\x1f\x8b\x08\0", "gzip data that cannot be expanded"),
            (b"\xfd7zXZ\0\0", "xz data that cannot be expanded"),
            (b"\x28\xb5\x2f\xfd\x04", "zstd data that cannot be expanded"),
            (b"\xc1\x1f\xfc\xc1\0", "CTF"),
            (b"/* CTF 1.8 */", "without -ctf"),
            (b"\x7fTRACE0\r\nR 8\r\n", "in binary mode"),
            (b"\x7fTRAC", "cut inside its first line"),
            (b"\x7fTRACE0", "cut inside its first line"),
            (b"\x7fTRACE1\nR 8\n", "version \"1\", expected version \"0\""),
            (b"\x7fTRACE00\n", "version \"00\""),
            (b"hello, world", "begins with the bytes 68 65 6c 6c 6f 2c 20 77, which no known format does"),
            (b"\0", "begins with the bytes 00, which"),
        ] {
            let message = refusal(bytes);
            assert!(message.contains(expected), "{message}");
            assert!(message.starts_with("dir/some.tf: "), "{message}");
        }
    }

    #[test]
    fn a_trace_file_is_known_by_its_magic_whatever_its_name() {
        let bytes = include_bytes!("../../tests/data/nios2/seq.tr");
        let options = OpenOptions { architecture: Some("nios2"), ..OpenOptions::default() };
        let recording = open(Source::from_static("trace.elf", bytes), &options).unwrap();
        assert_eq!(recording.format(), "TRACE0");
        assert_eq!(recording.tracepoints().len(), 2);
    }
}
