//! A page of the ring buffer, and the records in it.
//!
//! A page begins with its time, 8 bytes, and the commit word, a `long` of the kernel's: how many bytes of records
//! there are, and whether events were lost before them. Each record has a header of 4 bytes: 5 bits of type or length,
//! the low ones in little-endian recordings and the high ones in big-endian ones, and 27 bits of time since the record
//! before (the kernel's `include/linux/ring_buffer.h` and `kernel/trace/ring_buffer.c`, and its file
//! `events/header_event`).

use super::page_layout::PageLayout;
use super::word;
use crate::source::ByteOrder;

/// How many bits of a record's header are time.
const DELTA_BITS: u32 = 27;
const DELTA_MASK: u32 = (1 << DELTA_BITS) - 1;

/// The last type that says how long a record's data are, in words of 4 bytes.
const LAST_DATA: u32 = 28;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// How many bits an absolute time has; those above are the ones of the time before.
const STAMP_BITS: u32 = 59;

/// The commit word: how many bytes of records there are, and two flags.
const COMMIT_LENGTH: u64 = (1 << 27) - 1;
const EVENTS_LOST: u64 = 1 << 31;
const LOST_COUNT_STORED: u64 = 1 << 30;

/// Whether events were lost between the page before, of the same CPU, and this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LostEvents {
    /// None.
    #[default]
    None,
    /// So many.
    Counted(u64),
    /// Some; the kernel had no place to write how many.
    Unknown,
}

impl LostEvents {
    /// Those that were lost at two places, together: nobody knows how many where one of them is not known.
    #[must_use]
    pub fn and(self, other: LostEvents) -> LostEvents {
        match (self, other) {
            (LostEvents::None, lost) | (lost, LostEvents::None) => lost,
            (LostEvents::Counted(one), LostEvents::Counted(other)) => LostEvents::Counted(one.saturating_add(other)),
            _ => LostEvents::Unknown,
        }
    }
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The page's bytes up to the end of its records.
    committed: &'a [u8],
    order: ByteOrder,
    data: usize,
    time: u64,
    lost: LostEvents,
    /// What the page lacks of what it says it holds.
    cut: Option<PageFault>,
}

/// A record: the bytes of an event, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// The time by the clock of the recording, not converted.
    pub time: u64,
    /// Offset of `bytes` in the page.
    pub offset: usize,
    /// The event. The kernel rounds lengths up to 4 bytes, so that what follows the last field is not meant.
    pub bytes: &'a [u8],
}

/// What of a page cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct PageDamage {
    /// Offset in the page from which on nothing is read.
    pub at: usize,
    /// What is wrong.
    pub fault: PageFault,
}

/// What is wrong with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageFault {
    /// It ends in its own header.
    #[error("a page of {there} bytes, expected at least its header of {header}; its events are lost")]
    Header {
        /// How many bytes there are.
        there: usize,
        /// How many the header has.
        header: usize,
    },
    /// It says that it holds more than it can.
    #[error("the page says that it holds {said} bytes of events, it has {there}; those behind are lost")]
    Commit {
        /// How many bytes of events it says it holds.
        said: u64,
        /// How many there are.
        there: usize,
    },
    /// The end comes in the header of a record.
    #[error(
        "{left} bytes are left in the page, expected the header of a record of {expected}; the events behind are lost"
    )]
    RecordHeader {
        /// How many bytes are left.
        left: usize,
        /// How many the header has.
        expected: usize,
    },
    /// The length of a record does not count itself.
    #[error("the length of a record is {found}, expected at least 4; it and the events behind are lost")]
    LengthWord {
        /// The length by the record's header.
        found: u64,
    },
    /// A record reaches behind the end.
    #[error("a record of {said} bytes, {left} are left in the page; it and the events behind are lost")]
    RecordLength {
        /// The length by the record's header.
        said: u64,
        /// How many bytes are left.
        left: usize,
    },
}

