//! trace-cmd's trace.dat files, versions 6 and 7.
//!
//! The sources of facts are the manual pages trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5), trace-cmd's own reader
//! (lib/trace-cmd/trace-input.c) where the pages are silent, and files that trace-cmd wrote where those disagree.
//!
//! Owns: [`Container`], which gives everything from the first byte of the file to the pages of each CPU's ring buffer,
//! and the texts that tell what is in them. Knows nothing of what a page or an event consists of.
//! Invariant: whatever the bytes are, what is whole is served, and what is not is named with its offset. Memory is
//! bounded by a small multiple of the file's size and by constants: what is expanded of compressed sections
//! (`section::EXPANDED_LIMIT`), and of compressed pages (`buffers::EXPANSION`: so many events there can be; the cache).

mod btf;
mod buffers;
mod chunks;
mod command_lines;
mod compression;
mod extent;
mod header;
mod kallsyms;
mod modules;
pub mod options;
mod parts;
mod printk;
mod recovered;
pub mod section;
mod strings;
mod texts;
mod version6;
mod version7;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use self::buffers::{Buffer, Cpu, Page};
pub use self::compression::Algorithm;
pub use self::header::{CompressionHeader, Header, HeaderError, MAGIC, Version};
pub use self::kallsyms::{Kallsyms, Symbol};
pub use self::modules::Module;
pub use self::options::TraceOption;
pub use self::section::Section;

use self::chunks::Expanded;
use self::extent::Extent;
use self::parts::Parts;
use self::section::Reader;
use super::cache::Cache;
use crate::source::{ByteOrder, Source};
use crate::trace::{Damage, DamageList};

/// Why a file is not read at all.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", name.display())]
pub struct ContainerError {
    /// The file as the user named it.
    pub name: PathBuf,
    /// What is wrong with it.
    pub cause: HeaderError,
}

/// A text of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// Offset in the file of its first byte, or of the compressed data that hold it.
    pub at: u64,
    /// Its bytes. The kernel writes ASCII, but names in it are what a user chose.
    pub bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// The text, with U+FFFD for what is no UTF-8.
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

/// The format text of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFormat<'a> {
    /// The system the event is in.
    pub system: Text<'a>,
    /// The text of the kernel's `events/SYSTEM/EVENT/format` file.
    pub format: Text<'a>,
}

/// The kernel's own text of a buffer, in the latency format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferText<'a> {
    /// The name of the tracing instance; empty for the top one.
    pub name: &'a str,
    /// The clock of its timestamps.
    pub clock: Option<&'a str>,
    /// The text.
    pub text: Text<'a>,
}

/// An open trace.dat file.
pub struct Container {
    source: Source,
    header: Header,
    algorithm: Algorithm,
    parts: Parts,
    buffers: Vec<Buffer>,
    damage: DamageList,
    cache: Cache<u64, Expanded>,
}

impl Container {
    /// Reads everything but the pages of buffers.
    pub fn open(source: Source) -> Result<Container, ContainerError> {
        let mut damage = DamageList::default();
        let header = Header::read(source.bytes(), &mut damage)
            .map_err(|cause| ContainerError { name: source.name().to_owned(), cause })?;
        let order = header.byte_order;
        let algorithm = Algorithm::of(header.compression.as_ref());
        let left = section::EXPANDED_LIMIT;
        let mut reader = Reader { source: &source, order, algorithm: &algorithm, left, damage };
        let mut parts = match header.version {
            Version::Six => version6::read(&mut reader, &header),
            Version::Seven => version7::read(&mut reader, &header),
        };
        let mut damage = reader.damage;
        let described = std::mem::take(&mut parts.described);
        let buffers = buffers::find(described, &source, order, &algorithm, &mut damage);
        let cache = Cache::new(buffers::at_once(&buffers));
        Ok(Container { source, header, algorithm, parts, buffers, damage, cache })
    }

    /// The bytes of the file.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The first bytes of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The order of the bytes of every number in the file and in its pages.
    pub fn byte_order(&self) -> ByteOrder {
        self.header.byte_order
    }

    /// How the file is compressed.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// What could not be read.
    pub fn damage(&self) -> &DamageList {
        &self.damage
    }

    /// All sections of a file of version 7, in its order, those that are not known included.
    pub fn sections(&self) -> &[Section] {
        &self.parts.sections
    }

    /// What the file calls a section; `None` where it has no strings.
    pub fn description(&self, section: &Section) -> Option<&str> {
        self.parts.strings.get(section.description)
    }

    /// Every string of a file of version 7, with its number.
    pub fn strings(&self) -> impl Iterator<Item = (u32, &str)> {
        self.parts.strings.iter()
    }

    /// All options, in the order they are read, those that are not known included.
    pub fn options(&self) -> &[TraceOption] {
        &self.parts.options
    }

    /// The data of an option of this file.
    pub fn option_data<'a>(&'a self, option: &'a TraceOption) -> &'a [u8] {
        option.bytes(&self.source)
    }

    fn text<'a>(&'a self, extent: &'a Extent) -> Text<'a> {
        Text { at: extent.at(), bytes: extent.bytes(&self.source) }
    }

