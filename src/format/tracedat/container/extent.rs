//! A run of bytes of the file, or of what a section of it was expanded to.

use std::sync::Arc;

use crate::source::{ByteOrder, Cursor, Source};
use crate::trace::Damage;

/// A run of bytes.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    /// Offset in the file of the first byte; of the compressed data where they were expanded.
    at: u64,
    /// Where the first byte is among the expanded ones.
    start: usize,
    length: usize,
    expanded: Option<Arc<[u8]>>,
}

impl Extent {
    /// Up to `length` bytes of the file from `at`; fewer at its end.
    pub fn in_file(source: &Source, at: u64, length: u64) -> Extent {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Extent { at, start: 0, length: source.slice(at, length).len(), expanded: None }
    }

    /// What the compressed data at `at` were expanded to.
    pub fn expanded(at: u64, bytes: Vec<u8>) -> Extent {
        Extent { at, start: 0, length: bytes.len(), expanded: Some(bytes.into()) }
    }

    /// The bytes; fewer once the file has changed.
    pub fn bytes<'a>(&'a self, source: &'a Source) -> &'a [u8] {
        match &self.expanded {
            None => source.slice(self.at, self.length),
            Some(bytes) => bytes.get(self.start..self.start.saturating_add(self.length)).unwrap_or(&[]),
        }
    }

    /// Up to `length` bytes from `start` on; fewer at the end.
    pub fn part(&self, start: u64, length: u64) -> Extent {
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(self.length);
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(self.length - start);
        match &self.expanded {
            None => Extent { at: self.at.saturating_add(start as u64), start: 0, length, expanded: None },
            Some(bytes) => Extent {
                at: self.at,
                start: self.start.saturating_add(start),
                length,
                expanded: Some(Arc::clone(bytes)),
            },
        }
    }

    /// Offset in the file of the first byte, or of the compressed data that hold it.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// How many bytes there are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// A cursor that counts from 0.
    pub fn cursor<'a>(&'a self, source: &'a Source, order: ByteOrder) -> Cursor<'a> {
        Cursor::new(self.bytes(source), 0, order)
    }

    /// Something wrong at `position` of these bytes.
    pub fn damage(&self, position: u64, what: String) -> Damage {
        match &self.expanded {
            None => Damage { at: self.at.saturating_add(position), frame: None, what },
            Some(_) => {
                let position = (self.start as u64).saturating_add(position);
                let what = format!("at byte {position:#x} of what is expanded from here, {what}");
                Damage { at: self.at, frame: None, what }
            }
        }
    }
}
