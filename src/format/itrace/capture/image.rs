//! What lay in memory while the trace was made.

use std::path::PathBuf;

use super::{BuildId, Space};
use crate::image::Image;
use crate::source::Source;

/// Something that lay in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageAt {
    /// A program or a library.
    Elf(ElfAt),
    /// Bytes as they were in memory.
    Memory(MemoryAt),
}

/// A program or a library, as an ELF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElfAt {
    /// The file.
    pub path: PathBuf,
    /// Where it lay, if that was said.
    pub load: Option<Load>,
    /// The build ID that it must have.
    pub build_id: Option<BuildId>,
}

/// Where a program lay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// The address of its first page, as `/proc/PID/maps` has it.
    Address(u64),
    /// What to add to the addresses in the file.
    Bias(u64),
}

impl ElfAt {
    /// What to add to the addresses in the file, which has been opened; `None` if nobody said where it lay and the file
    /// does not tell either.
    pub fn bias(&self, image: &Image) -> Option<u64> {
        match self.load {
            Some(Load::Address(address)) => Some(address.wrapping_sub(image.first_page())),
            Some(Load::Bias(bias)) => Some(bias),
            None => (!image.is_position_independent()).then_some(0),
        }
    }
}

/// Bytes as they were in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAt {
    /// The file that has them.
    pub path: PathBuf,
    /// Where in the file they begin.
    pub offset: u64,
    /// The address of the first.
    pub address: u64,
    /// How many they are; `None` for all up to the end of the file. The file may have fewer.
    pub length: Option<u64>,
    /// In which states of the core they lay there.
    pub space: Space,
}

impl MemoryAt {
    /// The bytes, in the file that has been opened; those that it has.
    pub fn bytes<'s>(&self, source: &'s Source) -> &'s [u8] {
        let length = self.length.map_or(usize::MAX, |length| usize::try_from(length).unwrap_or(usize::MAX));
        source.slice(self.offset, length)
    }
}
