//! One look at every record before anything else: which events there are, which tasks, what was lost.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::container::Container;
use super::event_types::{self, Roles};
use super::events::{EventFormat, Formats, LostEvents, StackEntries, TaskCollector};
use super::last_boot::{LastBootPlaces, moved};
use super::streams::Streams;

/// How many tasks are told apart at most; the kernel's largest number of one is four million.
const MOST_TASKS: usize = 100_000;

/// How many addresses in stacks are kept.
const MOST_ENTRIES: usize = 100_000;

/// How many pages one thread looks at before its results are taken: 10 MiB of 4 KiB pages, in whole chunks as trace-cmd
/// makes them.
const UNIT: u64 = 2560;

/// For fewer pages no thread is started.
const FEW: u64 = 256;

/// How many threads look at most.
const MOST_THREADS: usize = 16;

/// What was seen.
#[derive(Default)]
pub(super) struct Survey {
    /// How many events there are of each number.
    pub counts: BTreeMap<u16, u64>,
    /// The process ids.
    pub tasks: HashSet<i32>,
    /// How many events were lost, and at how many places it is not known how many, by buffer and CPU.
    pub lost: BTreeMap<(usize, u32), (u64, u64)>,
    /// The first and the last time.
    pub span: Option<(u64, u64)>,
    /// The address at which the first event of each user probe was made.
    pub probes: BTreeMap<u16, u64>,
    /// Addresses in recorded kernel stacks, ascending.
    pub entries: Vec<u64>,
    /// Those of them at which stacks end, and never go on.
    pub outermost: Vec<u64>,
}

/// Looks at every record. Names are given to `tasks`; events whose number is not `chosen` do not count. `progress` is
/// told now and then how many bytes of pages were seen.
pub(super) fn survey(
    container: &Container,
    streams: &Streams,
    formats: &Formats,
    tasks: &mut TaskCollector,
    chosen: impl Fn(u16) -> bool + Sync,
    progress: &dyn Fn(u64),
) -> Survey {
    let roles = Roles::of(formats);
    let blank = TaskCollector::new(formats);
    let kinds = kinds(formats, &blank, &roles, &chosen);
    let look = Look { container, streams, formats, blank: &blank, kinds: &kinds, chosen: &chosen };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let Part { mut survey, ends, middles, names } = look.everywhere(threads, UNIT, progress);
    tasks.absorb(names);
    survey.outermost = ends.difference(&middles).copied().collect();
    survey.outermost.sort_unstable();
    survey.entries = ends.union(&middles).copied().collect();
    survey.entries.sort_unstable();
    survey
}

/// What a look at an event of one number is for.
#[derive(Clone, Copy, Default)]
struct Kind<'a> {
    format: Option<&'a EventFormat>,
    is_chosen: bool,
    tells_names: bool,
    is_kernel_stack: bool,
    is_probe: bool,
}

/// The kinds of all numbers up to the last that has a format.
fn kinds<'a>(
    formats: &'a Formats,
    tasks: &TaskCollector,
    roles: &Roles,
    chosen: &dyn Fn(u16) -> bool,
) -> Vec<Kind<'a>> {
    let last = formats.all().iter().map(|format| format.id).max();
    let kind = |id| {
        let format = formats.get(id);
        Kind {
            format,
            is_chosen: chosen(id),
            tells_names: tasks.tells(id),
            is_kernel_stack: roles.is_kernel_stack(id),
            is_probe: format.is_some_and(event_types::is_probe),
        }
    };
    last.map_or_else(Vec::new, |last| (0..=last).map(kind).collect())
}

/// Pages of a stream.
struct Unit {
    stream: usize,
    pages: Range<u64>,
}

/// What is seen of some pages.
struct Part {
    survey: Survey,
    /// Addresses at which stacks end, and at which they go on.
    ends: HashSet<u64>,
    middles: HashSet<u64>,
    names: TaskCollector,
}

impl Part {
    fn new(look: &Look<'_>) -> Part {
        let (ends, middles) = (HashSet::new(), HashSet::new());
        Part { survey: Survey::default(), ends, middles, names: look.blank.clone() }
    }

