//! Where the parts of a page lie.

use super::field_line::FieldLine;
use crate::source::ByteOrder;

/// The size of the kernel's `long`, which can differ from that of its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongSize {
    /// 4 bytes: a 32-bit kernel.
    Four,
    /// 8 bytes: a 64-bit kernel.
    Eight,
}

impl LongSize {
    /// The size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            LongSize::Four => 4,
            LongSize::Eight => 8,
        }
    }

    /// The one of so many bytes.
    pub fn of(bytes: usize) -> Option<LongSize> {
        match bytes {
            4 => Some(LongSize::Four),
            8 => Some(LongSize::Eight),
            _ => None,
        }
    }
}

/// The layout of every page of a recording, as the kernel's file `events/header_page` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    /// The byte order of the recording.
    pub order: ByteOrder,
    /// The size of the kernel's `long`, which is that of `commit`.
    pub long: LongSize,
    /// Offset in a page of its time, 8 bytes.
    pub timestamp: usize,
    /// Offset in a page of the word that says how many bytes of records there are.
    pub commit: usize,
    /// Offset in a page of the first record.
    pub data: usize,
    /// How many bytes for records a page of the kernel's own size has. Pages of another size can be in the recording
    /// all the same: what counts is the size that the recording gives for its pages.
    pub data_size: usize,
}

impl PageLayout {
    /// The layout of all kernels so far, for a recording that does not say it: time, commit word, records, in pages of
    /// 4096 bytes (`struct buffer_data_page` in the kernel's `kernel/trace/ring_buffer.c`).
    pub fn assumed(order: ByteOrder, long: LongSize) -> PageLayout {
        let data = 8 + long.bytes();
        PageLayout { order, long, timestamp: 0, commit: 8, data, data_size: 4096 - data }
    }

    /// Reads the text of `events/header_page`.
    ///
    /// Where the text does not hold together, `long` and [`PageLayout::assumed`] take its place, and words say why.
    pub fn read(text: &[u8], order: ByteOrder, long: LongSize) -> (PageLayout, Option<String>) {
        match PageLayout::of_text(&String::from_utf8_lossy(text), order) {
            Ok(layout) => (layout, None),
            Err(why) => {
                let layout = PageLayout::assumed(order, long);
                let (commit, data) = (long.bytes(), layout.data);
                let taken = format!("taken as a commit word of {commit} bytes at 8 and records from {data} on");
                (layout, Some(format!("the description of pages (header_page) {why}; {taken}")))
            }
        }
    }

    fn of_text(text: &str, order: ByteOrder) -> Result<PageLayout, String> {
        let find = |name: &str| {
            let mut lines = text.lines().filter_map(|line| FieldLine::read(line)?.ok());
            lines.find(|line| line.declaration.split_whitespace().next_back() == Some(name))
        };
        let (Some(timestamp), Some(commit), Some(data)) = (find("timestamp"), find("commit"), find("data")) else {
            return Err("lacks one of the fields timestamp, commit and data".to_owned());
        };
        let Some(long) = LongSize::of(commit.size) else {
            return Err(format!("gives the field commit {} bytes, expected 4 or 8", commit.size));
        };
        if timestamp.size != 8 {
            return Err(format!("gives the field timestamp {} bytes, expected 8", timestamp.size));
        }
        let behind = |line: &FieldLine<'_>| line.offset.saturating_add(line.size);
        if behind(&timestamp) > data.offset || behind(&commit) > data.offset {
            return Err(format!("has records begin at {}, inside the header", data.offset));
        }
        let (timestamp, commit) = (timestamp.offset, commit.offset);
        Ok(PageLayout { order, long, timestamp, commit, data: data.offset, data_size: data.size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_32_BITS: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n";

    #[test]
    fn the_kernel_s_long_is_that_of_the_commit_word() {
        let (layout, wrong) = PageLayout::read(OF_32_BITS.as_bytes(), ByteOrder::Big, LongSize::Eight);
        assert_eq!(wrong, None);
        assert_eq!(layout, PageLayout::assumed(ByteOrder::Big, LongSize::Four));
    }

    #[test]
    fn a_larger_page_says_so() {
        let text = OF_32_BITS.replace("size:4084", "size:16372");
        let (layout, _) = PageLayout::read(text.as_bytes(), ByteOrder::Little, LongSize::Four);
        assert_eq!(layout.data_size, 16372);
    }

    #[test]
    fn what_does_not_hold_together_is_replaced_in_words() {
        for (from, to, why) in [
            ("commit", "committed", "lacks one of the fields"),
            ("offset:8;\tsize:4", "offset:8;\tsize:6", "gives the field commit 6 bytes, expected 4 or 8"),
            ("size:8", "size:4", "gives the field timestamp 4 bytes"),
            ("offset:12", "offset:10", "has records begin at 10, inside the header"),
            ("offset:12", "offset:99999999999999999999", "lacks one of the fields"),
        ] {
            let text = OF_32_BITS.replace(from, to);
            let (layout, wrong) = PageLayout::read(text.as_bytes(), ByteOrder::Little, LongSize::Eight);
            let wrong = wrong.unwrap();
            assert!(wrong.contains(why), "{wrong}");
            assert_eq!(layout, PageLayout::assumed(ByteOrder::Little, LongSize::Eight));
            assert_eq!((layout.commit, layout.data), (8, 16));
        }
    }
}
