//! Sections of version 7: their headers, the chain they make, and what is in them.
//!
//! trace-cmd.dat.v7(5), "Format of the section header". The size in a header leads to the next section, from the end of
//! the file's header to the end of the file: that is how trace-cmd finds the strings, which nothing points to.

use super::compression::Algorithm;
use super::extent::Extent;
use crate::source::{ByteOrder, Cursor, Source};
use crate::trace::{Damage, DamageList};

/// Length of a section's header in bytes.
pub(super) const HEADER_SIZE: u64 = 16;

/// How many bytes all compressed sections of a file are expanded to at most. The largest are /proc/kallsyms and the
/// kernel's BTF, some 10 MiB each.
pub(super) const EXPANDED_LIMIT: usize = 256 << 20;

/// Flag: the section is compressed.
const COMPRESSED: u16 = 1;

/// What an option or a section is, by its number. Options and sections share their numbers.
pub mod id {
    #![allow(missing_docs)]
    pub const OPTIONS: u16 = 0;
    pub const BUFFER: u16 = 3;
    pub const STRINGS: u16 = 15;
    pub const HEADER_INFO: u16 = 16;
    pub const FTRACE_EVENTS: u16 = 17;
    pub const EVENT_FORMATS: u16 = 18;
    pub const KALLSYMS: u16 = 19;
    pub const PRINTK: u16 = 20;
    pub const CMDLINES: u16 = 21;
    pub const BUFFER_TEXT: u16 = 22;
    pub const BTF_FILE: u16 = 23;
    pub const MODULES_FILE: u16 = 25;
}

/// What the section of a number is called by trace-cmd.dat.v7(5); `None` for one that is not known.
pub fn name(id: u16) -> Option<&'static str> {
    Some(match id {
        id::OPTIONS => "OPTIONS",
        id::BUFFER => "BUFFER FLYRECORD",
        id::STRINGS => "STRINGS",
        id::HEADER_INFO => "HEADER INFO",
        id::FTRACE_EVENTS => "FTRACE EVENT FORMATS",
        id::EVENT_FORMATS => "EVENT FORMATS",
        id::KALLSYMS => "KALLSYMS",
        id::PRINTK => "TRACE_PRINTK",
        id::CMDLINES => "SAVED COMMAND LINES",
        id::BUFFER_TEXT => "BUFFER TEXT",
        id::BTF_FILE => "BTF FILE",
        id::MODULES_FILE => "MODULES FILE",
        _ => return None,
    })
}

/// A section's number in words.
pub(super) fn called(id: u16) -> String {
    name(id).map_or_else(|| format!("unknown section {id}"), |name| format!("section {id} ({name})"))
}

/// The header of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Offset of the header in the file.
    pub at: u64,
    /// What it is: see [`id`].
    pub id: u16,
    /// 1 where it is compressed.
    pub flags: u16,
    /// Where its description is among the strings.
    pub description: u32,
    /// Its size in the file in bytes, without the header.
    pub size: u64,
}

impl Section {
    /// The section whose header lies at `at`; `None` where the file ends before the header does.
    pub(super) fn read(source: &Source, order: ByteOrder, at: u64) -> Option<Section> {
        let mut cursor = Cursor::new(source.slice(at, HEADER_SIZE as usize), at, order);
        let id = cursor.u16().ok()?;
        let flags = cursor.u16().ok()?;
        let description = cursor.u32().ok()?;
        let size = cursor.u64().ok()?;
        Some(Section { at, id, flags, description, size })
    }

    /// Offset in the file of what follows the header.
    pub fn data_at(&self) -> u64 {
        self.at.saturating_add(HEADER_SIZE)
    }

    /// Offset in the file of what follows the section.
    pub fn end(&self) -> u64 {
        self.data_at().saturating_add(self.size)
    }

    /// Whether it is compressed.
    pub fn is_compressed(&self) -> bool {
        self.flags & COMPRESSED != 0
    }
}

/// All sections from `at` to the end of the file.
pub(super) fn chain(source: &Source, order: ByteOrder, mut at: u64, damage: &mut DamageList) -> Vec<Section> {
    let length = source.length();
    let mut sections = Vec::new();
    while at < length {
        let Some(section) = Section::read(source, order, at) else {
            let what = format!("the last {} bytes are too few for the header of a section", length - at);
            damage.push(Damage { at, frame: None, what });
            break;
        };
        if section.end() > length {
            let left = length.saturating_sub(section.data_at());
            let what = format!(
                "{} has {} bytes, of which {left} are in the file; what follows them is lost",
                called(section.id),
                section.size
            );
            damage.push(Damage { at, frame: None, what });
        }
        sections.push(section);
        at = section.end();
    }
    sections
}

