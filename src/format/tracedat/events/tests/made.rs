//! Pages made by hand, as the kernel's `include/linux/ring_buffer.h` and `kernel/trace/ring_buffer.c` lay them out.

use super::super::{LongSize, PageLayout};
use crate::source::ByteOrder;

/// A page that is being made.
pub(super) struct Made {
    layout: PageLayout,
    records: Vec<u8>,
}

impl Made {
    pub(super) fn new(order: ByteOrder, long: LongSize) -> Made {
        Made { layout: PageLayout::assumed(order, long), records: Vec::new() }
    }

    /// A number of the page, in its byte order.
    pub(super) fn number(&self, value: u64, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        self.layout.order.store(value, &mut bytes);
        bytes
    }

    /// A header: in C, a bit field of 5 bits and one of 27, of which the first takes the low bits in little-endian
    /// machines and the high ones in big-endian ones.
    pub(super) fn header(mut self, kind: u32, delta: u32) -> Made {
        let header = match self.layout.order {
            ByteOrder::Little => kind | (delta << 5),
            ByteOrder::Big => (kind << 27) | delta,
        };
        self.records.extend(self.number(header.into(), 4));
        self
    }

    pub(super) fn word(mut self, word: u32) -> Made {
        self.records.extend(self.number(word.into(), 4));
        self
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Made {
        self.records.extend(bytes);
        self
    }

    pub(super) fn length(&self) -> u64 {
        self.records.len() as u64
    }

    pub(super) fn layout(&self) -> &PageLayout {
        &self.layout
    }

    /// The page with this time and commit word, `behind` the records, and stale bytes up to its size.
    pub(super) fn page(&self, time: u64, commit: u64, behind: &[u8], size: usize) -> Vec<u8> {
        let long = self.layout.long.bytes();
        let mut page =
            [self.number(time, 8), self.number(commit, long), self.records.clone(), behind.to_vec()].concat();
        page.resize(size, 0x6b);
        page
    }
}
