//! The program that was recorded, as its ELF file holds it.
//!
//! Owns: read-only contents, symbols, source lines, build ID, and where a position-independent program lay.
//! Knows nothing of traces and packets.

// ---- contract: bodies to be written ----

use crate::arch::Machine;
use crate::source::Source;
use std::path::Path;
use std::sync::Arc;

/// Why an image could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// replaced by real variants
    #[error("{0}")]
    Other(String),
}

/// An ELF file. All addresses are those of the file (link-time addresses).
pub struct Image {}

impl Image {
    /// Opens an ELF file.
    pub fn open(_path: &Path) -> Result<Image, ImageError> {
        todo!()
    }
    /// Reads an ELF file that is already at hand.
    pub fn from_source(_source: Source) -> Result<Image, ImageError> {
        todo!()
    }
    /// The path that is announced to clients: absolute, symbolic links resolved.
    pub fn path(&self) -> &Path {
        todo!()
    }
    /// The file, byte for byte.
    pub fn file(&self) -> &Source {
        todo!()
    }
    /// The machine it is for.
    pub fn machine(&self) -> Machine {
        todo!()
    }
    /// Whether the loader may place it anywhere (ET_DYN).
    pub fn is_position_independent(&self) -> bool {
        todo!()
    }
    /// The entry point.
    pub fn entry(&self) -> u64 {
        todo!()
    }
    /// The build ID.
    pub fn build_id(&self) -> Option<&[u8]> {
        todo!()
    }
    /// The bytes from `address` to the end of the read-only part that holds it; empty outside read-only parts.
    pub fn read_only(&self, _address: u64) -> &[u8] {
        todo!()
    }
    /// The first address at or above `address` that lies in a read-only part.
    pub fn next_read_only(&self, _address: u64) -> Option<u64> {
        todo!()
    }
    /// Whether code lies at `address`.
    pub fn is_code(&self, _address: u64) -> bool {
        todo!()
    }
    /// The function that holds `address`, and the offset from its start.
    pub fn function(&self, _address: u64) -> Option<(String, u64)> {
        todo!()
    }
    /// The source file (as the debug information names it) and line of `address`.
    pub fn line(&self, _address: u64) -> Option<(String, u32)> {
        todo!()
    }
}

/// How it is known where the program lay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The file is linked to fixed addresses.
    Fixed,
    /// `--load-bias`.
    Option,
    /// From tracepoints' source strings and addresses: how many agree, out of how many that say anything.
    Tracepoints {
        /// Tracepoints that agree with the load bias.
        agree: usize,
        /// Tracepoints whose source string names a place in the image.
        of: usize,
    },
    /// gdbserver's usual base for this machine, and every recorded address fits it.
    UsualBase,
    /// Not found: the image is not used.
    Unknown,
}

/// A tracepoint, as far as it can tell where the program lay.
#[derive(Clone, Copy, Debug)]
pub struct Anchor<'a> {
    /// The recorded (run-time) address.
    pub address: u64,
    /// The user's words for the place: `case.c:19`, `step`, `*step+4`, `*0x1234`.
    pub at: Option<&'a str>,
}

/// An image at the place where it ran. All addresses are run-time addresses.
#[derive(Clone)]
pub struct PlacedImage {
    /// The file.
    pub image: Arc<Image>,
    /// What is added to the file's addresses, modulo 2^64.
    pub bias: u64,
    /// How that is known.
    pub placement: Placement,
}

impl PlacedImage {
    /// Places an image: at `bias` if the user names one, else where `anchors` and `program_counters` (a sample of
    /// recorded ones) say.
    pub fn place(
        _image: Arc<Image>,
        _bias: Option<u64>,
        _anchors: &[Anchor<'_>],
        _program_counters: &[u64],
    ) -> PlacedImage {
        todo!()
    }
    /// As [`Image::read_only`].
    pub fn read_only(&self, _address: u64) -> &[u8] {
        todo!()
    }
    /// As [`Image::next_read_only`].
    pub fn next_read_only(&self, _address: u64) -> Option<u64> {
        todo!()
    }
    /// As [`Image::is_code`].
    pub fn is_code(&self, _address: u64) -> bool {
        todo!()
    }
    /// As [`Image::function`].
    pub fn function(&self, _address: u64) -> Option<(String, u64)> {
        todo!()
    }
    /// As [`Image::line`].
    pub fn line(&self, _address: u64) -> Option<(String, u32)> {
        todo!()
    }
    /// The run-time entry point.
    pub fn entry(&self) -> u64 {
        todo!()
    }
}
impl PlacedImage {
    pub fn contradiction(&self, _: u64, _: &[u8]) -> Option<u64> {
        todo!()
    }
}
impl std::fmt::Display for PlacedImage {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        todo!()
    }
}
