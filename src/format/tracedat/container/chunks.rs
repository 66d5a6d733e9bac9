//! The compressed data of one CPU: a chain of chunks, each of whole pages.
//!
//! `<4 bytes> count`, and for each chunk `<4 bytes> compressed size, <4 bytes> size, data` (trace-cmd.dat.v7(5),
//! "Compression format of the trace data"; each CPU has a count and chunks of its own). trace-cmd puts ten pages into a
//! chunk.

use std::sync::Arc;

use super::super::cache::Weigh;
use super::compression::Algorithm;
use crate::source::Cursor;

/// To how many bytes a chunk may expand at most: ten of the largest pages.
pub(super) const CHUNK_LIMIT: u64 = 10 << 20;

/// The size of the number of chunks, which the size of a CPU's data may count or not.
pub(super) const COUNT_SIZE: u64 = 4;

/// What a chunk expanded to, or why it cannot be expanded, which is not tried again for each of its pages.
#[derive(Clone, Debug)]
pub(super) struct Expanded(pub Result<Arc<Vec<u8>>, Arc<str>>);

impl Weigh for Expanded {
    fn weight(&self) -> usize {
        match &self.0 {
            Ok(bytes) => bytes.len(),
            Err(cause) => cause.len(),
        }
    }
}

/// Where a chunk lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Offset in the file of its compressed data.
    pub at: u64,
    /// The number of its first page among the pages of the CPU.
    pub first: u64,
    /// The size of its compressed data in bytes.
    pub stored: u32,
    /// The number of its pages.
    pub pages: u32,
}

/// The chunks of a CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks {
    chunks: Vec<Chunk>,
    /// The number of pages of all.
    pub pages: u64,
}

impl Chunks {
    /// Finds the chunks in the data of one CPU, without expanding any; `damaged` is told what is wrong, and where.
    pub fn find(
        mut cursor: Cursor<'_>,
        page_size: u32,
        algorithm: &Algorithm,
        damaged: &mut dyn FnMut(u64, String),
    ) -> Chunks {
        let mut found = Chunks::default();
        let at = cursor.position();
        let Ok(count) = cursor.u32() else {
            damaged(at, format!("{} bytes are too few for the number of chunks", cursor.rest().len()));
            return found;
        };
        for number in 0..count {
            let at = cursor.position();
            let lost = || format!("of {count} chunks, the last {} are lost", count - number);
            let (Ok(stored), Ok(size)) = (cursor.u32(), cursor.u32()) else {
                damaged(at, format!("the data end before a chunk: {}", lost()));
                return found;
            };
            let data_at = cursor.position();
            if let Err(cause) = cursor.take(stored as usize) {
                let there = cause.left;
                let what = format!("a chunk of {stored} bytes is here, of which {there} are there: {}", lost());
                damaged(at, what);
                return found;
            }
            let length = u64::from(size);
            let whole = size.checked_rem(page_size) == Some(0) && size > 0;
            if !whole || length > CHUNK_LIMIT || !algorithm.can_hold(u64::from(stored), length) {
                let what = format!(
                    "a chunk of {stored} bytes expands to {size} bytes, expected pages of {page_size} bytes, at most \
                     {CHUNK_LIMIT} bytes and no more than can be compressed so far; it is lost"
                );
                damaged(at, what);
                continue;
            }
            let pages = size / page_size;
            found.chunks.push(Chunk { at: data_at, first: found.pages, stored, pages });
            found.pages = found.pages.saturating_add(u64::from(pages));
        }
        if cursor.rest().len() as u64 > COUNT_SIZE {
            let what = format!("{} bytes follow the last of {count} chunks; they are left out", cursor.rest().len());
            damaged(cursor.position(), what);
        }
        found
    }

    /// How many pages the largest has.
    pub fn most_pages(&self) -> u32 {
        self.chunks.iter().map(|chunk| chunk.pages).max().unwrap_or(0)
    }

    /// The chunk that holds a page.
    pub fn of_page(&self, page: u64) -> Option<&Chunk> {
        let behind = self.chunks.partition_point(|chunk| chunk.first <= page);
        let chunk = self.chunks.get(behind.checked_sub(1)?)?;
        (page - chunk.first < u64::from(chunk.pages)).then_some(chunk)
    }
}