    /// The text of the kernel's `events/header_page` file: what a page begins with.
    pub fn header_page(&self) -> Option<Text<'_>> {
        self.parts.header_info.page.as_ref().map(|extent| self.text(extent))
    }

    /// The text of the kernel's `events/header_event` file: what an event begins with.
    pub fn header_event(&self) -> Option<Text<'_>> {
        self.parts.header_info.event.as_ref().map(|extent| self.text(extent))
    }

    /// The format texts of ftrace's own events, which are of the system "ftrace".
    pub fn ftrace_formats(&self) -> impl Iterator<Item = Text<'_>> {
        self.parts.ftrace.formats.iter().map(|format| self.text(&format.text))
    }

    /// The format texts of all other events, in the order of the file.
    pub fn event_formats(&self) -> impl Iterator<Item = EventFormat<'_>> {
        let systems = &self.parts.events.systems;
        self.parts.events.formats.iter().filter_map(|format| {
            let system = self.text(systems.get(format.system?)?);
            Some(EventFormat { system, format: self.text(&format.text) })
        })
    }

    /// The kernel's symbols.
    pub fn kallsyms(&self) -> Option<Kallsyms<'_>> {
        self.parts.kallsyms.as_ref().map(|extent| Kallsyms { text: extent.bytes(&self.source) })
    }

    /// The names of tasks by their numbers. Many are missing where the kernel had no room for all.
    pub fn command_lines(&self) -> BTreeMap<u32, Cow<'_, str>> {
        self.parts
            .command_lines
            .as_ref()
            .map_or_else(BTreeMap::new, |extent| command_lines::command_lines(extent.bytes(&self.source)))
    }

    /// The texts that events name by their address in the kernel.
    pub fn printk_formats(&self) -> BTreeMap<u64, String> {
        self.parts.printk.as_ref().map_or_else(BTreeMap::new, |extent| printk::formats(extent.bytes(&self.source)))
    }

    /// The kernel's BTF, as in /sys/kernel/btf/vmlinux.
    pub fn btf(&self) -> Option<Text<'_>> {
        self.parts.btf.as_ref().map(|extent| self.text(extent))
    }

    /// Something wrong at an offset of the BTF; `None` where there is none.
    pub fn btf_damage(&self, position: u64, what: String) -> Option<Damage> {
        self.parts.btf.as_ref().map(|extent| extent.damage(position, what))
    }

    /// The text of /proc/modules.
    pub fn modules_text(&self) -> Option<Text<'_>> {
        self.parts.modules.as_ref().map(|extent| self.text(extent))
    }

    /// The kernel's modules.
    pub fn modules(&self) -> impl Iterator<Item = Module<'_>> {
        self.parts.modules.iter().flat_map(|extent| modules::modules(extent.bytes(&self.source)))
    }

    /// The buffers, in the order of the file.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The buffers that the file has as the kernel's text.
    pub fn texts(&self) -> impl Iterator<Item = BufferText<'_>> {
        self.parts.texts.iter().map(|found| BufferText {
            name: &found.name,
            clock: found.clock.as_deref(),
            text: self.text(&found.content),
        })
    }

    /// A page of the ring buffer of one CPU: of the buffer with that index in [`Container::buffers`], and of the CPU
    /// with that index in [`Buffer::cpus`]. `None` for a page that is none; damage where its chunk cannot be expanded.
    ///
    /// It has [`Buffer::page_size`] bytes, and fewer where the file ends inside of it.
    pub fn page(&self, buffer: usize, cpu: usize, number: u64) -> Option<Result<Page<'_>, Damage>> {
        let buffer = self.buffers.get(buffer)?;
        let cpu = buffer.cpus.get(cpu).filter(|cpu| number < cpu.pages)?;
        let page_size = u64::from(buffer.page_size);
        let Some(chunks) = &cpu.chunks else {
            let inside = number.checked_mul(page_size)?;
            let length = usize::try_from(page_size.min(cpu.size.checked_sub(inside)?)).ok()?;
            let at = cpu.at.checked_add(inside)?;
            return Some(Ok(Page::InFile { at, bytes: self.source.slice(at, length) }));
        };
        let chunk = chunks.of_page(number)?;
        let expanded = self.cache.get(chunk.at, || {
            let stored = self.source.slice(chunk.at, chunk.stored as usize);
            let size = chunk.pages as usize * buffer.page_size as usize;
            Expanded(self.algorithm.expand(stored, size).map(Arc::new).map_err(Arc::from))
        });
        let start = usize::try_from(number.checked_sub(chunk.first)?.checked_mul(page_size)?).ok()?;
        Some(match expanded.0 {
            Ok(bytes) => {
                let end = start.checked_add(buffer.page_size as usize)?;
                Ok(Page::Expanded { at: chunk.at, chunk: bytes, range: start..end })
            }
            Err(cause) => {
                let whose = format!("CPU {} of {}", cpu.id, buffers::called(&buffer.name));
                let what =
                    format!("a chunk of {whose} cannot be expanded: {cause}; its {} pages are lost", chunk.pages);
                Err(Damage { at: chunk.at, frame: None, what })
            }
        })
    }
}

impl std::fmt::Debug for Container {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Container { source, header, buffers, damage, cache, .. } = self;
        f.debug_struct("Container")
            .field("source", source)
            .field("header", header)
            .field("buffers", buffers)
            .field("damage", damage)
            .field("cache", cache)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
