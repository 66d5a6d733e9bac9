//! The index that clients share.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::segment::Segment;
use super::shared::Shared;
use super::walk::{Inspector, Walk};
use super::{Answer, InterruptionQuery, PcCounts, Progress, Query};
use crate::trace::{DamageList, Location, Placed, Recording};

/// The index of a recording: where its frames lie, and which frame is the next that matches.
///
/// It grows while the recording is walked over for the first time, and answers from the first frame on. To find a
/// frame by number takes the logarithm of their number; to find the next match takes, for each of a few dozen segments
/// at most, the logarithm of the number of frames times that of the number of distinct values, and no frame is visited.
/// Dropping the index ends the walk.
pub struct Index {
    shared: Arc<Shared>,
    end: Location,
}

impl Index {
    /// Starts to index a recording on a thread of its own; `inspect` sees every frame there that is no instruction.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(recording: Arc<dyn Recording>, inspect: Option<Inspector>) -> io::Result<Arc<Index>> {
        let index = Index::new(recording.end());
        let walk = Walk::new(Arc::clone(&index.shared), inspect);
        std::thread::Builder::new().name("index".to_owned()).spawn(move || walk.run(&*recording))?;
        Ok(index)
    }

    /// Indexes a recording before it returns; `inspect` sees every frame that is no
    /// instruction.
    pub fn build(recording: &dyn Recording, inspect: Option<Inspector>) -> Arc<Index> {
        let index = Index::new(recording.end());
        Walk::new(Arc::clone(&index.shared), inspect).run(recording);
        index
    }

    fn new(end: Location) -> Arc<Index> {
        Arc::new(Index { shared: Arc::default(), end })
    }

    /// Ends the walk at its next frame. What is indexed by then can still be found; the rest stays [`Answer::NotYet`].
    pub fn cancel(&self) {
        self.shared.cancel();
    }

    /// How far the walk has come.
    pub fn progress(&self) -> Progress {
        let snapshot = self.shared.snapshot();
        Progress {
            frames: snapshot.segments.frames(),
            complete: snapshot.outcome.is_some(),
            at: snapshot.at,
            end: self.end,
        }
    }

    /// Blocks until the walk is over: complete, or cancelled.
    pub fn wait(&self) -> Progress {
        self.shared.wait();
        self.progress()
    }

    /// Ready with the generation of the index once that is not `seen`; each change that may turn an
    /// [`Answer::NotYet`] into another makes a new one.
    ///
    /// To wait for an answer, start with 0 for `seen`, ask, and while the answer is [`Answer::NotYet`] wait here and
    /// ask again, each time with the generation that came last. Pending for ever once the walk is over.
    pub fn poll_change(&self, seen: u64, context: &mut Context<'_>) -> Poll<u64> {
        self.shared.poll_change(seen, context)
    }

    /// Where a frame lies.
    pub fn locate(&self, number: u64) -> Answer<Location> {
        self.of_frame(number, Segment::location)
    }

    /// The number of the tracepoint that made a frame.
    pub fn tracepoint(&self, number: u64) -> Answer<i32> {
        self.of_frame(number, Segment::tracepoint)
    }

    /// The thread that a frame was recorded on.
    pub fn thread(&self, number: u64) -> Answer<u32> {
        self.of_frame(number, Segment::thread)
    }

    /// The program counter of a frame, recorded or inferred; `None` where it is unknown.
    pub fn pc(&self, number: u64) -> Answer<Option<u64>> {
        self.of_frame(number, |segment, number| Some(segment.pc(number)))
    }

    fn of_frame<T>(&self, number: u64, get: impl FnOnce(&Segment, u64) -> Option<T>) -> Answer<T> {
        let snapshot = self.shared.snapshot();
        let found = snapshot.segments.holding(number).and_then(|segment| get(segment, number));
        Answer::new(found, snapshot.outcome.is_some())
    }

    /// The number of the first frame from `from` on that matches.
    pub fn find(&self, from: u64, query: &Query) -> Answer<u64> {
        let snapshot = self.shared.snapshot();
        Answer::new(snapshot.segments.find(from, query), snapshot.outcome.is_some() || query.is_empty())
    }

    /// The number of the last frame before `before` that matches.
    pub fn find_back(&self, before: u64, query: &Query) -> Answer<u64> {
        let snapshot = self.shared.snapshot();
        // A frame that is still to come may be the last one before `before`.
        let certain = snapshot.outcome.is_some() || before <= snapshot.segments.frames() || query.is_empty();
        let found = if certain { snapshot.segments.find_back(before, query) } else { None };
        Answer::new(found, certain)
    }

    /// How many of the frames indexed so far a tracepoint made.
    pub fn count(&self, tracepoint: i32) -> u64 {
        self.shared.snapshot().segments.iter().map(|segment| segment.count(tracepoint)).sum()
    }

    /// The tracepoints that made the frames indexed so far, and how many each.
    pub fn counts_by_tracepoint(&self) -> BTreeMap<i32, u64> {
        let mut counts = BTreeMap::new();
        for (tracepoint, count) in self.shared.snapshot().segments.iter().flat_map(Segment::counts) {
            *counts.entry(tracepoint).or_default() += count;
        }
        counts
    }

    /// The program counters of the frames indexed so far, each once, in ascending order; `None` if there are more than
    /// `most`.
    pub fn program_counters(&self, most: usize) -> Option<Vec<u64>> {
        let mut found = BTreeSet::new();
        for pc in self.shared.snapshot().segments.iter().flat_map(Segment::program_counters) {
            found.insert(pc);
            if found.len() > most {
                return None;
            }
        }
        Some(found.into_iter().collect())
    }

    /// How many of the frames indexed so far there are at each program counter; of one thread, or of all.
    ///
    /// Takes a few steps for each distinct run of instructions times the logarithm of their number, and none a frame.
    pub fn counts_by_pc(&self, thread: Option<u32>) -> PcCounts {
        let mut counts = PcCounts::default();
        for segment in self.shared.snapshot().segments.iter() {
            counts.add(segment.counts_by_kind(thread));
        }
        counts
    }

    /// Whether the program counter of one of the frames indexed so far is not known.
    pub fn has_unknown_pc(&self) -> bool {
        self.shared.snapshot().segments.iter().any(Segment::has_unknown_pc)
    }

    /// What of the frames, and between them, could not be read as far as the walk has come.
    pub fn damage(&self) -> DamageList {
        self.shared.damage()
    }

    /// The first `most` of the interruptions met so far, in the order in which the recording shows them. Of the last,
    /// the frame behind it may not be indexed yet.
    pub fn interruptions(&self, most: usize) -> Vec<Placed> {
        let snapshot = self.shared.snapshot();
        self.shared.interruptions().first(&snapshot.segments, snapshot.outcome.is_some(), most)
    }

    /// How many interruptions were met so far.
    pub fn interruption_count(&self) -> u64 {
        self.shared.interruptions().total()
    }

    /// How many of those a query is for.
    pub fn interruptions_of(&self, query: &InterruptionQuery) -> u64 {
        self.shared.interruptions().of(query)
    }

    /// The interruptions between a frame and the one before it of its thread; the first `most` of them.
    pub fn interruptions_before(&self, frame: u64, most: usize) -> Vec<Placed> {
        let snapshot = self.shared.snapshot();
        self.shared.interruptions().before(&snapshot.segments, frame, most)
    }

    /// The interruptions behind which no frame of their thread comes, once all frames are indexed; the first `most` of
    /// them.
    pub fn interruptions_behind(&self, most: usize) -> Vec<Placed> {
        let snapshot = self.shared.snapshot();
        match snapshot.outcome {
            Some(_) => self.shared.interruptions().behind(&snapshot.segments, most),
            None => Vec::new(),
        }
    }

    /// The first interruption that ends at `from` or later: the thread's first frame behind it is that frame or one
    /// behind it.
    ///
    /// Of several at the same place, the one that comes first in the file. Takes two questions to the index for each
    /// thread that has interruptions.
    pub fn next_interruption(&self, from: u64, query: &InterruptionQuery) -> Answer<Placed> {
        // The snapshot first, so that of the frames in it no interruption is missed.
        let snapshot = self.shared.snapshot();
        self.shared.interruptions().next(&snapshot.segments, snapshot.outcome.is_some(), from, query)
    }

    /// The last interruption that begins before `before`: the thread's last frame before it is one before that frame.
    ///
    /// Of several at the same place, the one that comes last in the file. While the index grows, it takes until the
    /// thread has gone on from there to know; where none is named, all threads.
    pub fn previous_interruption(&self, before: u64, query: &InterruptionQuery) -> Answer<Placed> {
        let snapshot = self.shared.snapshot();
        self.shared.interruptions().previous(&snapshot.segments, snapshot.outcome.is_some(), before, query)
    }

    /// The last value of a trace state variable in the whole recording.
    ///
    /// Kept of the first 65,536 variables that the frames name; [`Index::damage`] tells where there are more.
    pub fn last_value(&self, variable: i32) -> Answer<i64> {
        match &self.shared.snapshot().outcome {
            Some(outcome) => Answer::new(outcome.last_values.get(&variable).copied(), true),
            None => Answer::NotYet,
        }
    }

    /// The location behind the last frame, as [`Recording::walk`] returned it.
    pub fn end(&self) -> Answer<Location> {
        Answer::new(self.shared.snapshot().outcome.as_ref().map(|outcome| outcome.end), false)
    }

    /// Bytes of memory that the index of the frames takes, and of what lies between them.
    pub fn memory_use(&self) -> usize {
        let segments = self.shared.snapshot().segments.iter().map(Segment::memory_use).sum::<usize>();
        segments + self.shared.interruptions().memory_use()
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Mutex, mpsc};
    use std::task::{Wake, Waker};
    use std::time::{Duration, Instant};

    use super::super::fake::{Fake, Shown};
    use super::*;
    use crate::trace::{Damage, Frame, Instructions, Interruption, InterruptionKind, ProgramCounter};

    fn frame(number: u64) -> Frame<'static> {
        let mut frame = Frame::empty(Location(1000 + 300 * number), 1 + (number % 5) as i32);
        frame.pc = match number % 41 {
            40 => ProgramCounter::Unknown,
            39 => ProgramCounter::Inferred(0x4000),
            pc => ProgramCounter::Recorded(0x40_1000 + 4 * pc),
        };
        frame
    }

    /// Runs of five instructions on two threads, of 200 kinds, counted from 1000; before each thousandth an exception.
    fn run(number: u64) -> Shown {
        let (round, nth) = (number / 1001, number % 1001);
        if nth == 0 {
            let kind = InterruptionKind::Exception("IRQ".to_owned());
            return Shown::Interruption(Interruption { thread: 1 + (round % 2) as u32, at: 16 * round, kind });
        }
        let number = round * 1000 + nth - 1;
        Shown::Instructions(Instructions {
            location: Location(1000 + 5 * number),
            tracepoint: 1,
            thread: 1 + (round % 2) as u32,
            start: 0x40_1000 + 10 * (number * 77 % 200),
            beginnings: 0b10_1111,
        })
    }

    struct Unpark(std::thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// Asks until the answer is known, as a client does.
    fn ask<T>(index: &Index, question: impl Fn(&Index) -> Answer<T>) -> Answer<T> {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut seen = 0;
        loop {
            match question(index) {
                Answer::NotYet => match index.poll_change(seen, &mut context) {
                    Poll::Ready(generation) => seen = generation,
                    Poll::Pending => std::thread::park(),
                },
                known => return known,
            }
        }
    }

    #[test]
    fn a_million_frames_take_few_bytes_and_are_found() {
        let frames = 1_000_000;
        let index = Index::build(&Fake::new(frames, frame), None);
        let per_frame = index.memory_use() as f64 / frames as f64;
        assert!(per_frame < 4.0, "{per_frame}");
        let progress = index.progress();
        assert_eq!((progress.frames, progress.complete, progress.fraction()), (frames, true, 1.0));
        assert_eq!(index.locate(999_999), Answer::Found(Location(1000 + 300 * 999_999)));
        assert_eq!(index.locate(frames), Answer::Nothing);
        assert_eq!(
            (index.tracepoint(65_536), index.pc(65_536)),
            (Answer::Found(2), Answer::Found(Some(0x40_1000 + 4 * 18)))
        );
        assert_eq!(index.pc(40), Answer::Found(None));
        assert_eq!(index.find(999_950, &Query::Pc(0x4000)), Answer::Found(999_988));
        assert_eq!(index.find(999_989, &Query::Pc(0x4000)), Answer::Nothing);
        assert_eq!(index.find_back(u64::MAX, &Query::Pc(0x4000)), Answer::Found(999_988));
        assert_eq!(index.find_back(39, &Query::Pc(0x4000)), Answer::Nothing);
        assert_eq!(index.count(3), 200_000);
        assert_eq!(index.counts_by_tracepoint(), (1..6).map(|number| (number, 200_000)).collect());
    }

    #[test]
    fn a_million_runs_take_few_bytes_and_are_found() {
        let runs = 1_000_000;
        let index = Index::build(&Fake::of_items(runs / 1000 * 1001, run), None);
        let per_run = index.memory_use() as f64 / runs as f64;
        assert!(per_run < 4.0, "{per_run}");
        let progress = index.progress();
        assert_eq!((progress.frames, progress.complete), (5 * runs, true));
        assert_eq!(progress.at, Location(1000 + 5 * runs - 1));
        assert_eq!(index.locate(4_999_999), Answer::Found(Location(1000 + 4_999_999)));
        assert_eq!(index.locate(5 * runs), Answer::Nothing);
        // Run 1 lies 770 bytes behind the first, and its last instruction 10 behind its start.
        assert_eq!(index.pc(9), Answer::Found(Some(0x40_1000 + 770 + 10)));
        assert_eq!(index.find(3, &Query::Pc(0x40_1000)), Answer::Found(1000), "each 200th run is of the same kind");
        assert_eq!(index.find_back(1000, &Query::Pc(0x40_1000)), Answer::Found(0));
        assert_eq!(index.thread(5000), Answer::Found(2));
        let inside = Query::ThreadOutside { thread: 1, low: 0x40_1000, high: 0x40_1000 + 10 * 199 };
        assert_eq!(
            index.find(4000, &inside),
            Answer::Found(5 * 987 + 1),
            "where the last kind comes, behind its start"
        );
        let loops = Query::ThreadOutside { thread: 2, low: 0x40_1000, high: 0x40_1000 + 10 * 200 };
        assert_eq!(index.find(0, &loops), Answer::Nothing);
        assert_eq!(index.counts_by_tracepoint(), BTreeMap::from([(1, 5 * runs)]));
        assert_eq!(index.program_counters(1000).map(|found| found.len()), Some(801));
        assert_eq!(index.program_counters(800), None);
        assert!(!index.has_unknown_pc());

        assert_eq!(index.interruption_count(), 1000);
        let query = InterruptionQuery { thread: Some(2), gaps: true, exceptions: true };
        let found = index.next_interruption(1, &query).found().unwrap();
        assert_eq!((found.interruption.at, found.before, found.after), (16, None, Some(5000)));
        let found = index.next_interruption(5001, &query).found().unwrap();
        assert_eq!((found.before, found.after), (Some(9999), Some(15_000)));
        assert_eq!(index.previous_interruption(10_000, &query), Answer::Found(found.clone()));
        assert_eq!(index.interruptions(4).last(), Some(&found));
    }

    #[test]
    fn early_runs_are_found_while_the_walk_stalls() {
        let (resume, stalled) = mpsc::channel();
        let mut fake = Fake::of_items(3003, run);
        fake.stall = Some((100, Mutex::new(stalled)));
        let index = Index::start(Arc::new(fake), None).unwrap();
        // 64 runs of five, by doubling.
        assert_eq!(ask(&index, |index| index.locate(319)), Answer::Found(Location(1319)));
        assert_eq!(index.locate(320), Answer::NotYet);
        assert_eq!((index.count(1), index.progress().frames), (320, 320));
        assert_eq!(index.find(1, &Query::Thread(1)), Answer::Found(1));
        assert_eq!(index.find(1, &Query::Thread(2)), Answer::NotYet);
        assert_eq!(index.find_back(320, &Query::Thread(2)), Answer::Nothing);
        let query = InterruptionQuery { thread: None, gaps: false, exceptions: true };
        let first = index.next_interruption(0, &query).found().unwrap();
        assert_eq!((first.before, first.after), (None, Some(0)));
        assert_eq!(index.next_interruption(1, &query), Answer::NotYet);
        assert_eq!(index.previous_interruption(300, &query), Answer::Nothing);
        assert_eq!(index.previous_interruption(320, &query), Answer::NotYet);
        resume.send(()).unwrap();
        assert_eq!(index.wait().frames, 15_000);
        assert_eq!(index.next_interruption(1, &query).found().and_then(|found| found.after), Some(5000));
        assert_eq!(index.previous_interruption(320, &query), Answer::Nothing);
    }

    #[test]
    fn whatever_is_shown_is_a_frame_or_none() {
        let fake = Fake::of_items(40, |number| match number % 4 {
            0 => Shown::Frame(Frame::empty(Location(200 * number), 2)),
            1 => Shown::Instructions(Instructions {
                location: Location(200 * number),
                tracepoint: 1,
                thread: 7,
                // The second instruction lies behind the end of the address space.
                start: u64::MAX - 1,
                beginnings: 0b11,
            }),
            2 => Shown::Instructions(Instructions {
                location: Location(u64::MAX - 1),
                tracepoint: 3,
                thread: 1,
                start: 0,
                beginnings: if number == 2 { 0 } else { u64::MAX << 1 },
            }),
            _ => Shown::Frame(frame(number)),
        });
        let index = Index::build(&fake, None);
        // Of the plain frames two are of each tracepoint.
        let counts = BTreeMap::from([(1, 20 + 2), (2, 10 + 2), (3, 9 * 63 + 2), (4, 2), (5, 2)]);
        assert_eq!(index.counts_by_tracepoint(), counts);
        assert_eq!((index.pc(1), index.pc(2)), (Answer::Found(Some(u64::MAX - 1)), Answer::Found(Some(0))));
        assert_eq!(index.locate(2), Answer::Found(Location(201)));
        assert_eq!(index.find(0, &Query::Pc(0)), Answer::Found(2));
        assert_eq!(index.find(0, &Query::Outside { low: 0, high: u64::MAX - 2 }), Answer::Found(1));
        assert_eq!(index.find(0, &Query::Pc(2)), Answer::Found(7));
    }

    #[test]
    fn merged_segments_find_the_same() {
        let frames = (1 << 20) + 70_000;
        let index = Index::build(&Fake::new(frames, frame), None);
        for number in (0..frames).step_by(9973).chain([(1 << 20) - 1, 1 << 20, frames - 1]) {
            let expected = frame(number);
            assert_eq!(index.locate(number), Answer::Found(expected.location));
            assert_eq!(index.pc(number), Answer::Found(expected.pc.address()));
            assert_eq!(index.tracepoint(number), Answer::Found(expected.tracepoint));
            if let Some(pc) = expected.pc.address() {
                assert_eq!(index.find(number.saturating_sub(40), &Query::Pc(pc)), Answer::Found(number));
                assert_eq!(index.find_back(number + 41, &Query::Pc(pc)), Answer::Found(number));
            }
        }
        assert!(index.memory_use() < 4 * frames as usize);
    }

    #[test]
    fn early_frames_are_found_while_the_walk_stalls() {
        let (resume, stalled) = mpsc::channel();
        let mut fake = Fake::new(3000, frame);
        fake.stall = Some((100, Mutex::new(stalled)));
        let index = Index::start(Arc::new(fake), None).unwrap();
        assert_eq!(ask(&index, |index| index.locate(0)), Answer::Found(Location(1000)));
        assert_eq!(ask(&index, |index| index.locate(63)), Answer::Found(Location(1000 + 300 * 63)));
        assert_eq!(index.find(0, &Query::Tracepoint(3)), Answer::Found(2));
        assert_eq!(index.find_back(64, &Query::Tracepoint(3)), Answer::Found(62));
        assert_eq!(index.find_back(8, &Query::Tracepoint(9)), Answer::Nothing);
        assert_eq!(index.find(0, &Query::Tracepoint(9)), Answer::NotYet);
        assert_eq!(index.find(0, &Query::Range { low: 2, high: 1 }), Answer::Nothing);
        assert_eq!(index.find_back(2000, &Query::Tracepoint(3)), Answer::NotYet);
        assert_eq!(index.locate(2999), Answer::NotYet);
        assert_eq!((index.end(), index.last_value(1)), (Answer::NotYet, Answer::NotYet));
        let progress = index.progress();
        assert!(!progress.complete && progress.frames == 64 && progress.fraction() < 0.1, "{progress:?}");

        let client = Arc::clone(&index);
        let waiting = std::thread::spawn(move || ask(&client, |index| index.find(0, &Query::Tracepoint(9))));
        resume.send(()).unwrap();
        assert_eq!(waiting.join().unwrap(), Answer::Nothing);
        assert_eq!(index.wait().frames, 3000);
        assert_eq!(index.find_back(2000, &Query::Tracepoint(3)), Answer::Found(1997));
        assert_eq!(index.end(), Answer::Found(Location(1000 + 300 * 3000)));
    }

    #[test]
    fn a_slow_walk_is_searchable_as_it_goes() {
        let (_resume, stalled) = mpsc::channel();
        let mut fake = Fake::new(100_000, |number| {
            if number == 191 {
                std::thread::sleep(Duration::from_millis(60));
            }
            frame(number)
        });
        fake.stall = Some((200, Mutex::new(stalled)));
        let index = Index::start(Arc::new(fake), None).unwrap();
        // 128 by doubling, 192 by the clock.
        assert_eq!(ask(&index, |index| index.locate(191)), Answer::Found(Location(1000 + 300 * 191)));
        assert_eq!(index.locate(192), Answer::NotYet);
    }

    #[test]
    fn what_is_indexed_beside_the_walk_is_searchable_while_it_stalls() {
        let (resume, stalled) = mpsc::channel();
        let mut fake = Fake::new(300_000, frame);
        fake.stall = Some((3 * 65_536 + 10, Mutex::new(stalled)));
        let index = Index::start(Arc::new(fake), None).unwrap();
        let last = 3 * 65_536 - 1;
        assert_eq!(ask(&index, |index| index.locate(last)), Answer::Found(Location(1000 + 300 * last)));
        assert_eq!(index.find_back(last, &Query::Tracepoint(3)), Answer::Found(196_602));
        assert_eq!(index.locate(299_999), Answer::NotYet);
        resume.send(()).unwrap();
        assert_eq!(index.wait().frames, 300_000);
        assert_eq!(index.locate(299_999), Answer::Found(Location(1000 + 300 * 299_999)));
    }

    fn ends(recording: &std::sync::Weak<Fake>) -> bool {
        let start = Instant::now();
        while recording.strong_count() > 0 && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        recording.strong_count() == 0
    }

    #[test]
    fn cancelling_and_dropping_end_the_walk() {
        let recording = Arc::new(Fake::new(u64::MAX, |_| Frame::empty(Location(0), 1)));
        let weak = Arc::downgrade(&recording);
        let index = Index::start(recording, None).unwrap();
        assert_eq!(ask(&index, |index| index.tracepoint(1000)), Answer::Found(1));
        index.cancel();
        assert!(!index.wait().complete);
        assert_eq!(index.tracepoint(1000), Answer::Found(1));
        assert_eq!(index.find(0, &Query::Tracepoint(2)), Answer::NotYet);
        assert!(ends(&weak));

        let recording = Arc::new(Fake::new(u64::MAX, |_| Frame::empty(Location(0), 1)));
        let weak = Arc::downgrade(&recording);
        drop(Index::start(recording, None).unwrap());
        assert!(ends(&weak));
    }

    #[test]
    fn a_panicking_reader_is_damage_at_the_end() {
        let fake = Fake::new(3000, |number| if number == 2500 { panic!("a defect") } else { frame(number) });
        let index = Index::start(Arc::new(fake), None).unwrap();
        let progress = index.wait();
        assert_eq!((progress.frames, progress.complete), (2500, true));
        assert_eq!(index.find(0, &Query::Tracepoint(9)), Answer::Nothing);
        assert_eq!(index.end(), Answer::Found(Location(1000 + 300 * 2499)));
        let damage = index.damage();
        assert!(damage.total() == 1 && damage.kept()[0].what.contains("frame 2500"), "{damage:?}");
    }

    #[test]
    fn damage_is_collected_in_order_with_its_frame() {
        let mut fake = Fake::new(3, |number| {
            let mut frame = frame(number);
            if number == 1 {
                frame.damage = Some(Damage { at: 7, frame: None, what: "cut".to_owned() });
            }
            frame
        });
        fake.damage_behind = Some(Damage { at: 9, frame: None, what: "no end mark".to_owned() });
        let damage = Index::build(&fake, None).damage();
        let expected = [
            Damage { at: 7, frame: Some(1), what: "cut".to_owned() },
            Damage { at: 9, frame: None, what: "no end mark".to_owned() },
        ];
        assert_eq!(damage.kept(), expected);
    }

    #[test]
    fn the_last_value_of_a_variable_is_that_of_the_whole_recording() {
        let fake = Fake::new(70_000, |number| {
            let mut frame = frame(number);
            frame.variables = vec![(1, number as i64), (1, -(number as i64)), (1000 + number as i32, 5)];
            frame
        });
        let index = Index::build(&fake, None);
        assert_eq!(index.last_value(1), Answer::Found(-69_999));
        assert_eq!(index.last_value(2), Answer::Nothing);
        // With the variable 1 the first 65,535 of the others are kept.
        assert_eq!(index.last_value(1000 + 65_534), Answer::Found(5));
        assert_eq!(index.last_value(1000 + 65_535), Answer::Nothing);
        let damage = index.damage();
        assert_eq!((damage.total(), damage.kept()[0].frame), (1, Some(65_535)));
    }

    #[test]
    fn the_inspector_sees_every_frame_and_its_number() {
        let sum = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&sum);
        let inspect: Inspector = Box::new(move |number, frame| {
            assert_eq!(frame.location, Location(1000 + 300 * number));
            seen.fetch_add(number, Ordering::Relaxed);
        });
        let index = Index::build(&Fake::new(101, frame), Some(inspect));
        assert_eq!(sum.load(Ordering::Relaxed), 5050);
        assert!(index.damage().is_empty());
    }

    #[test]
    fn a_recording_without_frames_is_complete() {
        let index = Index::build(&Fake::new(0, frame), None);
        assert_eq!((index.progress().frames, index.progress().complete), (0, true));
        assert_eq!(index.locate(0), Answer::Nothing);
        assert_eq!(index.find_back(u64::MAX, &Query::Outside { low: 1, high: 0 }), Answer::Nothing);
        assert_eq!(index.memory_use(), 0);
    }

    #[test]
    fn waiting_again_and_again_keeps_one_waker() {
        let index = Index::new(Location(0));
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        assert_eq!([index.poll_change(0, &mut context), index.poll_change(0, &mut context)], [Poll::Pending; 2]);
        assert_eq!(index.shared.waiting(), 1);
        index.shared.finish();
        assert_eq!(index.poll_change(0, &mut context), Poll::Ready(1));
        assert_eq!(index.poll_change(1, &mut context), Poll::Pending);
        assert_eq!(index.shared.waiting(), 0);
    }
}
