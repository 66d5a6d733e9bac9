//! The index of a stretch of frames.

use std::collections::BTreeMap;
use std::ops::Range;

use super::column::Column;
use super::kind::Kind;
use super::packed::{Packed, Packer};
use super::query::{Query, tracepoint_key, tracepoint_number};
use super::ranked::Ranked;
use super::wavelet::Wavelet;
use crate::trace::Location;

/// What stands for the thread where that does not matter.
const ANY: u64 = 0;

/// What the index keeps of consecutive frames: a run of instructions, or one frame of another sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Where the first lies; each of the others lies one further on.
    pub(super) location: Location,
    pub(super) tracepoint: i32,
    pub(super) thread: u32,
    pub(super) kind: Kind,
}

/// The index of consecutive runs, fewer than 2^31, never changed once made.
pub(super) struct Segment {
    first: u64,
    frames: u64,
    /// For every run, how many more frames than runs are before it. In a stretch of runs of one frame, always the same.
    ahead: Packed,
    /// For every run, how much greater the location of a frame is than its number: where a recording counts
    /// instructions as they are counted here, always the same.
    shifts: Packed,
    tracepoints: Column<1>,
    /// For every tracepoint, how many frames it and those of smaller numbers made.
    made: Packed,
    /// For every run, its thread and its kind. What is of one thread is together, so that it is found as fast among the
    /// frames of other threads as it is alone.
    steps: Column<3>,
    /// The same with [`ANY`] thread; none where there is only one.
    kinds: Option<Column<3>>,
}

impl Segment {
    /// The index of these runs, the first frame of which has the number `first`.
    pub(super) fn new(first: u64, runs: &[Run]) -> Segment {
        let tracepoints = Ranked::new(runs.iter().map(|run| [tracepoint_key(run.tracepoint)]));
        let mut made = vec![0; tracepoints.values.len()];
        for (rank, run) in tracepoints.ranks.iter().zip(runs) {
            made[*rank as usize] += run.kind.count();
        }
        let step = |run: &Run| [u64::from(run.thread), run.kind.start, run.kind.beginnings];
        let steps = Ranked::new(runs.iter().map(step));
        let has_threads = has_threads(steps.values.first(), steps.values.last());
        let number = |next: &mut u64, run: &Run| Some(std::mem::replace(next, *next + run.kind.count()));
        let numbers = || runs.iter().scan(first, number);
        Segment {
            first,
            frames: made.iter().sum(),
            ahead: numbers().zip(first..).map(|(number, run)| number - run).collect(),
            shifts: numbers().zip(runs).map(|(number, run)| run.location.0.wrapping_sub(number)).collect(),
            tracepoints: Column::new(&tracepoints),
            made: added_up(made.into_iter()),
            kinds: has_threads.then(|| Column::new(&steps.map(of_any_thread))),
            steps: Column::new(&steps),
        }
    }

    /// One segment of several neighbours, in their order.
    pub(super) fn merge(segments: &[&Segment]) -> Segment {
        let first = segments.first().map_or(0, |segment| segment.first);
        let (mut ahead, mut shifts) = (Packer::default(), Packer::default());
        let mut runs = 0;
        for segment in segments {
            ahead.append(&segment.ahead, segment.first - first - runs);
            shifts.append(&segment.shifts, 0);
            runs += segment.len() as u64;
        }
        let mut made = BTreeMap::new();
        for (tracepoint, count) in segments.iter().flat_map(|segment| segment.counts()) {
            *made.entry(tracepoint).or_default() += count;
        }
        // One column after the other, so that only one is half made at a time.
        let tracepoints: Vec<_> = segments.iter().map(|segment| &segment.tracepoints).collect();
        let tracepoints = Column::merge(&tracepoints, |value| value);
        let steps: Vec<_> = segments.iter().map(|segment| &segment.steps).collect();
        let steps = Column::merge(&steps, |value| value);
        let last = steps.values().len().checked_sub(1).and_then(|last| steps.values().get(last));
        let has_threads = has_threads(steps.values().get(0).as_ref(), last.as_ref());
        let kinds =
            || Column::merge(&segments.iter().map(|segment| segment.kinds()).collect::<Vec<_>>(), of_any_thread);
        Segment {
            first,
            frames: segments.iter().map(|segment| segment.frames).sum(),
            ahead: ahead.finish(),
            shifts: shifts.finish(),
            tracepoints,
            made: added_up(made.into_values()),
            kinds: has_threads.then(kinds),
            steps,
        }
    }

