//! Bytes to model: one folder a format, opened by magic.

pub mod tfile;

use std::sync::Arc;

use crate::arch::ArchError;
use crate::image::Image;
use crate::source::{ByteOrder, Source};
use crate::trace::Recording;

/// What the user says about a recording.
#[derive(Clone, Default)]
pub struct OpenOptions<'a> {
    /// The program that was recorded.
    pub image: Option<&'a Image>,
    /// A target description, as XML.
    pub description: Option<&'a str>,
    /// The name of an architecture.
    pub architecture: Option<&'a str>,
    /// The byte order.
    pub byte_order: Option<ByteOrder>,
}

/// Why a recording could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// replaced or completed
    #[error("{0}")]
    Arch(#[from] ArchError),
}

/// Opens a recording of any known format, which its first bytes tell.
pub fn open(_source: Source, _options: &OpenOptions<'_>) -> Result<Arc<dyn Recording>, FormatError> {
    todo!()
}
