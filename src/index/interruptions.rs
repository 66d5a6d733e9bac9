//! What lies between the frames of a thread.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::packed::Packed;
use super::segments::Segments;
use super::{Answer, InterruptionQuery, Query};
use crate::trace::{Interruption, InterruptionKind, Placed};

/// So many are packed together.
const PACKED: usize = 1024;

/// What is kept of an interruption: the number of the first frame shown behind it, of whatever thread; where the file
/// tells it; and the number of its text.
type Kept = [u64; 3];

/// Interruptions of one sort and thread, in order.
#[derive(Default)]
struct List {
    packed: Vec<[Packed; 3]>,
    /// Those behind the last that are packed.
    pending: Vec<Kept>,
}

impl List {
    fn len(&self) -> usize {
        self.packed.len() * PACKED + self.pending.len()
    }

    fn push(&mut self, kept: Kept) {
        self.pending.push(kept);
        if self.pending.len() == PACKED {
            self.packed.push([0, 1, 2].map(|part| self.pending.iter().map(|kept| kept[part]).collect()));
            self.pending.clear();
        }
    }

    fn get(&self, at: usize) -> Option<Kept> {
        let Some([positions, offsets, texts]) = self.packed.get(at / PACKED) else {
            return self.pending.get(at.checked_sub(self.packed.len() * PACKED)?).copied();
        };
        let at = at % PACKED;
        Some([positions.get(at)?, offsets.get(at)?, texts.get(at)?])
    }

    /// How many lie before a frame, of whatever thread.
    fn before(&self, frame: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle).is_some_and(|[position, ..]| position <= frame) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    fn memory_use(&self) -> usize {
        let packed = self.packed.iter().flatten().map(|packed| size_of::<Packed>() + packed.memory_use());
        packed.sum::<usize>() + self.pending.capacity() * size_of::<Kept>()
    }
}

/// Whose interruptions a list holds: of a thread, exceptions or else gaps.
type Key = (u32, bool);

/// All interruptions that the walk has met.
///
/// Which frames of its thread one lies between is not kept; the index of the frames tells it.
#[derive(Default)]
pub(super) struct Interruptions {
    lists: BTreeMap<Key, List>,
    /// Each text once.
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u64>,
    total: u64,
}

/// One that was found, with the frame that it was looked for by.
type Found = (u64, Key, Kept);

/// The order in which those of several threads are met.
fn order((frame, _, [_, at, _]): &Found) -> (u64, u64) {
    (*frame, *at)
}

impl Interruptions {
    /// Adds one that was met when so many frames had been shown.
    pub(super) fn push(&mut self, frames: u64, Interruption { thread, at, kind }: Interruption) {
        let (is_exception, text) = match kind {
            InterruptionKind::Gap(text) => (false, text),
            InterruptionKind::Exception(text) => (true, text),
        };
        let number = match self.numbers.get(&*text) {
            Some(number) => *number,
            None => {
                let (number, text) = (self.texts.len() as u64, Arc::<str>::from(text));
                self.texts.push(Arc::clone(&text));
                self.numbers.insert(text, number);
                number
            }
        };
        self.lists.entry((thread, is_exception)).or_default().push([frames, at, number]);
        self.total += 1;
    }

    /// How many there are.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// How many a query is for.
    pub(super) fn of(&self, query: &InterruptionQuery) -> u64 {
        self.lists(query).map(|(_, list)| list.len() as u64).sum()
    }

    /// The first `most` of those that a thread's frame ends.
    pub(super) fn before(&self, segments: &Segments, frame: u64, most: usize) -> Vec<Placed> {
        let Some(thread) = segments.holding(frame).and_then(|segment| segment.thread(frame)) else { return Vec::new() };
        let query = InterruptionQuery { thread: Some(thread), gaps: true, exceptions: true };
        let of_thread = Query::Thread(thread);
        let last = segments.find_back(frame, &of_thread);
        let mut found: Vec<(Kept, Key)> = Vec::new();
        for (key, list) in self.lists(&query) {
            let passed = last.map_or(0, |last| list.before(last));
            let until = list.before(frame);
            found.extend((passed..until).take(most).filter_map(|at| Some((list.get(at)?, key))));
        }
        found.sort_unstable();
        found.truncate(most);
        found.into_iter().map(|(kept, key)| self.placed(segments, key, kept)).collect()
    }

    /// The first of those whose thread's next frame is `from` or one behind it.
    pub(super) fn next(
        &self,
        segments: &Segments,
        complete: bool,
        from: u64,
        query: &InterruptionQuery,
    ) -> Answer<Placed> {
        let mut nearest: Option<Found> = None;
        // A frame still to come may be the thread's last one before `from`.
        if complete || from <= segments.frames() {
            for (key, list) in self.lists(query) {
                let thread = Query::Thread(key.0);
                // What lies before the thread's last frame before `from` was passed.
                let passed = segments.find_back(from, &thread).map_or(0, |last| list.before(last));
                let found = list.get(passed).and_then(|kept| Some((segments.find(kept[0], &thread)?, key, kept)));
                nearest = nearest.into_iter().chain(found).min_by_key(order);
            }
        }
        // What is still to be found comes behind all frames that are indexed.
        Answer::new(nearest.map(|(_, key, kept)| self.placed(segments, key, kept)), complete)
    }

