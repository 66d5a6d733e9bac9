//! A capture from a small TOML file, which a person keeps beside a dump.
//!
//! It is recognised by its table `[capture]`, whatever its name. Paths are relative to its directory. Numbers are
//! `0x…` or decimal, in quotes or not. A name that is not known is refused.
//!
//! A buffer of two ETMv4 sources:
//!
//! ```toml
#![doc = include_str!("etm4.toml")]
//! ```
//!
//! A dump of RISC-V E-Trace:
//!
//! ```toml
#![doc = include_str!("etrace.toml")]
//! ```
//!
//! | table | key | what it says |
//! |---|---|---|
//! | `[capture]` | `version` | 1 |
//! | | `description` | words for people |
//! | `[[sink]]` | `file` | the bytes of a trace buffer |
//! | | `format` | `coresight`, `tpiu`, `unformatted`, `smi` or `encapsulation`; usually `coresight`, or `smi` |
//! | | `hart_bits` | for `smi`: how many bits of a header are the number of the hart; without it 0 |
//! | | `source_bits`, `timestamp_bytes` | for `encapsulation`: bits of the source's number, bytes of a timestamp |
//! | `[[sink.source]]` | `id` | the source's ID in the sink, or the number of its hart |
//! | | `protocol` | `etm4`, `ete` or `etrace` |
//! | | `name` | what to call it |
//! | | `core`, `core_type` | the core that it watches, and what that is (`Cortex-A53`) |
//! | | `registers` | for `etm4` and `ete`: the registers of the trace unit. TRCTRACEIDR may be left out, or `id` |
//! | | `isa` | for `etrace`: `rv32` or `rv64` |
//! | | `parameters` | for `etrace`: the parameters of the encoder, as its specification names them, and what else is to be known of it ([`Parameters::new`](crate::format::itrace::etrace::Parameters::new)) |
//! | `[[image]]` | `file` | what lay in memory: an ELF file, or bytes; the first with an address is believed |
//! | | `address` | for an ELF file the address of its first page, as in `/proc/PID/maps`; for bytes that of the first |
//! | | `load_bias` | for an ELF file, instead of `address`: what to add to its addresses |
//! | | `build_id` | for an ELF file: the build ID that it must have, in hexadecimal |
//! | | `raw` | true for bytes of memory that begin as an ELF file does |
//! | | `offset`, `length` | for bytes: which of the file; without them all |
//! | | `space` | for bytes: in which states of the core they lay there, as in a [`snapshot`](super::snapshot) |
//! | | `core` | the core that alone sees it there; without it all do |

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use toml::Spanned;

