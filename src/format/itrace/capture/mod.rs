//! What a person says of a dump of an instruction trace: which sources are in it, how each is read, what lay in memory.
//!
//! A dump says none of it. There are three ways to say it, and each makes a [`Capture`]: options ([`options`]), a
//! small TOML file ([`description`]), and the directory of a debugger's snapshot, as OpenCSD reads it ([`snapshot`]).
//! Which of them a path is, is told by content.
//!
//! Owns: these three, [`DescriptionError`], which asks for what is missing and says where it is found, and the build
//! IDs by which a program is refused that is another build than the one that ran.
//! Knows nothing of packets: nothing is decoded here, and no byte of a sink is read.
//!
//! Invariant: nothing is guessed. What decides how bytes are read was said, or is asked for by name. A snapshot comes
//! from somebody else: no path in it leads out of its directory.

mod build_id;
pub mod description;
mod error;
mod framing;
mod image;
mod kind;
mod numbers;
pub mod options;
mod protocol;
mod remarks;
mod said;
mod sink;
pub mod snapshot;
mod source;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

pub use build_id::{BuildId, Mismatch};
pub use error::{CaptureError, DescriptionError};
pub use framing::Framing;
pub use image::{ElfAt, ImageAt, Load, MemoryAt};
pub use kind::Kind;
pub use options::{ImageOption, Options, SourceOption};
pub use protocol::{NotRead, Protocol};
pub use sink::Sink;
pub use snapshot::{SnapshotError, Space};
pub use source::{Core, TraceSource};

use crate::image::{Image, ImageError};

/// Everything that is known of a dump of an instruction trace before a byte of it is read.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The trace buffers; at least one.
    pub sinks: Vec<Sink>,
    /// What lay in memory, whichever core looks at it. Where several have an address, the first is believed; but before
    /// all of them what a source's own core saw ([`Core::images`]), which is memory as it was, patched code and all.
    pub images: Vec<ImageAt>,
    /// What was there and is not used: whole sentences in lower case, no full stop.
    pub remarks: Vec<String>,
}

impl Capture {
    /// The capture that a path and options describe; `None` if nothing does, so that the file is some other recording.
    ///
    /// # Errors
    ///
    /// The description is not complete, contradicts itself, or names files that are not there; or there are two: a file
    /// that describes a capture, and options that name sources.
    pub fn open(path: &Path, options: &Options) -> Result<Option<Capture>, CaptureError> {
        let mut capture = match (Kind::of(path), options.describes_sink()) {
            (Some(kind), true) => return Err(CaptureError::Twice { path: path.to_owned(), kind }),
            (Some(Kind::Description), false) => Capture::from_description(path)?,
            (Some(Kind::Snapshot), false) => Capture::from_snapshot(path)?,
            (None, true) => return Capture::from_options(path, options).map(Some),
            (None, false) => return Ok(None),
        };
        // What is said now goes before what was written down once.
        capture.images.splice(..0, options.images()?);
        Ok(Some(capture))
    }

    /// All that lay in memory, of all cores.
    pub fn all_images(&self) -> impl Iterator<Item = &ImageAt> {
        let sources = self.sinks.iter().flat_map(|sink| &sink.sources);
        let cores = sources.filter_map(|source| source.core.as_ref());
        cores.flat_map(|core| &core.images).chain(&self.images)
    }

    /// The programs that are other builds than those that ran, by the build IDs that were said. Each file is opened.
    ///
    /// # Errors
    ///
    /// A program cannot be opened.
    pub fn mismatches(&self) -> Result<Vec<Mismatch>, ImageError> {
        let mut found: Vec<Mismatch> = Vec::new();
        for image in self.all_images() {
            let ImageAt::Elf(elf) = image else { continue };
            let Some(expected) = &elf.build_id else { continue };
            match expected.check(&Image::open(&elf.path)?) {
                // Several sources may have one core.
                Err(mismatch) if !found.contains(&mismatch) => found.push(mismatch),
                _ => {}
            }
        }
        Ok(found)
    }
}
