//! The CPUs of all buffers, each a stream of events in the order in which they were made.

use std::borrow::Cow;

use super::Choices;
use super::container::{Container, Page as FilePage};
use super::events::{Clock, LostEvents, Page, PageLayout};
use super::positions::Position;
use crate::trace::Damage;

/// The events of one CPU in one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stream {
    /// Which of the container's buffers.
    pub buffer: usize,
    /// Which of that buffer's CPUs.
    pub place: usize,
    /// The number of the CPU.
    pub cpu: u32,
    /// How many pages there are.
    pub pages: u64,
}

/// A record in a page that was taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Its time, converted.
    pub time: u64,
    /// Its time as it was recorded.
    pub raw: u64,
    /// Where its bytes lie in the page.
    pub offset: u32,
    /// How many there are.
    pub length: u32,
}

/// A page that was taken apart.
pub(super) struct Taken<'a> {
    /// Its bytes; of an expanded page those of its records, so that it does not keep the whole chunk.
    page: Cow<'a, [u8]>,
    /// What is in it, in order.
    pub records: Vec<Found>,
    /// Whether events were lost before it.
    pub lost: LostEvents,
    /// What of it could not be read.
    pub damage: Option<Damage>,
}

impl Taken<'_> {
    /// The bytes of a record.
    pub fn bytes(&self, found: Found) -> &[u8] {
        let start = found.offset as usize;
        self.page.get(start..start.saturating_add(found.length as usize)).unwrap_or(&[])
    }

    /// How many bytes of memory it takes.
    pub fn size(&self) -> usize {
        let own = if let Cow::Owned(bytes) = &self.page { bytes.len() } else { 0 };
        own + self.records.capacity() * size_of::<Found>()
    }
}

/// All streams of a file, or those that were chosen.
pub(super) struct Streams {
    streams: Vec<Stream>,
    layout: PageLayout,
    clock: Clock,
    /// How many are not shown, because there are more than can be told apart.
    pub left_out: usize,
}

impl Streams {
    pub fn new(container: &Container, choices: &Choices, layout: PageLayout, clock: Clock) -> Streams {
        let mut streams = Vec::new();
        for (buffer, found) in container.buffers().iter().enumerate() {
            let chosen = choices.instances.is_empty() || choices.instances.contains(&found.name);
            for (place, cpu) in found.cpus.iter().enumerate().filter(|_| chosen) {
                if choices.cpus.is_empty() || choices.cpus.contains(&cpu.id) {
                    streams.push(Stream { buffer, place, cpu: cpu.id, pages: cpu.pages });
                }
            }
        }
        let left_out = streams.len().saturating_sub(Position::STREAMS);
        streams.truncate(Position::STREAMS);
        Streams { streams, layout, clock, left_out }
    }

    pub fn all(&self) -> &[Stream] {
        &self.streams
    }

    /// Takes a page of a stream apart; `records` is used again. `None` behind the last page.
    pub fn page<'a>(
        &self,
        container: &'a Container,
        stream: usize,
        number: u64,
        mut records: Vec<Found>,
    ) -> Option<Result<Taken<'a>, Damage>> {
        let Stream { buffer, place, cpu, .. } = *self.streams.get(stream)?;
        records.clear();
        let page = match container.page(buffer, place, number)? {
            Ok(page) => page,
            Err(damage) => return Some(Err(damage)),
        };
        // In a compressed chunk a page has no offset of its own in the file.
        let damaged = |at: usize, what: String| {
            let inside = matches!(page, FilePage::InFile { .. });
            let at = page.at().saturating_add(if inside { at as u64 } else { 0 });
            Damage { at, frame: None, what: format!("page {number} of CPU {cpu}: {what}") }
        };
        let read = match Page::read(&page, &self.layout) {
            Ok(read) => read,
            Err(damage) => return Some(Err(damaged(damage.at, damage.to_string()))),
        };
        let mut damage = None;
        for record in read.records() {
            match record {
                Ok(record) => records.push(Found {
                    time: self.clock.time(record.time, cpu),
                    raw: record.time,
                    offset: record.offset as u32,
                    length: record.bytes.len() as u32,
                }),
                Err(fault) => damage = Some(damaged(fault.at, fault.to_string())),
            }
        }
        let lost = read.lost();
        let page = match &page {
            FilePage::InFile { bytes, .. } => Cow::Borrowed(*bytes),
            FilePage::Expanded { .. } => {
                let end = records.last().map_or(0, |last| last.offset as usize + last.length as usize);
                Cow::Owned(page.get(..end).unwrap_or(&[]).to_vec())
            }
        };
        Some(Ok(Taken { page, records, lost, damage }))
    }

    /// Calls `see` with the time and the bytes of each record of a page that can be read, and returns whether events were
    /// lost before it. `None` for a page that cannot be read.
    pub fn look(
        &self,
        container: &Container,
        stream: usize,
        number: u64,
        mut see: impl FnMut(u64, &[u8]),
    ) -> Option<LostEvents> {
        let Stream { buffer, place, cpu, .. } = *self.streams.get(stream)?;
        let page = container.page(buffer, place, number)?.ok()?;
        let page = Page::read(&page, &self.layout).ok()?;
        page.records().flatten().for_each(|record| see(self.clock.time(record.time, cpu), record.bytes));
        Some(page.lost())
    }
}
