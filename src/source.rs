//! The bytes of a file, and the one cursor with which every reader walks them.
//!
//! Owns: how a file's bytes are had (a memory map, or a buffer), and bounds-checked, endian-aware reading.
//! Knows nothing of what the bytes mean.
//! Invariant: nothing read here can panic, and nothing is allocated by a number found in the bytes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The order of the bytes of a multi-byte integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// The integer that at most 8 bytes spell; `None` for more than 8.
    pub fn unsigned(self, bytes: &[u8]) -> Option<u64> {
        if bytes.len() > 8 {
            return None;
        }
        let join = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        Some(match self {
            ByteOrder::Big => bytes.iter().fold(0, join),
            ByteOrder::Little => bytes.iter().rev().fold(0, join),
        })
    }

    /// Writes the low `bytes.len()` bytes of `value`.
    pub fn store(self, value: u64, bytes: &mut [u8]) {
        let length = bytes.len();
        for (at, byte) in bytes.iter_mut().enumerate() {
            let power = match self {
                ByteOrder::Little => at,
                ByteOrder::Big => length - 1 - at,
            };
            *byte = u32::try_from(8 * power)
                .ok()
                .and_then(|shift| value.checked_shr(shift))
                .map_or(0, |shifted| (shifted & 0xff) as u8);
        }
    }
}

impl std::fmt::Display for ByteOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ByteOrder::Little => "little-endian",
            ByteOrder::Big => "big-endian",
        })
    }
}

/// Why a file could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The operating system refused.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file as the user named it.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Something that is no file with a fixed content: a directory, a pipe, a device.
    #[error("{}: is {found}, not a regular file (name a file, or copy it to one first)", path.display())]
    NotAFile {
        /// The file as the user named it.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
}

enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
    Static(&'static [u8]),
}

/// The bytes of one file, unchanged as long as the value lives.
///
/// A file is mapped into memory, so that a large recording costs page cache and not memory of the process.
pub struct Source {
    name: PathBuf,
    bytes: Bytes,
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
        let bytes = if length == 0 { Bytes::Owned(Vec::new()) } else { Bytes::Mapped(map(&file).map_err(io)?) };
        Ok(Source { name: path.to_owned(), bytes })
    }

    /// Bytes that are already in memory, under the name that messages use.
    pub fn from_vec(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Source {
        Source { name: name.into(), bytes: Bytes::Owned(bytes) }
    }

    /// Bytes that are part of the program.
    pub fn from_static(name: impl Into<PathBuf>, bytes: &'static [u8]) -> Source {
        Source { name: name.into(), bytes: Bytes::Static(bytes) }
    }

    /// The file as the user named it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
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
    if kind.is_dir() { "a directory" } else { "a special file" }
}

#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the map is read-only and private to this value. What Rust cannot rule out is another process that
    // writes to the file or cuts it while it is mapped: writing shows other bytes (no reader relies on two reads
    // of a place being equal), cutting makes the kernel end the process at the next access behind the cut.
    // Recordings are files that nobody writes any more; the README says so.
    unsafe { memmap2::Mmap::map(file) }
}

/// The bytes ended before what was to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted} bytes wanted at byte {at:#x}, {left} are left")]
pub struct OutOfBytes {
    /// The offset in the file.
    pub at: u64,
    /// How many bytes were to be read.
    pub wanted: u64,
    /// How many there are.
    pub left: u64,
}

/// A reading position in a slice of a file.
///
/// Every read either succeeds and moves on, or fails and stays where it was.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
    order: ByteOrder,
}

impl<'a> Cursor<'a> {
    /// Starts at the first of `bytes`, which lies at offset `base` of the file.
    pub fn new(bytes: &'a [u8], base: u64, order: ByteOrder) -> Cursor<'a> {
        Cursor { bytes, at: 0, base, order }
    }

    /// The offset in the file of the next byte.
    pub fn position(&self) -> u64 {
        self.base.saturating_add(self.at as u64)
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    /// Whether nothing is left.
    pub fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], OutOfBytes> {
        match self.rest().get(..length) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(OutOfBytes { at: self.position(), wanted: length as u64, left: self.rest().len() as u64 }),
        }
    }

    fn integer<const N: usize>(&mut self) -> Result<[u8; N], OutOfBytes> {
        let taken = self.take(N)?;
        let mut bytes = [0; N];
        bytes.copy_from_slice(taken);
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, OutOfBytes> {
        Ok(u8::from_le_bytes(self.integer()?))
    }

    /// A 2-byte unsigned integer.
    pub fn u16(&mut self) -> Result<u16, OutOfBytes> {
        Ok(u16::from_le_bytes(self.integer()?))
    }

    /// A 2-byte signed integer.
    pub fn i16(&mut self) -> Result<i16, OutOfBytes> {
        Ok(i16::from_le_bytes(self.integer()?))
    }

    /// A 4-byte unsigned integer.
    pub fn u32(&mut self) -> Result<u32, OutOfBytes> {
        Ok(u32::from_le_bytes(self.integer()?))
    }

    /// A 4-byte signed integer.
    pub fn i32(&mut self) -> Result<i32, OutOfBytes> {
        Ok(i32::from_le_bytes(self.integer()?))
    }

    /// An 8-byte unsigned integer.
    pub fn u64(&mut self) -> Result<u64, OutOfBytes> {
        Ok(u64::from_le_bytes(self.integer()?))
    }

    /// An 8-byte signed integer.
    pub fn i64(&mut self) -> Result<i64, OutOfBytes> {
        Ok(i64::from_le_bytes(self.integer()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_past_the_end_says_where_and_stays() {
        let mut cursor = Cursor::new(&[1, 2, 3], 0x100, ByteOrder::Little);
        assert_eq!(cursor.u16(), Ok(0x0201));
        assert_eq!(cursor.u32(), Err(OutOfBytes { at: 0x102, wanted: 4, left: 1 }));
        assert_eq!(cursor.u8(), Ok(3));
        assert!(cursor.is_at_end());
    }

    #[test]
    fn both_byte_orders() {
        let bytes = [0xff, 0xfe, 0, 0, 0, 0, 0, 1];
        assert_eq!(Cursor::new(&bytes, 0, ByteOrder::Big).i16(), Ok(-2));
        assert_eq!(Cursor::new(&bytes, 0, ByteOrder::Little).i16(), Ok(-257));
        assert_eq!(Cursor::new(&bytes, 0, ByteOrder::Big).u64(), Ok(0xfffe_0000_0000_0001));
        assert_eq!(ByteOrder::Big.unsigned(&bytes[..3]), Some(0xfffe00));
        assert_eq!(ByteOrder::Little.unsigned(&[0; 9]), None);
    }

    #[test]
    fn stored_integers_read_back_at_every_width() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for width in 1..=8 {
                let mut bytes = vec![0; width];
                let value = 0x8182_8384_8586_8788u64 & (u64::MAX >> (64 - 8 * width as u32));
                order.store(value, &mut bytes);
                assert_eq!(order.unsigned(&bytes), Some(value));
            }
            let mut wide = [0xaa; 16];
            order.store(7, &mut wide);
            assert_eq!(wide.iter().filter(|byte| **byte == 7).count(), 1);
            assert_eq!(wide.iter().filter(|byte| **byte == 0).count(), 15);
        }
    }

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