    /// Takes what was seen of the pages behind.
    fn add(&mut self, other: Part) {
        let (sum, Survey { counts, tasks, lost, span, probes, .. }) = (&mut self.survey, other.survey);
        for (id, count) in counts {
            *sum.counts.entry(id).or_default() += count;
        }
        for (place, (counted, unknown)) in lost {
            let lost = sum.lost.entry(place).or_default();
            *lost = (lost.0.saturating_add(counted), lost.1.saturating_add(unknown));
        }
        if let Some((first, last)) = span {
            see_time(&mut sum.span, first);
            see_time(&mut sum.span, last);
        }
        for (id, address) in probes {
            sum.probes.entry(id).or_insert(address);
        }
        if sum.tasks.len() < MOST_TASKS {
            sum.tasks.extend(tasks);
        }
        if self.ends.len() + self.middles.len() < MOST_ENTRIES {
            self.ends.extend(other.ends);
            self.middles.extend(other.middles);
        }
        self.names.absorb(other.names);
    }

    fn see_stack(
        &mut self,
        format: &EventFormat,
        record: &[u8],
        formats: &Formats,
        last_boot: Option<&LastBootPlaces>,
    ) {
        if self.ends.len() + self.middles.len() >= MOST_ENTRIES {
            return;
        }
        let entries = StackEntries::of(format, record, formats.order()).into_iter().flatten();
        let mut entries = entries.map(|entry| moved(entry, last_boot));
        let Some(mut end) = entries.next() else { return };
        for entry in entries {
            self.middles.insert(end);
            end = entry;
        }
        self.ends.insert(end);
    }
}

fn see_time(span: &mut Option<(u64, u64)>, time: u64) {
    *span = Some(span.map_or((time, time), |(first, last)| (first.min(time), last.max(time))));
}

/// What is known before the look.
struct Look<'a> {
    container: &'a Container,
    streams: &'a Streams,
    formats: &'a Formats,
    blank: &'a TaskCollector,
    kinds: &'a [Kind<'a>],
    chosen: &'a (dyn Fn(u16) -> bool + Sync),
}

