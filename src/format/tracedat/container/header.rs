//! The first bytes of a file: what it is, and how the rest is to be read.
//!
//! trace-cmd.dat.v7(5), "Initial Format", and trace-cmd.dat.v6(5). Version 6 ends behind the page size.

use crate::source::{ByteOrder, Cursor};
use crate::trace::{Damage, DamageList};

/// The bytes that every file begins with.
pub const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// How many bytes a string of the header is looked for in. trace-cmd writes names such as "zstd" and "1.5.4".
const LONGEST_STRING: usize = 256;

/// The version of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// One part behind the other, without headers, and never compressed.
    Six,
    /// Sections that options point to, possibly compressed.
    Seven,
}

/// How the file says that it is compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressionHeader {
    /// The algorithm; "none" where nothing is compressed.
    pub name: String,
    /// The version of the library that compressed; empty for "none".
    pub version: String,
}

/// The first bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version.
    pub version: Version,
    /// The order of the bytes of every number behind this one.
    pub byte_order: ByteOrder,
    /// The bytes of a `long` in the recorded machine's user space, 4 or 8. The kernel's is told by the header_page text.
    pub long_size: u8,
    /// The bytes of a page of the recorded machine. In version 7 each buffer has a page size of its own.
    pub page_size: u32,
    /// How version 7 is compressed.
    pub compression: Option<CompressionHeader>,
    /// Version 7: offset of the first options section.
    pub options_at: Option<u64>,
    /// Offset of the first byte behind the header.
    pub end: u64,
}

/// Why a file is not read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It begins with other bytes.
    #[error("begins with {found}, not with the bytes 17 08 44 and \"tracing\" of a trace.dat file")]
    Magic {
        /// What it begins with, escaped.
        found: String,
    },
    /// A version that is not known.
    #[error("is a trace.dat file of version {found:?}, expected \"6\" or \"7\" (see trace-cmd convert)")]
    Version {
        /// What stands where the version belongs.
        found: String,
    },
    /// The file ends inside the header.
    #[error("is a trace.dat file that is cut at byte {at:#x}, before the end of {part} (copy it again)")]
    Cut {
        /// The length of the file in bytes, or where the part begins that has no end.
        at: u64,
        /// What of the header is cut.
        part: &'static str,
    },
}

impl Header {
    /// Reads the header of a file; what is odd about it goes to `damage`.
    pub(super) fn read(bytes: &[u8], damage: &mut DamageList) -> Result<Header, HeaderError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            if MAGIC.starts_with(bytes) && !bytes.is_empty() {
                return Err(HeaderError::Cut { at: bytes.len() as u64, part: "the magic number" });
            }
            let found = bytes.get(..MAGIC.len()).unwrap_or(bytes);
            return Err(HeaderError::Magic { found: format!("\"{}\"", found.escape_ascii()) });
        };
        let version = match rest {
            [b'6', 0, ..] => Version::Six,
            [b'7', 0, ..] => Version::Seven,
            [] | [b'6'] | [b'7'] => return Err(HeaderError::Cut { at: bytes.len() as u64, part: "the version" }),
            _ => {
                let found = rest.split(|byte| *byte == 0).next().unwrap_or_default();
                let found = found.get(..16).unwrap_or(found);
                return Err(HeaderError::Version { found: found.escape_ascii().to_string() });
            }
        };
        let base = MAGIC.len() as u64 + 2;
        // The byte order is known behind the next byte only.
        let numbers = rest.get(2..).unwrap_or_default();
        let &[order, long_size, p0, p1, p2, p3, ..] = numbers else {
            return Err(HeaderError::Cut { at: bytes.len() as u64, part: "the page size" });
        };
        let byte_order = byte_order(order, [p0, p1, p2, p3], base, damage);
        let mut cursor = Cursor::new(numbers, base, byte_order);
        let cut = |part| move |_| HeaderError::Cut { at: bytes.len() as u64, part };
        cursor.take(2).map_err(cut("the page size"))?;
        let page_size = cursor.u32().map_err(cut("the page size"))?;
        if !matches!(long_size, 4 | 8) {
            let what = format!("a long is {long_size} bytes, expected 4 or 8; values of user space cannot be told");
            damage.push(Damage { at: base + 1, frame: None, what });
        }
        let mut header =
            Header { version, byte_order, long_size, page_size, compression: None, options_at: None, end: 0 };
        if version == Version::Seven {
            let name = string(&mut cursor, bytes, "the name of the compression")?;
            let version = string(&mut cursor, bytes, "the version of the compression")?;
            header.compression = Some(CompressionHeader { name, version });
            header.options_at = Some(cursor.u64().map_err(cut("the offset of the options"))?);
        }
        header.end = cursor.position();
        Ok(header)
    }
}

/// The byte order that a byte of the header names: 0 is little-endian, 1 is big-endian. For another, the order in which
/// the page size is the smaller number, for that is the order it was written in: no page has 2^16 bytes and more.
fn byte_order(byte: u8, page_size: [u8; 4], at: u64, damage: &mut DamageList) -> ByteOrder {
    match byte {
        0 => ByteOrder::Little,
        1 => ByteOrder::Big,
        other => {
            let little = u32::from_le_bytes(page_size) <= u32::from_be_bytes(page_size);
            let order = if little { ByteOrder::Little } else { ByteOrder::Big };
            let what = format!("the byte order is {other}, expected 0 or 1; read as {order}, as the page size has it");
            damage.push(Damage { at, frame: None, what });
            order
        }
    }
}

/// A string that a NUL ends.
fn string(cursor: &mut Cursor<'_>, file: &[u8], part: &'static str) -> Result<String, HeaderError> {
    let rest = cursor.rest();
    let at = cursor.position();
    let searched = rest.get(..LONGEST_STRING).unwrap_or(rest);
    let length = memchr::memchr(0, searched)
        .ok_or(HeaderError::Cut { at: if searched.len() < LONGEST_STRING { file.len() as u64 } else { at }, part })?;
    let bytes = cursor.take(length).unwrap_or_default();
    let _nul = cursor.take(1);
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
