//! The index of a run of frames.

use std::ops::Range;

use super::column::Column;
use super::packed::Packed;
use super::query::{Key, Query, tracepoint_key, tracepoint_number};
use crate::trace::Location;

/// What the index keeps of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) location: Location,
    pub(super) tracepoint: i32,
    pub(super) thread: u32,
    pub(super) pc: Option<u64>,
}

/// The index of consecutive frames, fewer than 2^31, never changed once made.
pub(super) struct Segment {
    first: u64,
    locations: Packed,
    tracepoints: Column,
    threads: Column,
    pcs: Column,
}

impl Segment {
    /// The index of these frames, the first of which has the number `first`.
    pub(super) fn new(first: u64, entries: &[Entry]) -> Segment {
        let tracepoints: Vec<_> = entries.iter().map(|entry| Some(tracepoint_key(entry.tracepoint))).collect();
        let threads: Vec<_> = entries.iter().map(|entry| Some(u64::from(entry.thread))).collect();
        let pcs: Vec<_> = entries.iter().map(|entry| entry.pc).collect();
        Segment {
            first,
            locations: entries.iter().map(|entry| entry.location.0).collect(),
            tracepoints: Column::new(&tracepoints),
            threads: Column::new(&threads),
            pcs: Column::new(&pcs),
        }
    }

    /// One segment of several neighbours, in their order.
    pub(super) fn merge(segments: &[&Segment]) -> Segment {
        // One column after the other, so that only one is half made at a time.
        let columns = |of: fn(&Segment) -> &Column| segments.iter().map(|segment| of(segment)).collect::<Vec<_>>();
        Segment {
            first: segments.first().map_or(0, |segment| segment.first),
            locations: segments.iter().flat_map(|segment| segment.locations.iter()).collect(),
            tracepoints: Column::merge(&columns(|segment| &segment.tracepoints)),
            threads: Column::merge(&columns(|segment| &segment.threads)),
            pcs: Column::merge(&columns(|segment| &segment.pcs)),
        }
    }

    /// How many frames it holds.
    pub(super) fn len(&self) -> usize {
        self.locations.len()
    }

    /// The numbers of its frames.
    pub(super) fn numbers(&self) -> Range<u64> {
        self.first..self.first + self.len() as u64
    }

    /// Where a frame of this segment lies.
    pub(super) fn location(&self, number: u64) -> Option<Location> {
        self.locations.get(self.position(number)).map(Location)
    }

    /// The tracepoint of a frame of this segment.
    pub(super) fn tracepoint(&self, number: u64) -> Option<i32> {
        self.tracepoints.get(self.position(number)).map(tracepoint_number)
    }

    /// The thread of a frame of this segment.
    pub(super) fn thread(&self, number: u64) -> Option<u32> {
        self.threads.get(self.position(number)).and_then(|thread| u32::try_from(thread).ok())
    }

    /// The program counter of a frame of this segment, if it is known.
    pub(super) fn pc(&self, number: u64) -> Option<u64> {
        self.pcs.get(self.position(number))
    }

    /// The first frame from the number `from` on that matches.
    pub(super) fn find(&self, from: u64, query: &Query) -> Option<u64> {
        let (column, from) = (self.column(query), self.position(from));
        let found = query.ranges().iter().flatten().filter_map(|range| column.next(from, range)).min()?;
        Some(self.first + found as u64)
    }

    /// The last frame before the number `before` that matches.
    pub(super) fn find_back(&self, before: u64, query: &Query) -> Option<u64> {
        let (column, before) = (self.column(query), self.position(before));
        let found = query.ranges().iter().flatten().filter_map(|range| column.previous(before, range)).max()?;
        Some(self.first + found as u64)
    }

    /// How many frames a tracepoint made.
    pub(super) fn count(&self, tracepoint: i32) -> usize {
        self.tracepoints.count(tracepoint_key(tracepoint))
    }

    /// The tracepoints that made the frames, and how many each.
    pub(super) fn counts(&self) -> impl Iterator<Item = (i32, usize)> {
        self.tracepoints.counts().map(|(key, count)| (tracepoint_number(key), count))
    }

    /// The program counters of its frames, each once.
    pub(super) fn program_counters(&self) -> impl Iterator<Item = u64> {
        self.pcs.distinct()
    }

    /// Whether one of its frames has no known program counter.
    pub(super) fn has_unknown_pc(&self) -> bool {
        self.pcs.has_unknown()
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        let columns = [&self.tracepoints, &self.threads, &self.pcs].map(Column::memory_use);
        size_of::<Segment>() + self.locations.memory_use() + columns.iter().sum::<usize>()
    }

    fn column(&self, query: &Query) -> &Column {
        match query.key() {
            Key::Tracepoint => &self.tracepoints,
            Key::Thread => &self.threads,
            Key::Pc => &self.pcs,
        }
    }

    /// The place of a number in this segment: the first for numbers before it, the end for numbers behind it.
    fn position(&self, number: u64) -> usize {
        usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX).min(self.len())
    }
}
