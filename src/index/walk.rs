//! The one walk over a recording that makes its index.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{SendError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::builder::{Batch, Builder, PUBLISH_EVERY};
use super::kind::Kind;
use super::segment::Run;
use super::shared::{Outcome, Shared};
use crate::trace::{Damage, Frame, Instructions, Item, Location, Recording};

/// What sees every frame, with its number, as the walk passes it; but not those that are instructions.
pub type Inspector = Box<dyn FnMut(u64, &Frame<'_>) + Send>;

/// Runs in a segment before any merging.
const SEGMENT: usize = 1 << 16;

/// The clock is asked once for so many runs.
const CLOCK_EVERY: usize = 64;

/// So many batches of runs wait for the thread that indexes them, at most.
const WAITING: usize = 2;

/// Of so many distinct trace state variables the last value is kept.
const VARIABLES: usize = 1 << 16;

/// Where runs become segments.
enum Indexing {
    /// Where they are met, as long as there are no more than make one segment: a short recording needs no thread.
    Here(Builder),
    /// On a thread of its own, while the walk goes on.
    Beside { batches: SyncSender<Batch>, thread: JoinHandle<Option<Builder>> },
    /// Nowhere any more.
    Over,
}

/// A walk under way.
///
/// Memory: besides what stays, up to [`SEGMENT`] runs of 32 bytes, for each batch that waits as many, and as much again
/// while they become a segment, 10 MB in all; and while segments are merged, the merged form beside the ones it replaces
/// (which readers may hold on to) and, unless all have the same values, up to twice its ranks at 1, 2 or 4 bytes. For a
/// recording of 40 distinct program counters that stays below 9 bytes a frame at the worst moment, and at 3.5 when done. Of 200 distinct runs
/// of instructions, each takes 2.6 bytes when done, and 3.8 where there are several threads.
pub(super) struct Walk {
    shared: Arc<Shared>,
    inspect: Option<Inspector>,
    indexing: Indexing,
    /// The runs behind the last whole segment.
    pending: Batch,
    /// How many frames were seen, the number of the next.
    frames: u64,
    /// How many runs they make.
    runs: u64,
    /// When runs were given to the thread that indexes them.
    given: Instant,
    last_values: BTreeMap<i32, i64>,
    /// Whether a variable was met for which [`VARIABLES`] left no room.
    too_many_variables: bool,
    cancelled: bool,
}

impl Walk {
    pub(super) fn new(shared: Arc<Shared>, inspect: Option<Inspector>) -> Walk {
        Walk {
            indexing: Indexing::Here(Builder::new(Arc::clone(&shared))),
            shared,
            inspect,
            pending: Batch { first: 0, runs: Vec::new(), at: Location(0), is_whole: false },
            frames: 0,
            runs: 0,
            given: Instant::now(),
            last_values: BTreeMap::new(),
            too_many_variables: false,
            cancelled: false,
        }
    }

    /// Walks until the end or until cancelled.
    pub(super) fn run(mut self, recording: &dyn Recording) {
        let walked = catch_unwind(AssertUnwindSafe(|| recording.walk(&mut |item| self.visit(item))));
        let end = walked.unwrap_or_else(|_| {
            // A defect of a reader must not leave clients waiting for ever. Where it would have ended is not known,
            // so the end is the last place that was surely reached.
            let what = format!(
                "reading failed at frame {}: it and what follows are not served (please report this)",
                self.frames
            );
            self.shared.add_damage(Damage { at: self.pending.at.0, frame: None, what });
            self.pending.at
        });
        let builder = self.end_indexing();
        if let Some(builder) = builder.filter(|_| !self.cancelled) {
            let last_values = std::mem::take(&mut self.last_values);
            builder.finish(&self.pending, Outcome { end, last_values });
        }
    }

    /// Waits until all whole segments are made.
    fn end_indexing(&mut self) -> Option<Builder> {
        match std::mem::replace(&mut self.indexing, Indexing::Over) {
            Indexing::Here(builder) => Some(builder),
            Indexing::Beside { batches, thread } => {
                drop(batches);
                thread.join().ok().flatten()
            }
            Indexing::Over => None,
        }
    }

    fn visit(&mut self, item: Item<'_, '_>) -> ControlFlow<()> {
        self.cancelled |= self.shared.is_cancelled();
        if self.cancelled {
            return ControlFlow::Break(());
        }
        match item {
            Item::Frame(frame) => self.add(frame),
            Item::Instructions(instructions) => self.add_instructions(&instructions),
            Item::Interruption(interruption) => self.shared.interruptions().push(self.frames, interruption),
            Item::Damage(damage) => self.shared.add_damage(damage),
        }
        ControlFlow::Continue(())
    }

    fn add(&mut self, frame: &Frame<'_>) {
        let number = self.frames;
        if let Some(inspect) = &mut self.inspect {
            inspect(number, frame);
        }
        if let Some(damage) = &frame.damage {
            self.shared.add_damage(Damage { frame: damage.frame.or(Some(number)), ..damage.clone() });
        }
        for (variable, value) in &frame.variables {
            self.keep_value(number, frame.location, *variable, *value);
        }
        let Frame { location, tracepoint, thread, .. } = *frame;
        self.add_run(Run { location, tracepoint, thread, kind: Kind::frame(frame.pc.address()) });
    }

    fn add_instructions(&mut self, instructions: &Instructions) {
        let Instructions { mut location, tracepoint, thread, start, beginnings } = *instructions;
        for kind in Kind::instructions(start, beginnings).into_iter().flatten() {
            self.add_run(Run { location, tracepoint, thread, kind });
            location.0 = location.0.wrapping_add(kind.count());
        }
    }

    fn add_run(&mut self, run: Run) {
        let count = run.kind.count();
        let pending = &mut self.pending;
        pending.runs.push(run);
        pending.at = Location(run.location.0.wrapping_add(count - 1));
        pending.is_whole = pending.runs.len() == SEGMENT;
        self.runs += 1;
        self.frames += count;
        // The first run at once, then each time their number has doubled, then by the clock.
        let is_due = || match &self.indexing {
            Indexing::Here(builder) => self.runs.is_power_of_two() || builder.is_due(),
            Indexing::Beside { .. } => self.given.elapsed() >= PUBLISH_EVERY,
            Indexing::Over => false,
        };
        let is_asked = pending.runs.len().is_multiple_of(CLOCK_EVERY) || self.runs.is_power_of_two();
        if self.pending.is_whole {
            self.give_whole();
        } else if is_asked && is_due() {
            self.give();
        }
    }

    /// Has the pending runs indexed and shown; they stay pending.
    fn give(&mut self) {
        match &mut self.indexing {
            Indexing::Here(builder) => builder.add(&self.pending),
            Indexing::Beside { batches, .. } => {
                let Batch { first, at, is_whole, .. } = self.pending;
                let batch = Batch { first, runs: self.pending.runs.clone(), at, is_whole };
                // Where others wait still, more will be shown soon.
                self.cancelled |= matches!(batches.try_send(batch), Err(TrySendError::Disconnected(_)));
                self.given = Instant::now();
            }
            Indexing::Over => {}
        }
    }

    /// Has the pending runs indexed for good.
    fn give_whole(&mut self) {
        let next = Batch { first: self.frames, runs: Vec::with_capacity(SEGMENT), is_whole: false, ..self.pending };
        let batch = std::mem::replace(&mut self.pending, next);
        match std::mem::replace(&mut self.indexing, Indexing::Over) {
            Indexing::Here(mut builder) => {
                builder.add(&batch);
                self.indexing = beside(builder);
            }
            Indexing::Beside { batches, thread } => {
                // It ends early only by a defect, and then so does the walk.
                self.cancelled |= batches.send(batch).is_err();
                self.indexing = Indexing::Beside { batches, thread };
            }
            Indexing::Over => {}
        }
        self.given = Instant::now();
    }

    fn keep_value(&mut self, number: u64, location: Location, variable: i32, value: i64) {
        if self.last_values.len() < VARIABLES || self.last_values.contains_key(&variable) {
            self.last_values.insert(variable, value);
        } else if !self.too_many_variables {
            self.too_many_variables = true;
            let what = format!(
                "the frames hold values of more than {VARIABLES} trace state variables: \
                 outside the frames, variable {variable} and those that first come behind it have no value"
            );
            self.shared.add_damage(Damage { at: location.0, frame: Some(number), what });
        }
    }
}

/// Goes on with the segments on a thread of its own, if the system gives one.
fn beside(builder: Builder) -> Indexing {
    let (batches, waiting) = sync_channel(WAITING);
    // The builder follows the thread, so that it is still there if none is given.
    let (give, given) = sync_channel::<Builder>(1);
    let index = move || given.recv().ok().map(|builder| builder.run(&waiting));
    match thread::Builder::new().name("segments".to_owned()).spawn(index) {
        Ok(thread) => match give.send(builder) {
            Ok(()) => Indexing::Beside { batches, thread },
            Err(SendError(builder)) => Indexing::Here(builder),
        },
        Err(_) => Indexing::Here(builder),
    }
}

/// However a walk ends, nobody waits for it any longer, and nothing is shown behind its end.
impl Drop for Walk {
    fn drop(&mut self) {
        drop(self.end_indexing());
        self.shared.finish();
    }
}
