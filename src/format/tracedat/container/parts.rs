//! What both versions of the file consist of.

use super::buffers::Described;
use super::extent::Extent;
use super::options::TraceOption;
use super::section::Section;
use super::strings::Strings;
use super::texts::{Formats, HeaderInfo};

/// Everything but the data of buffers.
#[derive(Default)]
pub(super) struct Parts {
    pub sections: Vec<Section>,
    pub strings: Strings,
    pub options: Vec<TraceOption>,
    pub header_info: HeaderInfo,
    pub ftrace: Formats,
    pub events: Formats,
    pub kallsyms: Option<Extent>,
    pub printk: Option<Extent>,
    pub command_lines: Option<Extent>,
    pub btf: Option<Extent>,
    pub modules: Option<Extent>,
    pub described: Vec<Described>,
    pub texts: Vec<BufferText>,
}

/// The kernel's text of a buffer.
pub(super) struct BufferText {
    pub name: String,
    pub clock: Option<String>,
    pub content: Extent,
}