impl Look<'_> {
    /// On so many threads, so many pages each at a time.
    fn everywhere(&self, threads: usize, unit: u64, progress: &dyn Fn(u64)) -> Part {
        let mut units = self.streams.all().iter().enumerate().flat_map(|(stream, found)| {
            let starts = (0..found.pages).step_by(unit as usize);
            starts.map(move |start| Unit { stream, pages: start..found.pages.min(start.saturating_add(unit)) })
        });
        let mut sum = Part::new(self);
        let mut seen = 0u64;
        loop {
            let units: Vec<Unit> = units.by_ref().take(threads).collect();
            if units.is_empty() {
                return sum;
            }
            // In the order of the streams, whichever thread was the first.
            let is_little = units.iter().map(|unit| unit.pages.end - unit.pages.start).sum::<u64>() < FEW;
            let parts = if is_little { units.iter().map(|unit| self.at(unit)).collect() } else { self.at_all(&units) };
            parts.into_iter().for_each(|part| sum.add(part));
            seen = units.iter().fold(seen, |seen, unit| seen.saturating_add(self.size(unit)));
            progress(seen);
        }
    }

    /// The first here, each other one on a thread of its own; in their order.
    fn at_all(&self, units: &[Unit]) -> Vec<Part> {
        let Some((first, others)) = units.split_first() else { return Vec::new() };
        std::thread::scope(|scope| {
            let start = |unit| std::thread::Builder::new().spawn_scoped(scope, move || self.at(unit));
            let threads: Vec<_> = others.iter().map(|unit| (unit, start(unit))).collect();
            let mut parts = vec![self.at(first)];
            for (unit, thread) in threads {
                // Where the system gives no thread it is done here.
                let part = thread.ok().and_then(|thread| thread.join().ok());
                parts.push(part.unwrap_or_else(|| self.at(unit)));
            }
            parts
        })
    }

    fn at(&self, unit: &Unit) -> Part {
        let mut part = Part::new(self);
        let Some(stream) = self.streams.all().get(unit.stream) else { return part };
        let last_boot = self.streams.last_boot(unit.stream);
        let mut counts = vec![0u64; self.kinds.len()];
        let (mut lost, mut last_pid) = ((0u64, 0u64), None);
        for number in unit.pages.clone() {
            let mut span = part.survey.span;
            let found = self.streams.look(self.container, unit.stream, number, |time, record| {
                let Some(id) = self.formats.id(record) else { return };
                let Some(kind) = self.kinds.get(usize::from(id)) else {
                    if (self.chosen)(id) {
                        *part.survey.counts.entry(id).or_default() += 1;
                        see_time(&mut span, time);
                    }
                    return;
                };
                if let Some(format) = kind.format.filter(|_| kind.tells_names) {
                    part.names.see(format, record, time);
                }
                if !kind.is_chosen {
                    return;
                }
                counts[usize::from(id)] += 1;
                see_time(&mut span, time);
                let Some(format) = kind.format else { return };
                let pid = self.formats.pid(format, record);
                if pid != last_pid {
                    last_pid = pid;
                    if part.survey.tasks.len() < MOST_TASKS {
                        part.survey.tasks.extend(pid);
                    }
                }
                if kind.is_kernel_stack {
                    part.see_stack(format, record, self.formats, last_boot);
                } else if kind.is_probe
                    && !part.survey.probes.contains_key(&id)
                    && let Some(address) = event_types::probe_address(format, record, self.formats.order())
                {
                    part.survey.probes.insert(id, moved(address, last_boot));
                }
            });
            part.survey.span = span;
            match found {
                Some(LostEvents::Counted(count)) => lost.0 = lost.0.saturating_add(count),
                Some(LostEvents::Unknown) => lost.1 += 1,
                Some(LostEvents::None) | None => {}
            }
        }
        part.survey.lost.insert((stream.buffer, stream.cpu), lost);
        part.survey.counts.extend((0..=u16::MAX).zip(counts).filter(|(_, count)| *count > 0));
        part
    }

    /// The size of the pages in bytes.
    fn size(&self, unit: &Unit) -> u64 {
        let buffer = self.streams.all().get(unit.stream).and_then(|found| self.container.buffers().get(found.buffer));
        let page_size = buffer.map_or(0, |buffer| u64::from(buffer.page_size));
        (unit.pages.end - unit.pages.start).saturating_mul(page_size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::TraceDat;
    use super::*;
    use crate::format::OpenOptions;
    use crate::source::Source;

    #[test]
    fn parts_of_the_pages_seen_by_several_threads_make_the_same() {
        for name in ["uprobe-v7-zstd", "lost-v7-zstd", "instances-v7-zlib", "sched-v6"] {
            let path = format!("{}/tests/data/tracedat/{name}.dat", env!("CARGO_MANIFEST_DIR"));
            let found = TraceDat::open(Source::open(path.as_ref()).unwrap(), &OpenOptions::default()).unwrap();
            let (blank, roles) = (TaskCollector::new(&found.formats), Roles::of(&found.formats));
            let kinds = kinds(&found.formats, &blank, &roles, &|_| true);
            let (container, streams, formats) = (&found.container, &found.streams, &found.formats);
            let look = Look { container, streams, formats, blank: &blank, kinds: &kinds, chosen: &|_| true };
            let whole = look.everywhere(1, u64::MAX, &|_| ());
            assert_eq!(whole.survey.counts, found.survey.counts, "{name}");
            let mut sum = Part::new(&look);
            for (stream, pages) in streams.all().iter().map(|stream| stream.pages).enumerate() {
                let units: Vec<Unit> = (0..pages).map(|page| Unit { stream, pages: page..page + 1 }).collect();
                look.at_all(&units).into_iter().for_each(|part| sum.add(part));
            }
            let seen = |part: Part| {
                let Survey { counts, tasks, lost, span, probes, .. } = part.survey;
                (counts, tasks, lost, span, probes, part.ends, part.middles)
            };
            let (whole_names, names) = (whole.names.clone().finish(), sum.names.clone().finish());
            let (first, last) = whole.survey.span.unwrap();
            for pid in &whole.survey.tasks {
                for time in (0..=20).map(|step| first + (last - first) / 20 * step) {
                    assert_eq!(whole_names.name_at(*pid, time), names.name_at(*pid, time), "{name}: {pid} at {time}");
                }
            }
            assert_eq!(seen(whole), seen(sum), "{name}");
        }
    }
}
