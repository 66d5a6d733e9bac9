//! The stretches of frames that make up an index.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::query::Query;
use super::segment::Segment;

/// How many equal neighbours are merged into one.
const FAN_OUT: usize = 16;

/// A segment is never merged to as many runs as this, so that positions in it fit 32 bits.
const TOO_LONG: usize = 1 << 31;

/// The segments of a recording in the order of their frames, without a gap.
///
/// Merging keeps their number at the logarithm of the number of runs: 15 of a size at most, each size 16 times
/// the next. Segments of 2^28 runs are merged no further.
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

    /// The threads that made the frames.
    pub(super) fn threads(&self) -> BTreeSet<u32> {
        self.iter().flat_map(Segment::threads).collect()
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

    use std::collections::BTreeMap;

    use super::super::PcCounts;
    use super::super::kind::Kind;
    use super::super::segment::Run;
    use super::*;
    use crate::trace::Location;

    /// A frame as a scan sees it.
    #[derive(Clone, Copy, Debug)]
    struct Seen {
        location: Location,
        tracepoint: i32,
        thread: u32,
        pc: Option<u64>,
    }

    /// Code of which the bits tell which halfwords begin an instruction, so that kinds overlap as they do in programs;
    /// and whatever else a recording may show.
    fn kind() -> impl Strategy<Value = Vec<Kind>> {
        let code = 0b1101_1011_0111_0110_1101_0101_1011_1101_1011_0111_0110_1101_0101_1011_1101_1011_u64;
        let near = (0..64_u32, 1..65_u32).prop_map(move |(from, length)| {
            Kind::instructions(0x100 + 2 * u64::from(from), code >> from & u64::MAX >> (64 - length))
        });
        let short = (0..64_u32, 1..8_u32).prop_map(move |(from, length)| {
            Kind::instructions(0x100 + 2 * u64::from(from), code >> from & u64::MAX >> (64 - length))
        });
        let top = (u64::MAX - 140..=u64::MAX, any::<u64>()).prop_map(|(start, bits)| Kind::instructions(start, bits));
        let odd =
            (0x100..0x110_u64, any::<u64>()).prop_map(|(start, bits)| Kind::instructions(start, bits & bits >> 1));
        let kinds = prop_oneof![2 => near, 4 => short, 1 => top, 1 => odd]
            .prop_map(|kinds| kinds.into_iter().flatten().collect());
        let frame = prop::option::weighted(0.9, prop_oneof![0x100_u64..0x110, Just(0), Just(u64::MAX)]);
        prop_oneof![4 => kinds, 1 => frame.prop_map(|pc| vec![Kind::frame(pc)])]
    }

    fn run() -> impl Strategy<Value = Vec<Run>> {
        let run = |(tracepoint, thread, kinds): (_, _, Vec<Kind>)| {
            let run = |kind| Run { location: Location(0), tracepoint, thread, kind };
            kinds.into_iter().map(run).collect()
        };
        (-2..3, 0..3_u32, kind()).prop_map(run)
    }

    /// Runs of any sort; of frames alone, which are as many; or of one thread.
    fn runs() -> impl Strategy<Value = Vec<Run>> {
        let runs = || prop::collection::vec(run(), 1..300).prop_map(|runs| runs.concat());
        let frames = runs().prop_map(|mut runs| {
            runs.iter_mut().for_each(|run| run.kind = Kind::frame(run.kind.address(0)));
            runs
        });
        let of_one_thread = runs().prop_map(|mut runs| {
            runs.iter_mut().for_each(|run| run.thread = 2);
            runs
        });
        let at_first = runs().prop_map(|mut runs| {
            let half = runs.len() / 2;
            runs.iter_mut().take(half).for_each(|run| run.thread = 2);
            runs
        });
        prop_oneof![2 => runs(), 1 => frames, 1 => of_one_thread, 1 => at_first]
    }

    fn queries() -> Vec<Query> {
        let mut queries: Vec<Query> = (-3..4).map(Query::Tracepoint).collect();
        queries.extend((0..5).map(Query::Thread));
        queries.extend([0, 2, 0x100, 0x105, 0x108, 0x150, 0x17e, 0x200, u64::MAX - 4, u64::MAX].map(Query::Pc));
        let ranges = [
            (0, u64::MAX),
            (0x104, 0x106),
            (0x106, 0x104),
            (0, 0x10f),
            (1, u64::MAX - 1),
            (0x100, u64::MAX),
            (0x100, 0x17f),
            (0x140, 0x14f),
            (0x100, 0x1ff),
            (0x80, 0x180),
        ];
        for (low, high) in ranges {
            queries.extend([Query::Range { low, high }, Query::Outside { low, high }]);
            queries.extend((0..4).map(|thread| Query::ThreadOutside { thread, low, high }));
        }
        queries
    }

    fn matches(seen: &Seen, query: Query) -> bool {
        match query {
            Query::Tracepoint(number) => seen.tracepoint == number,
            Query::Thread(number) => seen.thread == number,
            Query::Pc(address) => seen.pc == Some(address),
            Query::Range { low, high } => seen.pc.is_some_and(|pc| low <= pc && pc <= high),
            Query::Outside { low, high } => seen.pc.is_some_and(|pc| pc < low || pc > high),
            Query::ThreadOutside { thread, low, high } => {
                seen.thread == thread && matches(seen, Query::Outside { low, high })
            }
        }
    }

    /// Segments of two runs each, merged whenever that is due, and a last one.
    fn segments(runs: &[Run]) -> Segments {
        let mut segments = Segments::default();
        for pair in runs.chunks(2) {
            let first = segments.frames();
            // As the walk does, a part before the whole.
            segments.put(Segment::new(first, &pair[..1]));
            segments.put(Segment::new(first, pair));
            while let Some(merged) = segments.merge_due() {
                segments.put(merged);
            }
        }
        segments
    }

    /// Gives runs their locations; all frames, one by one.
    fn laid_out(runs: &mut [Run]) -> Vec<Seen> {
        let (mut frames, mut next) = (Vec::new(), 7);
        for (at, run) in runs.iter_mut().enumerate() {
            run.location = Location(next);
            let Run { location, tracepoint, thread, kind } = *run;
            frames.extend((0..kind.count()).map(|nth| Seen {
                location: Location(location.0 + nth),
                tracepoint,
                thread,
                pc: kind.address(nth),
            }));
            // Sometimes right behind it, sometimes further on.
            next += kind.count() + at as u64 % 3 * 300;
        }
        frames
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn finds_as_a_scan_does(mut runs in runs()) {
            let frames = laid_out(&mut runs);
            let segments = segments(&runs);
            prop_assert_eq!(segments.frames(), frames.len() as u64);
            for (number, seen) in (0..).zip(&frames) {
                let segment = segments.holding(number).unwrap();
                prop_assert_eq!(segment.location(number), Some(seen.location));
                prop_assert_eq!(segment.tracepoint(number), Some(seen.tracepoint));
                prop_assert_eq!(segment.thread(number), Some(seen.thread));
                prop_assert_eq!(segment.pc(number), seen.pc);
            }
            prop_assert!(segments.holding(frames.len() as u64).is_none());
            for tracepoint in -3..4 {
                let made = frames.iter().filter(|seen| seen.tracepoint == tracepoint).count() as u64;
                prop_assert_eq!(segments.iter().map(|segment| segment.count(tracepoint)).sum::<u64>(), made);
            }
            let counted = segments.iter().flat_map(Segment::counts).map(|(_, count)| count).sum::<u64>();
            prop_assert_eq!(counted, frames.len() as u64);
            let pcs: BTreeSet<u64> = segments.iter().flat_map(Segment::program_counters).collect();
            prop_assert_eq!(pcs, frames.iter().filter_map(|seen| seen.pc).collect());
            for thread in [None, Some(0), Some(1), Some(2), Some(3)] {
                let (mut counts, mut expected, mut unknown) = (PcCounts::default(), BTreeMap::new(), 0);
                segments.iter().for_each(|segment| counts.add(segment.counts_by_kind(thread)));
                for seen in frames.iter().filter(|seen| thread.is_none_or(|thread| seen.thread == thread)) {
                    match seen.pc {
                        Some(pc) => *expected.entry(pc).or_insert(0_u64) += 1,
                        None => unknown += 1,
                    }
                }
                prop_assert_eq!(counts.unknown(), unknown);
                prop_assert_eq!(counts.known() + unknown, expected.values().sum::<u64>() + unknown);
                prop_assert!(expected.iter().all(|(pc, count)| counts.at(*pc) == *count));
                prop_assert_eq!(counts.at(0x101), expected.get(&0x101).copied().unwrap_or(0));
                prop_assert_eq!(counts.iter().collect::<BTreeMap<_, _>>(), expected);
                prop_assert!(counts.iter().is_sorted());
            }
            prop_assert_eq!(segments.threads(), frames.iter().map(|seen| seen.thread).collect());
            let has_unknown = frames.iter().any(|seen| seen.pc.is_none());
            prop_assert_eq!(segments.iter().any(Segment::has_unknown_pc), has_unknown);
            for query in queries() {
                let numbered = (0..).zip(&frames);
                let hits: Vec<u64> =
                    numbered.filter(|(_, seen)| matches(seen, query)).map(|(number, _)| number).collect();
                // Not from every frame where there are many, since each is looked at by a scan.
                for at in (0..frames.len() as u64 + 2).step_by(1 + frames.len() / 200) {
                    let reached = hits.partition_point(|hit| *hit < at);
                    prop_assert_eq!(segments.find(at, &query), hits.get(reached).copied(), "{:?} from {}", query, at);
                    let back = hits[..reached].last().copied();
                    prop_assert_eq!(segments.find_back(at, &query), back, "{:?} before {}", query, at);
                }
            }
        }
    }

    #[test]
    fn the_number_of_segments_is_a_logarithm() {
        let run = Run { location: Location(0), tracepoint: 1, thread: 1, kind: Kind::UNKNOWN };
        // 4095 pairs: 15 each of 2, 32 and 512 runs.
        assert_eq!(segments(&[run; 2 * 4096 - 2]).list.len(), 45);
    }
}
