//! The first bytes: which byte order, and where types and strings are.

use std::ops::Range;

use super::fault::Fault;
use crate::source::{ByteOrder, Cursor};

/// The first number.
const MAGIC: u16 = 0xeb9f;

/// The version that is read.
const VERSION: u8 = 1;

/// `struct btf_header`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub order: ByteOrder,
    /// Offsets of the types from the first byte, as the header says it.
    pub types: Range<u64>,
    /// Offsets of the strings.
    pub strings: Range<u64>,
}

impl Header {
    pub fn read(bytes: &[u8]) -> Result<Header, Fault> {
        let is = |order: &ByteOrder| Cursor::new(bytes, 0, *order).u16() == Ok(MAGIC);
        let Some(order) = [ByteOrder::Little, ByteOrder::Big].into_iter().find(is) else {
            return Err(Fault { at: 0, what: format!("it does not begin with the number {MAGIC:#x}") });
        };
        let mut cursor = Cursor::new(bytes, 0, order);
        cursor.u16()?;
        let version = cursor.u8()?;
        if version != VERSION {
            return Err(Fault { at: 2, what: format!("it is of version {version}, expected {VERSION}") });
        }
        // Flags, of which there are none.
        cursor.u8()?;
        let length = u64::from(cursor.u32()?);
        // Offsets count from the end of the header, which may be longer than what is known of it.
        let mut part = || -> Result<Range<u64>, Fault> {
            let start = length + u64::from(cursor.u32()?);
            Ok(start..start + u64::from(cursor.u32()?))
        };
        let (types, strings) = (part()?, part()?);
        if length < cursor.position() {
            return Err(Fault { at: 4, what: format!("its header has {length} bytes, expected 24") });
        }
        Ok(Header { order, types, strings })
    }
}