/// What is needed to get at the content of sections.
pub(super) struct Reader<'a> {
    pub source: &'a Source,
    pub order: ByteOrder,
    pub algorithm: &'a Algorithm,
    /// How many bytes may still be expanded.
    pub left: usize,
    pub damage: DamageList,
}

impl Reader<'_> {
    /// Names damage at an offset of the file.
    pub fn damaged(&mut self, at: u64, what: String) {
        self.damage.push(Damage { at, frame: None, what });
    }

    /// The section that an option says is at `at`.
    pub fn section(&mut self, at: u64, id: u16) -> Option<Section> {
        let found = Section::read(self.source, self.order, at);
        match found {
            Some(section) if section.id == id => Some(section),
            Some(other) => {
                let what = format!("{} is where {} belongs, which is lost", called(other.id), called(id));
                self.damaged(at, what);
                None
            }
            None => {
                let length = self.source.length();
                let what = format!("{} is at byte {at:#x}, but the file ends at byte {length:#x}", called(id));
                self.damaged(at.min(length), what);
                None
            }
        }
    }

    /// What is in a section, expanded where it is compressed: `<4 bytes> compressed size, <4 bytes> size, data`
    /// (trace-cmd.dat.v7(5), "Compression format of the file sections").
    pub fn content(&mut self, section: &Section) -> Option<Extent> {
        if !section.is_compressed() {
            return Some(Extent::in_file(self.source, section.data_at(), section.size));
        }
        let data = Extent::in_file(self.source, section.data_at(), section.size);
        match self.block(&data, section.size) {
            Ok(content) => Some(content),
            Err(cause) => {
                self.damaged(section.at, format!("{} cannot be expanded: {cause}; it is lost", called(section.id)));
                None
            }
        }
    }

    fn block(&mut self, data: &Extent, stated: u64) -> Result<Extent, String> {
        let mut cursor = data.cursor(self.source, self.order);
        let (Ok(stored), Ok(size)) = (cursor.u32(), cursor.u32()) else {
            return Err(format!("the file ends {} bytes behind its header", data.length()));
        };
        if u64::from(stored) > stated.saturating_sub(8) {
            return Err(format!("it has {stored} compressed bytes in a section of {stated} bytes"));
        }
        let bytes = cursor.take(stored as usize).map_err(|cause| {
            format!("{stored} compressed bytes belong here, of which {} are in the file", cause.left)
        })?;
        let at = data.at().saturating_add(8);
        Ok(Extent::expanded(at, self.expand(bytes, size)?))
    }

    /// What the chunks at the beginning of `data` expand to, one behind the other; what is wrong ends them.
    pub fn chunks(&mut self, section: &Section) -> Option<Extent> {
        if !section.is_compressed() {
            return self.content(section);
        }
        let data = Extent::in_file(self.source, section.data_at(), section.size);
        let mut cursor = data.cursor(self.source, self.order);
        let mut bytes = Vec::new();
        let count = cursor.u32().unwrap_or(0);
        for number in 0..count {
            let at = data.at().saturating_add(cursor.position());
            let (Ok(stored), Ok(size)) = (cursor.u32(), cursor.u32()) else {
                self.damaged(at, format!("{count} chunks of text are announced, of which {number} are in the file"));
                break;
            };
            let expanded = match cursor.take(stored as usize) {
                Ok(stored) => self.expand(stored, size),
                Err(cause) => Err(format!("{stored} bytes belong here, of which {} are in the file", cause.left)),
            };
            match expanded {
                Ok(more) => bytes.extend(more),
                Err(cause) => {
                    let what = format!("chunk {number} of {count} cannot be expanded: {cause}; the text ends here");
                    self.damaged(at, what);
                    break;
                }
            }
        }
        Some(Extent::expanded(data.at(), bytes))
    }

    fn expand(&mut self, stored: &[u8], size: u32) -> Result<Vec<u8>, String> {
        let size = size as usize;
        let left = self.left.checked_sub(size).ok_or_else(|| {
            let limit = EXPANDED_LIMIT >> 20;
            format!("it would have {size} bytes, and all sections together may have {limit} MiB")
        })?;
        let bytes = self.algorithm.expand(stored, size)?;
        self.left = left;
        Ok(bytes)
    }
}
