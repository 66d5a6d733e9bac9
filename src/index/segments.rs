//! The runs of frames that make up an index.

use std::ops::Range;
use std::sync::Arc;

use super::query::Query;
use super::segment::Segment;

/// How many equal neighbours are merged into one.
const FAN_OUT: usize = 16;

/// A segment is never merged to as many frames as this, so that positions in it fit 32 bits.
const TOO_LONG: usize = 1 << 31;

/// The segments of a recording in the order of their frames, without a gap.
///
/// Merging keeps their number at the logarithm of the number of frames: 15 of a size at most, each size 16 times
/// the next. Segments of 2^28 frames are merged no further.
#[derive(Clone, Default)]
pub(super) struct Segments {
    list: Vec<Arc<Segment>>,
}

impl Segments {
    /// How many frames there are.
    pub(super) fn frames(&self) -> u64 {
        self.list.last().map_or(0, |segment| segment.numbers().end)
    }

    /// Puts a segment behind the others. It replaces those that begin at the same frame or behind it.
    pub(super) fn put(&mut self, segment: Segment) {
        let first = segment.numbers().start;
        self.list.truncate(self.list.partition_point(|kept| kept.numbers().start < first));
        self.list.push(Arc::new(segment));
    }

    /// The merged form of the last segments, if there are enough of one size; to be
    /// [put](Segments::put) in their place.
    pub(super) fn merge_due(&self) -> Option<Segment> {
        let last = self.list.len().checked_sub(FAN_OUT).and_then(|start| self.list.get(start..))?;
        let length = last.first()?.len();
        let equal = last.iter().all(|segment| segment.len() == length);
        let fits = length.checked_mul(FAN_OUT).is_some_and(|merged| merged < TOO_LONG);
        (equal && fits).then(|| Segment::merge(&last.iter().map(|segment| &**segment).collect::<Vec<_>>()))
    }

    /// The segment that holds a frame.
    pub(super) fn holding(&self, number: u64) -> Option<&Segment> {
        self.list.get(self.before(number)).map(|segment| &**segment)
    }

    /// The first frame from the number `from` on that matches.
    pub(super) fn find(&self, from: u64, query: &Query) -> Option<u64> {
        self.list.iter().skip(self.before(from)).find_map(|segment| segment.find(from, query))
    }

    /// The last frame before the number `before` that matches.
    pub(super) fn find_back(&self, before: u64, query: &Query) -> Option<u64> {
        let reached = self.list.partition_point(|segment| segment.numbers().start < before);
        self.list.iter().take(reached).rev().find_map(|segment| segment.find_back(before, query))
    }

    /// All segments, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.list.iter().map(|segment| &**segment)
    }

    /// How many segments end at a frame or before it.
    fn before(&self, number: u64) -> usize {
        self.list.partition_point(|segment| {
            let Range { end, .. } = segment.numbers();
            end <= number
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::segment::Entry;
    use super::*;
    use crate::trace::Location;

    fn entry() -> impl Strategy<Value = Entry> {
        let pc = prop::option::weighted(0.9, prop_oneof![0x100_u64..0x110, Just(0), Just(u64::MAX)]);
        (-2..3, 1..4_u32, pc).prop_map(|(tracepoint, thread, pc)| Entry {
            location: Location(0),
            tracepoint,
            thread,
            pc,
        })
    }

    fn queries() -> Vec<Query> {
        let mut queries: Vec<Query> = (-3..4).map(Query::Tracepoint).collect();
        queries.extend((0..5).map(Query::Thread));
        queries.extend([0, 0x100, 0x105, 0x200, u64::MAX].map(Query::Pc));
        for (low, high) in
            [(0, u64::MAX), (0x104, 0x106), (0x106, 0x104), (0, 0x10f), (1, u64::MAX - 1), (0x100, u64::MAX)]
        {
            queries.extend([Query::Range { low, high }, Query::Outside { low, high }]);
        }
        queries
    }

    fn matches(entry: &Entry, query: Query) -> bool {
        match query {
            Query::Tracepoint(number) => entry.tracepoint == number,
            Query::Thread(number) => entry.thread == number,
            Query::Pc(address) => entry.pc == Some(address),
            Query::Range { low, high } => entry.pc.is_some_and(|pc| low <= pc && pc <= high),
            Query::Outside { low, high } => entry.pc.is_some_and(|pc| pc < low || pc > high),
        }
    }

    /// Segments of two frames each, merged whenever that is due, and a last one.
    fn segments(entries: &[Entry]) -> Segments {
        let mut segments = Segments::default();
        for (at, pair) in entries.chunks(2).enumerate() {
            let first = 2 * at as u64;
            // As the walk does, a part before the whole.
            segments.put(Segment::new(first, &pair[..1]));
            segments.put(Segment::new(first, pair));
            while let Some(merged) = segments.merge_due() {
                segments.put(merged);
            }
        }
        segments
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn finds_as_a_scan_does(mut entries in prop::collection::vec(entry(), 1..700)) {
            for (entry, location) in entries.iter_mut().zip((7..).step_by(300)) {
                entry.location = Location(location);
            }
            let segments = segments(&entries);
            prop_assert_eq!(segments.frames(), entries.len() as u64);
            for (number, entry) in (0..).zip(&entries) {
                let segment = segments.holding(number).unwrap();
                prop_assert_eq!(segment.location(number), Some(entry.location));
                prop_assert_eq!(segment.tracepoint(number), Some(entry.tracepoint));
                prop_assert_eq!(segment.thread(number), Some(entry.thread));
                prop_assert_eq!(segment.pc(number), entry.pc);
            }
            prop_assert!(segments.holding(entries.len() as u64).is_none());
            for query in queries() {
                let numbered = (0..).zip(&entries);
                let hits: Vec<u64> =
                    numbered.filter(|(_, entry)| matches(entry, query)).map(|(number, _)| number).collect();
                for at in 0..entries.len() as u64 + 2 {
                    let reached = hits.partition_point(|hit| *hit < at);
                    prop_assert_eq!(segments.find(at, &query), hits.get(reached).copied(), "{:?}", query);
                    let back = hits[..reached].last().copied();
                    prop_assert_eq!(segments.find_back(at, &query), back, "{:?}", query);
                }
            }
        }
    }

    #[test]
    fn the_number_of_segments_is_a_logarithm() {
        let entries = vec![Entry { location: Location(0), tracepoint: 1, thread: 1, pc: None }; 2 * 4096 - 2];
        // 4095 pairs: 15 each of 2, 32 and 512 frames.
        assert_eq!(segments(&entries).list.len(), 45);
    }
}
