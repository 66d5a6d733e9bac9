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