use super::framing::Widths;
use super::numbers::number;
use super::options::{is_elf, new_core};
use super::protocol::Named;
use super::said::Said;
use super::text;
use super::{
    Capture, CaptureError, Core, DescriptionError, ElfAt, Framing, ImageAt, Load, MemoryAt, Sink, Space, TraceSource,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    capture: CaptureTable,
    #[serde(default)]
    sink: Vec<Spanned<SinkTable>>,
    #[serde(default)]
    image: Vec<Spanned<ImageTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaptureTable {
    version: Spanned<u64>,
    #[serde(rename = "description")]
    _description: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SinkTable {
    file: String,
    format: Option<String>,
    hart_bits: Option<Number>,
    source_bits: Option<Number>,
    timestamp_bytes: Option<Number>,
    #[serde(default)]
    source: Vec<Spanned<SourceTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceTable {
    id: Option<Number>,
    protocol: String,
    name: Option<String>,
    core: Option<String>,
    core_type: Option<String>,
    isa: Option<String>,
    #[serde(default)]
    registers: BTreeMap<String, Number>,
    #[serde(default)]
    parameters: BTreeMap<String, Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageTable {
    file: String,
    address: Option<Number>,
    load_bias: Option<Number>,
    build_id: Option<String>,
    #[serde(default)]
    raw: bool,
    offset: Option<Number>,
    length: Option<Number>,
    space: Option<String>,
    core: Option<String>,
}

/// A number, or text of one.
#[derive(Clone, Copy)]
struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or one as text (0x… for hexadecimal)")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                let negative = |_| E::custom(format!("the number is {value}, expected none below 0"));
                u64::try_from(value).map(Number).map_err(negative)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                number("the number", text).map(Number).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

impl Capture {
    /// The capture that a TOML file describes.
    ///
    /// # Errors
    ///
    /// The file cannot be read, says something that is not known, is not complete, contradicts itself, or names files
    /// that are not there.
    pub fn from_description(path: &Path) -> Result<Capture, CaptureError> {
        let text = text::read(path)?;
        let file = File { path, text: &text };
        let document: Document = toml::from_str(&text).map_err(|error| CaptureError::Text {
            path: path.to_owned(),
            line: error.span().map(|span| file.line(&span)),
            cause: error.message().trim_end().replace('\n', ", "),
        })?;
        let version = &document.capture.version;
        if *version.get_ref() != 1 {
            let cause = DescriptionError::FileVersion { found: *version.get_ref() };
            return Err(file.error(&version.span(), cause));
        }
        if document.sink.is_empty() {
            return Err(file.error(&(0..0), DescriptionError::NoSinks));
        }
        let mut cores = cores(&document);
        let mut images = Vec::new();
        for image in document.image {
            let span = image.span();
            let image = image.into_inner();
            let core = image.core.clone();
            let found = file.image(&span, image)?;
            match core {
                None => images.push(found),
                Some(name) => match cores.get_mut(&name) {
                    Some(core) => core.images.push(found),
                    None => return Err(file.error(&span, DescriptionError::NoCore { found: name })),
                },
            }
        }
        let cores = cores.into_iter().map(|(name, core)| (name, Arc::new(core))).collect();
        let sinks = document.sink.into_iter().map(|sink| file.sink(sink, &cores)).collect::<Result<_, _>>()?;
        Ok(Capture { sinks, images, remarks: Vec::new() })
    }
}

/// The cores that sources have, by name.
fn cores(document: &Document) -> BTreeMap<String, Core> {
    let mut cores: BTreeMap<String, Core> = BTreeMap::new();
    for source in document.sink.iter().flat_map(|sink| &sink.get_ref().source).map(Spanned::get_ref) {
        let Some(name) = source.core_name() else { continue };
        let Some(core) = new_core(Some(name.clone()), source.core_type.clone()) else { continue };
        let known = cores.entry(name).or_insert_with(|| core.clone());
        known.kind = known.kind.take().or(core.kind);
    }
    cores
}

impl SourceTable {
    /// The name of the core; one that has only a type is called as its source is.
    fn core_name(&self) -> Option<String> {
        let unnamed = || self.core_type.as_ref().map(|_| self.name.clone().unwrap_or_else(|| "the core".to_owned()));
        self.core.clone().or_else(unnamed)
    }
}

/// The file that is read, for what is said of it.
struct File<'t> {
    path: &'t Path,
    text: &'t str,
}

impl File<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn error(&self, span: &Range<usize>, cause: DescriptionError) -> CaptureError {
        CaptureError::Description { place: format!("{}:{}", self.path.display(), self.line(span)), cause }
    }

    /// A file that is named, which lies beside this one.
    fn beside(&self, span: &Range<usize>, name: &str) -> Result<PathBuf, CaptureError> {
        let path = self.path.parent().unwrap_or(Path::new("")).join(name);
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(self.error(span, DescriptionError::NotThere { path }))
            }
            _ => Ok(path),
        }
    }

    fn sink(&self, sink: Spanned<SinkTable>, cores: &BTreeMap<String, Arc<Core>>) -> Result<Sink, CaptureError> {
        let span = sink.span();
        let failed = |cause| self.error(&span, cause);
        let sink = sink.into_inner();
        let number = |number: Option<Number>| number.map(|number| number.0);
        let widths = Widths {
            hart_bits: number(sink.hart_bits),
            source_bits: number(sink.source_bits),
            timestamp_bytes: number(sink.timestamp_bytes),
        };
        let sources = sink.source.into_iter().map(|source| {
            let span = source.span();
            said(source.into_inner(), cores).map_err(|cause| self.error(&span, cause))
        });
        let sources: Vec<TraceSource> = sources.collect::<Result<_, _>>()?;
        let framing = match (sink.format, sources.first()) {
            (Some(format), _) => Some(Framing::new(&format, widths).map_err(failed)?),
            // The numbers may be those of the usual one.
            (None, Some(source)) => {
                Some(Framing::new(Framing::usual(&source.protocol).name(), widths).map_err(failed)?)
            }
            (None, None) => None,
        };
        Sink::new(self.beside(&span, &sink.file)?, framing, sources).map_err(failed)
    }

    fn image(&self, span: &Range<usize>, image: ImageTable) -> Result<ImageAt, CaptureError> {
        let failed = |cause| self.error(span, cause);
        let path = self.beside(span, &image.file)?;
        let is_elf = is_elf(&path)? && !image.raw;
        let (kind, expected) = if is_elf {
            ("an ELF file", "address or load_bias, build_id and core (raw = true for bytes of memory)")
        } else {
            ("bytes of memory, which any file is that is no ELF file", "address, offset, length, space and core")
        };
        let misplaced = [
            ("offset", is_elf && image.offset.is_some()),
            ("length", is_elf && image.length.is_some()),
            ("space", is_elf && image.space.is_some()),
            ("load_bias", !is_elf && image.load_bias.is_some()),
            ("build_id", !is_elf && image.build_id.is_some()),
        ];
        if let Some((name, _)) = misplaced.into_iter().find(|(_, is_misplaced)| *is_misplaced) {
            return Err(failed(DescriptionError::NotOfImage { name, kind, expected }));
        }
        if !is_elf {
            let address = image.address.ok_or_else(|| failed(DescriptionError::NoAddress))?.0;
            let space = image.space.as_deref().map_or(Ok(Space::Any), str::parse).map_err(failed)?;
            let (offset, length) = (image.offset.map_or(0, |offset| offset.0), image.length.map(|length| length.0));
            return Ok(ImageAt::Memory(MemoryAt { path, offset, address, length, space }));
        }
        let load = match (image.address, image.load_bias) {
            (Some(_), Some(_)) => return Err(failed(DescriptionError::TwoPlaces)),
            (Some(address), None) => Some(Load::Address(address.0)),
            (None, bias) => bias.map(|bias| Load::Bias(bias.0)),
        };
        let build_id = image.build_id.as_deref().map(str::parse).transpose().map_err(failed)?;
        Ok(ImageAt::Elf(ElfAt { path, load, build_id }))
    }
}

fn said(source: SourceTable, cores: &BTreeMap<String, Arc<Core>>) -> Result<TraceSource, DescriptionError> {
    let core = source.core_name().and_then(|name| cores.get(&name).cloned());
    let named = Named::new(&source.protocol)?;
    let (settings, others, what) = match named {
        Named::Etm4 | Named::Ete => (source.registers, source.parameters, "parameters"),
        Named::ETrace => (source.parameters, source.registers, "registers"),
    };
    if !others.is_empty() {
        return Err(DescriptionError::Unknown { protocol: named.name(), found: what.to_owned() });
    }
    let settings = settings.into_iter().map(|(name, number)| (name, number.0)).collect();
    let id = source.id.map(|id| id.0);
    Said { protocol: named, id, name: source.name, core, isa: source.isa, settings }.source()
}
