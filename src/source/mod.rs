//! The bytes of a file, and the one cursor with which every reader walks them.
//!
//! Owns: how a file's bytes are had (a memory map, or a buffer), what becomes of them when the file changes, and
//! bounds-checked, endian-aware reading.
//! Knows nothing of what the bytes mean.
//! Invariant: nothing read here can panic, and nothing is allocated by a number found in the bytes.

mod byte_order;
mod cursor;
mod expand;
mod fault;
mod mapped;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub use byte_order::ByteOrder;
pub use cursor::{Cursor, OutOfBytes};
pub use expand::Compression;
pub use mapped::Change;

use mapped::MappedFile;

/// Why a file could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The operating system refused.
    #[error("{}: {cause}{}", path.display(), hint(cause))]
    Io {
        /// The file as the user named it.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Something that is no file with a fixed content: a directory, a pipe, a device.
    #[error("{}: is {found}, not a regular file ({})", path.display(), instead(found))]
    NotAFile {
        /// The file as the user named it.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
    /// A compressed file that cannot be expanded.
    #[error("{}: is {compression} data that cannot be expanded: {cause} (copy it again, or unpack it yourself)", path.display())]
    Compressed {
        /// The file as the user named it.
        path: PathBuf,
        /// How it is compressed.
        compression: Compression,
        /// What is wrong with it.
        cause: String,
    },
    /// A compressed file that is too large expanded.
    #[error(
        "{}: is {compression} data that expand to more than {} GiB, or than there is memory (unpack it to a file, which \
         needs no memory)", path.display(), expand::LIMIT >> 30
    )]
    TooLarge {
        /// The file as the user named it.
        path: PathBuf,
        /// How it is compressed.
        compression: Compression,
    },
}

/// What a directory is called.
const DIRECTORY: &str = "a directory";

/// What to name instead of something that is no file.
fn instead(found: &str) -> &'static str {
    match found {
        DIRECTORY => "name a file in it; that of a snapshot has a file snapshot.ini",
        _ => "name a file, or copy it to one first",
    }
}

/// What to do where the operating system refuses a file, in brackets.
fn hint(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::NotFound => " (is its name right?)",
        io::ErrorKind::PermissionDenied => " (let yourself read it with chmod, or copy it)",
        _ => "",
    }
}

enum Bytes {
    Mapped(MappedFile),
    Owned(Vec<u8>),
    Static(&'static [u8]),
}

/// The bytes of one file, unchanged as long as the value lives.
///
/// A file is mapped into memory, so that a large recording costs page cache and not memory of the process. Where
/// somebody writes to it or cuts it all the same, there are no bytes any more, and [`Source::change`] says why.
pub struct Source {
    name: PathBuf,
    bytes: Bytes,
    compression: Option<Compression>,
    cut: Option<String>,
}

impl Source {
    /// Opens a regular file. An empty file gives an empty source.
    pub fn open(path: &Path) -> Result<Source, SourceError> {
        let io = |cause| SourceError::Io { path: path.to_owned(), cause };
        // Looked at before it is opened: opening a named pipe would wait for its writer.
        let kind = std::fs::metadata(path).map_err(io)?.file_type();
        if !kind.is_file() {
            return Err(SourceError::NotAFile { path: path.to_owned(), found: describe(kind) });
        }
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let bytes =
            if length == 0 { Bytes::Owned(Vec::new()) } else { Bytes::Mapped(MappedFile::new(file).map_err(io)?) };
        Ok(Source::new(path, bytes))
    }

    fn new(name: impl Into<PathBuf>, bytes: Bytes) -> Source {
        Source { name: name.into(), bytes, compression: None, cut: None }
    }

    /// What a compressed file expands to, in memory; any other file as it is. What cannot be expanded to its end is had
    /// up to there, and [`Source::cut`] says so. `watch` is told from time to time how many bytes there are.
    pub fn expanded(self, watch: &dyn Fn(u64)) -> Result<Source, SourceError> {
        let Some(compression) = Compression::of(self.bytes()) else { return Ok(self) };
        match compression.expand(self.bytes(), expand::LIMIT, watch) {
            Ok((bytes, cut)) => {
                Ok(Source { name: self.name, bytes: Bytes::Owned(bytes), compression: Some(compression), cut })
            }
            Err(expand::Failure::TooLarge) => Err(SourceError::TooLarge { path: self.name, compression }),
            Err(expand::Failure::Damaged(cause)) => {
                Err(SourceError::Compressed { path: self.name, compression, cause })
            }
        }
    }

    /// How the file is compressed, if these are its expanded bytes.
    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// What kept a compressed file from being expanded to its end.
    pub fn cut(&self) -> Option<&str> {
        self.cut.as_deref()
    }

    /// What happened to the file since it was opened; a system call.
    pub fn change(&self) -> Option<Change> {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.change(),
            Bytes::Owned(_) | Bytes::Static(_) => None,
        }
    }

    /// What is known of a change so far: all that was read is as it was in the file, if nothing is.
    pub fn change_seen(&self) -> Option<Change> {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.change_seen(),
            Bytes::Owned(_) | Bytes::Static(_) => None,
        }
    }

    /// Bytes that are already in memory, under the name that messages use.
    pub fn from_vec(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Source {
        Source::new(name, Bytes::Owned(bytes))
    }

    /// Bytes that are part of the program.
    pub fn from_static(name: impl Into<PathBuf>, bytes: &'static [u8]) -> Source {
        Source::new(name, Bytes::Static(bytes))
    }

    /// The file as the user named it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// All bytes; none once the file is known to have changed.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.bytes(),
            Bytes::Owned(bytes) => bytes,
            Bytes::Static(bytes) => bytes,
        }
    }

    /// Up to `length` bytes from `offset`; fewer, or none, at the end of the file.
    pub fn slice(&self, offset: u64, length: usize) -> &[u8] {
        let bytes = self.bytes();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(length).min(bytes.len());
        bytes.get(start..end).unwrap_or(&[])
    }

    /// The length in bytes.
    pub fn length(&self) -> u64 {
        self.bytes().len() as u64
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({}, {} bytes)", self.name.display(), self.length())
    }
}

fn describe(kind: std::fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { DIRECTORY } else { "a special file" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_file_is_named() {
        let directory = Source::open(Path::new("/")).unwrap_err().to_string();
        assert!(directory.contains("a directory, not a regular file"), "{directory}");
        let device = Source::open(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(device.contains("a device, not a regular file"), "{device}");
        let missing = Source::open(Path::new("/nonexistent.tf")).unwrap_err().to_string();
        assert!(missing.starts_with("/nonexistent.tf: No such file"), "{missing}");
    }
}