    /// How many runs it holds.
    pub(super) fn len(&self) -> usize {
        self.ahead.len()
    }

    /// The numbers of its frames.
    pub(super) fn numbers(&self) -> Range<u64> {
        self.first..self.first + self.frames
    }

    /// Where a frame of this segment lies.
    pub(super) fn location(&self, number: u64) -> Option<Location> {
        let shift = self.shifts.get(self.run(number))?;
        Some(Location(number.wrapping_add(shift)))
    }

    /// The tracepoint of a frame of this segment.
    pub(super) fn tracepoint(&self, number: u64) -> Option<i32> {
        self.tracepoints.get(self.run(number)).map(|[key]| tracepoint_number(key))
    }

    /// The thread of a frame of this segment.
    pub(super) fn thread(&self, number: u64) -> Option<u32> {
        self.steps.get(self.run(number)).and_then(|step| u32::try_from(thread_of(&step)).ok())
    }

    /// The program counter of a frame of this segment, if it is known.
    pub(super) fn pc(&self, number: u64) -> Option<u64> {
        let run = self.run(number);
        kind_of(self.steps.get(run)?).address(number.checked_sub(self.number(run))?)
    }

    /// The first frame from the number `from` on that matches.
    pub(super) fn find(&self, from: u64, query: &Query) -> Option<u64> {
        let from = from.max(self.first);
        if from >= self.numbers().end {
            return None;
        }
        let run = self.run(from);
        let first = |run, from| {
            let (kind, hits) = self.hits(run, query)?;
            Some(self.number(run) + kind.first(hits, from)?)
        };
        first(run, from - self.number(run)).or_else(|| {
            let (ranks, wanted) = self.ranks(query);
            first(ranks.next(run + 1, &wanted)?, 0)
        })
    }

    /// The last frame before the number `before` that matches.
    pub(super) fn find_back(&self, before: u64, query: &Query) -> Option<u64> {
        let before = before.min(self.numbers().end);
        if before <= self.first {
            return None;
        }
        let run = self.run(before - 1);
        let last = |run, before| {
            let (kind, hits) = self.hits(run, query)?;
            Some(self.number(run) + kind.last(hits, before)?)
        };
        last(run, before - self.number(run)).or_else(|| {
            let (ranks, wanted) = self.ranks(query);
            last(ranks.previous(run, &wanted)?, u64::MAX)
        })
    }

    /// How many frames a tracepoint made.
    pub(super) fn count(&self, tracepoint: i32) -> u64 {
        let key = [tracepoint_key(tracepoint)];
        self.tracepoints.values().ranks(key, key).map(|rank| self.made_by(rank as usize)).sum()
    }

    /// The tracepoints that made the frames, and how many each.
    pub(super) fn counts(&self) -> impl Iterator<Item = (i32, u64)> {
        let tracepoints = self.tracepoints.values().iter().enumerate();
        tracepoints.map(|(rank, [key])| (tracepoint_number(key), self.made_by(rank)))
    }

    /// The program counters of its frames; some may come again.
    pub(super) fn program_counters(&self) -> impl Iterator<Item = u64> {
        self.kinds().values().iter().flat_map(|step| kind_of(step).addresses())
    }

    /// The kinds of its runs in ascending order, and how many runs there are of each; of one thread, or of all.
    pub(super) fn counts_by_kind(&self, thread: Option<u32>) -> impl Iterator<Item = (Kind, u64)> {
        let (column, low, high) = match thread.map(u64::from) {
            Some(thread) => (&self.steps, [thread, 0, 0], [thread, u64::MAX, u64::MAX]),
            None => (self.kinds(), [0; 3], [u64::MAX; 3]),
        };
        let counts = column.ranks().counts(&column.values().ranks(low, high));
        counts.into_iter().filter_map(|(rank, count)| Some((kind_of(column.values().get(rank as usize)?), count)))
    }

    /// Whether one of its frames has no known program counter.
    pub(super) fn has_unknown_pc(&self) -> bool {
        // It would be the first of all.
        self.kinds().values().get(0).is_some_and(|step| kind_of(step) == Kind::UNKNOWN)
    }

