//! The options BUFFER (3) and BUFFER_TEXT (22).

use super::{Version, Wrong, text};
use crate::source::{Cursor, OutOfBytes};

/// Where a buffer lies, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferOption {
    /// Offset in the file: of the buffer's section, or in version 6 of its word "flyrecord".
    pub at: u64,
    /// The name of the tracing instance; empty for the top one.
    pub name: String,
    /// The clock of its timestamps; version 6 says it elsewhere.
    pub clock: Option<String>,
    /// The size of a page in bytes; version 6 has that of the header.
    pub page_size: Option<u32>,
    /// Where the pages of each CPU lie, in the order of the file; CPUs without data may be left out. Version 6 says it
    /// elsewhere, and a BUFFER_TEXT has none.
    pub cpus: Vec<BufferCpu>,
}

/// Where the data of one CPU lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferCpu {
    /// The number of the CPU.
    pub id: u32,
    /// Offset in the file.
    pub at: u64,
    /// Size in the file in bytes; of the compressed data where they are compressed.
    pub size: u64,
}

impl BufferCpu {
    /// An offset and a size, as both versions write them.
    pub(in crate::format::tracedat::container) fn read(
        cursor: &mut Cursor<'_>,
        id: u32,
    ) -> Result<BufferCpu, OutOfBytes> {
        let mut ahead = cursor.clone();
        let (at, size) = (ahead.u64()?, ahead.u64()?);
        *cursor = ahead;
        Ok(BufferCpu { id, at, size })
    }
}

impl BufferOption {
    /// The buffer, and why its name or its list of CPUs is not whole. Version 6 ends behind the name.
    pub(super) fn read(cursor: &mut Cursor<'_>, version: Version) -> Result<(BufferOption, Option<Wrong>), Wrong> {
        let at = cursor.u64()?;
        let name = string(cursor)?;
        let mut buffer = BufferOption { at, name, clock: None, page_size: None, cpus: Vec::new() };
        let wrong = shorten(&mut buffer.name);
        if version == Version::Six {
            return Ok((buffer, wrong));
        }
        buffer.clock = Some(string(cursor)?);
        buffer.page_size = Some(cursor.u32()?);
        let count = cursor.u32()?;
        let mut next = || {
            let id = cursor.u32()?;
            BufferCpu::read(cursor, id)
        };
        for number in 0..count {
            match next() {
                Ok(cpu) => buffer.cpus.push(cpu),
                Err(_) => {
                    let wrong = format!("{count} CPUs are announced, of which {number} are there");
                    return Ok((buffer, Some(Wrong::Said(wrong))));
                }
            }
        }
        Ok((buffer, wrong))
    }

    /// The buffer, and what is wrong with its name.
    pub(super) fn read_text(cursor: &mut Cursor<'_>) -> Result<(BufferOption, Option<Wrong>), Wrong> {
        let at = cursor.u64()?;
        let mut name = string(cursor)?;
        let wrong = shorten(&mut name);
        let clock = Some(string(cursor)?);
        Ok((BufferOption { at, name, clock, page_size: None, cpus: Vec::new() }, wrong))
    }
}

/// How long the name of an instance is at most: it is the name of a directory (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// Cuts a name that is longer, because it is named with each CPU.
fn shorten(name: &mut String) -> Option<Wrong> {
    let length = name.len();
    if length <= LONGEST_NAME {
        return None;
    }
    let end = (0..=LONGEST_NAME).rev().find(|end| name.is_char_boundary(*end));
    name.truncate(end.unwrap_or(0));
    Some(Wrong::Said(format!("the name of the buffer has {length} bytes, expected at most {LONGEST_NAME}; it is cut")))
}

/// A string that a NUL ends, or the end of the option.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Result<String, OutOfBytes> {
    let rest = cursor.rest();
    let length = memchr::memchr(0, rest).unwrap_or(rest.len());
    let string = text::text(cursor.take(length)?);
    if !cursor.is_at_end() {
        cursor.take(1)?;
    }
    Ok(string)
}
