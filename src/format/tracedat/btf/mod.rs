//! BTF, the kernel's description of its own types.
//!
//! The source of facts is the kernel's Documentation/bpf/btf.rst. All numbers are in the byte order of the recorded
//! machine, which the first of them tells.
//!
//! Owns: [`Btf`], which gives each type by its number, and [`Translation`], which makes types for a program image of
//! them. Knows nothing of files and of events.
//! Invariant: a type is read when it is asked for; what is wrong with it is a [`Fault`], and costs no other type. Types
//! can name each other in a ring; whoever follows them goes [`DEEPEST`] steps.

mod called;
mod fault;
mod header;
mod kind;
mod layout;
#[cfg(test)]
pub mod tests;
mod translation;

pub use self::fault::Fault;
pub use self::kind::{Kind, List};
pub use self::layout::Field;
pub use self::translation::Translation;

use std::ops::Range;

use self::header::Header;
use self::kind::Type;
use crate::source::{ByteOrder, Cursor};

/// How many types are followed from one to the next. Those of kernels need some ten.
const DEEPEST: usize = 50;

/// How long a name is at most: the longest symbol of a kernel has 511 bytes (`KSYM_NAME_LEN`).
const LONGEST_NAME: usize = 511;

/// The types of a kernel. They have numbers from 1 on, and 0 is `void`.
#[derive(Debug)]
pub struct Btf<'a> {
    order: ByteOrder,
    /// From the first byte on.
    bytes: &'a [u8],
    strings: &'a [u8],
    /// Offset of `strings`.
    strings_at: u64,
    /// Offset of each type from the first byte, in the order of their numbers.
    places: Vec<u64>,
}

impl<'a> Btf<'a> {
    /// No types.
    pub fn none() -> Btf<'a> {
        Btf { order: ByteOrder::Little, bytes: &[], strings: &[], strings_at: 0, places: Vec::new() }
    }

    /// Reads where the types are. What is wrong ends them.
    pub fn read(bytes: &'a [u8]) -> (Btf<'a>, Option<Fault>) {
        let header = match Header::read(bytes) {
            Ok(header) => header,
            Err(fault) => return (Btf::none(), Some(fault)),
        };
        let part = |range: &Range<u64>| {
            let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
            bytes.get(at(range.start)..at(range.end)).unwrap_or_default()
        };
        let (order, strings, strings_at) = (header.order, part(&header.strings), header.strings.start);
        let mut btf = Btf { order, bytes, strings, strings_at, places: Vec::new() };
        let mut cursor = Cursor::new(part(&header.types), header.types.start, header.order);
        while !cursor.is_at_end() {
            let at = cursor.position();
            if let Err(fault) = kind::skip(&mut cursor) {
                return (btf, Some(fault));
            }
            btf.places.push(at);
        }
        let is_whole = [&header.types, &header.strings].iter().all(|range| range.end <= bytes.len() as u64);
        let fault = (!is_whole).then(|| {
            let what = format!("types and strings reach to byte {:#x}", header.types.end.max(header.strings.end));
            Fault { at: bytes.len() as u64, what: format!("it ends here, but its {what}") }
        });
        (btf, fault)
    }

    /// The type of a number.
    pub fn get(&self, number: u32) -> Result<Type<'a>, Fault> {
        let Some(place) = number.checked_sub(1) else { return Ok(Type { at: 0, name: "", kind: Kind::Void }) };
        let Some(at) = self.places.get(place as usize).copied() else {
            let what = format!("a type has the number {number}, and there are {}", self.places.len());
            return Err(Fault { at: 0, what });
        };
        Type::read(self.cursor(at), self)
    }

    /// The numbers of the structures whose names begin so, in their order.
    pub fn structures(&self, beginning: &str) -> impl Iterator<Item = u32> {
        self.places.iter().zip(1..).filter_map(move |(at, number)| {
            let name = kind::structure_name(&mut self.cursor(*at))?;
            let name = self.strings.get(name as usize..)?;
            name.starts_with(beginning.as_bytes()).then_some(number)
        })
    }

    fn cursor(&self, at: u64) -> Cursor<'a> {
        let bytes = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..));
        Cursor::new(bytes.unwrap_or_default(), at, self.order)
    }

    /// The string at an offset.
    fn string(&self, offset: u32) -> Result<&'a str, Fault> {
        let at = self.strings_at.saturating_add(u64::from(offset)).min(self.bytes.len() as u64);
        let fault = |what| Fault { at, what };
        let rest = self.strings.get(offset as usize..).unwrap_or_default();
        let rest = rest.get(..LONGEST_NAME + 1).unwrap_or(rest);
        let Some(name) = memchr::memchr(0, rest).and_then(|length| rest.get(..length)) else {
            return Err(fault(format!("a name of at most {LONGEST_NAME} bytes belongs here")));
        };
        std::str::from_utf8(name).map_err(|_| fault(format!("the name \"{}\" is no text", name.escape_ascii())))
    }
}