    /// The threads of its frames, in ascending order.
    pub(super) fn threads(&self) -> impl Iterator<Item = u32> {
        let steps = self.steps.values();
        let mut next = 0;
        std::iter::from_fn(move || {
            let thread = thread_of(&steps.get(next)?);
            next = steps.ranks([thread, 0, 0], [thread, u64::MAX, u64::MAX]).end as usize;
            u32::try_from(thread).ok()
        })
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        let packed = [&self.ahead, &self.shifts, &self.made].map(Packed::memory_use);
        let columns = [self.steps.memory_use(), self.kinds.as_ref().map_or(0, Column::memory_use)];
        let all = packed.into_iter().chain(columns).sum::<usize>();
        size_of::<Segment>() + all + self.tracepoints.memory_use()
    }

    /// How many frames the tracepoint of this rank made.
    fn made_by(&self, rank: usize) -> u64 {
        let up_to = |rank| self.made.get(rank).unwrap_or(0);
        up_to(rank) - rank.checked_sub(1).map_or(0, up_to)
    }

    /// The column of the kinds, whatever the thread.
    fn kinds(&self) -> &Column<3> {
        self.kinds.as_ref().unwrap_or(&self.steps)
    }

    /// The number of the first frame of a run, which is one of this segment.
    fn number(&self, run: usize) -> u64 {
        self.first + self.ahead.get(run).unwrap_or(0) + run as u64
    }

    /// The run that holds a frame; the first for frames before the segment, the last for those behind it.
    fn run(&self, number: u64) -> usize {
        let number = number.clamp(self.first, self.numbers().end.saturating_sub(1).max(self.first));
        // Every run has a frame at least, so that there are no more runs than frames before this one, nor behind it.
        let reach = |frames: u64| usize::try_from(frames).unwrap_or(usize::MAX);
        let mut high = reach(number - self.first).min(self.len().saturating_sub(1));
        let mut low = self.len().saturating_sub(reach(self.numbers().end - number)).min(high);
        while low < high {
            let middle = high - (high - low) / 2;
            if self.number(middle) <= number {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// The kind of a run, and of its bits those of the frames that match.
    fn hits(&self, run: usize, query: &Query) -> Option<(Kind, u64)> {
        let step = self.steps.get(run)?;
        let kind = kind_of(step);
        let matches = match *query {
            Query::Tracepoint(number) => self.tracepoints.get(run) == Some([tracepoint_key(number)]),
            _ => query.thread().is_none_or(|thread| u64::from(thread) == thread_of(&step)),
        };
        let hits = match query.addresses() {
            _ if !matches => 0,
            Some(addresses) => addresses.hits(kind),
            None => kind.frames(),
        };
        Some((kind, hits))
    }

    /// What is searched for the runs that match, and for which ranks.
    fn ranks(&self, query: &Query) -> (&Wavelet, Vec<Range<u32>>) {
        if let Query::Tracepoint(number) = *query {
            let key = [tracepoint_key(number)];
            return (self.tracepoints.ranks(), vec![self.tracepoints.values().ranks(key, key)]);
        }
        let (column, thread) = match query.thread() {
            Some(thread) => (&self.steps, u64::from(thread)),
            // All of that column have the same.
            None => (self.kinds(), self.kinds().values().get(0).as_ref().map_or(ANY, thread_of)),
        };
        let ranks = match query.addresses() {
            Some(addresses) => addresses.ranks(column.values(), thread),
            None => vec![column.values().ranks([thread, 0, 0], [thread, u64::MAX, u64::MAX])],
        };
        (column.ranks(), ranks)
    }
}

fn thread_of([thread, ..]: &[u64; 3]) -> u64 {
    *thread
}

fn kind_of([_, start, beginnings]: [u64; 3]) -> Kind {
    Kind { start, beginnings }
}

fn of_any_thread([_, start, beginnings]: [u64; 3]) -> [u64; 3] {
    [ANY, start, beginnings]
}

/// Whether there is more than one thread between the first step and the last, in ascending order.
fn has_threads(first: Option<&[u64; 3]>, last: Option<&[u64; 3]>) -> bool {
    first.map(thread_of) != last.map(thread_of)
}

/// Each number with those before it.
fn added_up(numbers: impl Iterator<Item = u64>) -> Packed {
    let add = |sum: &mut u64, number| {
        *sum += number;
        Some(*sum)
    };
    numbers.scan(0, add).collect()
}