    /// The last of those whose thread's last frame is before `before`.
    pub(super) fn previous(
        &self,
        segments: &Segments,
        complete: bool,
        before: u64,
        query: &InterruptionQuery,
    ) -> Answer<Placed> {
        // Where a thread has gone on, what lies before that is known.
        let has_gone_on = |thread| segments.find(before, &Query::Thread(thread)).is_some();
        let certain = complete
            || match query.thread {
                Some(thread) => has_gone_on(thread),
                None => before <= segments.frames() && segments.threads().into_iter().all(has_gone_on),
            };
        if !certain {
            return Answer::NotYet;
        }
        let mut nearest: Option<Found> = None;
        for (key, list) in self.lists(query) {
            let thread = Query::Thread(key.0);
            // Up to where the thread goes on.
            let met = segments.find(before, &thread).map_or(list.len(), |next| list.before(next));
            let last = met.checked_sub(1).and_then(|last| list.get(last));
            let found = last.and_then(|kept| Some((segments.find_back(kept[0], &thread)?, key, kept)));
            nearest = nearest.into_iter().chain(found).max_by_key(order);
        }
        Answer::new(nearest.map(|(_, key, kept)| self.placed(segments, key, kept)), true)
    }

    /// The first `most` of those behind which no frame of their thread comes, if all frames are indexed.
    pub(super) fn behind(&self, segments: &Segments, most: usize) -> Vec<Placed> {
        let mut found: Vec<(Kept, Key)> = Vec::new();
        for ((thread, is_exception), list) in &self.lists {
            let last = segments.find_back(segments.frames(), &Query::Thread(*thread));
            let passed = last.map_or(0, |last| list.before(last));
            let kept = (passed..list.len()).take(most).filter_map(|at| list.get(at));
            found.extend(kept.map(|kept| (kept, (*thread, *is_exception))));
        }
        found.sort_unstable();
        found.truncate(most);
        found.into_iter().map(|(kept, key)| self.placed(segments, key, kept)).collect()
    }

