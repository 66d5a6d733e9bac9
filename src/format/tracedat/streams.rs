//! The CPUs of all buffers, each a stream of events in the order in which they were made.

use std::borrow::Cow;
use std::sync::Arc;

use super::Choices;
use super::cache::{Cache, Weigh};
use super::container::{Buffer, Container, Page as FilePage};
use super::events::{Clock, LostEvents, Page, PageLayout};
use super::last_boot::LastBootPlaces;
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

impl Found {
    /// Its bytes, in those of its page.
    fn of(self, page: &[u8]) -> &[u8] {
        let start = self.offset as usize;
        page.get(start..start.saturating_add(self.length as usize)).unwrap_or(&[])
    }
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
        found.of(&self.page)
    }

    /// How many bytes of memory it takes.
    pub fn size(&self) -> usize {
        let own = if let Cow::Owned(bytes) = &self.page { bytes.len() } else { 0 };
        own + self.records.capacity() * size_of::<Found>()
    }
}

/// What is in a page.
struct Contents {
    records: Vec<Found>,
    lost: LostEvents,
    damage: Option<Damage>,
}

impl Weigh for Arc<Contents> {
    fn weight(&self) -> usize {
        self.records.capacity() * size_of::<Found>()
    }
}

/// A page of which one frame is wanted.
pub(super) struct Kept<'a> {
    page: FilePage<'a>,
    contents: Arc<Contents>,
}

impl Kept<'_> {
    /// What is in it, in order.
    pub fn records(&self) -> &[Found] {
        &self.contents.records
    }

    /// Whether events were lost before it.
    pub fn lost(&self) -> LostEvents {
        self.contents.lost
    }

    /// The bytes of a record.
    pub fn bytes(&self, found: Found) -> &[u8] {
        found.of(&self.page)
    }
}

/// All streams of a file, or those that were chosen.
pub(super) struct Streams {
    streams: Vec<Stream>,
    layout: PageLayout,
    clock: Clock,
    /// Of each buffer, where the kernel lay if an earlier boot wrote it.
    last_boots: Vec<Option<LastBootPlaces>>,
    /// Pages taken apart, by stream and number: of one, many frames are wanted.
    contents: Cache<(usize, u64), Arc<Contents>>,
    /// How many are not shown, because there are more than can be told apart.
    pub left_out: usize,
}

impl Streams {
    pub fn new(
        container: &Container,
        choices: &Choices,
        layout: PageLayout,
        clock: Clock,
        last_boots: Vec<Option<LastBootPlaces>>,
    ) -> Streams {
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
        let size = |stream: &Stream| container.buffers().get(stream.buffer).map_or(0, |buffer| buffer.page_size.into());
        let at_once = streams.iter().map(size).fold(0, u64::saturating_add);
        Streams { streams, layout, clock, last_boots, contents: Cache::new(at_once), left_out }
    }

    pub fn all(&self) -> &[Stream] {
        &self.streams
    }

    /// The buffers of which there are events to show.
    pub fn buffers<'a>(&self, container: &'a Container) -> impl Iterator<Item = &'a Buffer> {
        let mut numbers: Vec<usize> =
            self.streams.iter().filter(|stream| stream.pages > 0).map(|stream| stream.buffer).collect();
        numbers.dedup();
        numbers.into_iter().filter_map(|number| container.buffers().get(number))
    }

    /// Where the kernel lay when the events of a stream were made, if that was in an earlier boot.
    pub fn last_boot(&self, stream: usize) -> Option<&LastBootPlaces> {
        self.last_boots.get(self.streams.get(stream)?.buffer)?.as_ref()
    }

    /// Takes a page of a stream apart; `records` is used again. `None` behind the last page.
    pub fn page<'a>(
        &self,
        container: &'a Container,
        stream: usize,
        number: u64,
        records: Vec<Found>,
    ) -> Option<Result<Taken<'a>, Damage>> {
        let Stream { buffer, place, cpu, .. } = *self.streams.get(stream)?;
        let page = match container.page(buffer, place, number)? {
            Ok(page) => page,
            Err(damage) => return Some(Err(damage)),
        };
        Some(self.contents(&page, number, cpu, records).map(|Contents { records, lost, damage }| {
            let page = match &page {
                FilePage::InFile { bytes, .. } => Cow::Borrowed(*bytes),
                FilePage::Expanded { .. } => {
                    let end = records.last().map_or(0, |last| last.offset as usize + last.length as usize);
                    Cow::Owned(page.get(..end).unwrap_or(&[]).to_vec())
                }
            };
            Taken { page, records, lost, damage }
        }))
    }

    /// A page of which one frame is wanted. What is in it is kept for the next. `None` where it cannot be read.
    pub fn kept<'a>(&self, container: &'a Container, stream: usize, number: u64) -> Option<Kept<'a>> {
        let Stream { buffer, place, cpu, .. } = *self.streams.get(stream)?;
        let page = container.page(buffer, place, number)?.ok()?;
        let contents = self.contents.get((stream, number), || {
            let found = self.contents(&page, number, cpu, Vec::new()).ok();
            Arc::new(found.unwrap_or(Contents { records: Vec::new(), lost: LostEvents::Unknown, damage: None }))
        });
        Some(Kept { page, contents })
    }

    /// Takes a page of a CPU apart; `records` is used again.
    fn contents(
        &self,
        page: &FilePage<'_>,
        number: u64,
        cpu: u32,
        mut records: Vec<Found>,
    ) -> Result<Contents, Damage> {
        records.clear();
        // In a compressed chunk a page has no offset of its own in the file.
        let damaged = |at: usize, what: String| {
            let inside = matches!(page, FilePage::InFile { .. });
            let at = page.at().saturating_add(if inside { at as u64 } else { 0 });
            Damage { at, frame: None, what: format!("page {number} of CPU {cpu}: {what}") }
        };
        let read = Page::read(page, &self.layout).map_err(|damage| damaged(damage.at, damage.to_string()))?;
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
        Ok(Contents { records, lost: read.lost(), damage })
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

#[cfg(test)]
mod tests {
    use super::super::TraceDat;
    use super::*;
    use crate::format::OpenOptions;
    use crate::source::Source;

    #[test]
    fn a_page_of_which_many_frames_are_wanted_is_taken_apart_once() {
        for name in ["sched-v7-none", "sched-v7-zstd"] {
            let path = format!("{}/tests/data/tracedat/{name}.dat", env!("CARGO_MANIFEST_DIR"));
            let file = TraceDat::open(Source::open(path.as_ref()).unwrap(), &OpenOptions::default()).unwrap();
            let kept = |page| file.streams.kept(&file.container, 0, page).unwrap();
            let (first, other) = (kept(1), kept(2));
            assert!(Arc::ptr_eq(&first.contents, &kept(1).contents), "{name}");
            assert!(!Arc::ptr_eq(&first.contents, &other.contents), "{name}");
            let taken = file.streams.page(&file.container, 0, 1, Vec::new()).unwrap().unwrap();
            let bytes = |found: &Found| taken.bytes(*found).to_vec();
            assert_eq!(
                first.records().iter().map(|found| first.bytes(*found).to_vec()).collect::<Vec<_>>(),
                taken.records.iter().map(bytes).collect::<Vec<_>>()
            );
        }
    }
}