impl<'a> Page<'a> {
    /// Reads the header of a page. `bytes` is the whole page, of whatever size the recording's pages have.
    pub fn read(bytes: &'a [u8], layout: &PageLayout) -> Result<Page<'a>, PageDamage> {
        let PageLayout { order, data, .. } = *layout;
        let long = layout.long.bytes();
        let time = word::unsigned(bytes, layout.timestamp, 8, order);
        let commit = word::unsigned(bytes, layout.commit, long, order);
        let (Some(time), Some(commit), Some(behind)) = (time, commit, bytes.get(data..)) else {
            return Err(PageDamage { at: 0, fault: PageFault::Header { there: bytes.len(), header: data } });
        };
        let said = commit & COMMIT_LENGTH;
        let length = usize::try_from(said).ok().filter(|length| *length <= behind.len());
        let cut = if length.is_none() { Some(PageFault::Commit { said, there: behind.len() }) } else { None };
        let end = length.map_or(bytes.len(), |length| data + length);
        let lost = if commit & EVENTS_LOST == 0 {
            LostEvents::None
        } else {
            // Right behind the records, not at the end of the page.
            let stored = (commit & LOST_COUNT_STORED != 0 && cut.is_none())
                .then(|| word::unsigned(bytes, end, long, order))
                .flatten();
            stored.map_or(LostEvents::Unknown, LostEvents::Counted)
        };
        Ok(Page { committed: bytes.get(..end).unwrap_or(bytes), order, data, time, lost, cut })
    }

    /// The time of the page, from which the times of its records count.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Whether events were lost before this page.
    pub fn lost(&self) -> LostEvents {
        self.lost
    }

    /// The records, in the order in which they were made. What cannot be read comes last, as an error.
    pub fn records(&self) -> Records<'a> {
        let Page { committed, order, data, time, cut, .. } = *self;
        Records { committed, order, at: data, time, cut }
    }
}

/// The records of a page.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    committed: &'a [u8],
    order: ByteOrder,
    /// Offset of the next header.
    at: usize,
    /// The time of the last header.
    time: u64,
    cut: Option<PageFault>,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RawRecord<'a>, PageDamage>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(header) = word::word(self.committed, self.at, self.order) else { return self.end() };
            let (kind, delta) = match self.order {
                ByteOrder::Little => (header & 0x1f, header >> 5),
                ByteOrder::Big => (header >> DELTA_BITS, header & DELTA_MASK),
            };
            let (offset, length) = match kind {
                1..=LAST_DATA => (self.at + 4, u64::from(kind) * 4),
                PADDING if delta == 0 => {
                    self.at = self.committed.len();
                    continue;
                }
                _ => {
                    let Some(second) = word::word(self.committed, self.at + 4, self.order) else {
                        let left = self.committed.len().saturating_sub(self.at);
                        return Some(Err(self.fail(PageFault::RecordHeader { left, expected: 8 })));
                    };
                    let second = u64::from(second);
                    match kind {
                        TIME_EXTEND => {
                            self.time = self.time.wrapping_add((second << DELTA_BITS) | u64::from(delta));
                            self.at += 8;
                            continue;
                        }
                        TIME_STAMP => {
                            self.time = absolute((second << DELTA_BITS) | u64::from(delta), self.time);
                            self.at += 8;
                            continue;
                        }
                        // The length counts itself.
                        0 if second >= 4 => (self.at + 8, (second - 4).next_multiple_of(4)),
                        0 => return Some(Err(self.fail(PageFault::LengthWord { found: second }))),
                        // Padding: an event that was thrown away.
                        _ => (self.at + 4, second),
                    }
                }
            };
            let bytes = usize::try_from(length)
                .ok()
                .and_then(|length| offset.checked_add(length))
                .and_then(|end| self.committed.get(offset..end));
            let Some(bytes) = bytes else {
                let left = self.committed.len().saturating_sub(offset);
                return Some(Err(self.fail(PageFault::RecordLength { said: length, left })));
            };
            self.time = self.time.wrapping_add(u64::from(delta));
            self.at = offset + bytes.len();
            if kind != PADDING {
                return Some(Ok(RawRecord { time: self.time, offset, bytes }));
            }
        }
    }
}

impl<'a> Records<'a> {
    /// Behind the last whole record.
    #[cold]
    fn end(&mut self) -> Option<Result<RawRecord<'a>, PageDamage>> {
        match (self.committed.len().saturating_sub(self.at), self.cut) {
            (0, None) => None,
            (0, Some(cut)) => Some(Err(self.fail(cut))),
            (left, _) => Some(Err(self.fail(PageFault::RecordHeader { left, expected: 4 }))),
        }
    }

    /// Gives up at the next header. A page that is cut says so, not what the cut made of its last record.
    #[cold]
    fn fail(&mut self, fault: PageFault) -> PageDamage {
        let damage = PageDamage { at: self.at, fault: self.cut.take().unwrap_or(fault) };
        (self.committed, self.at) = (&[], 0);
        damage
    }
}

/// The time that an absolute one means. Its upper bits are those of the time before; where these have just changed it
/// would be far back, and means the next such time.
fn absolute(stamp: u64, before: u64) -> u64 {
    let time = stamp | (before & !((1 << STAMP_BITS) - 1));
    if before.saturating_sub(time) > 1 << (STAMP_BITS - 1) { time.wrapping_add(1 << STAMP_BITS) } else { time }
}