    /// The first `most` that lie before the end of the frames that are indexed, or behind it once these are all.
    pub(super) fn first(&self, segments: &Segments, complete: bool, most: usize) -> Vec<Placed> {
        let last = if complete { u64::MAX } else { segments.frames() };
        let of = |(key, list): (&Key, &List)| {
            (0..list.len().min(most)).filter_map(|at| list.get(at)).map(|kept| (kept, *key)).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = self.lists.iter().flat_map(of).filter(|(kept, _)| kept[0] <= last).collect();
        all.sort_unstable();
        all.truncate(most);
        all.into_iter().map(|(kept, key)| self.placed(segments, key, kept)).collect()
    }

    /// Bytes on the heap.
    pub(super) fn memory_use(&self) -> usize {
        let texts = self.texts.iter().map(|text| text.len() + 2 * size_of::<Arc<str>>() + size_of::<u64>());
        self.lists.values().map(List::memory_use).sum::<usize>() + texts.sum::<usize>()
    }

    /// The lists that may hold what is looked for.
    fn lists(&self, query: &InterruptionQuery) -> impl Iterator<Item = (Key, &List)> {
        let (low, high) = query.thread.map_or((0, u32::MAX), |thread| (thread, thread));
        let InterruptionQuery { gaps, exceptions, .. } = *query;
        let lists = self.lists.range((low, false)..=(high, true)).map(|(key, list)| (*key, list));
        lists.filter(move |((_, is_exception), _)| if *is_exception { exceptions } else { gaps })
    }

    fn placed(&self, segments: &Segments, (thread, is_exception): Key, [position, at, text]: Kept) -> Placed {
        let text = usize::try_from(text)
            .ok()
            .and_then(|text| self.texts.get(text))
            .map_or_else(String::new, |text| text.to_string());
        let kind = if is_exception { InterruptionKind::Exception(text) } else { InterruptionKind::Gap(text) };
        Placed {
            interruption: Interruption { thread, at, kind },
            before: segments.find_back(position, &Query::Thread(thread)),
            after: segments.find(position, &Query::Thread(thread)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::kind::Kind;
    use super::super::segment::{Run, Segment};
    use super::*;
    use crate::trace::Location;

    /// So many frames of a thread, or an interruption of it.
    type Shown = (u32, Result<u32, InterruptionKind>);

    fn shown() -> impl Strategy<Value = Shown> {
        let kind = (any::<bool>(), 0..3_u8).prop_map(|(is_exception, text)| {
            let text = text.to_string();
            Err(if is_exception { InterruptionKind::Exception(text) } else { InterruptionKind::Gap(text) })
        });
        (0..4_u32, prop_oneof![2 => (1..5_u32).prop_map(Ok), 1 => kind])
    }

    /// As the walk indexes them: a segment for each run.
    fn indexed(items: &[Shown]) -> (Segments, Interruptions) {
        let (mut segments, mut interruptions) = (Segments::default(), Interruptions::default());
        for ((thread, shown), at) in items.iter().cloned().zip(0..) {
            let frames = segments.frames();
            match shown {
                Ok(length) => {
                    let kind = Kind { start: 0x100, beginnings: u64::MAX >> (64 - length) };
                    let run = Run { location: Location(frames), tracepoint: 1, thread, kind };
                    segments.put(Segment::new(frames, &[run]));
                }
                Err(kind) => interruptions.push(frames, Interruption { thread, at, kind }),
            }
        }
        (segments, interruptions)
    }

    /// All of them, as a look at each item finds them, in their order.
    fn placed(items: &[Shown]) -> Vec<Placed> {
        let mut frames = Vec::new();
        for (at, (thread, shown)) in items.iter().enumerate() {
            frames.extend(vec![(at, *thread); *shown.as_ref().unwrap_or(&0) as usize]);
        }
        let place = |(at, (thread, shown)): (usize, &Shown)| {
            let kind = shown.clone().err()?;
            let before = frames.iter().rposition(|frame| frame.0 < at && frame.1 == *thread);
            let after = frames.iter().position(|frame| frame.0 > at && frame.1 == *thread);
            let interruption = Interruption { thread: *thread, at: at as u64, kind };
            Some(Placed { interruption, before: before.map(|at| at as u64), after: after.map(|at| at as u64) })
        };
        items.iter().enumerate().filter_map(place).collect()
    }

    fn queries() -> Vec<InterruptionQuery> {
        let threads = [None, Some(0), Some(1), Some(3), Some(4)];
        let query =
            |thread| {
                [(true, true), (true, false), (false, true), (false, false)]
                    .map(|(gaps, exceptions)| InterruptionQuery { thread, gaps, exceptions })
            };
        threads.into_iter().flat_map(query).collect()
    }

    fn fits(placed: &Placed, query: &InterruptionQuery) -> bool {
        let is_wanted = match placed.interruption.kind {
            InterruptionKind::Gap(_) => query.gaps,
            InterruptionKind::Exception(_) => query.exceptions,
        };
        is_wanted && query.thread.is_none_or(|thread| thread == placed.interruption.thread)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn are_found_as_a_scan_finds_them(items in prop::collection::vec(shown(), 0..60), shown in 0..60_usize) {
            let all = placed(&items);
            let (segments, interruptions) = indexed(&items);
            prop_assert_eq!(&interruptions.first(&segments, true, usize::MAX), &all);
            prop_assert_eq!(interruptions.first(&segments, true, 2), &all[..all.len().min(2)]);
            let behind: Vec<_> = all.iter().filter(|placed| placed.after.is_none()).cloned().collect();
            prop_assert_eq!(&interruptions.behind(&segments, usize::MAX), &behind);
            let (early, early_interruptions) = indexed(&items[..items.len().min(shown)]);
            for query in queries() {
                for at in 0..segments.frames() + 2 {
                    let fitting = || all.iter().filter(|placed| fits(placed, &query));
                    let next = fitting().filter(|placed| placed.after >= Some(at));
                    let next = next.min_by_key(|placed| (placed.after, placed.interruption.at));
                    let next = Answer::new(next.cloned(), true);
                    let last = fitting().filter(|placed| placed.before.is_some_and(|before| before < at));
                    let last = last.max_by_key(|placed| (placed.before, placed.interruption.at));
                    let last = Answer::new(last.cloned(), true);
                    prop_assert_eq!(&interruptions.next(&segments, true, at, &query), &next, "{:?} {}", query, at);
                    prop_assert_eq!(&interruptions.previous(&segments, true, at, &query), &last, "{:?} {}", query, at);
                    // What was known early is so.
                    let known = early_interruptions.next(&early, false, at, &query);
                    prop_assert!(known == Answer::NotYet || known == next, "{:?} {:?}", known, next);
                    let known = early_interruptions.previous(&early, false, at, &query);
                    prop_assert!(known == Answer::NotYet || known == last, "{:?} {:?}", known, last);
                }
            }
        }
    }

    #[test]
    fn many_take_few_bytes() {
        let mut interruptions = Interruptions::default();
        for at in 0..100_000 {
            let kind = InterruptionKind::Exception(["IRQ", "Call"][at as usize % 2].to_owned());
            interruptions.push(at * 700, Interruption { thread: 1, at: at * 1000, kind });
        }
        let each = interruptions.memory_use() as f64 / 100_000.0;
        assert!(each < 7.0, "{each}");
        assert_eq!(interruptions.total(), 100_000);
    }
}
