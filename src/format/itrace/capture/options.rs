//! A capture from options: `--source`, `--sink` and `--image`, for a dump that nothing else describes.
//!
//! ```text
//! --source 0x10=etm4,TRCCONFIGR=0x1001,TRCIDR0=0x28000ea1,TRCIDR1=0x4100f403,TRCIDR2=0x488,TRCIDR8=0,name=core0
//! --source 0=etrace,iaddress_width_p=64,isa=rv64
//! --sink coresight
//! --image libc.so.6@0x7f9d713000 --image rom.bin@0x10000
//! ```
//!
//! Each option is a type that is read from text, so that a parser of command lines needs nothing of its own.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use super::numbers::number;
use super::protocol::Named;
use super::said::Said;
use super::{
    Capture, CaptureError, Core, DescriptionError, ElfAt, Framing, ImageAt, Load, MemoryAt, Sink, Space, TraceSource,
};
use crate::source::Source;

/// What the options say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--sink`: how the bytes of sources are mixed.
    pub framing: Option<Framing>,
    /// `--source`, in the order in which they were given.
    pub sources: Vec<SourceOption>,
    /// `--image`, in the order in which they were given.
    pub images: Vec<ImageOption>,
}

impl Options {
    /// Whether they say what is in a sink.
    pub fn describes_sink(&self) -> bool {
        self.framing.is_some() || !self.sources.is_empty()
    }

    pub(super) fn images(&self) -> Result<Vec<ImageAt>, CaptureError> {
        self.images.iter().map(ImageOption::find).collect()
    }
}

impl Capture {
    /// The capture of a dump that options describe.
    ///
    /// # Errors
    ///
    /// The options are not complete, contradict each other, or name files that are not there.
    pub fn from_options(dump: &Path, options: &Options) -> Result<Capture, CaptureError> {
        let sources = options.sources.iter().map(|option| option.0.clone()).collect();
        let sink = Sink::new(dump.to_owned(), options.framing, sources)
            .map_err(|cause| CaptureError::Description { place: dump.display().to_string(), cause })?;
        Ok(Capture { sinks: vec![sink], images: options.images()?, remarks: Vec::new() })
    }
}

/// A source: `ID=PROTOCOL,NAME=VALUE,...`.
///
/// The names are those of registers for `etm4` and `ete` (TRCTRACEIDR may be left out: it is the ID), those of the
/// encoder's parameters and `isa` for `etrace`, and for all of them `name`, `core` and `core_type`.
#[derive(Clone, Debug)]
pub struct SourceOption(TraceSource);

impl SourceOption {
    /// The source that it says.
    pub fn source(&self) -> &TraceSource {
        &self.0
    }
}

impl FromStr for SourceOption {
    type Err = DescriptionError;

    fn from_str(text: &str) -> Result<SourceOption, DescriptionError> {
        let mut parts = text.split(',');
        let first = parts.next().unwrap_or_default();
        let (id, protocol) =
            first.split_once('=').ok_or_else(|| DescriptionError::NoProtocol { found: first.to_owned() })?;
        let mut said = Said::new(Named::new(protocol)?);
        said.id = Some(number("the ID of the source", id)?);
        let (mut core, mut core_type) = (None, None);
        for part in parts {
            let (name, value) = part.split_once('=').ok_or(DescriptionError::Pair { found: part.to_owned() })?;
            let slot = match name {
                "name" => &mut said.name,
                "core" => &mut core,
                "core_type" => &mut core_type,
                "isa" => &mut said.isa,
                _ => {
                    said.settings.push((name.to_owned(), number(name, value)?));
                    continue;
                }
            };
            if slot.replace(value.to_owned()).is_some() {
                return Err(DescriptionError::Twice { name: name.to_owned() });
            }
        }
        said.core = new_core(core.or_else(|| core_type.as_ref().and(said.name.clone())), core_type).map(Arc::new);
        said.source().map(SourceOption)
    }
}

/// A core, if anything is known of it.
pub(super) fn new_core(name: Option<String>, kind: Option<String>) -> Option<Core> {
    if name.is_none() && kind.is_none() {
        return None;
    }
    Some(Core { name: name.unwrap_or_else(|| "the core".to_owned()), kind, images: Vec::new() })
}

/// Something that lay in memory: `FILE` or `FILE@ADDRESS`.
///
/// An ELF file's address is that of its first page, as `/proc/PID/maps` has it, which also is right for a dump of memory
/// that begins as one. Any other file is bytes of memory, and needs one. What stands behind the last `@` and is no number belongs to the file's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageOption {
    /// The file.
    pub path: PathBuf,
    /// Where it lay.
    pub address: Option<u64>,
}

impl FromStr for ImageOption {
    type Err = DescriptionError;

    fn from_str(text: &str) -> Result<ImageOption, DescriptionError> {
        let (path, address) = match text.rsplit_once('@') {
            Some((path, address)) => match number("the address", address) {
                Ok(address) => (path, Some(address)),
                Err(error) if address.starts_with("0x") || address.is_empty() => return Err(error),
                Err(_) => (text, None),
            },
            None => (text, None),
        };
        if path.is_empty() {
            return Err(DescriptionError::NoFile);
        }
        Ok(ImageOption { path: path.into(), address })
    }
}

impl ImageOption {
    /// What the file is.
    fn find(&self) -> Result<ImageAt, CaptureError> {
        let ImageOption { path, address } = self.clone();
        if is_elf(&path)? {
            return Ok(ImageAt::Elf(ElfAt { path, load: address.map(Load::Address), build_id: None }));
        }
        match address {
            Some(address) => {
                Ok(ImageAt::Memory(MemoryAt { path, offset: 0, address, length: None, space: Space::Any }))
            }
            None => {
                let place = path.display().to_string();
                Err(CaptureError::Description { place, cause: DescriptionError::NoAddress })
            }
        }
    }
}

/// Whether a file begins as an ELF file does.
pub(super) fn is_elf(path: &Path) -> Result<bool, CaptureError> {
    Ok(Source::open(path)?.slice(0, ELF.len()) == ELF)
}

const ELF: &[u8] = b"\x7fELF";
